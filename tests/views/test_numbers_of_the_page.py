"""Reports and the page make the same of a number: each case of `numbers.json` is held here, and in `ui/src`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.comparison.difference import Difference
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.protocol.rows import Measured
from benchbook.views import numbers
from benchbook.views.protocol import tables

TABLES: dict[str, list[list[Any]]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "numbers.json").read_text(encoding="utf-8")
)
del TABLES["about"]


def interval(kind: Any, low: float | None, high: float | None, confidence: float, reason: str | None) -> str:
    found = Interval(low=low, high=high, confidence=confidence, method="wilson", n=40, reason=reason)
    return numbers.interval(kind, found)


def difference(low: float | None, high: float | None, reason: str | None = None) -> Difference:
    return Difference(
        n=10, mean_a=0.5, mean_b=0.6, difference=0.1, low=low, high=high, confidence=0.95, method="t", n_lost=1,
        n_won=2, p=0.5, test="t", verdict="not_told", reason=reason,
    )  # fmt: skip


def measured(
    kind: Any, value: float | None, low: float | None, high: float | None, units: int, at_least: int, reason: str | None
) -> str:
    found = Measured(
        value=value, low=low, high=high, n=40, n_units=units, at_least=at_least, method="t", reason=reason, warnings=[]
    )
    return tables.measured(kind, found, 0.95)


WRITERS: dict[str, Callable[..., str]] = {
    "show": lambda kind, value, limit, why: numbers.show(kind, value, apart_from=limit, unknown=why),
    "limit": numbers.limit,
    "interval": interval,
    "signed": numbers.signed,
    "difference": lambda low, high, reason: numbers.difference_interval(difference(low, high, reason)),
    "points": lambda low, high: numbers.points(difference(low, high)),
    "p": numbers.p_value,
    "measured": measured,
}


@pytest.mark.parametrize(
    ("name", "case"), [(name.split(":")[0], case) for name, cases in TABLES.items() for case in cases]
)
def test_a_number_reads_as_the_table_says(name: str, case: list[Any]) -> None:
    *given, wanted = case
    assert WRITERS[name](*given) == wanted
