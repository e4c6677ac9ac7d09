"""Which column of a table holds what: by its name, or as the user says; over the columns of all rows together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchbook.errors import ConfigError, InputError
from benchbook.text import quoted, shorten

__all__ = ["EXPECTED", "ITEM_ID", "ColumnFinder", "KnownColumn", "column_names", "output_column", "value_at"]


class KnownColumn(NamedTuple):
    """Names under which files hold one thing, ours first. `else_names` count where no row has one of `names`."""

    names: tuple[str, ...]
    else_names: tuple[str, ...] = ()
    needed: bool = False


# A point goes into an object: `meta.eval_id` is Tunix's trace form.
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
    """What the model said, which we call `ours`. An `answer` beside one of these may well be the reference."""
    names = (ours, *(name for name in _OUTPUT_NAMES if name != ours))
    return KnownColumn(names, else_names=("answer",), needed=True)


def column_names(row: Mapping[str, Any]) -> list[str]:
    """The names that a row has: its keys, and those of the objects in it, as `meta.eval_id`."""
    below = [f"{name}.{inner}" for name, value in row.items() if isinstance(value, dict) for inner in value]
    return [*row, *below]


def value_at(row: Mapping[str, Any], name: str | None) -> Any:
    """The value under a name as `column_names` gives it; None where the row does not have it."""
    if name is None:
        return None
    if name in row:
        return row[name]
    outer, point, inner = name.partition(".")
    value = row.get(outer) if point else None
    return value.get(inner) if isinstance(value, dict) else None


class ColumnFinder:
    """Our names to the file's, found while its rows go by: a column may come after the first row, or be in few rows.

    What a row says in a column is known once the row was noted; rows before it did not have that column. `columns`
    stands when all rows were noted, and `finish` was called. `given` is what the user says and goes first; `option` is
    how it is said.
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
        """Look at a row's columns. Raises: InputError where one of ours could be two of the file's."""
        keys = tuple(row)
        if keys == self._keys and not any(isinstance(value, dict) for value in row.values()):
            return
        self._keys = keys
        self.note_names(line, column_names(row))

    def note_names(self, line: int | None, names: Iterable[str]) -> None:
        """The same by the names alone. Raises: InputError."""
        here = dict.fromkeys(names)
        for name in here:
            self._names.setdefault(name, line)
        for ours, column in self._known.items():
            if ours not in self._given:
                self._look_for(ours, column, line, here)
        if self._names and "item_id" not in self.columns:  # no row is of use without it
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
        """The columns, all rows having been noted; none at all where there was no row.

        Raises: ConfigError where `given` names a column that no row has; InputError where a column is missing.
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
        found = f"no such column among {shorten(', '.join(self._names), 200)}"
        expected = f"{', '.join(names)}; or say which: {self._option} {ours}=NAME"
        raise InputError(self._path, line=line, field=ours, found=found, expected=expected)
