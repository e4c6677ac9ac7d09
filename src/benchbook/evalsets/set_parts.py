"""A part of an eval set: the first N items, those with a value in a column, those of a list of ids."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchbook.canonical import canonical_json
from benchbook.errors import ConfigError, InputError
from benchbook.evalsets.evalset import EvalSet, set_lines
from benchbook.evalsets.items import ALIASES, KnownIds
from benchbook.evalsets.lines import JSON_WHITE_SPACE, LineJson, read_line_json, read_lines
from benchbook.evalsets.set_contents import SetContents, SetTally
from benchbook.evalsets.table_columns import ITEM_ID, ColumnFinder, id_at, value_at
from benchbook.evalsets.tables import TABLE_ENDINGS, read_table, table_form
from benchbook.text import quoted, shorten

_MOST_SHOWN = 8


class PartAsked(NamedTuple):
    """The part of a set that is asked for: items that have one of the values of each column in `where`
    (`section=core`) and are in the list `ids`; of these, the first `limit` in the order of the file."""

    limit: int | None = None
    where: tuple[str, ...] = ()
    ids: str | None = None

    def __bool__(self) -> bool:
        return self != PartAsked()

    @property
    def inputs(self) -> dict[str, Path]:
        """The list of ids, if there is one, for a record to keep."""
        return {} if self.ids is None else {"ids": Path(self.ids)}


class PartSaid(msgspec.Struct, frozen=True, kw_only=True):
    """A part as manifests name it: the number of items in the whole set, and in words which of them were asked."""

    n_whole: int
    words: str


class SetPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The items of a set that were chosen, and how. `ranges` are places in the file, each `(start, end)`."""

    n_whole: int
    ranges: tuple[tuple[int, int], ...]
    limit: int | None = None
    where: tuple[str, ...] = ()
    ids: str | None = None  # the file's name

    @property
    def n_items(self) -> int:
        return sum(end - start for start, end in self.ranges)

    @property
    def words(self) -> str:
        """The part in words: `12 of 200 items: --where section=core`."""
        asked = [f"--where {one}" for one in self.where]
        asked += [f"--ids {self.ids}"] if self.ids is not None else []
        asked += [f"--limit {self.limit}"] if self.limit is not None else []
        return f"{self.n_items:,} of {self.n_whole:,} items: {' '.join(asked)}"

    @property
    def said(self) -> PartSaid:
        return PartSaid(n_whole=self.n_whole, words=self.words)

    def sha256(self, evalset_sha256: str) -> str:
        """A hash that identifies the chosen items: two different parts of one set have different ones."""
        return hashlib.sha256(evalset_sha256.encode() + canonical_json(self.ranges)).hexdigest()


def choose_part(evalset: EvalSet, asked: PartAsked) -> tuple[EvalSet, SetPart | None]:
    """The items that were asked for, and the part that they are; None if they are the whole set.

    Raises: ConfigError for a column or a value that no item has, or if nothing is left; InputError for an id that no
    item has; UsageError.
    """
    if not asked:
        return evalset, None
    try:
        places, contents = _places(evalset, asked)
    finally:
        evalset.close()
    if len(places) == len(evalset):
        return evalset, None
    ids = None if asked.ids is None else Path(asked.ids).name
    part = SetPart(n_whole=len(evalset), ranges=tuple(_ranges(places)), limit=asked.limit, where=asked.where, ids=ids)
    return evalset.part(part.ranges, contents), part


def _places(evalset: EvalSet, asked: PartAsked) -> tuple[list[int], SetContents]:
    """The places of the chosen items in the set, and their contents."""
    found = _Found(_by_column(asked.where))
    listed = None if asked.ids is None else _listed(Path(asked.ids), evalset)
    chosen = (
        (place, row)
        for place, row in enumerate(_rows(evalset))
        if found.fits(row) and (listed is None or evalset[place].id in listed)
    )
    places, tally = list[int](), SetTally()
    for place, row in islice(chosen, asked.limit):
        places.append(place)
        tally.add(row)
    if asked.limit is None or len(places) < asked.limit:  # all rows were seen
        found.refuse_unseen()
    if not places:
        what = "where and ids" if found.wanted and listed else "where" if found.wanted else "ids"
        raise ConfigError(what, "no item that has all of it", "at least one item")
    return places, tally.contents()


