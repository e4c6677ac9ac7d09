"""A scorer as it is written: its own source, and that of the functions and classes of its module it uses (F1)."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from benchbook.ask.providers.keys import redact
from benchbook.errors import UsageError


def own_source(function: Callable[..., Any], called: str) -> str:
    """The source of one function, without its indentation. Raises: UsageError where there is none to be read."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        where = "define it in a file, or in a cell of a notebook"
        raise UsageError(f"{called}: its source can't be read, and the record keeps it; {where}") from None


def whole_source(function: Callable[..., Any], source: str, called: str) -> str:
    """`source`, the function's own, followed by that of each function and class of its module that it names, and that
    these name, in the order of their names. A record keeps this text, and its hash tells two scorers apart.

    Other modules, constants and data are not in it. Things that Python has no source of, such as a named tuple, are
    left out.

    Raises: UsageError where something in it looks like a key.
    """
    parts = [source]
    found = {id(function): function}
    waiting: list[Any] = [function]
    named: dict[str, str] = {}
    while waiting:
        for one in _used_by(waiting.pop()):
            if id(one) in found or getattr(one, "__module__", None) != function.__module__:
                continue
            found[id(one)] = one
            waiting.append(one)
            try:
                named[one.__qualname__] = textwrap.dedent(inspect.getsource(one))
            except (OSError, TypeError):
                continue
    parts += [named[name] for name in sorted(named)]
    text = "\n\n".join(part.rstrip("\n") + "\n" for part in parts)
    _refuse_keys(text, called)
    return text


def _used_by(one: Any) -> Iterator[Any]:
    """The functions and classes that a function, or a class's methods, name."""
    functions = [one] if isinstance(one, FunctionType) else [*_methods_of(one)]
    for function in functions:
        known = function.__globals__ | _closed_over(function)
        for name in _names_in(function.__code__):
            used = inspect.unwrap(known[name]) if callable(known.get(name)) else None
            if isinstance(used, FunctionType | type):
                yield used
    if isinstance(one, type):
        yield from one.__bases__


def _methods_of(one: type) -> Iterator[FunctionType]:
    for member in vars(one).values():
        for part in (member, getattr(member, "__func__", None), getattr(member, "fget", None)):
            if isinstance(part, FunctionType):
                yield part


def _closed_over(function: FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it is not bound yet
            continue
    return found


def _names_in(code: CodeType) -> set[str]:
    """Every name that a function's code, or that of a function within it, looks up outside of it."""
    names = {*code.co_names, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names


def _refuse_keys(text: str, called: str) -> None:
    """Refuse a source that has a key in it: a record keeps the source, and keys end nowhere."""
    for number, line in enumerate(text.splitlines(), start=1):
        if redact(line) != line:
            raise UsageError(
                f"{called}: line {number} of its source has what looks like a key, and the record would keep it; "
                "read it from an environment variable"
            )
