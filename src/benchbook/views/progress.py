"""The display of a run's progress: on standard error a bar on a terminal, or a few plain lines; in a notebook an output
that is written again in its place."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from benchbook.text import shorten
from benchbook.views.markup import el, join, text

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from benchbook.ask.work import Progress, ProgressHandler
    from benchbook.evaluators.verify_progress import VerifyHandler, VerifyStep

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_UPDATES = 0.2


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[ProgressHandler | None]:
    """A handler that shows progress while the block runs; None where nothing is to be shown."""
    if quiet:
        yield None
    elif in_notebook():
        cell = _Cell()
        try:
            yield cell.show
        finally:
            cell.end()
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
            sys.stderr.write(f"{progress_words(progress)}, {now - self._started:.0f} s\n")
            sys.stderr.flush()


def _terminal_bar(*, stays: bool) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), refresh_per_second=5, transient=not stays)


@contextmanager
def _bar() -> Iterator[ProgressHandler]:
    with _terminal_bar(stays=True) as bar:
        task = bar.add_task("starting", total=None)
        left = _Left(time.monotonic())

        def show(progress: Progress) -> None:
            words = progress_words(progress) + left.words(progress, time.monotonic())
            bar.update(task, completed=progress.done, total=progress.planned, description=words)

        yield show


class _Left:
    """The time left, by what this sitting has done."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._step = ""
        self._done_before: int | None = None  # by earlier sittings

    def words(self, progress: Progress, now: float) -> str:
        from benchbook.ask.work import Pace

        if progress.step != self._step:  # it has a speed of its own
            self._step, self._started, self._done_before = progress.step, now, progress.done
        if self._done_before is None:
            self._done_before = max(progress.done - 1, 0)
        if progress.stopping:
            return ""
        pace = Pace(now - self._started, progress.done - self._done_before, progress.planned - progress.done)
        return left_words(pace.seconds_left)


def left_words(seconds: float | None) -> str:
    """`, about 0:01:20 left`, as the end of a line; empty where nobody knows."""
    return "" if seconds is None else f", about {timedelta(seconds=round(seconds))} left"


def progress_words(progress: Progress) -> str:
    """`12 of 90 samples, $0.0012`, and why it waits or stops."""
    cost = f", ${progress.cost_usd:.4f}" if progress.cost_usd else ""
    again = "; Ctrl-C again ends at once" if (progress.stopping or "").startswith("interrupted") else ""
    stopping = f" (finishing what is under way{again})" if progress.stopping else ""
    waiting = f"; {progress.waiting}" if progress.waiting and not progress.stopping else ""
    samples = f"samples {progress.step}" if progress.step else "samples"
    return f"{progress.done} of {progress.planned} {samples}{cost}{stopping}{waiting}"


# ── of a verification ────────────────────────────────────────────────────────────────────────────────────────

_STEPS = {"facts": "facts read", "samples": "samples derived again"}


def verification_words(step: VerifyStep, done: int, total: int | None) -> str:
    """`12,000 of 90,000 facts read`."""
    return f"{done:,}{'' if total is None else f' of {total:,}'} {_STEPS[step]}"


@contextmanager
def shown_verification() -> Iterator[VerifyHandler | None]:
    """A handler that shows how far a verification is while the block runs: on a terminal a bar, elsewhere nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    with _terminal_bar(stays=False) as bar:
        task = bar.add_task("starting", total=None)

        def show(step: VerifyStep, done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total, description=verification_words(step, done, total))

        yield show


# ── in a notebook ────────────────────────────────────────────────────────────────────────────────────────────


def in_notebook() -> bool:
    """True in a kernel of Jupyter's: Lab, Notebook, VS Code, Colab. IPython is not imported where it isn't there."""
    found = sys.modules.get("IPython")
    return found is not None and getattr(found.get_ipython(), "kernel", None) is not None


@contextmanager
def progress_asked(asked: bool | None, on_progress: ProgressHandler | None) -> Iterator[ProgressHandler | None]:
    """The handler of a call of the library's: the caller's own, or what shows progress; by default in a notebook."""
    if on_progress is not None and not asked:
        yield on_progress
        return
    with shown_progress(quiet=not (in_notebook() if asked is None else asked)) as handler:
        yield handler if on_progress is None or handler is None else _both(on_progress, handler)


def _both(first: ProgressHandler, second: ProgressHandler) -> ProgressHandler:
    def show(progress: Progress) -> None:
        first(progress)
        second(progress)

    return show


class _Cell:
    """One output of a cell, which is written again in its place."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._left = _Left(self._started)
        self._last = -math.inf
        self._shown: Progress | None = None
        self._output: Any = None  # none before there is progress: what can't begin shows its error alone

    def show(self, progress: Progress) -> None:
        now, self._shown = time.monotonic(), progress
        left = self._left.words(progress, now)
        if now - self._last >= _SECONDS_BETWEEN_UPDATES:
            self._last = now
            self._write(progress_words(progress) + left, progress)

    def end(self) -> None:
        if self._shown is not None:
            done, why = self._shown, self._shown.stopping
            words = (
                f"{done.done} of {done.planned} samples, stopped: {shorten(why, 80)}" if why else progress_words(done)
            )
            self._write(f"{words}, {time.monotonic() - self._started:.0f} s", done)

    def _write(self, words: str, progress: Progress) -> None:
        bar = el("progress", value=progress.done, max=progress.planned)
        written = {"text/plain": words, "text/html": join(bar, text(f" {words}"))}
        if self._output is None:
            self._output = sys.modules["IPython"].display.display(written, raw=True, display_id=True)
        else:
            self._output.update(written, raw=True)