def _rows(evalset: EvalSet) -> Iterable[Mapping[str, Any]]:
    """The rows of the file with all their columns; it was read before, without a fault."""
    for line in set_lines(evalset.path, evalset.form):
        if line.data is not None and line.data.strip(JSON_WHITE_SPACE):
            read = read_line_json(line.data)
            yield read.value if isinstance(read, LineJson) else {}


def _ranges(places: Sequence[int]) -> Iterable[tuple[int, int]]:
    start = places[0]
    for before, place in pairwise(places):
        if place != before + 1:
            yield start, before + 1
            start = place
    yield start, places[-1] + 1


def _by_column(where: Iterable[str]) -> dict[str, set[str]]:
    wanted: dict[str, set[str]] = {}
    for words in where:
        column, equals, value = words.partition("=")
        if not (equals and column.strip()):
            raise ConfigError("where", quoted(words), "COLUMN=VALUE, such as section=core")
        wanted.setdefault(column.strip(), set()).add(value)
    return wanted


class _Found:
    """Compares rows with the values wanted of their columns, and remembers what there was, for errors."""

    def __init__(self, wanted: Mapping[str, set[str]]) -> None:
        self.wanted = wanted
        self._columns: dict[str, None] = {}
        self._values: dict[str, Counter[str]] = {column: Counter() for column in wanted}

    def fits(self, row: Mapping[str, Any]) -> bool:
        if not self.wanted:
            return True
        self._columns |= dict.fromkeys(row)
        fits = True
        for column, values in self.wanted.items():
            value = _text_in(row, column)
            self._values[column][shorten(value, 40)] += 1
            fits = fits and value in values
        return fits

    def refuse_unseen(self) -> None:
        """Raises: ConfigError for a column or a value that no row has, though other rows may fit."""
        for column, values in self._values.items():
            names = ALIASES.get(column, (column,))
            if not any(name in self._columns for name in names):
                there = shorten(", ".join(self._columns), 200)
                raise ConfigError("where", f"the column {quoted(column)}, which no item has", f"one of {there}")
            unseen = [value for value in sorted(self.wanted[column]) if shorten(value, 40) not in values]
            if unseen:
                common = [f"{quoted(value)} ({n})" for value, n in values.most_common(_MOST_SHOWN)]
                there = ", ".join(common) + (", …" if len(values) > _MOST_SHOWN else "")
                raise ConfigError("where", f"no item with {quoted(unseen[0])} in {column}", there)


def _text_in(row: Mapping[str, Any], column: str) -> str:
    """The value of a column as it is written after `=`: a text unchanged, anything else as JSON; empty for none."""
    value = next((row[name] for name in ALIASES.get(column, (column,)) if row.get(name) is not None), "")
    return value if isinstance(value, str) else canonical_json(value).decode("utf-8", "replace")


def _listed(path: Path, evalset: EvalSet) -> frozenset[str]:
    """The ids in a file: one on each line, or those of a table."""
    known = {item.id for item in evalset}
    found: set[str] = set()
    for line, item_id in _ids_in(path):
        if item_id not in known:
            raise KnownIds(known).unknown(path, line, item_id, field="id")
        found.add(item_id)
    if not found:
        raise InputError(path, found="no ids", expected="one a line, or a table with a column of them")
    return frozenset(found)


def _ids_in(path: Path) -> Iterable[tuple[int, str]]:
    if path.suffix.lower() in TABLE_ENDINGS:
        finder = ColumnFinder(path, {"item_id": ITEM_ID}, {}, "--ids")
        for number, row in read_table(path, table_form(path)):
            finder.note(number, row)
            yield number, id_at(path, number, "item_id", value_at(row, finder.columns["item_id"]))
        return
    for line in read_lines(path):
        try:
            text = "" if line.data is None else line.data.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(path, line=line.number, found="no UTF-8", expected="an id") from None
        if text.strip():
            yield line.number, text.strip()
