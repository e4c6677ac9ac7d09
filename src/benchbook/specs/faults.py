"""Collects the faults of a `spec.toml`, each with its line, and reads tables key by key.

`tomllib` reads values and forgets places, so a scanner finds the line of each key. `tomllib` has read the text
before: it is valid TOML, so the scanner only tells its parts apart and checks nothing.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from benchbook.errors import InputError, UsageError
from benchbook.specs.fields import WrongValueError, said
from benchbook.text import nearest, quoted

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*+")
_SPACES = re.compile(r"[ \t]*+")
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}'
    r"|'''(?:[^']|'(?!''))*+'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*+'",
    re.DOTALL,
)
_OTHER_VALUE = re.compile(r"[^,\]}#\n]++")


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line of each key path, from 1: `("checks", 0, "name")` is the name of the first of `[[checks]]`.

    A table's line is that of its header. A key that `tomllib` would not read has no line, and is no error.
    """
    return _Scanner(text).lines


def _unescaped(string: str) -> str:
    """The key that a quoted string stands for, in a text that `tomllib` has read."""
    return str(tomllib.loads(f"key = {string}")["key"]) if "\\" in string and string[0] == '"' else string[1:-1]


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._n_tables: dict[KeyPath, int] = {}
        self._document()

    def _line(self) -> int:
        return bisect_right(self._ends, self.at - 1) + 1

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at + 1  # never stands still
        return found.group() if found else ""

    def _next(self) -> str:
        """The next character outside white space, line ends, commas and comments; empty at the end."""
        self._skip(_BLANK)
        return self.text[self.at : self.at + 1]

    def _document(self) -> None:
        table: KeyPath = ()
        while self._next():
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> KeyPath:
        line = self._line()
        n_brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += n_brackets
        path = self._placed(self._key())
        self.at += n_brackets
        if n_brackets == 2:
            self._n_tables[path] = self._n_tables.get(path, 0) + 1
            path = (*path, self._n_tables[path] - 1)
        self.lines.setdefault(path, line)
        return path

    def _placed(self, key: KeyPath) -> KeyPath:
        """A header's path, each array on the way with the place of its last table: `a.b` is `a[1].b`."""
        path: KeyPath = ()
        for place, name in enumerate(key):
            path = (*path, name)
            if path in self._n_tables and place < len(key) - 1:
                path = (*path, self._n_tables[path] - 1)
        return path

    def _key(self) -> KeyPath:
        """Read a key, dotted or not, and the spaces after it."""
        names: list[str] = []
        while True:
            self._skip(_SPACES)
            if self.text[self.at : self.at + 1] in ("'", '"'):
                names.append(_unescaped(self._skip(_STRING)))
            else:
                names.append(self._skip(_BARE))
            self._skip(_SPACES)
            if self.text[self.at : self.at + 1] != ".":
                return tuple(names)
            self.at += 1

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        key = self._key()
        for n_names in range(1, len(key) + 1):
            self.lines.setdefault((*table, *key[:n_names]), line)
        self.at += 1  # =
        self._value((*table, *key))

    def _value(self, path: KeyPath) -> None:
        match self._next():
            case "[":
                self._array(path)
            case "{":
                self.at += 1
                while self._next() not in ("}", ""):
                    self._pair(path)
                self.at += 1
            case '"' | "'":
                self._skip(_STRING)
            case _:
                self._skip(_OTHER_VALUE)

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        place = 0
        while self._next() not in ("]", ""):
            self.lines.setdefault((*path, place), self._line())
            self._value((*path, place))
            place += 1
        self.at += 1


class NoTomlError(ValueError):
    """A text can't be read as TOML: `found`, and what is `expected`."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.found = found
        self.expected = expected


def toml_values(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The values of a TOML text. Raises: NoTomlError, for values that Python can't hold too."""
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise NoTomlError("values nested too deeply", "fewer levels") from None
    except tomllib.TOMLDecodeError as error:
        raise NoTomlError(f"no TOML: {error}", 'lines such as name = "value"') from None
    except (ValueError, ArithmeticError):  # of Python's own limits on numbers
        raise NoTomlError("a number beyond reading", "numbers of at most 1000 digits") from None


_Value = TypeVar("_Value")
_PLACE = re.compile(r" \(at (?:line ([0-9]+), column [0-9]+|end of document)\)$")


