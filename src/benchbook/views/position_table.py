"""Judges' position consistency as a table of plain text."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.labels.position import PositionTrial
from benchbook.statistics import Estimate
from benchbook.text import one_line
from benchbook.views import numbers
from benchbook.views.comparison_numbers import p_value
from benchbook.views.tables import Column, Table

__all__ = ["position_table"]


def position_table(found: Sequence[PositionTrial], by: Sequence[str] = ()) -> Table:
    """A row for each judge in each group; `by` names the columns that made the groups. Ties, if any, are shown."""
    ties = any(one.n_tied or one.n_half_tied for one in found)
    columns = (
        Column("Judge"),
        *(Column(one_line(name)) for name in by),
        Column("Pairs", number=True),
        Column("No verdict", number=True),
        Column("Consistent", number=True),
        *([Column("Tied in both", number=True)] if ties else []),
        Column("First place", number=True),
        Column("Second place", number=True),
        *([Column("Tied in one", number=True)] if ties else []),
        Column("p of no bias", number=True),
        Column("Right in both", number=True),
    )
    rows = tuple(
        (
            one_line(one.judge),
            *(one_line(value) for value in one.group),
            numbers.count(one.n_pairs),
            numbers.count(one.n_missing),
            _share(one.consistency),
            *([numbers.count(one.n_tied)] if ties else []),
            numbers.count(one.n_first),
            numbers.count(one.n_second),
            *([numbers.count(one.n_half_tied)] if ties else []),
            numbers.nothing() if one.p_value is None else p_value(one.p_value),
            numbers.nothing() if one.right is None else _share(one.right),
        )
        for one in found
    )
    return Table("Whether the answer wins in both orders, or the place in which it was shown", columns, rows)


def _share(found: Estimate) -> str:
    if found.estimate is None or found.low is None or found.high is None:
        return numbers.nothing()
    return f"{100 * found.estimate:.1f} % [{100 * found.low:.1f}, {100 * found.high:.1f}]"
