"""What is counted of a sample under some rubrics alone, beside its scores. A rubric without it has none of this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import add
from typing import NamedTuple

import msgspec

__all__ = ["Further", "FurtherSums", "MetCounts"]


class MetCounts(NamedTuple):
    """How many of items' own criteria have a positive weight, and a negative one, and how many of them are met."""

    positive: int = 0
    positive_met: int = 0
    negative: int = 0
    negative_met: int = 0


_NONE_MET = MetCounts()


class Further(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one sample. `quotes_found` has, by criterion whose quotes are counted, whether its own was
    found; None where there is none."""

    quotes_found: tuple[bool | None, ...] = ()
    cost_nano_usd: int | None = None
    met: MetCounts | None = None  # of the item's own criteria


@dataclass(slots=True)
class FurtherSums:
    """Counts over samples: `quotes` has, by criterion whose quotes are counted, how many there are, and how many were
    found."""

    quotes: list[tuple[int, int]] = field(default_factory=list)
    n_costs: int = 0  # whose cost is known
    cost_nano_usd: int = 0
    met: MetCounts = _NONE_MET

    @classmethod
    def over(cls, n_quoted: int) -> FurtherSums:
        return cls([(0, 0)] * n_quoted)

    def add(self, more: Further | None) -> None:
        if more is None:
            return
        self._add_quotes(more.quotes_found)
        if more.cost_nano_usd is not None:
            self.n_costs += 1
            self.cost_nano_usd += more.cost_nano_usd
        if more.met is not None:
            self.met = MetCounts(*map(add, self.met, more.met))

    def _add_quotes(self, found: Sequence[bool | None]) -> None:
        for number, one in enumerate(found):
            if one is not None:
                n, n_found = self.quotes[number]
                self.quotes[number] = n + 1, n_found + one
