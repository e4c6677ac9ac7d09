"""Output items of OpenAI's hosted evals: what its API lists (`eval.run.output_item`), and what its page exports.

They name graders and what each said, and no number of the whole run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.lines import MAX_LINE_BYTES, read_lines
from benchbook.exchange.conversations import Messages, as_text, messages_in, read_aloud
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import decoded, number_of
from benchbook.exchange.log import ForeignLog, LogFailure, LogHeader, LogSample, LogScore, LogScorer

_LISTED = re.compile(rb'"object"\s*:\s*"eval\.run\.output_item"')
_PAGE = re.compile(rb'\{\s*"(?:object|data|first_id|last_id|has_more)"')
_MOST_RUNS = 1_000
_MOST_SCORERS = 2_000
_GENERATION = ("temperature", "top_p", "seed", "max_completion_tokens")


class GraderResult(msgspec.Struct):
    """A grader's word, as the API has it."""

    name: Any = None
    score: Any = None
    passed: bool | None = None
    sample: dict[str, Any] | None = None


class OutputItem(msgspec.Struct):
    """An item with what was answered: in the first names the API's, in the others the page's."""

    run_id: str
    eval_id: str | None = None
    datasource_item_id: Any = None
    datasource_item: dict[str, Any] | None = None
    results: list[GraderResult] | None = None
    sample: dict[str, Any] | None = None

    data_source_idx: Any = None
    item: dict[str, Any] | None = None
    grades: dict[str, Any] | None = None
    passes: dict[str, Any] | None = None
    grader_samples: dict[str, Any] | None = None


def recognises_items(head: bytes) -> bool:
    """True for a file that begins as one of such items, a line each, or as a page of the API's list."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head.startswith(b"{"):
        return False
    return _LISTED.search(head) is not None or all(
        one in head for one in (b'"run_id"', b'"data_source_idx"', b'"grades"')
    )


def opened_items(path: Path) -> list[ForeignLog]:
    """A log for each run in the file. Raises: InputError."""
    runs: dict[str, _RunSeen] = {}
    for where, one in _items(path):
        run = runs.setdefault(one.run_id, _RunSeen())
        run.add(one)
        if len(runs) > _MOST_RUNS or len(run.judges) > _MOST_SCORERS:
            raise InputError(path, field=where, found="more runs or graders than there can be", expected="fewer")
    return [HostedEvalLog(path, run_id, run) for run_id, run in runs.items()]


class HostedEvalLog(ForeignLog):
    """A run of a hosted eval."""

    def __init__(self, path: Path, run_id: str, seen: _RunSeen) -> None:
        self.files = {path.name: path}
        self._path, self._run_id = path, run_id
        self.header = LogHeader(
            tool="openai_evals",
            tool_version=None,
            form="output items of a hosted eval",
            task=seen.eval_id or run_id,
            model=seen.model,
            scorers=tuple(LogScorer(name=name, judge=judge) for name, judge in seen.judges.items()),
            generation_params=seen.params,
            metadata={"run_id": run_id},
        )

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        for where, one in _items(self._path):
            if one.run_id == self._run_id:
                yield _sample(one, where, whole=whole)


class _RunSeen:
    """A run, as its items show it."""

    def __init__(self) -> None:
        self.judges: dict[str, str | None] = {}
        self.model: str | None = None
        self.eval_id: str | None = None
        self.params: dict[str, Any] = {}

    def add(self, one: OutputItem) -> None:
        self.eval_id = self.eval_id or one.eval_id
        sample = one.sample or {}
        if self.model is None and isinstance(sample.get("model"), str):
            self.model = sample["model"]
            self.params = {name: sample[name] for name in _GENERATION if number_of(sample.get(name)) is not None}
        for result in _results(one):
            name = as_text(result.name) or "grader"
            judge = (result.sample or {}).get("model")
            self.judges[name] = self.judges.get(name) or (judge if isinstance(judge, str) and judge else None)


def _items(path: Path) -> Iterator[tuple[str, OutputItem]]:
    with path.open("rb") as file:
        head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if _PAGE.match(head) and b'"data"' in head:
        array = JsonArray(path, ("data",))
        for n, element in enumerate(array):
            yield f"data[{n}]", decoded(element, OutputItem, path, within=f"data[{n}]")
        return
    for line in read_lines(path):
        if line.data is None:
            found = "a longer line than can be held"
            raise InputError(path, line=line.number, found=found, expected=f"at most {MAX_LINE_BYTES:,} bytes")
        if line.data.strip():
            yield f"line {line.number}", decoded(line.data, OutputItem, path, line=line.number)


def _results(one: OutputItem) -> list[GraderResult]:
    if one.results is not None:
        return one.results
    passes, samples = one.passes or {}, one.grader_samples or {}
    return [
        GraderResult(
            name=name,
            score=grade,
            passed=passes.get(name) if isinstance(passes.get(name), bool) else None,
            sample=samples.get(name) if isinstance(samples.get(name), dict) else None,
        )
        for name, grade in (one.grades or {}).items()
    ]


def _sample(one: OutputItem, where: str, *, whole: bool) -> LogSample:
    sample = one.sample or {}
    item = one.datasource_item or one.item or {}
    asked = sample.get("input") or item.get("input")
    messages = messages_in(asked)
    usage = sample.get("usage") or sample.get("token_usage")
    tokens = usage if isinstance(usage, dict) else {}
    failure = _failure(sample.get("error"))
    finish = sample.get("finish_reason")
    number = one.datasource_item_id if one.datasource_item_id is not None else one.data_source_idx
    return LogSample(
        id=as_text(number) or "",
        prompt=(read_aloud(messages) if messages else as_text(asked or item)) or "",
        answer=_said(sample),
        scores={} if failure else {as_text(result.name) or "grader": _score(result) for result in _results(one)},
        failure=failure,
        finish_reason=finish if isinstance(finish, str) else None,
        input_tokens=_whole(tokens.get("prompt_tokens")),
        output_tokens=_whole(tokens.get("completion_tokens")),
        model_reported=sample["model"] if isinstance(sample.get("model"), str) else None,
        messages=messages if whole else None,
        metadata={"item": item} if whole and item else {},
        where=where,
    )


def _score(result: GraderResult) -> LogScore:
    value = number_of(result.score)
    return LogScore(
        value=value,
        unscored=None if value is not None else "no score",
        passed=result.passed,
        explanation=_said(result.sample or {}),
    )


def _said(sample: dict[str, Any]) -> str | None:
    """The text of a call's last message; None where there is none."""
    found: object = sample.get("output", sample.get("outputs"))
    messages: Messages = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return as_text(messages[-1].get("content")) if messages else as_text(found or None)


def _failure(error: object) -> LogFailure | None:
    """An error of a call: the API has an empty one where there was none."""
    if isinstance(error, dict):
        said = [as_text(error.get(name)) for name in ("code", "message")]
        error = ": ".join(one for one in said if one)
    return LogFailure(message=as_text(error) or "") if error else None


def _whole(value: object) -> int | None:
    number = number_of(value)
    return round(number) if number is not None and abs(number) < 2**53 else None
