"""Verdicts on pairs of models: from a table, and gathered from several files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.table_columns import count_at, id_at, optional_text_at
from benchbook.evalsets.tables import read_table, table_columns
from benchbook.labels.winners import says_both_bad, winner_at
from benchbook.text import quoted

First = Literal["a", "b"]
Swap = Literal["tie", "half"]

NAMELESS = "judge"  # who judged, where the file does not say
_SHARES: Mapping[int, float] = {1: 1.0, 0: 0.5, 2: 0.0}


class Showing(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers, shown to a judge in one order."""

    won: float | None  # the share of the win that is model_a's: 1, 0, half of a tie; None where nothing was said
    first: First | None  # whose answer was shown first; None where nobody knows
    weight: int = 1  # so many verdicts it counts for
    both_bad: bool = False


class PairedAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of a judge on two models' answers to an item, in one order or in both; lengths in characters."""

    judge: str
    item: str
    model_a: str
    model_b: str
    showings: tuple[Showing, ...]
    chars_a: int | None = None
    chars_b: int | None = None

    def turned(self) -> PairedAnswers:
        """The same, with the models in the other order."""
        other: Mapping[First | None, First | None] = {"a": "b", "b": "a", None: None}
        return PairedAnswers(
            judge=self.judge,
            item=self.item,
            model_a=self.model_b,
            model_b=self.model_a,
            showings=tuple(
                Showing(
                    won=None if one.won is None else 1 - one.won,
                    first=other[one.first],
                    weight=one.weight,
                    both_bad=one.both_bad,
                )
                for one in self.showings
            ),
            chars_a=self.chars_b,
            chars_b=self.chars_a,
        )


Place = tuple[str, int | None]
"""A file, and the line in it; None where it has no lines to count."""


def gathered(found: Iterable[tuple[Place, PairedAnswers]]) -> list[PairedAnswers]:
    """The verdicts, with models in the order of their names; the two orders of one pair, if apart, are one verdict.

    Raises: InputError where a verdict comes twice: in the same order, or without saying in which.
    """
    kept: dict[tuple[str, str, str, str], PairedAnswers] = {}
    places: dict[tuple[str, str, str, str], Place] = {}
    for place, read in found:
        one = read if read.model_a <= read.model_b else read.turned()
        key = (one.judge, one.item, one.model_a, one.model_b)
        if key in kept:
            orders = [showing.first for both in (kept[key], one) for showing in both.showings]
            if None in orders or len(set(orders)) < len(orders):
                raise _twice(place, places[key], one)
            one = msgspec.structs.replace(kept[key], showings=kept[key].showings + one.showings)
        kept[key] = one
        places.setdefault(key, place)
    return list(kept.values())


def _twice(place: Place, before: Place, one: PairedAnswers) -> InputError:
    same_file = "before" if before[1] is None else f"on line {before[1]}"
    where = same_file if before[0] == place[0] else f"in {before[0]}" + ("" if before[1] is None else f":{before[1]}")
    names = " and ".join(quoted(name, 40) for name in (one.model_a, one.model_b))
    found = f"{quoted(one.item)} of {names} again, as {where}"
    return InputError(place[0], line=place[1], field="item", found=found, expected="one verdict; or `first`, a and b")


# ── a table ──────────────────────────────────────────────────────────────────────────────────────────────────

_NEEDED = ("item", "model_a", "model_b")
_BOTH_ORDERS = ("winner_ab", "winner_ba")
_EXPECTED = "the columns item, model_a, model_b, and winner_ab and winner_ba, or winner (with first, a or b)"


def read_table_of_pairs(path: str | Path) -> Iterator[tuple[Place, PairedAnswers]]:
    """The rows of a table (JSONL, CSV, Parquet): `item`, `model_a`, `model_b` and who won.

    Who won is the answer, whatever its place: in `winner_ab`, with a shown first, and `winner_ba`; or in `winner`, with
    `first` where it is known. `judge`, and `chars_a` and `chars_b` (or `answer_a` and `answer_b`, whose lengths are
    taken), may be there too.

    Raises: InputError naming the line and the field; UsageError where the file can't be read.
    """
    names = table_columns(path)
    both = _refuse_missing(path, names)
    has_judge = "judge" in names
    for line, row in read_table(path):
        item, model_a, model_b = (id_at(path, line, name, row.get(name)) for name in _NEEDED)
        lengths = [_length(path, line, row, side) for side in ("a", "b")]
        yield (
            (str(path), line),
            PairedAnswers(
                judge=id_at(path, line, "judge", row.get("judge")) if has_judge else NAMELESS,
                item=item,
                model_a=model_a,
                model_b=model_b,
                showings=tuple(_showings(path, line, row, both)),
                chars_a=lengths[0],
                chars_b=lengths[1],
            ),
        )


def _refuse_missing(path: str | Path, names: list[str]) -> bool:
    """True where the table has a verdict for each order. Raises: InputError for a column that is not there, or both
    forms at once."""
    both = any(name in names for name in _BOTH_ORDERS)
    if both and "winner" in names:
        found = "winner beside winner_ab or winner_ba"
        raise InputError(path, line=1, field="winner", found=found, expected="one form or the other")
    for name in (*_NEEDED, *(_BOTH_ORDERS if both else ("winner",))) if names else ():
        if name not in names:
            raise InputError(path, line=1, field=name, found="no such column", expected=_EXPECTED)
    return both


def _showings(path: str | Path, line: int, row: Mapping[str, Any], both: bool) -> Iterator[Showing]:
    orders: list[tuple[str, First | None]] = [("winner_ab", "a"), ("winner_ba", "b")]
    for name, first in orders if both else [("winner", _first(path, line, row.get("first")))]:
        value = row.get(name)
        winner = winner_at(path, line, name, value)
        won = None if winner is None else _SHARES[winner]
        yield Showing(won=won, first=first, both_bad=won is not None and says_both_bad(value))


def _first(path: str | Path, line: int, value: Any) -> First | None:
    answer = winner_at(path, line, "first", value)
    if answer == 0:
        raise InputError(path, line=line, field="first", found="a tie", expected="a or b, or nothing")
    return None if answer is None else "a" if answer == 1 else "b"


def _length(path: str | Path, line: int, row: Mapping[str, Any], side: First) -> int | None:
    """The length of an answer in characters; None if neither it nor the answer is there."""
    counted = count_at(path, line, f"chars_{side}", row.get(f"chars_{side}"))
    if counted is not None:
        return counted
    answer = optional_text_at(path, line, f"answer_{side}", row.get(f"answer_{side}"))
    return None if answer is None else len(answer)
