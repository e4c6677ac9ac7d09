"""Judges that compared two answers in both orders: does an answer win, or the place in which it is shown?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.table_columns import id_at
from benchbook.evalsets.tables import read_table, table_columns
from benchbook.labels.winners import TIE, Winner, winner_at
from benchbook.statistics import Estimate, mcnemar, wilson
from benchbook.text import quoted

_NAMES = ("judge", "item")
_WINNERS = ("winner_ab", "winner_ba")


class PairVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's preference of two answers, with answer 1 shown first (`ab`), and with answer 2 first (`ba`).

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
        ab, ba, gold = (winner_at(path, line, name, row.get(name)) for name in (*_WINNERS, "gold"))
        yield PairVerdict(judge=judge, group=tuple(group), item=item, ab=ab, ba=ba, gold=gold)


def _refuse_missing(path: str | Path, by: Sequence[str]) -> None:
    """Raises: InputError where no row has one of the columns."""
    names = table_columns(path)
    for name in (*_NAMES, *_WINNERS, *by) if names else ():
        if name not in names:
            raise InputError(path, line=1, field=name, found="no such column", expected=_expected(by))


def _expected(by: Sequence[str]) -> str:
    return f"the columns {', '.join((*_NAMES, *_WINNERS, *by))} and, where people judged, gold"


_LEANING: Mapping[Winner, int] = {1: 1, TIE: 0, 2: -1}  # to the answer shown first, where that is answer 1


class PositionTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's position consistency (Zheng et al. 2023, "Judging LLM-as-a-judge", section 3.4), with Wilson intervals.

    A pair whose verdict misses in either order says nothing here, and is counted in `n_missing`. A tie is a verdict. A
    pair whose verdicts differ leans to a place: the answer shown there won in both orders, or in one, with a tie in the
    other.
    """

    judge: str
    group: tuple[str, ...]
    n_pairs: int
    n_missing: int
    n_consistent: int  # the same verdict in both orders
    n_tied: int  # of these: a tie in both
    n_first: int  # leaned to the answer shown first
    n_second: int  # leaned to the answer shown second
    n_half_tied: int  # of these two: a tie in one order alone
    consistency: Estimate  # share of the pairs with both verdicts
    first_share: Estimate  # share, among those that changed with the order, that leaned to the first; 0.5 is no bias
    p_value: float | None  # exact, of no bias for either place; None where no verdict changed
    right: Estimate | None  # share in which people's verdict was given in both orders, of the pairs that people judged


def position_trials(verdicts: Iterable[PairVerdict], *, confidence: float = 0.95) -> list[PositionTrial]:
    """Each judge in each group, sorted by their names."""
    cells: dict[tuple[tuple[str, ...], str], list[PairVerdict]] = {}
    for one in verdicts:
        cells.setdefault((one.group, one.judge), []).append(one)
    return [_trial(judge, group, cells[group, judge], confidence) for group, judge in sorted(cells)]


def _trial(judge: str, group: tuple[str, ...], cell: Sequence[PairVerdict], confidence: float) -> PositionTrial:
    whole = [(one.ab, one.ba) for one in cell if one.ab is not None and one.ba is not None]
    leanings = [_LEANING[ab] - _LEANING[ba] for ab, ba in whole]  # answer 1 was first in `ab`, answer 2 in `ba`
    n_consistent = leanings.count(0)
    n_first, n_second = sum(one > 0 for one in leanings), sum(one < 0 for one in leanings)
    with_gold = [one for one in cell if one.gold is not None]
    n_right = sum(one.ab == one.gold == one.ba for one in with_gold)
    return PositionTrial(
        judge=judge,
        group=group,
        n_pairs=len(cell),
        n_missing=len(cell) - len(whole),
        n_consistent=n_consistent,
        n_tied=whole.count((TIE, TIE)),
        n_first=n_first,
        n_second=n_second,
        n_half_tied=sum(TIE in one for one in whole) - whole.count((TIE, TIE)),
        consistency=wilson(n_consistent, len(whole), confidence),
        first_share=wilson(n_first, n_first + n_second, confidence),
        p_value=mcnemar(n_first, n_second).p_exact if n_first + n_second else None,
        right=wilson(n_right, len(with_gold), confidence) if with_gold else None,
    )
