"""The answers of a record as files that other evaluators score: nobody is asked again.

The eval set is the record's own copy. An item that was not answered, by no fault of the model's, is no wrong answer:
evaluators of answers leave it out, and say of how many; a rubric has it unanswered (R1.3a).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchbook.ask.model_id import parse_model_id
from benchbook.canonical import canonical_json
from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evaluators.kept import recorded_evalset
from benchbook.exchange.log import LogSample
from benchbook.exchange.of_record import RecordLog, log_of_record
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.text import plural

_ENDINGS = {"csv": ".csv", "parquet": ".parquet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAnswers:
    """The files, which are there while the block runs, and whose answers they are.

    `ids` is a list of the items that are scored, where these are not the whole set. `unmeasured` is what no sample has.
    """

    evalset: str
    answers: str
    ids: str | None
    model: str
    model_version: str | None
    generation_params: dict[str, Any]
    repeats: int
    n_unanswered: int
    unmeasured: tuple[str, ...]

    @property
    def note(self) -> str | None:
        """A sentence about samples that were not answered; None where all were."""
        if not self.n_unanswered:
            return None
        was = "was" if self.n_unanswered == 1 else "were"
        return f"{plural(self.n_unanswered, 'sample')} of the run {was} not answered"


@contextmanager
def predictions_of(record: Record, *, repeat: int | None = None) -> Iterator[RecordAnswers]:
    """The answers as predictions, one of each item that was answered; of several repeats, those of `repeat`, from 0.

    Raises: UsageError for a record that is no log of one model's answers, or none of which was answered; ConfigError
    for a repeat that there is not; RecordError.
    """
    log = log_of_record(record)
    chosen = _repeat(record, log.header.repeats, repeat)
    with _files(record, log) as files:
        samples = (one for one in log.samples(whole=False) if one.repeat == chosen)
        answered = files.write(samples, _prediction, repeats=1)
        yield files.found(repeats=1, items=answered)


@contextmanager
def outputs_of(record: Record) -> Iterator[RecordAnswers]:
    """The answers as recorded outputs, of all repeats; what was not answered has none. Raises: as `predictions_of`."""
    log = log_of_record(record)
    with _files(record, log) as files:
        files.write(log.samples(whole=False), _output, repeats=log.header.repeats)
        yield files.found(repeats=log.header.repeats)


_TAKEN = ("evalset", "ids", "outputs", "output_columns", "repeats")  # from the run; no setting may say otherwise


def settings_over(found: RecordAnswers, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run whose judge scores these answers: `given`, with those that the answers' own run says.

    Raises: ConfigError for a setting of what is taken from that run, and where nobody says which version answered.
    """
    for name in _TAKEN:
        if given.get(name) not in (None, (), {}):
            raise ConfigError(name, repr(given[name]), "nothing: it is taken from the run that was answered")
    values = {"model": _recorded(found) if given.get("model") is None else given["model"]}
    if given.get("unmeasured") in (None, ()) and found.unmeasured:
        values["unmeasured"] = found.unmeasured
    if not given.get("model_params") and found.generation_params:
        values["model_params"] = found.generation_params
    files = {"evalset": found.evalset, "outputs": found.answers, "repeats": found.repeats}
    return {**given, **values, **files, **({} if found.ids is None else {"ids": found.ids})}


def _recorded(found: RecordAnswers) -> str:
    model = parse_model_id(found.model, "model")
    version = model.declared_version or found.model_version
    if version is None:
        expected = f"recorded/{model.name}@VERSION: the run does not say which version of {found.model} answered"
        raise ConfigError("model", "nothing", expected)
    return f"recorded/{model.name}@{version}"


def _repeat(record: Record, repeats: int, asked: int | None) -> int:
    if asked is None and repeats > 1:
        raise ConfigError(
            "--repeat", "nothing", f"0 to {repeats - 1}: {record.path} has {repeats} answers to each item"
        )
    if asked is not None and not 0 <= asked < repeats:
        raise ConfigError("--repeat", str(asked), f"0 to {repeats - 1}" if repeats > 1 else "0: there are no repeats")
    return asked or 0


def _prediction(sample: LogSample) -> dict[str, Any]:
    row = {"item_id": sample.id, "predicted": sample.answer}
    return row if sample.latency_ms is None else row | {"eval_time_ms": sample.latency_ms}


