"""A record as a log, whatever evaluator made it: what the contract says of its rows, its numbers and its items.

The values are the record's own, on the evaluator's scale. A sample that is unanswered (R1.3a), or that nobody could
score, is unscored here, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
    Claim,
    ForeignLog,
    Formula,
    LogFailure,
    LogHeader,
    LogSample,
    LogScore,
    LogScorer,
    LogStatus,
)
from benchbook.record.derived_files import check_derived
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
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


@dataclass(frozen=True, slots=True)
class _Scored:
    """A scorer of the log, and the column of samples.parquet that has its values."""

    scorer: LogScorer
    column: str


class RecordLog(ForeignLog):
    """A record of answers, read a row group at a time beside the eval set that it keeps."""

    def __init__(
        self, record: Record, started: RunStarted, evaluator: Evaluator, columns: ComparedColumns, derived: DerivedFiles
    ) -> None:
        self._record, self._started, self._evaluator, self._columns = record, started, evaluator, columns
        self._manifest: dict[str, Any] = msgspec.to_builtins(derived.manifest)
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
        with recorded_evalset(self._record, self._started, keeps_fields=True) as evalset:
            for frame in read_frames(self._record.samples):
                for row in frame.with_columns(why).iter_rows(named=True):
                    yield self._sample(row, evalset, template, whole)

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
            references=() if item.expected_answer is None else (item.expected_answer,),
            choices=_choices(fields),
            context=None if item.context is None else as_text(item.context),
            answer=row[self._columns.answer],
            scores={one.scorer.name: self._score(row, one) for one in self._scored},
            failure=self._failure(row),
            limit="time" if _ran_out_of_time(row) else None,
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
        return {name: one for name, one in row.items() if name not in self._mapped and one not in (None, [], {}, "")}

    def _score(self, row: Mapping[str, Any], one: _Scored) -> LogScore:
        value = None if row[_WHY] is not None else row[one.column]
        is_headline = one is self._scored[0]
        explanation = row.get("rationale") or row.get(f"{one.column}_reason")
        if explanation is None and is_headline and value is not None:
            explanation = ", ".join(_said(row, self._columns.reasons)) or None
        return LogScore(
            value=None if value is None else float(value),
            unscored=self._unscored(row) if value is None else None,
            passed=bool(row[self._columns.passed]) if is_headline and value is not None else None,
            answer=row.get(f"{one.column}_found"),
            explanation=_with_quotes(explanation, row, one.column),
        )

    def _unscored(self, row: Mapping[str, Any]) -> str:
        """The reason for which a scorer gave no score."""
        if row[_WHY] is not None:
            return f"unanswered: {row[_WHY]}"
        if row[self._scored[0].column] is not None:
            return "not scored by this"
        return ": ".join(_said(row, _UNSCORED)) or ", ".join(_said(row, self._columns.reasons)) or "no score"

    def _failure(self, row: Mapping[str, Any]) -> LogFailure | None:
        """Why no answer came, where that is not the model's doing; or how the whole run failed (A3)."""
        cause = row[_WHY] or (
            row.get("error") if self._manifest.get("run_status", "completed") != "completed" else None
        )
        if cause is None:
            return None
        said = row.get("error_detail") or row.get("error")
        return LogFailure(message=str(cause) if said in (None, cause) else f"{cause}: {said}", kind=_kind_of(cause))

    # ── what the record says of itself ───────────────────────────────────────────────────────────────────────

    def _header(self, derived: DerivedFiles) -> LogHeader:
        manifest = self._manifest
        n_items, repeats = self._evaluator.size_of(self._started)
        template = (manifest.get("prompt_template_id"), manifest.get("prompt_template_version_or_hash"))
        return LogHeader(
            tool=TOOL,
            tool_version=str(manifest["code_version"].get("benchbook") or "") or None,
            form=f"record, derivation {derivation_of(self._started)}",
            task=manifest["dataset_id"],
            model=manifest.get("model_id"),
            scorers=tuple(one.scorer for one in self._scored),
            status=_status(manifest),
            created_at=manifest["timestamp_utc"],
            dataset=manifest["dataset_id"],
            dataset_version=manifest["dataset_version_or_hash"],
            n_claimed=n_items * repeats,
            repeats=repeats,
            claims=tuple(self._claims(derived)),
            generation_params=manifest.get("generation_params_effective") or manifest.get("generation_params") or {},
            prompt_template=" ".join(part for part in template if part) or None,
            error=manifest.get("run_status_reason") if _status(manifest) == "failed" else None,
            metadata=_identity(manifest, derived.decision),
        )

    def _claims(self, derived: DerivedFiles) -> Iterator[Claim]:
        """The numbers of aggregates.json that follow from samples by a formula, and the one that stands for the run."""
        aggregates = msgspec.to_builtins(derived.aggregates)
        numbers = dict(_numbers(aggregates))
        why_not = self._why_not(aggregates)

        def claim(scorer: str, formula: Formula | None, *names: str, otherwise: str = "") -> Iterator[Claim]:
            for where in (found for name in names for found in (name, f"aggregates.{name}") if found in numbers):
                yield Claim(
                    scorer=scorer,
                    metric=where.rpartition(".")[2] if where.startswith("aggregates.") else where,
                    value=numbers[where],
                    where=f"aggregates.json: {where}",
                    formula=None if why_not else formula,
                    why_not=why_not or otherwise,
                    decimals=9,
                )

        headline = self._scored[0].scorer.name
        if self._evaluator.primary is not None:
            yield from claim(headline, "mean", self._evaluator.primary)
        yield from claim(headline, None, "pass_rate", otherwise="no formula here is of what passed")
        yield from claim(headline, "n_passed", "n_passed", "n_correct")
        for one in self._scored[1:]:
            name = one.scorer.name.removesuffix("_score")
            yield from claim(one.scorer.name, "mean", f"{name}_mean", f"checks.{name}.mean")
        for name, formula in _TOKENS.items():
            yield from claim("", formula, name)

    def _why_not(self, aggregates: Mapping[str, Any]) -> str:
        """Why a record's numbers are not those of its samples' values as they are here; empty where they are."""
        if (early := self._evaluator.ended_early(aggregates)) is not None:
            return f"it {early.words}: what was under way then is no part of it"
        import polars as pl

        why = unanswered_why(self._evaluator, self._names, self._manifest)
        counted = why.is_not_null() & pl.col(self._scored[0].column).is_not_null()
        n = sum(int(frame.select(counted.sum()).item()) for frame in read_frames(self._record.samples))
        return f"it counts {n:,} unanswered samples, which are unscored here" if n else ""


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────

