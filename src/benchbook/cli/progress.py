"""The display of a run's progress on standard error: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbook.ask.work import Progress, ProgressHandler

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[ProgressHandler | None]:
    """A handler that shows progress while the block runs; None where nothing is to be shown."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as handler:
            yield handler
    else:
        yield _Lines().show


class _Lines:
    def __init__(self) -> None:
        self._started = time.monotonic()
        self._last = -math.inf  # the first sample is shown at once: it works

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_LINES or progress.done == progress.planned:
            self._last = now
            print(f"{_words(progress)}, {now - self._started:.0f} s", file=sys.stderr, flush=True)


@contextmanager
def _bar() -> Iterator[ProgressHandler]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), refresh_per_second=5) as bar:
        task = bar.add_task("starting", total=None)
        left = _Left(time.monotonic())

        def show(progress: Progress) -> None:
            words = _words(progress) + left.words(progress, time.monotonic())
            bar.update(task, completed=progress.done, total=progress.planned, description=words)

        yield show


class _Left:
    """The time left, by all that this sitting has done. Samples end in bursts, so the last few would mislead."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._step = ""
        self._done_before: int | None = None  # by earlier sittings

    def words(self, progress: Progress, now: float) -> str:
        if progress.step != self._step:  # it has a speed of its own
            self._step, self._started, self._done_before = progress.step, now, progress.done
        if self._done_before is None:
            self._done_before = max(progress.done - 1, 0)
        done = progress.done - self._done_before
        if progress.stopping or not done or progress.done == progress.planned:
            return ""
        seconds = (now - self._started) * (progress.planned - progress.done) / done
        return f", about {timedelta(seconds=round(seconds))} left"


def _words(progress: Progress) -> str:
    cost = f", ${progress.cost_usd:.4f}" if progress.cost_usd else ""
    again = "; Ctrl-C again ends at once" if (progress.stopping or "").startswith("interrupted") else ""
    stopping = f" (finishing what is under way{again})" if progress.stopping else ""
    waiting = f"; {progress.waiting}" if progress.waiting and not progress.stopping else ""
    samples = f"samples {progress.step}" if progress.step else "samples"
    return f"{progress.done} of {progress.planned} {samples}{cost}{stopping}{waiting}"
