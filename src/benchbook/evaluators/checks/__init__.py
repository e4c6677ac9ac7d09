"""checks: evaluators without a judge. A spec of deterministic checks is data; scoring an item is a pure function.

compared        which part of an answer is looked at
kinds           what a check may ask: equals, contains, number, choice, …
spec, reading   an evaluator's checks, weights and gates, read from its `spec.toml` with every fault
scoring         one item: what each check says, the score, whether it passes
metric, rows    a run: columns, aggregates, the decision by gates
files           a spec's files, in a folder of the user's or as a record keeps them
evaluator       those that are shipped (in `specs`), a user's own, the one that a record keeps
"""

from benchbook.evaluators.checks.expected import ItemError
from benchbook.evaluators.checks.reading import read_checks
from benchbook.evaluators.checks.result import REASONS, CheckResult, Reason
from benchbook.evaluators.checks.scoring import ItemScore, item_faults, score_item
from benchbook.evaluators.checks.spec import CheckSpec, ChecksSpec, GateSpec, aggregate_names, column_names

__all__ = [
    "REASONS", "CheckResult", "CheckSpec", "ChecksSpec", "GateSpec", "ItemError", "ItemScore", "Reason",
    "aggregate_names", "column_names", "item_faults", "read_checks", "score_item",
]  # fmt: skip
