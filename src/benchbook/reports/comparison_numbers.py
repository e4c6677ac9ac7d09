"""How the numbers of a comparison are written; all others are written by `numbers`."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.decisions.comparison_difference import Difference
from benchbook.reports import numbers
from benchbook.statistics.results import WARNINGS

__all__ = ["interval", "items_moved", "p_value", "signed", "warnings"]

_MINUS = "−"
# Why there is no interval, short enough for a cell of a table.
_SHORT: Mapping[str, str] = {
    "no_data": "no items",
    "one_value": "one item",
    "one_cluster": "one cluster",
    "no_variance": "all differ alike",
    "no_discordant_pairs": "no pair differs",
}


def signed(value: float | None) -> str:
    """`+0.0700`, `−0.0120`, `0.0000`; never rounded onto 0."""
    if value is None:
        return numbers.nothing()
    shown = numbers.score(abs(value))
    return shown if not value else f"{'+' if value > 0 else _MINUS}{shown}"


def p_value(p: float | None) -> str:
    """`0.118`; `< 0.001` for what is smaller, since no test here is that exact."""
    if p is None:
        return numbers.nothing()
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def interval(found: Difference) -> str:
    """`−0.0067 to +0.1467`, or why there is none."""
    if found.low is None or found.high is None:
        return numbers.nothing(None if found.reason is None else _SHORT.get(found.reason, found.reason))
    return f"{signed(found.low)} to {signed(found.high)}"


def items_moved(found: Difference) -> str:
    """`4 lost, 11 won of 100`."""
    return f"{found.n_lost:,} lost, {found.n_won:,} won of {found.n:,}"


def warnings(found: Difference) -> list[str]:
    """What to be warned of when this difference is read."""
    return [WARNINGS.get(name, name) for name in found.warnings]