# Columns that fields of a sample have; all others are its metadata.
_MAPPED: frozenset[str | None] = frozenset({
    _WHY, "repeat", "item_id", "prompt", "group", "category", "rationale", "finish_reason", "input_tokens",
    "output_tokens", "latency_e2e_ms", "eval_time_ms", "model_reported",
})  # fmt: skip
_UNSCORED = ("evaluator_error", "parse_error_reason", "unscored")  # columns that say why nobody scored a sample
_ON_A_SCALE = ("rate", "score", "grade")  # metrics that somebody scored, unlike tokens and times
_TOKENS: Mapping[str, Formula] = {
    "total_input_tokens": "sum_of_input_tokens",
    "total_output_tokens": "sum_of_output_tokens",
    "total_tokens": "sum_of_tokens",
}


def _scorers(
    spec: str, columns: ComparedColumns, there: tuple[str, ...], manifest: Mapping[str, Any]
) -> Iterator[_Scored]:
    """The score by which samples pass, under its evaluator's name, and each criterion or check under its own."""
    judge = manifest.get("evaluator_model_id")
    graded = [one for one in columns.metrics if one.kind in _ON_A_SCALE and one.column in there]
    if all(one.column != columns.score for one in graded):
        yield _Scored(LogScorer(name=spec, lowest=0.0, highest=1.0, judge=judge), columns.score)
    for one in sorted(graded, key=lambda one: one.column != columns.score):
        scale = {"lowest": float(one.lowest), "highest": None if one.highest is None else float(one.highest)}
        scorer = LogScorer(name=one.name, higher_is_better=one.higher_is_better, judge=judge, **scale)
        yield _Scored(scorer, one.column)


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


def _choices(fields: Mapping[str, Any]) -> tuple[str, ...]:
    found = fields.get("choices")
    return tuple(found) if isinstance(found, list) and all(isinstance(one, str) for one in found) else ()


# ── the manifest, the decision, the aggregates ───────────────────────────────────────────────────────────────

_STATES: Mapping[str, LogStatus] = {"complete": "complete", "interrupted": "cancelled"}
_IDENTITY = (
    "run_id", "spec", "spec_sha256", "ended_utc", "model_version", "evaluator_model_id", "evaluator_model_version",
    "evaluator_generation_params_effective", "evaluator_prompt_template_version_or_hash", "prompt_template_id",
    "prompt_template_version_or_hash", "part", "plan_sha256", "manifest_sha256",
)  # fmt: skip


def _status(manifest: Mapping[str, Any]) -> LogStatus:
    if manifest.get("run_status", "completed") != "completed":
        return "failed"
    return _STATES.get(manifest["state"], "being_written")


def _identity(manifest: Mapping[str, Any], decision: Any) -> dict[str, Any]:
    """All that names the record: its hash first, by which `benchbook verify --expect` holds it; and what it decided."""
    told = {name: manifest[name] for name in _IDENTITY if manifest.get(name) not in (None, "", {}, [])}
    decided = msgspec.to_builtins(decision) or {}
    word = decided.get("decision") or decided.get("verdict")
    return {"record_sha256": manifest["journal_sha256"]} | told | ({} if word is None else {"decision": word})


def _numbers(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Each single number of aggregates.json, by its path."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{prefix}{name}", float(value)
