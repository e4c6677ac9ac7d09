"""Finds the column for each field of a table, by its name or as the user says, over the columns of all rows."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchbook.errors import ConfigError, InputError
from benchbook.text import quoted, shorten


class KnownColumn(NamedTuple):
    """The names under which files hold one field, ours first. `else_names` count if no row has one of `names`."""

    names: tuple[str, ...]
    else_names: tuple[str, ...] = ()
    needed: bool = False


# A point leads into an object: `meta.eval_id` is Tunix's trace form.
ITEM_ID = KnownColumn(("item_id", "id", "eval_id", "meta.eval_id"), needed=True)
EXPECTED = KnownColumn(("expected", "expected_answer", "reference_answer"))
_OUTPUT_NAMES = (
    "predicted",
    "output",
    "predicted_answer",
    "prediction",
    "model_output",
    "candidate_answer",
    "final_answer",
    "response",
    "completion",
)


def output_column(ours: str) -> KnownColumn:
    """The column of the model's output, which we call `ours`. An `answer` beside it may well be the reference."""
    names = (ours, *(name for name in _OUTPUT_NAMES if name != ours))
    return KnownColumn(names, else_names=("answer",), needed=True)


def column_names(row: Mapping[str, Any]) -> list[str]:
    """The names in a row: its keys, and those of the objects in it, such as `meta.eval_id`."""
    below = [f"{name}.{inner}" for name, value in row.items() if isinstance(value, dict) for inner in value]
    return [*row, *below]


def value_at(row: Mapping[str, Any], name: str | None) -> Any:
    """The value under a name of `column_names`; None if the row lacks it."""
    if name is None:
        return None
    if name in row:
        return row[name]
    outer, point, inner = name.partition(".")
    value = row.get(outer) if point else None
    return value.get(inner) if isinstance(value, dict) else None


class ColumnFinder:
    """Maps our names to the file's while its rows go by: a column may come after the first row, or be in few rows.

    The columns of a row are known once it was noted; earlier rows lack a column that is found later. `columns` is
    complete once all rows were noted and `finish` was called. `given` is the user's own mapping, which takes
    precedence; `option` is the option for it.
    """

    def __init__(self, path: Path, known: Mapping[str, KnownColumn], given: Mapping[str, str], option: str) -> None:
        self._path = path
        self._known = known
        self._given = given
        self._option = option
        self._names: dict[str, int | None] = {}  # of all rows so far, with the line that had it first
        self._keys: tuple[str, ...] | None = None
        self.columns: dict[str, str] = {ours: theirs for ours, theirs in given.items() if ours in known}
        for ours in given:
            if ours not in known:
                raise ConfigError(self._setting, quoted(ours), ", ".join(known))

    @property
    def _setting(self) -> str:
        return self._option.removeprefix("--").replace("-", "_")

    def note(self, line: int | None, row: Mapping[str, Any]) -> None:
        """Note a row's columns. Raises: InputError if one of ours could be two of the file's."""
        keys = tuple(row)
        if keys == self._keys and not any(isinstance(value, dict) for value in row.values()):
            return
        self._keys = keys
        self.note_names(line, column_names(row))

    def note_names(self, line: int | None, names: Iterable[str]) -> None:
        """Note a row by the names of its columns alone. Raises: InputError."""
        here = dict.fromkeys(names)
        for name in here:
            self._names.setdefault(name, line)
        for ours, column in self._known.items():
            if ours not in self._given:
                self._look_for(ours, column, line, here)
        if (self._names or line is not None) and "item_id" not in self.columns:  # no row is of use without it
            self._refuse_missing("item_id", line)
        if self._names and "item_id" in self._given:
            self._refuse_unknown("item_id")

    def _look_for(self, ours: str, column: KnownColumn, line: int | None, here: Mapping[str, None]) -> None:
        present = [name for name in column.names if name in here]
        instead = [name for name in column.else_names if name in here] if not present else []
        standing = self.columns.get(ours)
        others = [standing, *present, *instead] if standing else [*present, *instead]
        if len(found := list(dict.fromkeys(others))) > 1:
            expected = f"one; say which: {self._option} {ours}={found[0]}"
            raise InputError(self._path, line=line, field=ours, found=" and ".join(found), expected=expected)
        if found:
            self.columns[ours] = found[0]

    def finish(self) -> dict[str, str]:
        """The columns, after all rows were noted; empty if there was no row.

        Raises: ConfigError if `given` names a column that no row has; InputError if a column is missing.
        """
        if not self._names:
            return {}
        for ours in self._given:
            self._refuse_unknown(ours)
        for ours, column in self._known.items():
            if column.needed and ours not in self.columns:
                self._refuse_missing(ours, next(iter(self._names.values())))
        return {ours: self.columns[ours] for ours in self._known if ours in self.columns}

    def _refuse_unknown(self, ours: str) -> None:
        if (theirs := self._given[ours]) not in self._names:
            there = shorten(", ".join(self._names), 200)
            raise ConfigError(f"{self._setting}.{shorten(ours, 60)}", quoted(theirs), f"one of {there}")

    def _refuse_missing(self, ours: str, line: int | None) -> None:
        names = (*self._known[ours].names, *self._known[ours].else_names)
        among = f" among {shorten(', '.join(self._names), 200)}" if self._names else ""
        found = f"no such column{among}"
        expected = f"{', '.join(names)}; or say which: {self._option} {ours}=NAME"
        raise InputError(self._path, line=line, field=ours, found=found, expected=expected)


