"""The progress of a verification: facts that were read, then samples that were derived again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from benchbook.record.blocks import CallLines
from benchbook.record.reading import JournalLine
from benchbook.record.state import JournalState, LineLooker

VerifyStep = Literal["facts", "samples"]
VerifyHandler = Callable[[VerifyStep, int, int | None], None]  # takes how many are done, of how many, where it is known
_EVERY = 512


class _Telling:
    """Shows lines to another, and reports now and then how many."""

    def __init__(self, on_progress: VerifyHandler, looker: LineLooker, n_facts: int | None) -> None:
        self._on_progress = on_progress
        self._looker = looker
        self._n_facts = n_facts
        self._told = 0
        on_progress("facts", 0, n_facts)

    def look_at_segment(self, path: Path, lines: bytes) -> None:
        self._looker.look_at_segment(path, lines)

    def look_at(self, line: JournalLine) -> None:
        self._tell(line.fact.seq + 1)
        self._looker.look_at(line)

    def look_at_calls(self, block: CallLines) -> None:
        self._tell(block.facts[-1].seq + 1)
        self._looker.look_at_calls(block)

    def _tell(self, n: int) -> None:
        if n >= self._told + _EVERY:
            self._told = n - n % _EVERY
            self._on_progress("facts", self._told, self._n_facts)


def telling(on_progress: VerifyHandler | None, looker: LineLooker, count_facts: Callable[[], int | None]) -> LineLooker:
    """`looker`, which reports now and then how many lines it was shown."""
    return looker if on_progress is None else _Telling(on_progress, looker, count_facts())


def tell_samples(on_progress: VerifyHandler | None, state: JournalState) -> None:
    """Report the samples that are gone through from here on. Some evaluators go through them more than once."""
    if on_progress is None:
        return
    following = 0

    def look(sample: int) -> None:
        nonlocal following
        if sample >= following:
            following = sample + _EVERY
            on_progress("samples", sample, state.n_samples)

    on_progress("samples", 0, state.n_samples)
    state.index.on_sample = look
