"""Reading a record's folder for the catalog, whatever state it is in. Nothing is written here.

A record with a manifest that names its journal's last fact is read from its derived files, each held against the hash
in the manifest. One whose journal has gone on is read from the journal. One that is damaged is a row as well: it says
what is wrong, and no number of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.catalog.judges import judge_models, judges_of_manifest, judges_of_plan
from benchbook.catalog.numbers import Aggregate, Headline, aggregates_of, headline_of, planned_of
from benchbook.catalog.stamps import stamp_of
from benchbook.errors import BenchbookError, LaterRecordError, NotJoinedError, RecordDamagedError, RecordError
from benchbook.evaluators.candidate import candidate_plan_of
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.derived_files import check_whole, inside, misnamed_words
from benchbook.record.facts import LabelsStarted, RunStarted
from benchbook.record.folder import Record, ShardRecord, is_at_work, is_record, misnamed, shard_folders
from benchbook.record.growing import GrowingJournals
from benchbook.record.reading import read_segment, segment_files
from benchbook.record.sets import newest_set
from benchbook.record.standing import RunState, run_state
from benchbook.text import shorten

_ATTEMPTS = 3
_any = msgspec.json.Decoder()


class _Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of manifest.json that the catalog shows; those that not every spec has are optional."""

    spec: str
    spec_sha256: str | None = None
    state: str
    timestamp_utc: str
    ended_utc: str | None = None
    dataset_id: str | None = None
    dataset_version_or_hash: str | None = None
    part: Any = None  # of the eval set
    model_id: str | None = None
    model_version: str | None = None
    evaluator_model_id: str | None = None
    panel: Any = None
    judges: dict[str, Any] = {}  # of an experiment
    n_items: int | None = None
    n_outputs: int | None = None  # judge_protocol@v1: what is judged, instead of items
    repeats: int = 1
    config: dict[str, Any] = {}
    inputs: dict[str, str] = {}
    journal_facts: int
    journal_sha256: str
    derived: dict[str, str]
    manifest_sha256: str

    @property
    def set_sha256(self) -> str | None:
        """The hash of what was asked: a part of an eval set is ranked with its like alone."""
        whole = self.inputs.get("evalset", self.inputs.get("evaluation_set"))
        return whole if self.part is None else (self.dataset_version_or_hash or "").removeprefix("sha256:")

    @property
    def n_asked(self) -> int | None:
        """The items of the eval set, or the outputs of the evaluation set."""
        return self.n_items if self.n_items is not None else self.n_outputs


@dataclass(frozen=True, slots=True)
class Observation:
    """A row of `runs`, the run's aggregates, and the table that holds its predictions, if it has one."""

    row: dict[str, Any]
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    predictions: Path | None = None
    score: str = "correctness"  # what that table calls what a prediction was worth


def observe(record: Record, growing: GrowingJournals | None = None) -> Observation | None:
    """Read a record as far as it can be read. The stamp is taken first: what changes meanwhile is seen the next time.
    Of a run that goes on, whoever keeps `growing` reads what came since the last time.

    None for a record that is none of a run: one of people's labels. Raises: FileNotFoundError where the folder is gone.
    """
    at_work = is_at_work(record)  # once: a stamp that says otherwise than the row would keep a wrong row for ever
    stamp = stamp_of(record, at_work=at_work)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _read(record, stamp, GrowingJournals() if growing is None else growing, at_work=at_work)
        except FileNotFoundError as error:
            # The writer seals a segment, which renames it, or the whole record is being removed.
            if not is_record(record.path):
                raise
            if attempt == _ATTEMPTS:
                return damaged(record, stamp, f"{error.filename}: is missing")
        except LaterRecordError as error:  # it is whole, for all that is known here
            return Observation(_row(record, stamp, state="later", unavailable=inside(record, str(error))))
        except (BenchbookError, OSError) as error:
            return damaged(record, stamp, str(error))
        except Exception as error:  # whatever hostile files provoke, the other records are listed
            return damaged(record, stamp, f"its files make no sense ({type(error).__name__}: {error})")
    raise AssertionError("unreachable")


def _set_sha256(started: RunStarted) -> str | None:
    """The hash of what was asked, by a record's first fact."""
    part = _dict(started.identity.get("plan")).get("part")
    return started.inputs.get("evalset") if part is None else candidate_plan_of(started).set_sha256


def damaged(record: Record, stamp: str, error: str) -> Observation:
    """The row of a record that can't be read."""
    reason = shorten(inside(record, error), 500)
    row = _row(record, stamp, state="damaged", error=reason, unavailable=f"the record is damaged: {reason}")
    return Observation(row)


