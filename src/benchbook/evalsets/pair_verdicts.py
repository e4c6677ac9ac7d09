"""Verdicts on pairs of answers, each pair judged in both orders: a table that was made elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.table_values import id_at, is_missing, shown
from benchbook.evalsets.tabular import read_table, table_columns
from benchbook.text import quoted

__all__ = ["TIE", "PairVerdict", "Winner", "read_pair_verdicts"]

Winner = Literal[0, 1, 2]
TIE: Winner = 0  # a verdict too: neither answer is better

# As judges and tables write them, without case, brackets and spaces. Letters and numbers name an answer, whatever place
# it was shown in; `first` and `second` could mean a place, and 0 either answer: they are refused.
_ANSWERS: tuple[tuple[str, Winner], ...] = (("1", 1), ("2", 2), ("a", 1), ("b", 2))
_SPELLINGS: dict[str, Winner] = {
    **{
        f"{prefix}{name}": winner
        for prefix in ("", "answer", "model", "assistant", "output", "response")
        for name, winner in _ANSWERS
    },
    "1.0": 1,
    "2.0": 2,
    **dict.fromkeys(
        (
            "tie", "ties", "tied", "draw", "drawn", "equal", "equallygood", "equallybad", "even", "same", "c", "0.5",
            "=", "both", "bothgood", "bothbad", "tiebothbad", "tiebothgood",
        ),
        0,
    ),
}  # fmt: skip
_IGNORED = re.compile(r"[\s_\[\](){}\"']+|(?<=[A-Za-z])-")

_NAMES = ("judge", "item")
_WINNERS = ("winner_ab", "winner_ba")


class PairVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Which of two answers a judge preferred with answer 1 shown first (`ab`), and with answer 2 (`ba`).

    A winner is the answer's number, whatever place it was shown in, or TIE; None where the judge said nothing.
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
    _refuse_missing(path, by)
    for line, row in read_table(path):
        judge, item, *group = (id_at(path, line, name, row.get(name)) for name in (*_NAMES, *by))
        key = (judge, item, *group)
        if key in seen:
            raise InputError(path, line=line, field="item", found=f"{quoted(item)} again, as on line {seen[key]}")
        seen[key] = line
        ab, ba, gold = (_winner(path, line, name, row.get(name)) for name in (*_WINNERS, "gold"))
        yield PairVerdict(judge=judge, group=tuple(group), item=item, ab=ab, ba=ba, gold=gold)


def _refuse_missing(path: str | Path, by: Sequence[str]) -> None:
    """Raises: InputError where no row has one of the columns."""
    names = table_columns(path)
    for name in (*_NAMES, *_WINNERS, *by) if names else ():
        if name not in names:
            raise InputError(path, line=1, field=name, found="no such column", expected=_expected(by))


def _expected(by: Sequence[str]) -> str:
    return f"the columns {', '.join((*_NAMES, *_WINNERS, *by))} and, where people judged, gold"


def _winner(path: str | Path, line: int, field: str, value: Any) -> Winner | None:
    if is_missing(value) or value == "":
        return None
    known = isinstance(value, str | int | float) and not isinstance(value, bool)
    winner = _SPELLINGS.get(_IGNORED.sub("", str(value)[:80]).casefold()) if known else None
    if winner is None:
        expected = "1 or 2, A or B, tie (or C, equal, 0.5), or nothing"
        raise InputError(path, line=line, field=field, found=shown(value), expected=expected)
    return winner
