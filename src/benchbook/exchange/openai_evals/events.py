"""The lines of a record file, and the samples that they make: a sample's events stand among those of others."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.json_lines import logged_values
from benchbook.exchange.log import LogNote


class EvalSpec(msgspec.Struct):
    """The eval, as the registry has it."""

    cls: Any = None
    args: dict[str, Any] | None = None


class EvalRunConfig(msgspec.Struct):
    """Only what is named here is read: `command` is somebody's command line."""

    eval_spec: EvalSpec | None = None
    seed: Any = None
    max_samples: Any = None


class Spec(msgspec.Struct):
    """The first line's content."""

    completion_fns: list[Any] = []
    eval_name: Any = None
    base_eval: Any = None
    split: Any = None
    run_config: EvalRunConfig | None = None
    run_id: Any = None
    created_at: Any = None


class EventLine(msgspec.Struct):
    """A line: the spec, the final report, or an event of a sample."""

    spec: Spec | None = None
    final_report: Any = None
    type: Any = None
    sample_id: Any = None
    data: Any = None


class AskedSample:
    """A sample's events, in their order."""

    def __init__(self, sample_id: object, line: int) -> None:
        self.id = sample_id
        self.line = line  # of its first event
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.raw: Any = None

    def add(self, kind: object, data: object) -> None:
        if kind == "raw_sample":
            self.raw = data
        elif isinstance(data, dict):
            self.events.setdefault(str(kind), []).append(data)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return self.events.get(kind, [])


class EventFile:
    """A record file. Its samples are put together as it is read; what is held are those that go on."""

    def __init__(self, path: Path) -> None:
        """Reads all lines once. Raises: InputError."""
        self.path = path
        self.spec = Spec()
        self.report: Any = None  # None: there is none
        self.notes: list[LogNote] = []
        self._is_last = bytearray()  # of each event: 1 where its sample has none after it
        self._look()

    def samples(self) -> Iterator[AskedSample]:
        """The samples, in the order in which they ended."""
        open_ones: dict[tuple[bool, str], AskedSample] = {}
        n = 0
        for number, line in self._lines():
            if line.sample_id is None:
                continue
            key = _key(line)
            sample = open_ones.get(key) or open_ones.setdefault(key, AskedSample(line.sample_id, number))
            sample.add(line.type, line.data)
            n += 1
            if self._is_last[n - 1]:
                yield open_ones.pop(key)

    def _look(self) -> None:
        specs = 0
        keys = array("q")
        for number, line in self._lines():
            if line.spec is not None:
                specs += 1
                self.spec = line.spec
            if line.final_report is not None:
                self.report = line.final_report
            if line.sample_id is not None:
                keys.append(hash(_key(line)))
            if specs > 1:
                raise InputError(self.path, line=number, found="a second spec", expected="the events of one run")
        if not specs:
            raise InputError(self.path, found="no spec in any line", expected="a record file of OpenAI Evals")
        later: set[int] = set()
        self._is_last = bytearray(len(keys))
        for place in range(len(keys) - 1, -1, -1):
            if keys[place] not in later:
                later.add(keys[place])
                self._is_last[place] = 1

    def _lines(self) -> Iterator[tuple[int, EventLine]]:
        for line, value in logged_values(self.path, EventLine, self._end_cut):
            yield line.number, value

    def _end_cut(self, note: LogNote) -> None:
        self.notes = [note]


def _key(line: EventLine) -> tuple[bool, str]:
    """A sample's id, told from the same one of another type."""
    return isinstance(line.sample_id, str), str(line.sample_id)