class SpecError(UsageError):
    """A spec has faults: `faults` holds all of them, by line; the message has one on each line."""

    def __init__(self, faults: tuple[InputError, ...]) -> None:
        super().__init__(faults)
        self.faults = faults

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


def parsed(text: str, path: str | Path) -> tuple[Mapping[str, Any], Mapping[KeyPath, int]]:
    """The values of a TOML text, with exact numbers, and the lines of its keys."""
    try:
        return toml_values(text, Decimal), key_lines(text)
    except NoTomlError as error:
        place = _PLACE.search(error.found)
        line = (int(place[1]) if place[1] else text.count("\n") + 1) if place else None
        found = quoted(_PLACE.sub("", error.found), 200)[1:-1]
        raise SpecError((InputError(path, line=line, found=found, expected=error.expected),)) from None


def near(name: str, known: tuple[str, ...]) -> str:
    """The known name closest to `name`, else all of them, as the end of an error message."""
    if (close := nearest(name, known)) is not None:
        return f"{close}, which is near"
    return f"one of {', '.join(known)}" if len(known) > 1 else known[0]


class Faults:
    """The faults of one file, in the order in which they were found."""

    def __init__(self, path: str | Path, lines: Mapping[KeyPath, int]) -> None:
        self._path = path
        self._lines = lines
        self._found: list[InputError] = []

    def add(self, where: KeyPath, found: str, expected: str) -> None:
        self._found.append(
            InputError(self._path, line=self._line(where), field=_named(where), found=found, expected=expected)
        )

    def beside(self, file: str, line: int | None, found: str, expected: str) -> None:
        """Add a fault of a file that lies beside this one."""
        self._found.append(InputError(Path(self._path).parent / file, line=line, found=found, expected=expected))

    def in_order(self) -> tuple[InputError, ...]:
        """All faults by line, those of the file itself first."""
        return tuple(
            sorted(self._found, key=lambda fault: (fault.path != str(self._path), fault.path, fault.line or 0))
        )

    def _line(self, where: KeyPath) -> int | None:
        """The line of a key; for a missing key, that of the table which lacks it."""
        for n_steps in range(len(where), 0, -1):
            if where[:n_steps] in self._lines:
                return self._lines[where[:n_steps]]
        return None


def _named(where: KeyPath) -> str | None:
    """A key path as messages name it: `checks[2].compare.tag`, with arrays counted from 1."""
    name = ""
    for step in where:
        name += f"[{step + 1}]" if isinstance(step, int) else f".{quoted(step)[1:-1]}"
    return name.removeprefix(".") or None


class SpecTable:
    """A table of the file. Its keys are read one by one; those left at the end are unknown."""

    def __init__(self, values: Mapping[str, Any], where: KeyPath, faults: Faults) -> None:
        self.where = where
        self._values = values
        self._faults = faults
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def raw(self, key: str) -> Any:
        """A key's value, unread; None if there is no such key."""
        self._known.append(key)
        return self._values.get(key)

    def fault(self, key: str | None, found: str, expected: str) -> None:
        self._faults.add(self.where if key is None else (*self.where, key), found, expected)

    def read(self, key: str, reader: Callable[[Any], _Value], *, needed: str | None = None) -> _Value | None:
        """A key's value, read; None if it is faulty or missing. `needed` describes the value of a required key."""
        value = self.raw(key)
        if key not in self._values:
            if needed is not None:
                self.fault(key, "nothing", needed)
            return None
        try:
            return reader(value)
        except WrongValueError as wrong:
            self.fault(key, wrong.found, wrong.expected)
            return None

    def items(self) -> Mapping[str, Any]:
        """All keys and their values, unread."""
        self._known += self._values
        return self._values

    def table(self, key: str) -> SpecTable | None:
        """The table of a key such as `[reply]`; None if it is missing, or is not a table, which is a fault."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fault(key, said(value), f"a table [{key}]")
            return None
        return SpecTable(value, (*self.where, key), self._faults)

    def say_unknown(self) -> None:
        """Add a fault for each key that nothing has read, with the nearest known name. Call it last."""
        for key in self._values:
            if key not in self._known:
                self._faults.add((*self.where, key), "a key that nothing reads", near(key, tuple(self._known)))

    def tables(self, key: str) -> list[SpecTable]:
        """The tables of an array such as `[[checks]]`; any other value is a fault."""
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.fault(key, said(value), f"[[{key}]] tables")
            return []
        return [SpecTable(one, (*self.where, key, place), self._faults) for place, one in enumerate(value)]
