"""The files in which promptfoo keeps results: one JSON document, of today's form and of older ones, and JSONL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.json_lines import logged_values
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import LogNote, LogStatus
from benchbook.exchange.promptfoo.results import (
    ERROR,
    Grading,
    Number,
    OfColumn,
    Prompt,
    ProviderResponse,
    Result,
    TokenUsage,
)

# Of no use here, large, or where keys may stand.
_LEFT_OUT = (
    ("config", "tests"),
    ("config", "scenarios"),
    ("config", "defaultTest"),
    ("config", "prompts"),
    ("config", "env"),
    ("traces",),
    ("blobAssets",),
)


CUT = "\n---\n"  # older tables put the error before the answer


class PromptColumn(msgspec.Struct):
    """A prompt with a provider."""

    raw: Any = None
    label: Any = None
    provider: Any = None
    metrics: dict[str, Any] | None = None


class TableHead(msgspec.Struct):
    prompts: list[PromptColumn] = []
    vars: list[Any] = []


class EvalTable(msgspec.Struct):
    head: TableHead = msgspec.field(default_factory=TableHead)


class Summary(msgspec.Struct):
    version: int | None = None
    timestamp: Any = None
    prompts: list[PromptColumn] | None = None
    stats: dict[str, Any] | None = None
    table: EvalTable | None = None


class AboutEval(msgspec.Struct, rename="camel"):
    promptfoo_version: Any = None
    evaluation_created_at: Any = None


class EvalFile(msgspec.Struct, rename="camel"):
    """A document without its results."""

    eval_id: Any = None
    results: Summary = msgspec.field(default_factory=Summary)
    config: dict[str, Any] | None = None
    metadata: AboutEval | None = None
    head: TableHead | None = None  # of a table alone


class ResultFile(ABC):
    """A file of results. What else it says is known once they were read."""

    form: str
    status: LogStatus = "complete"
    place_of_columns = "results.prompts"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rest = EvalFile()
        self.columns: list[PromptColumn] | None = None  # None: the file names none
        self.notes: list[LogNote] = []

    @abstractmethod
    def results(self, column: int | None = None) -> Iterator[tuple[str, Result]]:
        """Each result, or each of a column, with its place. Raises: InputError."""


class JsonResults(ResultFile):
    """The file of `promptfoo eval -o x.json` and of `promptfoo export eval`."""

    form = "JSON, version 3"
    _keys = ("results", "results")

    def results(self, column: int | None = None) -> Iterator[tuple[str, Result]]:
        array = JsonArray(self.path, self._keys, without=[*_LEFT_OUT, ("results", "table")])
        for n, element in enumerate(array):
            where = f"{'.'.join(self._keys)}[{n}]"
            if column in (None, decoded(element, OfColumn, self.path, within=where).prompt_idx):
                yield where, decoded(element, Result, self.path, within=where)
        if not array.found:
            raise InputError(self.path, field=".".join(self._keys), found="nothing", expected="promptfoo's results")
        self.rest = decoded(array.rest, EvalFile, self.path)
        self.columns = self.rest.results.prompts


class TableOutput(msgspec.Struct, rename="camel"):
    """A cell of a table."""

    passed: bool | None = msgspec.field(name="pass", default=None)
    score: Number = None
    failure_reason: int | None = None
    text: Any = None
    prompt: Any = None
    error: Any = None
    latency_ms: Number = None
    cost: Number = None
    token_usage: TokenUsage | None = None
    named_scores: dict[str, Any] | None = None
    grading_result: Grading | None = None
    response: ProviderResponse | None = None


class TableRow(msgspec.Struct, rename="camel"):
    outputs: list[TableOutput | None] = []
    vars: list[Any] = []
    test: msgspec.Raw = msgspec.Raw(b"null")
    test_idx: int | None = None


class TableResults(ResultFile):
    """Results as versions before 3 keep them, in a table; also a table alone, as promptfoo's server gives it."""

    def __init__(self, path: Path, *, alone: bool = False) -> None:
        super().__init__(path)
        self.place_of_columns = "head.prompts" if alone else "results.table.head.prompts"
        self._keys = ("body",) if alone else ("results", "table", "body")
        self._form = "JSON, a table" if alone else "JSON, before version 3"

    @property
    def form(self) -> str:  # type: ignore[override]
        version = self.rest.results.version
        return f"JSON, version {version}" if version else self._form

    def results(self, column: int | None = None) -> Iterator[tuple[str, Result]]:
        array = JsonArray(self.path, self._keys, without=[*_LEFT_OUT, ("results", "results")])
        for n, element in enumerate(array):
            where = f"{'.'.join(self._keys)}[{n}]"
            yield from results_of_row(decoded(element, TableRow, self.path, within=where), n, where, column)
        if not array.found:
            raise InputError(self.path, field=".".join(self._keys), found="nothing", expected="promptfoo's table")
        self.rest = decoded(array.rest, EvalFile, self.path)
        head = self.rest.head or (self.rest.results.table.head if self.rest.results.table else None)
        self.columns = head.prompts if head else None


class LineResults(ResultFile):
    """The file of `promptfoo eval -o x.jsonl`: a result a line, while the eval goes on."""

    form = "JSONL"
    status: LogStatus = "not_known"

    def results(self, column: int | None = None) -> Iterator[tuple[str, Result]]:
        self.notes.clear()
        for line, of in logged_values(self.path, OfColumn, self._end_cut):
            if column in (None, of.prompt_idx):
                yield f"line {line.number}", decoded(line.data, Result, self.path, line=line.number)

    def _end_cut(self, note: LogNote) -> None:
        """The last line is still being written, or was cut off."""
        self.status = "being_written"
        self.notes.append(note)


def results_of_row(row: TableRow, n: int, where: str, column: int | None) -> Iterator[tuple[str, Result]]:
    """Each result of a table's row, or that of a column, with its place."""
    for place, output in enumerate(row.outputs):
        if output is not None and column in (None, place):
            yield f"{where}.outputs[{place}]", _of_table(row, n, place, output)


def _of_table(row: TableRow, n: int, column: int, output: TableOutput) -> Result:
    text, error = output.text, output.error
    failed = output.failure_reason == ERROR or (
        output.failure_reason is None and not output.passed and output.grading_result is None
    )
    if isinstance(text, str) and not output.passed and CUT in text:
        error, _, text = text.partition(CUT)
    return Result(
        prompt_idx=column,
        test_idx=n if row.test_idx is None else row.test_idx,
        success=output.passed,
        score=output.score,
        failure_reason=output.failure_reason,
        error=error or (text if failed else None),
        latency_ms=output.latency_ms,
        cost=output.cost,
        prompt=Prompt(raw=output.prompt),
        response=output.response or (None if failed else ProviderResponse(output=text, token_usage=output.token_usage)),
        grading_result=output.grading_result,
        named_scores=output.named_scores,
        test_case=row.test,
    )
