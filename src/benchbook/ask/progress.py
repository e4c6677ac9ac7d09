"""How far a run is: counted from facts, while it runs and when it is resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from benchbook.record.facts import Failure, Reply, SampleFact
from benchbook.record.reading import Line

__all__ = ["Progress", "ProgressHandler", "Resume"]


@dataclass(slots=True)
class Progress:
    """Told to whoever watches, after each sample."""

    planned: int
    done: int = 0
    cost_usd: Decimal = Decimal(0)
    stopping: str | None = None
    waiting: str | None = None  # why calls wait, in words


ProgressHandler = Callable[[Progress], None]


class Resume:
    """Which samples a journal has finished, and the facts of those it has begun.

    A bit a finished sample, and facts only of unfinished ones: as many as were under way at once.
    """

    def __init__(
        self,
        n_samples: int,
        is_finished: Callable[[list[SampleFact]], bool],
        endpoint_of: Callable[[Reply], str] = lambda reply: reply.role,
    ) -> None:
        self._is_finished = is_finished
        self._endpoint_of = endpoint_of
        self._done = bytearray((n_samples + 7) // 8)
        self.begun: dict[int, list[SampleFact]] = {}
        self.n_done = 0
        self.tokens: dict[str, list[int]] = {}  # by endpoint: those that were paid for, in and out

    def note(self, line: Line) -> None:
        fact = line.fact
        if not isinstance(fact, Reply | Failure):
            return
        facts = self.begun.setdefault(fact.sample, [])
        facts.append(fact)
        if isinstance(fact, Reply) and not fact.cached:
            tokens = self.tokens.setdefault(self._endpoint_of(fact), [0, 0])
            tokens[0] += fact.input_tokens or 0
            tokens[1] += fact.output_tokens or 0
        if self._is_finished(facts):
            self.mark_done(fact.sample)
            del self.begun[fact.sample]

    def mark_done(self, sample: int) -> None:
        self._done[sample >> 3] |= 1 << (sample & 7)
        self.n_done += 1

    def is_done(self, sample: int) -> bool:
        return bool(self._done[sample >> 3] >> (sample & 7) & 1)
