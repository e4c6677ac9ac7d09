"""checks: evaluators without a judge. A spec of deterministic checks is data; scoring an item is a pure function.

compared        which part of an answer is looked at
kinds           what a check may ask: equals, contains, number, choice, …
spec, reading   an evaluator's checks, weights and gates, read from its `spec.toml` with every fault
scoring         one item: what each check says, the score, whether it passes
specs           the evaluators that are shipped
"""

from benchbook.evaluators.checks.expected import ItemError
from benchbook.evaluators.checks.reading import ChecksSpecError, read_checks
from benchbook.evaluators.checks.result import REASONS, CheckResult, Reason
from benchbook.evaluators.checks.scoring import ItemScore, item_faults, score_item
from benchbook.evaluators.checks.spec import CheckSpec, ChecksSpec, Gate, aggregate_names, column_names

__all__ = [
    "REASONS", "CheckResult", "CheckSpec", "ChecksSpec", "ChecksSpecError", "Gate", "ItemError", "ItemScore", "Reason",
    "aggregate_names", "column_names", "item_faults", "read_checks", "score_item",
]  # fmt: skip
