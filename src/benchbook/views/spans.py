"""Values with their intervals on one axis, as data: whoever draws them decides nothing and writes no number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.evaluators.document import Kind, Tone


@dataclass(frozen=True, slots=True)
class SpanLine:
    """One value and its interval, as drawn and as written; a bound is null where there is none. `state` says whether it
    is as asked, in the colour of `tone`; empty where nothing was asked."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    words: str
    tone: Tone
    state: str


@dataclass(frozen=True, slots=True)
class Spans:
    """Values of one `kind` on an axis from `lowest` to `highest`, a line each.

    `mark` is the limit that was asked for, or where nothing differs; from `good_from` to `good_to` is as asked. All
    three are null where nothing was asked. `signed`: the numbers of the axis have their sign.
    """

    title: str
    about: str  # a sentence on what is drawn; may be empty
    kind: Kind
    lowest: float
    highest: float
    lines: tuple[SpanLine, ...]
    mark: float | None = None
    good_from: float | None = None
    good_to: float | None = None
    signed: bool = False


_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def axis_end(values: Sequence[float | None], most: float) -> float:
    """The end of an axis from 0 that shows all of `values`: the next round number, `most` at most."""
    needed = max((abs(value) for value in values if value is not None), default=0.0)
    if not needed:
        return most
    power = 1.0
    while power > needed:
        power /= 10
    while power * 10 <= needed:
        power *= 10
    return min(most, next(round(factor * power, 12) for factor in _ROUND if factor * power >= needed))
