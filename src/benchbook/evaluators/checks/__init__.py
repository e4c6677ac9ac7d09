"""checks: evaluators without a judge. A spec of deterministic checks is data; scoring an item is a pure function.

compared        the part of an answer that is looked at
kind, kinds     the kinds of checks (equals, contains, number, choice, …), and their results
spec            an evaluator's checks, weights and gates; one item: the score, whether it passes
reading         the same read from a folder's `spec.toml`, with every fault
rows, gates     a run: columns, aggregates, the decision by gates
evaluator       those that are shipped (in `specs`), a user's own, the one that a record keeps
"""

from benchbook.evaluators.checks.kind import REASONS, CheckResult, Reason
from benchbook.evaluators.checks.reading import read_checks
from benchbook.evaluators.checks.spec import (
    CheckSpec,
    ChecksSpec,
    GateSpec,
    ItemScore,
    aggregate_names,
    column_names,
    item_faults,
    score_item,
)

__all__ = [
    "REASONS", "CheckResult", "CheckSpec", "ChecksSpec", "GateSpec", "ItemScore", "Reason",
    "aggregate_names", "column_names", "item_faults", "read_checks", "score_item",
]  # fmt: skip
