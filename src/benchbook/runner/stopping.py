"""Why a run stops before its plan's end, said once."""

from __future__ import annotations

from collections.abc import Callable

from benchbook.text import sentences

__all__ = ["Stop"]

UNANSWERED_IN_A_ROW = 10  # R3.6a: so many samples in a row that end unanswered stop the run


class Stop:
    """Set by whoever finds a reason; workers look at it before they take the next sample.

    `failed`: something is wrong and a person must act, against a limit that was reached or a Ctrl-C.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.failed = False
        self.interrupted = False  # by a person, once already
        self.usage = False  # what is wrong is how the run was set up
        self.on_stop: Callable[[], None] = lambda: None
        self.n_answered = 0  # in this sitting
        self._in_a_row = 0
        self._last_said = ""
        self._last_advice = ""

    def because(self, reason: str, *, failed: bool = False, usage: bool = False) -> None:
        """The first reason stays."""
        if self.reason is None:
            self.reason, self.failed, self.usage = reason, failed, usage
            self.on_stop()

    def settle(self) -> None:
        """What stopped the asking was no limit and nobody's wish: the run is whole as it is."""
        self.reason, self.failed, self.usage, self.interrupted = None, False, False, False

    def note_unanswered(self, said: str, advice: str, *, in_a_row: bool = True) -> None:
        """A sample ended unanswered: `said` has who was asked and what came of it, `advice` what mends that."""
        self._in_a_row += in_a_row
        self._last_said, self._last_advice = said, advice
        if self._in_a_row >= UNANSWERED_IN_A_ROW:
            reason = f"{UNANSWERED_IN_A_ROW} samples in a row are unanswered: {said}"
            self.because(sentences(reason, advice), failed=True)

    def note_answer(self) -> None:
        """A sample came to its end; a candidate's answer does not undo its judge's failure."""
        self._in_a_row = 0
        self.n_answered += 1

    def over_unanswered(self, n_left: int, *, accept: bool) -> None:
        """The asking is over, and `n_left` samples wait for an answer: the run stops, resumably, unless it may `accept`
        them. A set of which none was answered is never accepted at once (R3.6a)."""
        if self.reason is not None or not n_left or (accept and self.n_answered):
            return
        are = "1 sample is" if n_left == 1 else f"{n_left:,} samples are"
        said = sentences(f": {self._last_said}", self._last_advice) if self._last_said else ""
        self.because(f"{are} unanswered{said}", failed=True)
