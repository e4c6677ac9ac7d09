"""The progress of a verification: facts that were read, then samples that were derived again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from benchbook.record.reading import JournalLine
from benchbook.record.state import JournalState

VerifyStep = Literal["facts", "samples"]
VerifyHandler = Callable[[VerifyStep, int, int | None], None]  # takes how many are done, of how many, where it is known
_LineHandler = Callable[[JournalLine], None]
_EVERY = 512


def telling(
    on_progress: VerifyHandler | None, look_at: _LineHandler, count_facts: Callable[[], int | None]
) -> _LineHandler:
    """`look_at`, which reports now and then how many lines it was called with."""
    if on_progress is None:
        return look_at
    n_facts = count_facts()
    on_progress("facts", 0, n_facts)

    def look(line: JournalLine) -> None:
        if (line.fact.seq + 1) % _EVERY == 0:
            on_progress("facts", line.fact.seq + 1, n_facts)
        look_at(line)

    return look


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
