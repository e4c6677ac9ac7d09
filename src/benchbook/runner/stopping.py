"""Why a run stops before its plan's end, said once."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["Stop"]

# A word that has a digit in it: request ids, counts of tokens. It differs from one error to the next of a kind.
_NUMBERED = re.compile(r"\S*\d\S*")
SAME_FAILURES = 10  # R3.6: so many samples in a row that end in the same non-retryable error


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
        self._last_failure: str | None = None
        self._in_a_row = 0

    def because(self, reason: str, *, failed: bool = False, usage: bool = False) -> None:
        """The first reason stays."""
        if self.reason is None:
            self.reason, self.failed, self.usage = reason, failed, usage
            self.on_stop()

    def settle(self) -> None:
        """What stopped the asking was no limit and nobody's wish: the run is whole as it is."""
        self.reason, self.failed, self.usage, self.interrupted = None, False, False, False

    def note_final_failure(self, what: str) -> None:
        """A sample ended in a non-retryable error."""
        kind = _NUMBERED.sub("#", what)
        self._in_a_row = self._in_a_row + 1 if kind == self._last_failure else 1
        self._last_failure = kind
        if self._in_a_row >= SAME_FAILURES:
            self.because(f"{SAME_FAILURES} samples in a row ended in the same error: {what}", failed=True)

    def note_answer(self) -> None:
        self._in_a_row = 0
