"""What was computed once and may be asked for again: by key, within a number of bytes, and made by one thread alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any, TypeVar

__all__ = ["Kept"]

_Value = TypeVar("_Value")


class Kept:
    """The least recently used goes first. Whoever asks for what is being made waits for it; a failure is not kept."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, Future[Any]] = {}
        self.n_bytes = 0

    def get(self, key: Hashable, make: Callable[[], _Value], size_of: Callable[[_Value], int]) -> _Value:
        """The value of `key`. What is larger than all that may be kept is made and given, and not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                found: _Value = self._values[key][0]
                return found
            future = self._making.get(key)
            mine = future is None
            if future is None:
                future = self._making[key] = Future()
        if not mine:
            waited: _Value = future.result()
            return waited
        try:
            value = make()
            self._keep(key, value, size_of(value))
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._making[key]
        future.set_result(value)
        return value

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Keep a value that was made along the way, unless there is one already."""
        with self._lock:
            known = key in self._values
        if not known:
            self._keep(key, value, size)

    def peek(self, key: Hashable) -> Any:
        """The value, if it is there; else None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def drop(self, key: Hashable) -> None:
        """Keep the value no longer, if it is there."""
        with self._lock:
            self.n_bytes -= self._values.pop(key, (None, 0))[1]

    def _keep(self, key: Hashable, value: Any, size: int) -> None:
        if size > self._most_bytes:
            return
        with self._lock:
            self.n_bytes += size - self._values.pop(key, (None, 0))[1]
            self._values[key] = value, size
            while self.n_bytes > self._most_bytes:
                _, (_, freed) = self._values.popitem(last=False)
                self.n_bytes -= freed
