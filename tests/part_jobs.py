"""Jobs for worker processes, which import them by this name."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NamedTuple

from benchbook.evaluators.parts import SamplePart


class Doing(NamedTuple):
    """A job that tells which process did it. `what` happens at the sample 2."""

    what: str

    def begin(self) -> Callable[[SamplePart], int]:
        return self.derive

    def derive(self, part: SamplePart) -> int:
        if part.first == 2:
            if self.what == "fails":
                raise ValueError("a fault")
            if self.what == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()


class Alone(NamedTuple):
    """A part without facts."""

    first: int

    def alone(self) -> Alone:
        return self
