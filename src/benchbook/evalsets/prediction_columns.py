"""The columns of a file of predictions that are read (SPEC A5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from benchbook.evalsets.table_columns import EXPECTED, ITEM_ID, KnownColumn, output_column

__all__ = ["MILLISECONDS", "PREDICTION_COLUMNS"]

PREDICTION_COLUMNS: Mapping[str, KnownColumn] = {
    "item_id": ITEM_ID,
    "predicted": output_column("predicted"),
    "expected": EXPECTED,
    "eval_time_ms": KnownColumn(("eval_time_ms",)),
}


class _Milliseconds(TypedDict):
    most: int
    what: str


# Of `eval_time_ms`, which is never summed, so that whatever a column holds is kept.
MILLISECONDS: _Milliseconds = {"most": 2**63 - 1, "what": "whole milliseconds"}
