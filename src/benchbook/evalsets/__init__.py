"""evalsets: reading, validating and hashing eval sets, and the sets that Benchbook ships.

eval set    a file of items: JSON lines, or a table. Not: dataset, test set.
item        one line of it: a prompt and the expected answer. Not: example, case, question.
finding     a remark of the validator about a line, or about the file. Not: issue, violation.
profile     a named rule for the make-up of a set: golden-v1, eval_v1, eval_v2, rubric, score.
prediction  an output that was made elsewhere and is read from a file (source 004's word).

The validator is `benchbook.evalsets.validate.validate`; predictions are in `benchbook.evalsets.predictions`.
"""

from benchbook.evalsets.composition import CompositionRow, composition_rows
from benchbook.evalsets.evalset import EvalSet
from benchbook.evalsets.findings import Finding
from benchbook.evalsets.items import Item, read_item
from benchbook.evalsets.opening import open_evalset, shipped_names, shipped_path
from benchbook.evalsets.starting import start_evalset

__all__ = [
    "CompositionRow",
    "EvalSet",
    "Finding",
    "Item",
    "composition_rows",
    "open_evalset",
    "read_item",
    "shipped_names",
    "shipped_path",
    "start_evalset",
]