def _output(sample: LogSample) -> dict[str, Any]:
    row = {
        "item_id": sample.id,
        "repeat": sample.repeat,
        "output": sample.answer,
        "latency_e2e_ms": sample.latency_ms,
        "input_tokens": sample.input_tokens,
        "output_tokens": sample.output_tokens,
        "finish_reason": sample.finish_reason,
    }
    return {name: value for name, value in row.items() if value is not None or name == "output"}


# ── the files ────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _files(record: Record, log: RecordLog) -> Iterator[_Files]:
    with tempfile.TemporaryDirectory(prefix="benchbook-answers-") as folder:
        files = _Files(record, record.started(), log, Path(folder))
        try:
            yield files
        except InputError as error:  # an item that lacks what another evaluator needs: in the record's own copy
            if error.path != str(files.evalset):
                raise
            kept = record.input(record.started().inputs["evalset"])
            raise InputError(
                kept, line=error.line, field=error.field, found=error.found, expected=error.expected
            ) from None


class _Files:
    """The files of one record's answers, in a folder that goes."""

    def __init__(self, record: Record, started: RunStarted, log: RecordLog, folder: Path) -> None:
        self._record, self._log, self._folder = record, log, folder
        with recorded_evalset(record, started) as evalset:
            self._is_part, self._n_items = bool(evalset.left_out()), len(evalset)
        ending = _ENDINGS.get(started.identity.get("evalset_form", "jsonl"), ".jsonl")
        self.evalset = folder / f"{Path(str(started.identity['dataset_id'])).name or 'items'}{ending}"
        self.evalset.symlink_to(record.input(started.inputs["evalset"]).resolve())
        # The record that they are from is named by its id and hash, wherever this file's name is recorded.
        self._answers = folder / f"answers-of-{record.run_id}-{log.header.metadata['record_sha256']}.jsonl"
        self._asked: dict[str, None] = {}
        self._n_unanswered = 0
        self._lacks = {"latency", "tokens"}

    def write(self, samples: Iterator[LogSample], row: Any, *, repeats: int) -> dict[str, None]:
        """Write a line for each sample that was answered, and return the ids of their items. A sample that is not
        there, of the items' so many repeats, was not answered: an imported log may lack it.

        Raises: UsageError where none was.
        """
        answered: dict[str, None] = {}
        n_lacking = self._n_items * repeats
        with self._answers.open("wb") as file:
            for sample in samples:
                self._asked[sample.id] = None
                n_lacking -= 1
                if sample.failure is not None and sample.answer is None:
                    self._n_unanswered += 1
                    continue
                answered[sample.id] = None
                self._note(sample)
                file.write(canonical_json(row(sample)) + b"\n")
        self._n_unanswered += n_lacking
        if not answered:
            raise UsageError(f"{self._record.path}: none of its samples was answered, so there is nothing to score")
        return answered

    def _note(self, sample: LogSample) -> None:
        if sample.latency_ms is not None:
            self._lacks.discard("latency")
        if sample.input_tokens is not None and sample.output_tokens is not None:
            self._lacks.discard("tokens")

    def found(self, *, repeats: int, items: dict[str, None] | None = None) -> RecordAnswers:
        """The files. `items` are those that are scored; by default all of the run."""
        header = self._log.header
        ids = None
        if self._is_part or (items is not None and len(items) < self._n_items):
            ids = self._folder / f"answered-in-{self._record.run_id}.jsonl"
            with ids.open("wb") as file:
                _write_ids(file, self._asked if items is None else items)
        version = header.metadata.get("model_version")
        return RecordAnswers(
            evalset=str(self.evalset),
            answers=str(self._answers),
            ids=None if ids is None else str(ids),
            model=header.model or "recorded/unknown",
            model_version=None if version is None else str(version),
            generation_params=dict(header.generation_params),
            repeats=repeats,
            n_unanswered=self._n_unanswered,
            unmeasured=tuple(sorted(self._lacks)),
        )


def _write_ids(file: IO[bytes], ids: dict[str, None]) -> None:
    file.writelines(canonical_json({"item_id": one}) + b"\n" for one in ids)