MOST_COUNT = 10**12  # of milliseconds, 31 years: sums over a run fit wherever they are kept

_NUMBER = re.compile(r"-?\d+(?:\.\d*)?", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+", re.ASCII)
_WIDTH = 60


def is_missing(value: Any) -> bool:
    """True if a value is missing: a null, or NaN, which stands for one."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def shown(value: Any) -> str:
    """A value as messages show it: short, with nothing in it invisible."""
    if is_missing(value):
        return "nothing"
    return quoted(value, _WIDTH) if isinstance(value, str) else quoted(repr(value), _WIDTH)[1:-1]


def comma_hint(text: str) -> str | None:
    """The right form of a number that was written with commas: `a decimal point: 1.5`; None for any other text."""
    found = _DECIMAL_COMMA.fullmatch(text.strip())
    if found is None and _THOUSANDS.fullmatch(text.strip()) is None:
        return None
    if _THOUSANDS.fullmatch(text.strip()) is None:
        return f"a decimal point: {text.strip().replace(',', '.')}"
    plain = text.strip().replace(",", "")
    return plain if found is None else f"{plain}, or a decimal point: {text.strip().replace(',', '.')}"


def count_at(
    path: str | Path, line: int | None, field: str, value: Any, *, most: int = MOST_COUNT, what: str = "a whole number"
) -> int | None:
    """A whole number, 0 or more, given as a number or as text; None if the value is missing.

    Raises: InputError for any other value, or one above `most`.
    """
    number = _number(path, line, field, value.strip(" "), what) if isinstance(value, str) else value
    if is_missing(number):
        return None
    found = shown(value)
    if isinstance(number, float) and math.isinf(number):
        found, expected = "Infinity, or a number that is too large", f"{what}, at most {most:,}, or nothing"
    elif isinstance(number, bool) or not isinstance(number, int | float) or number != int(number) or number < 0:
        expected = f"{what}, 0 or more, or nothing"
    elif number > most:
        expected = f"{what}, at most {most:,}"
    else:
        return int(number)
    raise InputError(path, line=line, field=field, found=found, expected=expected)


def _number(path: str | Path, line: int | None, field: str, text: str, what: str) -> float | None:
    """The number in a text, an int if it has no point; None for an empty text."""
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 1_000:
        return int(text)
    if _NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        return float(text)
    expected = comma_hint(text) or f"{what}, 0 or more, or nothing"
    raise InputError(path, line=line, field=field, found=shown(text), expected=expected)


def choice_at(
    path: str | Path, line: int | None, field: str, value: Any, choices: Collection[int], *, what: str = ""
) -> int | None:
    """One of a few whole numbers, given as a number or as text; None if the value is missing.

    Raises: InputError.
    """
    expected = what or f"{', '.join(map(str, choices))}, or nothing"
    try:
        number = count_at(path, line, field, value)
    except InputError:
        if isinstance(value, str) and comma_hint(value):
            raise
        raise InputError(path, line=line, field=field, found=shown(value), expected=expected) from None
    if number is not None and number not in choices:
        raise InputError(path, line=line, field=field, found=shown(value), expected=expected)
    return number


def id_at(path: str | Path, line: int | None, field: str, value: Any) -> str:
    """An id: a text, or a whole number as text, since tables often number their items.

    Raises: InputError.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_at(path, line, field, value)


def text_at(path: str | Path, line: int | None, field: str, value: Any) -> str:
    """A text that is not blank. Raises: InputError."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(path, line=line, field=field, found=shown(value), expected="a text")
    return value


def optional_text_at(path: str | Path, line: int | None, field: str, value: Any) -> str | None:
    """A text, or None if the value is missing. Raises: InputError."""
    if is_missing(value):
        return None
    if not isinstance(value, str):
        raise InputError(path, line=line, field=field, found=shown(value), expected="a text, or nothing")
    return value
