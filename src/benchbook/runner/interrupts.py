"""Ctrl-C in two steps: the first stops asking and finishes what is under way, the second ends at once."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchbook.runner.stopping import Stop

__all__ = ["two_step_interrupt"]

_SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "a request to terminate"}


@contextmanager
def two_step_interrupt(stop: Stop, on_first: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Handle SIGINT and SIGTERM while the block runs; the second one cancels the task that entered it.

    `on_first` is called after the first, so that it can be shown at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread; a caller elsewhere cancels the task itself
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    previous = {number: signal.getsignal(number) for number in _SIGNALS}

    def handle(name: str) -> None:
        if stop.interrupted:
            if task is not None:
                task.cancel()
            return
        stop.interrupted = True
        stop.because(f"interrupted by {name}")
        on_first()

    for number, name in _SIGNALS.items():
        loop.add_signal_handler(number, handle, name)
    try:
        yield
    except asyncio.CancelledError:
        if not stop.interrupted or task is None:
            raise
        task.uncancel()
    finally:
        for number, handler in previous.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
