"""The outcome of what a scorer returned or raised: its faults are its own, and no score of the model's (F3, F4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from benchbook.ask.providers.keys import redact
from benchbook.record.facts import Outcome
from benchbook.text import quoted, shorten, storable

EXPECTED = "true or false, a number from 0 to 1, or a dict with `score`, maybe `passed`, and named numbers and texts"
_SCORE = "true or false, or a number from 0 to 1"
_VALUE = "a finite number of at most 15 digits before the point, true or false, a text, or None"

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,47}")
_MOST_VALUES = 32
_MOST_CHARACTERS = 2_000  # of a text
_LARGEST = 10**15
_SAID_CHARACTERS = 500

Number: TypeAlias = bool | int | float


class _WrongError(Exception):
    """A returned value that is no score: what was found, and what would be right."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"returned {found}; expected {expected}")


def outcome_of(sample: int, returned: Any) -> Outcome:
    """The outcome of a sample by the value that the function returned, which may be anything."""
    try:
        return _read(sample, returned)
    except _WrongError as wrong:
        return Outcome(sample=sample, fault=shorten(redact(str(wrong)), _SAID_CHARACTERS))
    except Exception as error:  # of a mapping or a number that is the user's own
        return raised_outcome(sample, error)


def raised_outcome(sample: int, error: Exception) -> Outcome:
    """The outcome of a sample whose function raised: class and message, on one line."""
    try:
        message = str(error)
    except Exception:
        message = "its message can't be read"
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return Outcome(sample=sample, fault=shorten(redact(said[: 20 * _SAID_CHARACTERS]), _SAID_CHARACTERS))


def _read(sample: int, returned: Any) -> Outcome:
    if not isinstance(returned, Mapping):
        return Outcome(sample=sample, score=_score(returned, "", EXPECTED))
    for name in returned:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            found = quoted(name) if isinstance(name, str) else shorten(repr(type(name).__name__), 60)
            raise _WrongError(f"a dict with the name {found}", "names of letters, digits and _, at most 48 of them")
    if len(returned) > _MOST_VALUES:
        raise _WrongError(f"a dict of {len(returned)} values", f"at most {_MOST_VALUES}")
    passed = returned.get("passed")
    if passed is not None:
        passed = _plain(passed)
        if not isinstance(passed, bool):
            raise _WrongError(f"passed = {_said(passed)}", "passed = true or false")
    score = returned.get("score")
    if score is None and passed is None:
        names = ", ".join(returned) or "nothing"
        raise _WrongError(f"a dict with {names}, and neither score nor passed", EXPECTED)
    values = {name: _value(name, one) for name, one in returned.items() if name not in ("score", "passed")}
    return Outcome(
        sample=sample,
        score=passed if score is None else _score(score, "score = ", f"score = {_SCORE}"),
        passed=passed,
        values={name: one for name, one in values.items() if one is not None},
    )


def _score(value: Any, prefix: str, expected: str) -> Number:
    found = _plain(value)
    if not isinstance(found, int | float) or not 0 <= found <= 1:  # false for NaN, too
        raise _WrongError(f"{prefix}{_said(found)}", expected)
    return found


def _value(name: str, value: Any) -> Number | str | None:
    found = _plain(value)
    if isinstance(found, str):
        text = storable(found)
        return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
    if found is None or (isinstance(found, int | float) and abs(found) < _LARGEST):  # false for NaN, too
        return found
    raise _WrongError(f"{name} = {_said(found)}", _VALUE)


def _plain(value: Any) -> Any:
    """A number from NumPy or a tensor as Python's own; anything else as it is."""
    if type(value) in (bool, int, float, str, type(None)):
        return value
    if callable(item := getattr(value, "item", None)) and getattr(value, "ndim", None) == 0:
        return item()
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def _said(value: Any) -> str:
    """A value in a few words: a number or a text itself, for anything else its type."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, int) and abs(value) >= _LARGEST:
        return "a whole number of more than 15 digits"
    return repr(value) if isinstance(value, int | float) else shorten(type(value).__name__, 60)