def _read(record: Record, stamp: str, growing: GrowingJournals, *, at_work: bool) -> Observation | None:
    try:
        first = check_whole(record)
    except NotJoinedError:
        words = f"its shards are not joined yet; when all are whole: benchbook join {record.run_id}"
        return _in_shards(record, stamp, words, at_work=at_work)
    if isinstance(first, LabelsStarted):
        return None
    manifest = _manifest_of(record)
    if record.is_sharded and manifest is None:
        return _in_shards(record, stamp, "was joined, and nothing was computed of it: join it again", at_work=at_work)
    if manifest is not None and manifest.journal_sha256 == _last_sha256(record):
        growing.forget(record.journal)
        return _finished(record, stamp, manifest, misnamed_words(record, first))
    return _running(record, stamp, manifest, growing, at_work=at_work)


# ── a record with its derived files ──────────────────────────────────────────────────────────────────────────


def _manifest_of(record: Record) -> _Manifest | None:
    """The manifest, held against its own hash; None where there is none yet."""
    try:
        content = _object(record.manifest, record.manifest.read_bytes())
    except FileNotFoundError:
        return None
    try:
        manifest = msgspec.convert(content, ready(_Manifest))
    except msgspec.ValidationError as error:
        raise RecordError(f"manifest.json: {error}") from None
    unsigned = canonical_json(content | {"manifest_sha256": ""})
    if hashlib.sha256(unsigned).hexdigest() != manifest.manifest_sha256:
        raise RecordError("manifest.json: was changed: it does not have the hash that stands in it")
    return manifest


def _object(path: Path, data: bytes) -> dict[str, Any]:
    try:
        value = decode_json(data, _any)
    except msgspec.DecodeError as error:
        raise RecordError(f"{path.name}: not readable ({error})") from None
    if not isinstance(value, dict):
        raise RecordError(f"{path.name}: found no JSON object")
    return value


def _last_sha256(record: Record) -> str | None:
    """The hash of the last whole line, or the root of a joined record; None where the last segment has none yet."""
    if record.is_sharded:
        newest = newest_set(record.path)
        return None if newest is None else newest.root
    segments = segment_files(record.journal)
    data = read_segment(segments[-1]) if segments else b""
    end = data.rfind(b"\n")
    return None if end < 0 else hashlib.sha256(data[data.rfind(b"\n", 0, end) + 1 : end]).hexdigest()


def _finished(record: Record, stamp: str, manifest: _Manifest, error: str | None) -> Observation:
    content = _derived(record.aggregates, manifest)
    aggregates = aggregates_of(content)
    decision = _derived(record.decision, manifest)
    evaluator = _evaluator_of(record)
    unavailable = _unavailable(record, manifest.spec, evaluator)
    if unavailable is None:
        _check_hash(record.samples, manifest)
    row = _row(
        record,
        stamp,
        state=run_state(manifest.state, at_work=False),  # nothing was recorded since it was derived
        error=error,
        unavailable=unavailable,
        headline=headline_of(evaluator.primary if evaluator else None, content, aggregates),
        spec=manifest.spec,
        spec_sha256=manifest.spec_sha256,
        samples_are=evaluator.samples_are if evaluator else None,
        started_utc=manifest.timestamp_utc,
        ended_utc=manifest.ended_utc,
        dataset_id=manifest.dataset_id,
        dataset_sha256=manifest.set_sha256,
        model_id=manifest.model_id,
        model_version=manifest.model_version,
        evaluator_model_id=manifest.evaluator_model_id,
        judges=judges_of_manifest(manifest.judges, manifest.panel, manifest.evaluator_model_id),
        decision=_text(decision.get("decision") or decision.get("verdict")),
        n_items=manifest.n_asked,
        n_planned=planned_of(aggregates, manifest.n_asked, manifest.repeats),
        journal_sha256=manifest.journal_sha256,
        manifest_sha256=manifest.manifest_sha256,
        tags=_tags(manifest.config),
    )
    if unavailable is not None or evaluator is None or evaluator.compared is None:
        return Observation(row, aggregates)
    return Observation(row, aggregates, record.samples, evaluator.compared.score)


def _derived(path: Path, manifest: _Manifest) -> dict[str, Any]:
    """A derived file's content; empty for one that the spec does not have."""
    if path.name not in manifest.derived:
        return {}
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != manifest.derived[path.name]:
        raise _changed(path)
    return _object(path, data)


def _check_hash(path: Path, manifest: _Manifest) -> None:
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != manifest.derived.get(path.name):
            raise _changed(path)


def _changed(path: Path) -> RecordError:
    return RecordError(f"{path}: was changed: it does not have the hash that manifest.json names")


# ── a record that is going on ────────────────────────────────────────────────────────────────────────────────


