"""A batch as a log: its results in the order of their files, each with its request where that is known.

A batch holds answers and no scores. A request that expired, was cancelled or failed has a failure: it is not the
model's answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from benchbook.errors import InputError
from benchbook.evalsets.lines import MAX_LINE_BYTES
from benchbook.exchange.batches.batch_file import BatchFile
from benchbook.exchange.batches.form import AskedOfBatch, BatchForm, BatchResult
from benchbook.exchange.batches.ids import BatchIds
from benchbook.exchange.log import PROMPTS_NOT_KNOWN, ForeignLog, LogHeader, LogNote, LogSample
from benchbook.text import plural, quoted

_MOST_MODELS = 8  # that are named


@dataclass
class BatchSurvey:
    """All results, and all requests, as one look at them showed."""

    reported: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    params: Mapping[str, Any] | None = None  # those that all requests have
    created: float | None = None
    n_results: int = 0
    n_further: int = 0
    n_left_out: int = 0  # parts of requests that are no text
    failures: Counter[str] = field(default_factory=Counter)

    def see_result(self, result: BatchResult) -> None:
        self.n_results += 1
        self.n_further += result.n_further
        if result.failure is not None:
            self.failures[result.failure.kind] += 1
        if result.answer is not None and result.answer.model_reported is not None:
            _add(self.reported, result.answer.model_reported)
        if result.created is not None:
            self.created = result.created if self.created is None else min(self.created, result.created)
        if result.asked is not None:
            self.see_request(result.asked)

    def see_request(self, asked: AskedOfBatch) -> None:
        self.n_left_out += asked.n_parts_left_out
        if asked.model is not None:
            _add(self.asked, asked.model)
        known = asked.params if self.params is None else self.params
        self.params = {name: value for name, value in known.items() if asked.params.get(name, ...) == value}

    @property
    def models(self) -> set[str]:
        """Those that were asked, where requests name them, else those that answered."""
        return self.asked or self.reported


def _add(models: set[str], name: str) -> None:
    if len(models) < _MOST_MODELS:
        models.add(name)


class BatchLog(ForeignLog):
    """One batch. `results` and `requests` are its files; `ids` is closed with it."""

    def __init__(
        self,
        form: BatchForm,
        path: Path,
        results: list[BatchFile],
        requests: list[BatchFile],
        ids: BatchIds,
        survey: BatchSurvey,
        notes: list[LogNote],
    ) -> None:
        self._form, self._results, self._requests, self._ids = form, results, requests, ids
        self._survey = survey
        self._has_doubles = survey.n_results > ids.n_held()
        self._notes = [*notes, *self._noted()]
        self.files = _by_name(results, requests)
        n_asked = ids.n_asked() if requests else None
        self.header = LogHeader(
            tool=form.tool,
            tool_version=None,
            form=form.title,
            task=_task(path, requests),
            model=next(iter(survey.models)) if len(survey.models) == 1 else None,
            status="complete" if n_asked is not None and not ids.n_without_result() else "not_known",
            created_at=_moment(survey.created),
            dataset=requests[0].name if requests else None,
            n_claimed=n_asked,
            generation_params=survey.params or {},
        )

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        asked_in = None if not self._requests else self._requests[0].opened()
        try:
            for file, results in enumerate(self._results):
                for number, line in results.entries():
                    sample = self._sample(asked_in, line, file, number)
                    if sample is not None:
                        yield sample if whole else _bare(sample)
        finally:
            if asked_in is not None:
                asked_in.close()

    def notes(self) -> list[LogNote]:
        return self._notes

    def close(self) -> None:
        self._ids.close()

    def _sample(self, asked_in: BinaryIO | None, line: bytes, file: int, number: int) -> LogSample | None:
        """The sample on a line; None for one that does not count, since its id has a better one."""
        results = self._results[file]
        result = results.read_result(line, number)
        if self._has_doubles and not self._ids.counts(result.id, file, number):
            return None
        asked = result.asked
        if asked is None and asked_in is not None:
            asked = self._request_of(result.id, asked_in)
        if asked is not None and self._form.needs_request(line):  # tools that were not offered are not called
            result = results.read_result(line, number, asked.body)
        answer = result.answer
        where = results.where(number) if len(self._results) == 1 else f"{results.name}, {results.where(number)}"
        return LogSample(
            id=result.id,
            prompt="" if asked is None else asked.prompt,
            messages=None if asked is None else asked.messages,
            answer=None if answer is None else answer.text,
            failure=result.failure,
            finish_reason=None if answer is None else answer.finish_reason,
            input_tokens=None if answer is None else answer.input_tokens,
            output_tokens=None if answer is None else answer.output_tokens,
            model_reported=None if answer is None else answer.model_reported,
            metadata=result.metadata,
            where=where,
        )

    def _request_of(self, id_: str, asked_in: BinaryIO) -> AskedOfBatch | None:
        place = self._ids.request_of(id_)
        if place is None:
            return None
        at, number = place
        asked_in.seek(at)
        line = asked_in.readline(MAX_LINE_BYTES).removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
        asked = self._requests[0].read_request(line, number)
        if asked.id != id_:
            path, where = self._requests[0].path, self._requests[0].where(number)
            raise InputError(path, field=where, found="another request than before: the file has changed")
        return asked

    # ── what readers should know ─────────────────────────────────────────────────────────────────────────

    def _noted(self) -> Iterator[LogNote]:
        survey, ids, id_name = self._survey, self._ids, self._form.id_name
        if survey.failures:
            n = survey.failures.total()
            kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(survey.failures.items()))
            words = f"{plural(n, 'result')} of {survey.n_results:,} {_is(n)} no answer ({kinds}): not the model's doing"
            yield LogNote(code="not_answered", words=words, n=n)
        if self._has_doubles:
            n = survey.n_results - ids.n_held()
            words = f"{plural(n, 'line')} more than one of a {id_name}: its first answer counts, else its first failure"
            yield LogNote(code="doubled_id", words=words, n=n)
        if survey.n_further:
            words = f"{plural(survey.n_further, 'further answer')} to the same request: the first of each was read"
            yield LogNote(code="further_answers", words=words, n=survey.n_further)
        if len(survey.models) > 1:
            words = f"of several models: {', '.join(quoted(one) for one in sorted(survey.models))}"
            yield LogNote(code="several_models", words=words, n=len(survey.models))
        if survey.n_left_out:
            words = (
                f"{plural(survey.n_left_out, 'part')} of requests {_is(survey.n_left_out)} no text: the kind is told"
            )
            yield LogNote(code="parts_left_out", words=words, n=survey.n_left_out)
        yield from self._noted_of_requests()

    def _noted_of_requests(self) -> Iterator[LogNote]:
        ids, id_name = self._ids, self._form.id_name
        if not self._requests:
            if self._survey.params is None:
                words = (
                    "the prompts are not known: no file of requests was given, and none beside it has all of its ids"
                )
                yield LogNote(code=PROMPTS_NOT_KNOWN, words=words, n=self._survey.n_results)
            return
        if n := ids.n_without_result():
            words = f"{plural(n, 'request')} {'has' if n == 1 else 'have'} no result: cancelled, or in another file"
            yield LogNote(code="requests_without_results", words=words, n=n)
        if n := ids.n_without_request():
            words = (
                f"{plural(n, 'result')} {'has' if n == 1 else 'have'} no request of that {id_name}: no prompt is known"
            )
            yield LogNote(code="results_without_requests", words=words, n=n)
        if n := ids.n_asked_twice():
            words = (
                f"{plural(n, id_name)} {'stands' if n == 1 else 'stand'} at more than one request: no prompt is known"
            )
            yield LogNote(code="doubled_request", words=words, n=n)
        if n := _n_out_of_order(ids.places()):
            words = f"{plural(n, 'result')} {_is(n)} not in the order of the requests; they are joined by {id_name}"
            yield LogNote(code="out_of_order", words=words, n=n)


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def _n_out_of_order(places: Iterator[int | None]) -> int:
    """How many stand before one that comes earlier in the requests."""
    n, last = 0, 0
    for place in places:
        if place is not None:
            n += place < last
            last = place
    return n


def _bare(sample: LogSample) -> LogSample:
    sample.messages, sample.metadata = None, {}
    return sample


def _by_name(results: list[BatchFile], requests: list[BatchFile]) -> dict[str, Path]:
    """The files by name: requests of another folder may be called as their results are."""
    named = {one.name: one.path for one in results}
    return named | {f"requests-{one.name}" if one.name in named else one.name: one.path for one in requests}


def _task(path: Path, requests: list[BatchFile]) -> str:
    """The name by which two batches of the same requests are of the same task."""
    return requests[0].path.stem if requests else path.stem if path.suffix in (".jsonl", ".json") else path.name


def _moment(seconds: float | None) -> str | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return None
