"""A thread with an event loop of its own, for a caller that waits inside another loop: Jupyter, IPython, an endpoint.

Signals reach the main thread alone. Where the caller is that thread, it passes them on to the work.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")

SIGNALS: dict[int, str] = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "a request to terminate"}

# A signal that comes after the last one was handled, and before this thread waits again, wakes nobody: it is handled
# when the wait is over.
_LOOK_S = 0.2

# Takes the words for a signal. `None`: nobody waits who could pass one on.
Interrupt = Callable[[str], None]
_interrupts: ContextVar[list[Interrupt] | None] = ContextVar("benchbook_interrupts", default=None)


def is_in_a_loop() -> bool:
    """True if an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def interrupted_by(interrupt: Interrupt) -> Iterator[None]:
    """Have signals that a waiting caller passes on call `interrupt`, inside of the loop, while the block runs."""
    waiting = _interrupts.get()
    if waiting is None:
        yield
        return
    waiting.append(interrupt)
    try:
        yield
    finally:
        waiting.remove(interrupt)


def run_beside(work: Coroutine[Any, Any, _T], run: Callable[[Coroutine[Any, Any, _T]], _T]) -> _T:
    """Have `run` carry out `work` in a thread, and wait for it; what it raises is raised here.

    Raises: KeyboardInterrupt where a person interrupts what does not end by itself, such as deriving.
    """
    return _Beside(work, run).wait()


class _Beside(Generic[_T]):
    def __init__(self, work: Coroutine[Any, Any, _T], run: Callable[[Coroutine[Any, Any, _T]], _T]) -> None:
        self._work = work
        self._run = run
        self._done = threading.Event()
        self._outcome: _T | BaseException | None = None
        self._raised = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._interrupts: list[Interrupt] = []
        self._n_interrupts = 0

    def wait(self) -> _T:
        thread = threading.Thread(target=copy_context().run, args=(self._carry_out,), name="benchbook", daemon=True)
        with self._passing_signals_on():
            thread.start()
            while not self._done.wait(_LOOK_S):
                pass
        if self._n_interrupts and isinstance(self._outcome, asyncio.CancelledError):
            raise KeyboardInterrupt
        if self._raised:
            assert isinstance(self._outcome, BaseException)  # noqa: S101 - by `_carry_out`
            raise self._outcome
        return self._outcome  # type: ignore[return-value]

    def _carry_out(self) -> None:
        _interrupts.set(self._interrupts)
        try:
            self._outcome = self._run(self._noted())
        except BaseException as error:
            self._outcome, self._raised = error, True
        finally:
            self._done.set()

    async def _noted(self) -> _T:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        return await self._work

    @contextmanager
    def _passing_signals_on(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = {number: signal.signal(number, lambda n, _: self._interrupt(SIGNALS[n])) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _interrupt(self, words: str) -> None:
        """Pass an interruption on to whoever asks models now. Where nobody does, the first cancels, the next raises."""
        self._n_interrupts += 1
        if self._loop is None or self._task is None or (self._n_interrupts > 1 and not self._interrupts):
            raise KeyboardInterrupt
        if self._interrupts:
            self._loop.call_soon_threadsafe(self._interrupts[-1], words)
        else:
            self._loop.call_soon_threadsafe(self._task.cancel)