def _running(
    record: Record, stamp: str, manifest: _Manifest | None, growing: GrowingJournals, *, at_work: bool
) -> Observation | None:
    """The row of a run that is going on, counted from the journal, whose chain is checked on the way."""
    state, journal = growing.read_on(record.journal)
    if not at_work:
        growing.forget(record.journal)
    if manifest is not None and state.n_facts <= manifest.journal_facts and not record.is_sharded:
        path = record.journal / f"{state.n_segments:06d}.jsonl"
        raise RecordDamagedError(path, state.last_line, "the journal ends with another fact than manifest.json names")
    row = _row_of_started(
        record, stamp, state.started, at_work=at_work,
        headline=Headline(n_attempted=journal.n_attempted), journal_sha256=state.last_sha256,
    )  # fmt: skip
    return Observation(row)


def _in_shards(record: Record, stamp: str, error: str, *, at_work: bool) -> Observation:
    """The row of a run whose shards are not joined yet: what was planned, by the first of them."""
    first = ShardRecord(shard_folders(record.path)[0]).started()
    return Observation(_row_of_started(record, stamp, first, at_work=at_work, not_joined=error))


def _row_of_started(
    record: Record, stamp: str, started: RunStarted, *, at_work: bool, not_joined: str | None = None, **known: Any
) -> dict[str, Any]:
    """The row of a run of which nothing was derived yet, by its first fact."""
    plan = _dict(started.identity.get("plan"))
    evaluator = None if not_joined is not None else _evaluator_of(record)
    return _row(
        record,
        stamp,
        state=run_state("open", at_work=at_work),  # it is not derived yet, whatever its journal says
        error=not_joined or misnamed(record, started.run_id),
        unavailable=not_joined or _unavailable(record, started.spec, evaluator),
        spec=started.spec,
        spec_sha256=started.spec_sha256,
        samples_are=evaluator.samples_are if evaluator else None,
        started_utc=started.at,
        dataset_id=_text(started.identity.get("dataset_id")),
        dataset_sha256=_set_sha256(started),
        model_id=_text(_dict(plan.get("candidate")).get("model_id")),
        evaluator_model_id=judge_models(plan),
        judges=judges_of_plan(plan),
        n_items=started.n_items,
        n_planned=started.n_items * started.repeats,
        tags=_tags(started.config),
        **known,
    )


# ── a row ────────────────────────────────────────────────────────────────────────────────────────────────────

_KNOWN = (
    "spec",
    "spec_sha256",
    "samples_are",
    "started_utc",
    "ended_utc",
    "dataset_id",
    "dataset_sha256",
    "model_id",
    "model_version",
    "evaluator_model_id",
    "decision",
    "n_items",
    "n_planned",
    "journal_sha256",
    "manifest_sha256",
)
_SEARCHED = ("spec", "dataset_id", "model_id", "evaluator_model_id")
_NO_HEADLINE = Headline()


def _row(
    record: Record,
    stamp: str,
    *,
    state: RunState,
    error: str | None = None,
    unavailable: str | None,
    headline: Headline = _NO_HEADLINE,
    tags: Iterable[str] = (),
    judges: Iterable[str] = (),
    **known: Any,
) -> dict[str, Any]:
    tags, judges = list(tags), list(judges)
    row = dict.fromkeys(_KNOWN) | known
    searched = (record.run_id, *(row[name] for name in _SEARCHED), *judges, *tags)
    return {
        "run_id": record.run_id,
        "record_path": record.path.name,
        "state": state,
        "error": error,
        **row,
        **{name: getattr(headline, name) for name in Headline.__dataclass_fields__},
        "judges": canonical_json(judges).decode("utf-8"),
        "tags": canonical_json(tags).decode("utf-8"),
        "predictions_unavailable": unavailable,
        "search": "\n".join(text for text in searched if text is not None).casefold(),
        "stamp": stamp,
    }


def _evaluator_of(record: Record) -> Evaluator | None:
    """The record's evaluator; None for one that this version does not know."""
    try:
        return evaluator_of(record)
    except RecordDamagedError:
        raise
    except RecordError:
        return None


def _unavailable(record: Record, spec: str, evaluator: Evaluator | None) -> str | None:
    """Why a run has no per-item table (A5, A6); None where it has one."""
    if evaluator is not None and (reason := evaluator.unavailable(record.started())) is not None:
        return reason
    if evaluator is None or not evaluator.has_predictions:
        return f"{spec} does not compare predictions with expected answers; its samples are in samples.parquet"
    return None


def _tags(config: dict[str, Any]) -> list[str]:
    tags = config.get("tags")
    return sorted({tag for tag in tags if isinstance(tag, str)}) if isinstance(tags, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
