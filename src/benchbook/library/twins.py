"""Async twins of functions that compute: the same, in a thread, so that the caller's event loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def in_thread(function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The twin of a function: it takes the same, and is awaited."""

    @wraps(function)
    async def twin(*args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(function, *args, **kwargs)

    twin.__name__ = twin.__qualname__ = f"{function.__name__}_async"
    twin.__doc__ = f"As `{function.__name__}`, inside an event loop."
    return twin
