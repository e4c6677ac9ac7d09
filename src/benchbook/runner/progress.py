"""How far a run is: counted from facts, while it runs and when it is resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from benchbook.derivations.plan import Plan
from benchbook.derivations.rubric_steps import Done, SampleFact, next_step, read_history
from benchbook.records import Failure, Line, Reply

__all__ = ["Progress", "ProgressHandler", "Resume"]


@dataclass(slots=True)
class Progress:
    """Told to whoever watches, after each sample."""

    planned: int
    done: int = 0
    cost_usd: Decimal = Decimal(0)
    stopping: str | None = None


ProgressHandler = Callable[[Progress], None]


class Resume:
    """Which samples a journal has finished, and the facts of those it has begun.

    A bit a finished sample, and facts only of unfinished ones: as many as were under way at once.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._done = bytearray((plan.n_samples + 7) // 8)
        self.begun: dict[int, list[SampleFact]] = {}
        self.n_done = 0
        self.tokens: dict[str, list[int]] = {"candidate": [0, 0], "judge": [0, 0]}

    def note(self, line: Line) -> None:
        fact = line.fact
        if not isinstance(fact, Reply | Failure):
            return
        facts = self.begun.setdefault(fact.sample, [])
        facts.append(fact)
        if isinstance(fact, Reply) and not fact.cached:
            tokens = self.tokens[fact.role]
            tokens[0] += fact.input_tokens or 0
            tokens[1] += fact.output_tokens or 0
        if isinstance(next_step(read_history(facts, self._plan)), Done):
            self.mark_done(fact.sample)
            del self.begun[fact.sample]

    def mark_done(self, sample: int) -> None:
        self._done[sample >> 3] |= 1 << (sample & 7)
        self.n_done += 1

    def is_done(self, sample: int) -> bool:
        return bool(self._done[sample >> 3] >> (sample & 7) & 1)
