"""A record as a log, whatever evaluator made it: what the contract says of its rows, its numbers and its items.

The values are the record's own, on the evaluator's scale. A sample that is unanswered (R1.3a), or that nobody could
score, is unscored here, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from benchbook.comparison.items import unanswered_why
from benchbook.errors import UsageError
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.candidate import PromptTemplate, template_of
from benchbook.evaluators.contract import ComparedColumns, DerivedFiles, Evaluator
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.registry import evaluator_of
from benchbook.exchange.log import (
    ForeignLog,
    LogFailure,
    LogHeader,
    LogSample,
    LogScore,
    LogScorer,
    LogStatus,
)
from benchbook.exchange.of_import import ImportedFacts
from benchbook.exchange.record_claims import ColumnOfScores, RecordClaims
from benchbook.record.derived_files import check_derived
from benchbook.record.facts import Failure, RunStarted
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.record.tables import read_frames
from benchbook.specs.folders import as_text

TOOL = "benchbook"
_SAMPLES = "samples.parquet"
_WHY = " unanswered why"  # a column beside those of the table, none of which begins with a space


def log_of_record(record: Record) -> RecordLog:
    """A record as a log of one model's answers.

    Raises: UsageError for one that is no such log: judges' evaluations of outputs, or one without samples; RecordError.
    """
    evaluator = evaluator_of(record)
    derived = evaluator.read(record)
    started = record.started()
    if evaluator.samples_are == "evaluations":
        raise UsageError(
            f"{record.path}: its samples are judges' evaluations of several models' outputs, and a log holds one "
            "model's answers: export its rows as a table (--to csv, ndjson or parquet)"
        )
    if (reason := evaluator.unavailable(started)) is not None:
        raise UsageError(f"{record.path}: its samples are unavailable: {reason}")
    if evaluator.compared is None:
        raise UsageError(
            f"{record.path}: {evaluator.id} does not say which columns hold answers and scores: export its rows as a "
            "table (--to csv, ndjson or parquet)"
        )
    check_derived(record, _SAMPLES)
    return RecordLog(record, started, evaluator, evaluator.compared, derived)


class RecordLog(ForeignLog):
    """A record of answers, read a row group at a time beside the eval set that it keeps."""

    def __init__(
        self, record: Record, started: RunStarted, evaluator: Evaluator, columns: ComparedColumns, derived: DerivedFiles
    ) -> None:
        self._record, self._started, self._evaluator, self._columns = record, started, evaluator, columns
        self._manifest: dict[str, Any] = msgspec.to_builtins(derived.manifest)
        self._is_imported = "imported" in self._manifest
        self._names = evaluator.tables(started)[_SAMPLES].__struct_fields__
        self._scored = tuple(_scorers(evaluator.id, columns, self._names, self._manifest))
        self._mapped = _MAPPED | {
            columns.answer,
            columns.passed,
            columns.expected,
            *(one.column for one in self._scored),
        }
        self.files = {"manifest.json": record.manifest, _SAMPLES: record.samples}
        self.header = self._header(derived)

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        why = unanswered_why(self._evaluator, self._names, self._manifest).alias(_WHY)
        template = self._template() if whole else None
        facts = ImportedFacts(self._record, self._scored[0].scorer.name) if self._is_imported else None
        with recorded_evalset(self._record, self._started, keeps_fields=True) as evalset:
            for frame in read_frames(self._record.samples):
                for row in frame.with_columns(why).iter_rows(named=True):
                    if not self._is_lacking(row):
                        sample = self._sample(row, evalset, template, whole)
                        yield sample if facts is None else facts.over(sample, row, whole=whole)

    def _is_lacking(self, row: Mapping[str, Any]) -> bool:
        """True for a repeat of an item that another tool's log does not have: nobody asked it."""
        return self._columns.asked_elsewhere and row["fact_seq"] is None

    def _template(self) -> PromptTemplate | None:
        """The template by which the model was asked; None where answers were made elsewhere."""
        plan = self._evaluator.plan_of(self._started)
        return template_of(self._record, self._started) if getattr(plan, "prompt_template_id", "") else None

    # ── one sample ───────────────────────────────────────────────────────────────────────────────────────────

    def _sample(
        self, row: Mapping[str, Any], evalset: EvalSet, template: PromptTemplate | None, whole: bool
    ) -> LogSample:
        place = row["sample"] % len(evalset)
        item, fields = evalset[place], evalset.fields(place) if whole else {}
        return LogSample(
            id=row["item_id"],
            repeat=row["repeat"],
            prompt=item.prompt,
            references=_texts(fields, "references") or _one(item.expected_answer),
            choices=_texts(fields, "choices"),
            context=None if item.context is None else as_text(item.context),
            answer=row[self._columns.answer],
            scores={} if self._is_imported else {one.scorer.name: self._score(row, one) for one in self._scored},
            failure=self._failure(row),
            limit=row.get("limit") or ("time" if _ran_out_of_time(row) else None),
            finish_reason=row.get("finish_reason"),
            group=row.get("group"),
            category=row.get("category"),
            input_tokens=row.get("input_tokens"),
            output_tokens=row.get("output_tokens"),
            latency_ms=row.get("latency_e2e_ms", row.get("eval_time_ms")),
            model_reported=row.get("model_reported"),
            messages=_asked(item, template) if whole else None,
            metadata=self._metadata(row) if whole else {},
            where=f"sample {row['sample']}",
        )

    def _metadata(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """All else that its row says: what the judge replied, which checks failed and why, where its facts stand."""
        left = {name: one for name, one in row.items() if name not in self._mapped and one not in (None, [], {}, "")}
        return left | {name: msgspec.json.decode(left[name]) for name in _JSON if name in left}

    def _score(self, row: Mapping[str, Any], one: ColumnOfScores) -> LogScore:
        value = None if row[_WHY] is not None else row[one.column]
        is_headline = one is self._scored[0]
        explanation = row.get("rationale") or row.get(one.why)
        if explanation is None and is_headline and value is not None:
            explanation = ", ".join(_said(row, self._columns.reasons)) or None
        return LogScore(
            value=None if value is None else float(value),
            unscored=self._unscored(row, one) if value is None else None,
            passed=bool(row[self._columns.passed]) if is_headline and value is not None else None,
            answer=row.get(one.compared),
            explanation=_with_quotes(explanation, row, one.column),
        )

    def _unscored(self, row: Mapping[str, Any], one: ColumnOfScores) -> str:
        """The reason for which a scorer gave no score."""
        if row[_WHY] is not None:
            return f"unanswered: {row[_WHY]}"
        if row[self._columns.score] is not None:
            return row.get(one.why) or row.get("unscored") or "not scored by this"
        return ": ".join(_said(row, _UNSCORED)) or ", ".join(_said(row, self._columns.reasons)) or "no score"

    def _failure(self, row: Mapping[str, Any]) -> LogFailure | None:
        """Why no answer came, where that is not the model's doing; or how the whole run failed (A3)."""
        cause = row[_WHY] or (
            row.get("error") if self._manifest.get("run_status", "completed") != "completed" else None
        )
        if cause is None:
            return None
        said = (
            row.get("failure") or row.get("error_detail") or self._details.get(row.get("fact_seq")) or row.get("error")
        )
        return LogFailure(message=str(cause) if said in (None, cause) else f"{cause}: {said}", kind=_kind_of(cause))

    @cached_property
    def _details(self) -> dict[int | None, str]:
        """The words of failed calls, by their facts, where rows do not have them."""
        facts = (fact for _, facts in read_state(self._record.journal).index.by_sample() for fact in facts)
        return {fact.seq: fact.detail for fact in facts if isinstance(fact, Failure) and fact.detail}

    # ── what the record says of itself ───────────────────────────────────────────────────────────────────────

    def _header(self, derived: DerivedFiles) -> LogHeader:
        manifest = self._manifest
        n_items, repeats = self._evaluator.size_of(self._started)
        template = (manifest.get("prompt_template_id"), manifest.get("prompt_template_version_or_hash"))
        imported: Mapping[str, Any] = manifest.get("imported") or {}
        claims = RecordClaims(self._record, self._evaluator, self._columns, self._scored, self._names, manifest)
        return LogHeader(
            tool=TOOL,
            tool_version=str(manifest["code_version"].get("benchbook") or "") or None,
            form=f"record, derivation {derivation_of(self._started)}",
            task=imported.get("task") or manifest["dataset_id"],
            model=manifest.get("model_id"),
            scorers=tuple(one.scorer for one in self._scored),
            status=_status(manifest),
            created_at=imported.get("created_at") or manifest["timestamp_utc"],
            dataset=imported.get("dataset") or manifest["dataset_id"],
            dataset_version=manifest["dataset_version_or_hash"],
            n_claimed=n_items * repeats if (n := imported.get("n_claimed")) is None else n,
            repeats=repeats,
            claims=tuple(claims.of(msgspec.to_builtins(derived.aggregates))),
            generation_params=manifest.get("generation_params_effective") or manifest.get("generation_params") or {},
            prompt_template=" ".join(part for part in template if part) or None,
            error=imported.get("error") or manifest.get("run_status_reason"),
            metadata=_identity(manifest, derived.decision),
        )


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────

# Columns that fields of a sample have; all others are its metadata.
_MAPPED: frozenset[str | None] = frozenset({
    _WHY, "repeat", "item_id", "prompt", "group", "category", "rationale", "finish_reason", "input_tokens",
    "output_tokens", "latency_e2e_ms", "eval_time_ms", "model_reported", "failure", "limit",
})  # fmt: skip
_JSON = ("own", "values")  # columns whose texts are JSON
_UNSCORED = ("evaluator_error", "parse_error_reason", "unscored")  # columns that say why nobody scored a sample
_ON_A_SCALE = ("rate", "score", "grade")  # metrics that somebody scored, unlike tokens and times


def _scorers(
    spec: str, columns: ComparedColumns, there: tuple[str, ...], manifest: Mapping[str, Any]
) -> Iterator[ColumnOfScores]:
    """The score by which samples pass, under its evaluator's name, and each criterion or check under its own; of an
    imported log its scorers, the one that the record goes by first."""
    if (imported := manifest.get("imported")) is not None and imported["scorers"]:
        for told in sorted(imported["scorers"], key=lambda one: one["name"] != imported["headline"]):
            yield _of_import(told)
        return
    judge = manifest.get("evaluator_model_id")
    yield _of_column(LogScorer(name=spec, lowest=0.0, highest=1.0, judge=judge), columns.score)
    for one in columns.metrics:
        if one.kind in _ON_A_SCALE and one.column in there:
            scale = {"lowest": float(one.lowest), "highest": None if one.highest is None else float(one.highest)}
            scorer = LogScorer(name=one.name, higher_is_better=one.higher_is_better, judge=judge, **scale)
            yield _of_column(scorer, one.column)


def _of_column(scorer: LogScorer, column: str) -> ColumnOfScores:
    return ColumnOfScores(scorer, column, f"{column}_found", f"{column}_reason")


def _of_import(told: Mapping[str, Any]) -> ColumnOfScores:
    names = [name for name in LogScorer.__struct_fields__ if name in told]
    return _of_column(LogScorer(**{name: told[name] for name in names}), told["column"])


def _said(row: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    """The words in these columns, each of which holds a text or a list of them."""
    for name in names:
        found = row.get(name)
        yield from [found] if isinstance(found, str) else found or ()


def _with_quotes(explanation: str | None, row: Mapping[str, Any], column: str) -> str | None:
    """An explanation with what the judge quoted for this criterion, and whether that was found."""
    quotes = [one for one in row.get("quotes") or () if column == f"{one['criterion']}_score"]
    lines = [explanation or "", *(f"> {one['quote']} ({one['found']})" for one in quotes)]
    return "\n".join(line for line in lines if line) or None


def _ran_out_of_time(row: Mapping[str, Any]) -> bool:
    """True where the model was asked, and let its time pass (R1.3): it is scored all the same."""
    return row[_WHY] is None and (bool(row.get("timed_out")) or row.get("error") == "timeout")


def _kind_of(cause: str) -> str:
    if cause in ("timeout", "timed_out", "time_limit"):
        return "timeout"
    return "cancelled" if cause.replace("_", " ") in ("cancelled", "not asked") else "error"


def _asked(item: Item, template: PromptTemplate | None) -> list[dict[str, Any]] | None:
    """All that was sent, where that is not the prompt alone."""
    asked = item.messages if template is None else template.render(item)
    if isinstance(asked, str):
        return None if asked == item.prompt else [{"role": "user", "content": asked}]
    return asked


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A field of an item's line that is a list of texts; else nothing."""
    found = fields.get(name)
    return tuple(found) if isinstance(found, list) and all(isinstance(one, str) for one in found) else ()


def _one(text: str | None) -> tuple[str, ...]:
    return () if text is None else (text,)


# ── the manifest, the decision, the aggregates ───────────────────────────────────────────────────────────────

_STATES: Mapping[str, LogStatus] = {"complete": "complete", "interrupted": "cancelled"}
_IDENTITY = (
    "run_id", "spec", "spec_sha256", "ended_utc", "model_version", "evaluator_model_id", "evaluator_model_version",
    "evaluator_generation_params_effective", "evaluator_prompt_template_version_or_hash", "prompt_template_id",
    "prompt_template_version_or_hash", "part", "plan_sha256", "manifest_sha256",
)  # fmt: skip

_OF_IMPORT = ("tool", "tool_version", "form", "n_claimed", "dataset_version")


def _status(manifest: Mapping[str, Any]) -> LogStatus:
    if manifest.get("run_status", "completed") != "completed":
        return "failed"
    imported: LogStatus = (manifest.get("imported") or {}).get("status", "complete")
    if imported != "complete":
        return imported
    return _STATES.get(manifest["state"], "being_written")


def _identity(manifest: Mapping[str, Any], decision: Any) -> dict[str, Any]:
    """All that names the record: its hash first, by which `benchbook verify --expect` holds it; and what it decided."""
    told = {name: manifest[name] for name in _IDENTITY if manifest.get(name) not in (None, "", {}, [])}
    decided = msgspec.to_builtins(decision) or {}
    if (word := decided.get("decision") or decided.get("verdict")) is not None:
        told["decision"] = word
    if (imported := manifest.get("imported")) is not None:
        told["imported"] = {name: imported[name] for name in _OF_IMPORT if imported[name] is not None}
    return {"record_sha256": manifest["journal_sha256"]} | told
