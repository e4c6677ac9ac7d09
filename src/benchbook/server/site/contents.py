"""What a site holds: of each question that its pages ask, the answer; of each list, all rows."""

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
_MOST_COMPARED = 8

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

    def _add(self, name: str, data: bytes) -> str:
        self.scripts[name] = script(name, data)
        return name

    def _pages(self, path: str, query: Query) -> Iterator[Mapping[str, msgspec.Raw]]:
        cursor: tuple[tuple[str, str], ...] = ()
        while True:
            page = _raw_object.decode(self._answers.bytes(path, (*query, ("limit", str(_PAGE)), *cursor)))
            yield page
            following = msgspec.json.decode(page["next_cursor"])
            if following is None:
                return
            cursor = (("cursor", following),)


def _parts(whole: Sequence[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Rows in parts of some `_PART_BYTES`, in the order of their numbers."""
    part: list[tuple[int, bytes]] = []
    for one in sorted(whole):
        part.append(one)
        if sum(len(data) for _, data in part) >= _PART_BYTES:
            yield part
            part = []
    if part:
        yield part


def site_contents(answers: Answers) -> Contents:
    """Everything that the pages of these runs ask for."""
    contents = Contents(answers)
    contents.add_list("runs", "/runs", (("sort", "started"), ("order", "desc")), "runs")
    contents.add_answers("all", [("/me", ()), ("/evaluators", ()), ("/evalsets", ()), ("/judges", ())])
    rows = _runs(answers)
    for place, row in enumerate(rows):
        _add_run(contents, f"run-{place}", row)
    for place, group in enumerate(_groups(rows)):
        _add_comparisons(contents, f"set-{place}", group)
    return contents


def _runs(answers: Answers) -> list[dict[str, Any]]:
    return [row for page in Contents(answers)._pages("/runs", ()) for row in msgspec.json.decode(page["runs"])]


def _add_run(contents: Contents, name: str, row: Mapping[str, Any]) -> None:
    path = f"/runs/{row['run_id']}"
    parts = ("", "/manifest", "/aggregates", "/decision", "/criteria", "/panel")
    curve: tuple[str, Query] = (f"{path}/training-metrics", (("name", "loss"),))
    contents.add_answers(name, [*((f"{path}{part}", ()) for part in parts), curve])
    if row["manifest_sha256"] is None:
        return
    if row["samples_are"] == "evaluations":
        contents.add_answers(f"{name}-judges", [(f"/judges/{row['run_id']}", ())])
        contents.add_list(f"{name}-evaluations", "/evaluations", (("run", row["run_id"]),), "evaluations", "sample")
    else:
        contents.add_list(f"{name}-samples", f"{path}/samples", (), "samples", "sample")


def _groups(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Runs that can be held against one another: of one evaluator and one eval set, the oldest first."""
    found: dict[tuple[Any, ...], list[str]] = {}
    for row in sorted(rows, key=lambda one: (one["started_utc"] or "", one["run_id"])):
        if row["manifest_sha256"] is not None and row["samples_are"] == "answers":
            found.setdefault((row["spec"], row["dataset_sha256"]), []).append(row["run_id"])
    return list(found.values())


def _add_comparisons(contents: Contents, name: str, runs: Sequence[str]) -> None:
    del contents, name, runs
