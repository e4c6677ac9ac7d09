"""Answers and lists of the API, collected into the scripts of a site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import msgspec

from benchbook.errors import BenchbookError
from benchbook.server.problems import ProblemError
from benchbook.server.site.answering import Answers, Query
from benchbook.server.site.packing import in_parts, json_object, list_key, question_key, script
from benchbook.server.site.texts import SharedTexts

_PAGE = 1_000  # rows asked for at once

_raw_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


class ListFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The scripts of a list: its rows as it shows them, and rows whole; `firsts` has the number of the first row of
    each of the latter. What another list, under the key `all`, has whole is not here: `rows_of_all` has the number of
    each row there, null for one that is here.
    """

    rows: tuple[str, ...]
    whole: tuple[str, ...]
    firsts: tuple[int, ...]
    all: str | None
    rows_of_all: tuple[int | None, ...]


@dataclass(slots=True)
class Contents:
    """The scripts of a site by their names, and of each question the script that answers it."""

    source: Answers
    scripts: dict[str, bytes] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    lists: dict[str, ListFiles] = field(default_factory=dict)
    downloads: dict[str, str] = field(default_factory=dict)  # of each question the file that answers it
    files: dict[str, bytes] = field(default_factory=dict)
    texts: SharedTexts = field(default_factory=SharedTexts)
    text_parts: dict[str, int] = field(default_factory=dict)  # the number of the first text of each

    def has(self, path: str, query: Query = ()) -> bool:
        """True if the question was answered."""
        return question_key(path, query) in self.answers

    def json(self, path: str, query: Query = ()) -> Any:
        """The answer to a question, decoded. Raises: ProblemError and others, as the API's operations do."""
        return msgspec.json.decode(self.source.bytes(path, query))

    def rows(self, path: str, query: Query, rows: str) -> list[Any]:
        """All rows of a list, decoded."""
        return [row for page in self._pages(path, query) for row in msgspec.json.decode(page[rows])]

    def add_answers(self, name: str, questions: Sequence[tuple[str, Query]]) -> None:
        """One script with the answers to these questions; one that the API refuses is left out, and refused there."""
        found: list[tuple[str, bytes]] = []
        for path, query in questions:
            try:
                found.append((question_key(path, query), self.source.bytes(path, query)))
            except (BenchbookError, ProblemError):
                continue
        if found:
            self.answers |= dict.fromkeys((key for key, _ in found), name)
            self.scripts[name] = script(name, json_object(found))

    def add_list(
        self,
        name: str,
        path: str,
        query: Query,
        rows: Sequence[Any],
        whole: Iterable[tuple[int, Any]] = (),
        *,
        all_of: tuple[str | None, Sequence[int | None]] = (None, ()),
    ) -> None:
        """The rows of a list, and `whole`: them by their numbers, as one is opened. `all_of` names another list and the
        numbers that rows have there.
        """
        numbered = sorted(((number, msgspec.json.encode(one)) for number, one in whole), key=itemgetter(0))
        parts = list(in_parts((one, len(one[1])) for one in numbered))
        shown = [self.texts.shared(one) for one in rows]  # after them: what a list cuts off may be the start of a text
        self.lists[list_key(path, query)] = ListFiles(
            rows=tuple(
                self._add(f"{name}-{place}", shown[first : first + _PAGE])
                for place, first in enumerate(range(0, len(shown), _PAGE))
            ),
            whole=tuple(
                self._add(f"{name}-whole-{place}", [msgspec.Raw(one) for _, one in part])
                for place, part in enumerate(parts)
            ),
            firsts=tuple(part[0][0] for part in parts),
            all=all_of[0],
            rows_of_all=tuple(all_of[1]),
        )

    def add_texts(self) -> None:
        """The texts that the lists refer to; after them."""
        for place, (first, part) in enumerate(self.texts.parts()):
            self.text_parts[self._add(f"texts-{place}", part)] = first

    def add_file(self, name: str, path: str, query: Query = ()) -> None:
        """The answer to a question as a file of this name; one that the API refuses is left out."""
        try:
            self.files[name] = self.source.bytes(path, query)
        except (BenchbookError, ProblemError):
            return
        self.downloads[question_key(path, query)] = name

    def _add(self, name: str, data: Any) -> str:
        self.scripts[name] = script(name, msgspec.json.encode(data))
        return name

    def _pages(self, path: str, query: Query) -> Iterator[Mapping[str, msgspec.Raw]]:
        first = 0
        while True:
            asked = (*query, ("limit", str(_PAGE)), *((("offset", str(first)),) if first else ()))
            page = _raw_object.decode(self.source.bytes(path, asked))
            yield page
            first += _PAGE
            if first >= msgspec.json.decode(page["n"]):
                return
