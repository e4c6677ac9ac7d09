"""How the numbers of a comparison are written; all others are written by `numbers`."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.comparison.difference import Difference
from benchbook.statistics.results import WARNINGS
from benchbook.views import numbers

__all__ = ["interval", "items_moved", "p_value", "points", "signed", "warnings"]


_MINUS = "−"
# Why there is no interval, short enough for a cell of a table.
_SHORT: Mapping[str, str] = {
    "no_data": "no items",
    "one_value": "one item",
    "one_cluster": "one cluster",
    "no_variance": "all differ alike",
    "no_discordant_pairs": "no pair differs",
}


def signed(value: float | None, kind: numbers.Kind = "score") -> str:
    """`+0.0700`, `−0.0120`, `0.0000`; a score is never rounded onto 0."""
    if value is None:
        return numbers.nothing()
    shown = numbers.show(kind, abs(value))
    return shown if not value else f"{'+' if value > 0 else _MINUS}{shown}"


def points(found: Difference) -> str:
    """`0.2 points`: how far a difference of scores from 0 to 1 may lie from 0, either way."""
    reach = 100 * max(abs(found.low or 0.0), abs(found.high or 0.0))
    digits = 1 if reach >= 0.05 else 4
    return f"{reach:.{digits}f} points"


def p_value(p: float | None) -> str:
    """`0.118`; `< 0.001` for what is smaller, since no test here is that exact."""
    if p is None:
        return numbers.nothing()
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def interval(found: Difference, kind: numbers.Kind = "score") -> str:
    """`−0.0067 to +0.1467`, or why there is none."""
    if found.low is None or found.high is None:
        return numbers.nothing(None if found.reason is None else _SHORT.get(found.reason, found.reason))
    return f"{signed(found.low, kind)} to {signed(found.high, kind)}"


def items_moved(found: Difference) -> str:
    """`4 lost, 11 won of 100`."""
    return f"{found.n_lost:,} lost, {found.n_won:,} won of {found.n:,}"


def warnings(found: Difference) -> list[str]:
    """What to be warned of when this difference is read."""
    return [WARNINGS.get(name, name) for name in found.warnings]
