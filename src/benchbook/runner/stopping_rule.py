"""Stops a run whose plan says so once it is decided, by the rule that later derives from the facts where that was."""

from __future__ import annotations

from benchbook.derivations.early_stop import early_stopping, is_finished
from benchbook.derivations.plan import Plan
from benchbook.derivations.rubric_steps import History, SampleFact, outcome_of, read_history
from benchbook.runner.stopping import Stop

__all__ = ["StoppingRule"]


class StoppingRule:
    """Looks at every sample that is finished: those that a journal has already, then those of this sitting."""

    def __init__(self, plan: Plan, derivation: int) -> None:
        self._plan = plan
        self._derivation = derivation
        self._stopping = early_stopping(plan)
        self.stop: Stop | None = None  # of the sitting, once there is one

    @property
    def is_decided(self) -> bool:
        return self._stopping is not None and self._stopping.decision is not None

    def is_finished(self, facts: list[SampleFact]) -> bool:
        """Whether nothing is left to be asked of a sample, by what the journal has of it so far."""
        history = read_history(facts, self._plan, self._derivation)
        if not is_finished(history):
            return False
        self.add(facts[0].sample, history)
        return True

    def add(self, sample: int, history: History) -> None:
        """A finished sample. The first that decides ends the asking; what is under way comes to its end."""
        if self._stopping is None or self.is_decided:
            return
        self._stopping.add(sample, outcome_of(history))
        if self._stopping.decision is not None and self.stop is not None:
            self.stop.because(self._stopping.decision.words)
