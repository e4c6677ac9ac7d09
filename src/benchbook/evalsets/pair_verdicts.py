"""Verdicts on pairs of answers, each pair judged in both orders: a table that was made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.tabular import read_table

__all__ = ["PairVerdict", "Winner", "read_pair_verdicts"]

Winner = Literal[1, 2]

_NAMES = ("judge", "item")
_WINNERS = ("winner_ab", "winner_ba")


class PairVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Which of two answers a judge preferred with answer 1 shown first (`ab`), and with answer 2 (`ba`).

    A winner is the answer's number, whatever place it was shown in; None where the judge named none.
    """

    judge: str
    group: tuple[str, ...]  # the values of the columns that verdicts are grouped by
    item: str
    ab: Winner | None
    ba: Winner | None
    gold: Winner | None


def read_pair_verdicts(path: str | Path, by: Sequence[str] = ()) -> Iterator[PairVerdict]:
    """A table (JSONL, CSV, Parquet) with `judge`, `item`, `winner_ab`, `winner_ba` and, where people said, `gold`.

    `by` names further columns, such as a prompting strategy, whose values tell verdicts apart.
    Raises: InputError naming the line and the field; UsageError where the file can't be read.
    """
    seen: dict[tuple[str, ...], int] = {}
    for line, row in read_table(path):
        for name in (*_NAMES, *_WINNERS, *by):
            if name not in row:
                raise InputError(path, line=line, field=name, found="no such column", expected=_expected(by))
        judge, item, *group = (_name(path, line, name, row[name]) for name in (*_NAMES, *by))
        key = (judge, item, *group)
        if key in seen:
            raise InputError(path, line=line, field="item", found=f"{item!r} again, as on line {seen[key]}")
        seen[key] = line
        ab, ba, gold = (_winner(path, line, name, row.get(name)) for name in (*_WINNERS, "gold"))
        yield PairVerdict(judge=judge, group=tuple(group), item=item, ab=ab, ba=ba, gold=gold)


def _expected(by: Sequence[str]) -> str:
    return f"the columns {', '.join((*_NAMES, *_WINNERS, *by))} and, where people judged, gold"


def _name(path: str | Path, line: int, field: str, value: Any) -> str:
    """A text, or a number as one: tables often number their items."""
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(path, line=line, field=field, found=repr(value)[:80], expected="a name or a number")
    return str(value)


def _winner(path: str | Path, line: int, field: str, value: Any) -> Winner | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or str(value) not in ("1", "2"):
        raise InputError(path, line=line, field=field, found=repr(value)[:80], expected="1, 2, or nothing")
    return 1 if str(value) == "1" else 2
