"""Which column of a training log holds what: recognised by its name, or as the user says. The result is recorded."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchbook.errors import ConfigError, InputError
from benchbook.evalsets.table_columns import column_names, comma_hint, value_at
from benchbook.text import shorten
from benchbook.training.curves import LogRow
from benchbook.training.forms import LogForm, log_rows
from benchbook.training.known_names import AXES, AXIS_NAMES, ELSE_NAMES, LOSS_NAMES, LOSSES, metric_names

_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE
)
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_LATEST_S = 1e11  # in the year 5138: what is later was meant as milliseconds


class Unfit(ValueError):  # noqa: N818 - not an error of ours: the caller knows file, line and field
    """A value that does not fit; the message says what would have been right."""


def is_number(found: Any) -> bool:
    """True if `found` is a number, or the text of one, NaN and the infinities among them."""
    return _number(found) is not None


def value(found: Any) -> float | None:
    """A metric's value; None for NaN and the infinities, and for what is beyond a float.

    Raises: Unfit.
    """
    number = _number(found)
    if number is None:
        raise Unfit((comma_hint(found) if isinstance(found, str) else None) or "a number")
    return number if math.isfinite(number) else None


def whole(found: Any, *, least: int | None = None) -> int:
    """A step or a count, as `7`, `7.0` or the text of one.

    Raises: Unfit.
    """
    expected = "a whole number" if least is None else f"a whole number, {least} or more"
    exact = int(found) if isinstance(found, str) and _WHOLE.fullmatch(found) else found
    number = exact if type(exact) is int else _number(exact)
    if number is None or not math.isfinite(number) or number != int(number) or abs(number) >= 2**63:
        raise Unfit(expected)
    if least is not None and number < least:
        raise Unfit(expected)
    return int(number)


_OF_ALL = re.compile(r"(\d{1,18})/\d+", re.ASCII)  # ms-swift: `5/100`, of so many steps


def step(found: Any) -> int:
    """A step: a whole number, alone or of how many there will be. Raises: Unfit."""
    of_all = _OF_ALL.fullmatch(found) if isinstance(found, str) else None
    return int(of_all[1]) if of_all else whole(found)


def seconds(found: Any) -> float:
    """A time as seconds: a number stands for itself, a text of ISO 8601 for seconds since 1970, and a length of time
    (`4m 45s`, `0:04:45`) for those since a start.

    A text without an offset is taken as UTC. Raises: Unfit.
    """
    number = _number(found)
    if number is None and isinstance(found, str):
        number = _length(found)
        number = _timestamp(found) if number is None else number
    if number is None or not abs(number) < _LATEST_S:
        raise Unfit("seconds, or a time of ISO 8601")
    return number


def _number(found: Any) -> float | None:
    if isinstance(found, str):
        text = found.strip(" ")
        return float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        return float(found)
    except OverflowError:
        return math.inf


def _timestamp(text: str) -> float | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


_UNITS = re.compile(
    r"(?:(?P<d>\d{1,6})d)?\s?(?:(?P<h>\d{1,9})h)?\s?(?:(?P<m>\d{1,9})m)?\s?(?:(?P<s>\d{1,9}(?:\.\d{1,9})?)s)?", re.ASCII
)
_CLOCK = re.compile(r"(?:(?P<d>\d{1,6}) days?, )?(?P<h>\d{1,9}):(?P<m>[0-5]\d):(?P<s>[0-5]\d(?:\.\d{1,9})?)", re.ASCII)
_SECONDS_IN = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def _length(text: str) -> float | None:
    found = (_UNITS.fullmatch(text) if text.strip() else None) or _CLOCK.fullmatch(text)
    if found is None:
        return None
    return float(sum(float(found[unit] or 0) * n for unit, n in _SECONDS_IN.items()))


MAX_METRICS = 10_000  # names in one log; more of them is no log


def resolve_columns(path: str | Path, form: LogForm, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Our names to the file's: step, tokens, time, loss, eval_loss, and each further metric under the file's own name.

    Reads the file once. `given` is what the user says and goes first; it may name any metric. A column is a metric
    where its first value, in a row with a step, is a number; a loss is one by its name, so that text in it is an error.

    Raises: ConfigError where `given` names a column that is not there; InputError where the step is missing, or an axis
    could be two columns; UsageError.
    """
    path, given = Path(path), dict(given or {})
    names: dict[str, bool] = {}
    stepless, rows_with = _Stepless(), Counter[str]()
    for row in log_rows(path, form):
        steps = [name for name in _candidates("step", given) if value_at(row.values, name) is not None]
        rows_with.update(steps)
        if not steps:
            stepless.note(path, row)
        else:
            stepless.n_with_step += _has_number(row)
            _note_names(path, row, names)
    for ours, theirs in given.items():
        if theirs not in names | stepless.names:
            found = f"one of {shorten(', '.join(names | stepless.names), 200)}"
            raise ConfigError(f"columns.{shorten(ours, 60)}", shorten(theirs, 60), found)
    stepless.refuse(path, names, given)
    columns = dict(_axes(path, names, given, rows_with))
    columns.update({ours: theirs for ours, theirs in given.items() if ours not in AXES})
    metrics = metric_names(path, form, names, is_chosen="loss" in given)
    theirs_of = {metric: theirs for theirs, metric in metrics.items() if names[theirs] or metric in LOSSES}
    for ours, known in LOSS_NAMES.items():
        present = [theirs_of[name] for name in known if name in theirs_of and theirs_of[name] not in columns.values()]
        if present and ours not in columns:
            columns[ours] = present[0]
    read = set(columns.values())
    columns.update({ours: name for ours, name in theirs_of.items() if name not in read and ours not in columns})
    return columns


