"""On which line of a TOML text each key stands; `tomllib` reads values and forgets places.

The text was read by `tomllib` before: it is valid TOML, so the scanner only tells its parts apart and checks nothing.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

__all__ = ["KeyPath", "key_lines"]

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
    """Key path -> line, counted from 1: `("checks", 0, "name")` is the name of the first of `[[checks]]`.

    Tables stand on the line of their header. A key that `tomllib` would not read gives no line, and no error.
    """
    return _Scanner(text).lines


def _unescaped(string: str) -> str:
    """A string of a text that `tomllib` has read, as the key that it is."""
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
        """The next character that is no white space, line end, comma or comment; empty at the end."""
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
        """A header's path with the place of the last table of each array on its way: `a.b` is `a[1].b`."""
        path: KeyPath = ()
        for place, name in enumerate(key):
            path = (*path, name)
            if path in self._n_tables and place < len(key) - 1:
                path = (*path, self._n_tables[path] - 1)
        return path

    def _key(self) -> KeyPath:
        """A key, dotted or not; ends behind it and the spaces after it."""
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
