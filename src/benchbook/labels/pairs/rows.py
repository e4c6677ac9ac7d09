"""Verdicts as rows that are counted: each showing by itself, or the two orders of a verdict as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from benchbook.labels.pairs.verdicts import PairedAnswers, Showing, Swap


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict as it counts, for `halves` half verdicts; lengths in characters."""

    judge: str
    item: str
    model_a: str
    model_b: str
    won: float  # the share that is model_a's
    halves: int
    first: int  # 1 where model_a's answer was shown first, -1 where model_b's was, 0 where both were, or nobody knows
    chars: tuple[int, int] | None


def rows_of(verdicts: Iterable[PairedAnswers], swap: Swap) -> Iterator[PairRow]:
    """The rows of all verdicts, without those that say nothing.

    With `tie`, a verdict of both orders is one row, of a win that survives the swap or else a tie; nothing, where an
    order has no verdict. With `half`, each order is half a verdict by itself.
    """
    for one in verdicts:
        if swap == "tie" and len(one.showings) > 1:
            whole = survived(one.showings)
            if whole is not None:
                yield _row(one, whole, 2 * whole.weight)
            continue
        for showing in one.showings:
            if showing.won is not None:
                yield _row(one, showing, 2 * showing.weight // len(one.showings))


def survived(showings: tuple[Showing, ...]) -> Showing | None:
    """The verdict of both orders as one: a win in both, else a tie; None where an order has no verdict.

    A win that was said strongly (a weight above 1) in one order alone counts no more than one that was not.
    """
    if any(one.won is None for one in showings):
        return None
    if len({one.won for one in showings}) > 1:
        return Showing(won=0.5, first=None)
    both_bad = all(one.both_bad for one in showings)
    return Showing(won=showings[0].won, first=None, weight=min(one.weight for one in showings), both_bad=both_bad)


def _row(one: PairedAnswers, showing: Showing, halves: int) -> PairRow:
    return PairRow(
        judge=one.judge,
        item=one.item,
        model_a=one.model_a,
        model_b=one.model_b,
        won=0.5 if showing.won is None else showing.won,
        halves=halves,
        first={"a": 1, "b": -1, None: 0}[showing.first],
        chars=None if one.chars_a is None or one.chars_b is None else (one.chars_a, one.chars_b),
    )
