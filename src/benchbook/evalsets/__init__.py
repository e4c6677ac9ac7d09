"""evalsets: reading, validating and hashing eval sets, and the sets that Benchbook ships.

eval set    a JSONL file of items. Not: dataset, test set.
item        one line of it: a prompt and the answer that is expected. Not: example, case, question.
"""

from benchbook.evalsets.evalset import EvalSet, open_evalset
from benchbook.evalsets.items import Item, read_item

__all__ = ["EvalSet", "Item", "open_evalset", "read_item"]