class _Stepless:
    """The rows without a step. A header, or a remark between others, may be one: what was measured may not."""

    def __init__(self) -> None:
        self.names: dict[str, bool] = {}
        self.n_with_step = 0  # rows that have numbers and a step
        self._n = 0  # rows that have numbers, and no step
        self._first: int | None = None

    def note(self, path: Path, row: LogRow) -> None:
        _note_names(path, row, self.names)
        if _has_number(row):
            self._first = row.line if self._n == 0 else self._first
            self._n += 1

    def refuse(self, path: Path, names: Mapping[str, bool], given: Mapping[str, str]) -> None:
        """Refuse a log most of whose rows have no step, or whose loss is in those alone. Raises: InputError."""
        if self._n > self.n_with_step or any(self._has_alone(names, known) for known in LOSS_NAMES.values()):
            there = shorten(", ".join(self.names), 200)
            step = f"{given['step']} in each row" if "step" in given else ", ".join(AXIS_NAMES["step"][:2])
            expected = f"{step}; or say which: --training-columns step=NAME"
            others = shorten(", ".join(name for name in names if name not in self.names), 200)
            found = f"no step beside {there}" + (f" (other rows have {others})" if others else "")
            raise InputError(path, line=self._first, field="step", found=found, expected=expected)

    def _has_alone(self, names: Mapping[str, bool], known: Iterable[str]) -> bool:
        """True if a loss stands in these rows and in no others."""
        return any(self.names.get(name) for name in known) and not any(name in names for name in known)


def _has_number(row: LogRow) -> bool:
    return any(is_number(value_at(row.values, name)) for name in column_names(row.values))


def _note_names(path: Path, row: LogRow, names: dict[str, bool]) -> None:
    """Note each name with whether its first value is a number; nulls don't tell."""
    for name in filter(None, column_names(row.values)):  # without a name is the index that pandas writes
        found = value_at(row.values, name)
        if found is not None and name not in names and not isinstance(found, dict):
            names[name] = is_number(found) or name in LOSSES
    if len(names) > MAX_METRICS:
        raise InputError(path, line=row.line, found=f"more than {MAX_METRICS:,} columns", expected="a training log")


def _axes(
    path: Path, names: Collection[str], given: Mapping[str, str], rows_with: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """The column of each axis. `rows_with`: in how many rows a step stands under which name."""
    for axis in AXES:
        present = [name for name in _candidates(axis, given, is_first=True) if name in names]
        if len(present) > 1:
            found, expected = " and ".join(present), f"one; say which: --training-columns {axis}={present[0]}"
            raise InputError(path, field=axis, found=found, expected=expected)
        present += [name for name in ELSE_NAMES[axis] if name in names and axis not in given]
        if present:
            yield axis, max(present, key=lambda name: rows_with.get(name, 0))  # the first of those in equally many
        elif axis == "step":
            expected = f"{', '.join(AXIS_NAMES[axis][:2])}; or say which: --training-columns step=NAME"
            raise InputError(path, field=axis, found="no row with such a column", expected=expected)


def _candidates(axis: str, given: Mapping[str, str], *, is_first: bool = False) -> tuple[str, ...]:
    """The names that a column may have for an axis; with `is_first` those of which there may be but one."""
    if axis in given:
        return (given[axis],)
    return AXIS_NAMES[axis] if is_first else AXIS_NAMES[axis] + ELSE_NAMES[axis]
