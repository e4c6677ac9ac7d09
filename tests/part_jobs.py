"""Jobs for worker processes, which import them by this name."""

from __future__ import annotations

import os
import signal
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchbook.evalsets import EvalSet
from benchbook.evaluators.parts import SamplePart
from benchbook.record.fact_index import FactIndex


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


def parts_without_facts(n: int) -> Iterator[SamplePart]:
    """Parts of one sample each, which nobody reads."""
    items = EvalSet(Path("none"), "0", array("Q", [0] * n), grouped=False, plain=True)
    facts = FactIndex(Path("none"))
    return (SamplePart(first, first + 1, facts, items, n) for first in range(n))
