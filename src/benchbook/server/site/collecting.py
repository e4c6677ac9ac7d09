"""Answers and lists of the API, collected into the scripts of a site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchbook.errors import BenchbookError
from benchbook.server.problems import ProblemError
from benchbook.server.site.answering import Answers, Query
from benchbook.server.site.packing import json_list, json_object, list_key, question_key, script

_PAGE = 1_000  # rows asked for at once
_PART_BYTES = 256 << 10  # of JSON in a script: what opening one sample loads

_raw_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])


class ListFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The scripts of a list: its rows as it shows them, and each row whole; `firsts` has the number of the first row of
    each of the latter."""

    rows: tuple[str, ...]
    whole: tuple[str, ...] = ()
    firsts: tuple[int, ...] = ()


@dataclass(slots=True)
class Contents:
    """The scripts of a site by their names, and of each question the script that answers it."""

    _answers: Answers
    scripts: dict[str, bytes] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    lists: dict[str, ListFiles] = field(default_factory=dict)
    downloads: dict[str, str] = field(default_factory=dict)  # of each question the file that answers it
    files: dict[str, bytes] = field(default_factory=dict)

    def has(self, path: str, query: Query = ()) -> bool:
        """True if the question was answered."""
        return question_key(path, query) in self.answers

    def json(self, path: str, query: Query = ()) -> Any:
        """The answer to a question, decoded. Raises: ProblemError and others, as the API's operations do."""
        return msgspec.json.decode(self._answers.bytes(path, query))

    def rows(self, path: str, query: Query, rows: str) -> list[Any]:
        """All rows of a list, decoded."""
        return [row for page in self._pages(path, query) for row in msgspec.json.decode(page[rows])]

    def add_answers(self, name: str, questions: Sequence[tuple[str, Query]]) -> None:
        """One script with the answers to these questions; one that the API refuses is left out, and refused there."""
        found: list[tuple[str, bytes]] = []
        for path, query in questions:
            try:
                found.append((question_key(path, query), self._answers.bytes(path, query)))
            except (BenchbookError, ProblemError):
                continue
        if found:
            self.answers |= dict.fromkeys((key for key, _ in found), name)
            self.scripts[name] = script(name, json_object(found))

    def add_list(self, name: str, path: str, query: Query, rows: str, whole_by: str | None = None) -> None:
        """The rows of a list, which its answer calls `rows`; with `whole_by`, each whole, by this number of it."""
        found = [one for page in self._pages(path, query) for one in _raw_list.decode(page[rows])]
        whole: list[tuple[int, bytes]] = []
        if whole_by is not None:
            for row in found:
                number = int(bytes(_raw_object.decode(row)[whole_by]))
                whole.append((number, self._answers.bytes(f"{path}/{number}", query)))
        parts = tuple(_parts(whole))
        self.lists[list_key(path, query)] = ListFiles(
            rows=tuple(
                self._add(f"{name}-{place}", json_list([bytes(one) for one in found[first : first + _PAGE]]))
                for place, first in enumerate(range(0, len(found), _PAGE))
            ),
            whole=tuple(
                self._add(f"{name}-whole-{place}", json_list([one for _, one in part]))
                for place, part in enumerate(parts)
            ),
            firsts=tuple(part[0][0] for part in parts),
        )

    def add_file(self, name: str, path: str, query: Query = ()) -> None:
        """The answer to a question as a file of this name; one that the API refuses is left out."""
        try:
            self.files[name] = self._answers.bytes(path, query)
        except (BenchbookError, ProblemError):
            return
        self.downloads[question_key(path, query)] = name

    def _add(self, name: str, data: bytes) -> str:
        self.scripts[name] = script(name, data)
        return name

    def _pages(self, path: str, query: Query) -> Iterator[Mapping[str, msgspec.Raw]]:
        first = 0
        while True:
            asked = (*query, ("limit", str(_PAGE)), *((("offset", str(first)),) if first else ()))
            page = _raw_object.decode(self._answers.bytes(path, asked))
            yield page
            first += _PAGE
            if first >= msgspec.json.decode(page["n"]):
                return


def _parts(whole: Sequence[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Rows in parts of some `_PART_BYTES`, in the order of their numbers."""
    part: list[tuple[int, bytes]] = []
    n_bytes = 0
    for one in sorted(whole):
        part.append(one)
        n_bytes += len(one[1])
        if n_bytes >= _PART_BYTES:
            yield part
            part, n_bytes = [], 0
    if part:
        yield part
