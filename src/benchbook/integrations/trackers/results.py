"""A finished record's samples as plain data for trackers, one at a time, whatever evaluator made them.

A sample without a score has none here, and a class of error in its place: nothing that was not measured is a 0 (SPEC
C5, R1.3a). Texts of prompts and answers are there only where they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from benchbook.comparison.items import unanswered_why
from benchbook.comparison.records import manifest_of
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.costs import with_costs
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.registry import evaluator_of
from benchbook.integrations.trackers.evaluation_run import evaluation_run
from benchbook.record.derived_files import reading_frame, sha256_of
from benchbook.record.folder import Record
from benchbook.text import storable

if TYPE_CHECKING:
    import polars

_BATCH = 1_000  # samples that are in memory at once


class ScoreResult(NamedTuple):
    """One score of one sample, on the evaluator's own scale; None where the scale has no end on that side."""

    name: str
    value: float
    lowest: float | None
    highest: float | None


class SampleTexts(NamedTuple):
    """The texts of a sample, untrusted; `explanation` is the judge's."""

    prompt: str | None
    expected: str | None
    answer: str | None
    explanation: str | None


class SampleResult(msgspec.Struct, frozen=True, kw_only=True):
    """One sample. `scores` has the evaluator's own first, then its criteria; it is empty where `error` says why.

    `trace_id`, `span_id` and `response_id` are those that the predictions' rows name: of the call that is evaluated.
    """

    sample: int
    repeat: int
    item_id: str
    groups: Mapping[str, str]  # section, category, difficulty, group; of an evaluation also who, whom and how
    name: str  # of the evaluator's own score
    scores: tuple[ScoreResult, ...]
    error: str | None
    label: str | None  # pass or fail, or a protocol's verdict; None where there is no score
    reasons: tuple[str, ...]
    model: str | None
    model_reported: str | None
    judges: tuple[str, ...]
    input_tokens: int | None
    output_tokens: int | None
    latency_ms: int | None
    cost_usd: float | None
    n_dissenting: int | None  # judges of a panel with other scores than the panel's
    trace_id: str | None = None
    span_id: str | None = None
    response_id: str | None = None
    texts: SampleTexts | None = None


class RecordResults:
    """The results of a record whose run has come to its end.

    Raises: UsageError for one that has not, and for a dry run; RecordError where its derived files are not whole.
    """

    def __init__(self, record: Record, *, texts: bool = False) -> None:
        self.record = record
        self.evaluator = evaluator_of(record)
        started = record.started()
        if (why := self.evaluator.unavailable(started)) is not None:
            raise UsageError(f"{record.path}: has no results to send: {why}")
        self.derived = self.evaluator.read(record)
        self.manifest = manifest_of(record)
        if (state := self.manifest.get("state")) != "complete":
            raise UsageError(f"{record.path}: its run has not come to its end ({state}); resume it, then send it")
        if sha256_of(record.samples) != self.manifest["derived"].get("samples.parquet"):
            raise RecordError(f"{record.samples}: does not have the hash that manifest.json names; rescore the run")
        self.run = evaluation_run(self.evaluator, self.derived, self.manifest)
        self._texts = texts
        self._columns = _Columns(self.evaluator, record)

    def samples(self) -> Iterator[SampleResult]:
        """All samples in their order; memory does not grow with their number."""
        import polars as pl

        with reading_frame(self.record.samples):
            rows = with_costs(pl.scan_parquet(self.record.samples, glob=False), self.manifest.get("config") or {})
            names = rows.collect_schema().names()
            why = unanswered_why(self.evaluator, names, self.manifest)
            rows = rows.select(self._columns.chosen(rows.collect_schema(), why, with_texts=self._texts))
            first = 0
            while len(part := rows.slice(first, _BATCH).collect()):
                for row in part.iter_rows(named=True):
                    yield self._sample(row)
                first += len(part)

    def _sample(self, row: Mapping[str, Any]) -> SampleResult:
        is_evaluation = self._columns.are_evaluations  # which counts where it is valid (P4.2)
        scored = row["score"] is not None and row["why"] is None and (row["passed"] or not is_evaluation)
        scores = tuple(self._scores(row)) if scored else ()
        own = _object(row.get("own"))
        return SampleResult(
            sample=row["sample"],
            repeat=row.get("repeat") or 0,
            item_id=row["item_id"],
            groups={name: row[name] for name in _GROUPS if row.get(name) is not None},
            name=self._columns.score,
            scores=scores,
            error=_error_of(row, is_evaluation=is_evaluation),
            label=_label(row) if scored else None,
            reasons=tuple(dict.fromkeys(_reasons(row, with_texts=self._texts))),
            model=row.get("target_model") or self.run.model,
            model_reported=row.get("model_reported"),
            judges=(row["judge_model"],) if "judge_model" in row else self.run.judges,
            input_tokens=row.get("input_tokens"),
            output_tokens=row.get("output_tokens"),
            latency_ms=row.get("latency_e2e_ms", row.get("eval_time_ms")),
            cost_usd=row.get("cost_usd"),
            n_dissenting=row.get("n_dissenting"),
            trace_id=_hexadecimal(own.get("trace_id"), 32),
            span_id=_hexadecimal(own.get("span_id"), 16),
            response_id=own.get("response_id") if isinstance(own.get("response_id"), str) else None,
            texts=self._text(row) if self._texts else None,
        )

    def _scores(self, row: Mapping[str, Any]) -> Iterator[ScoreResult]:
        """The evaluator's own score; its criteria, but for those that did not apply: a null is in no mean (C5); and the
        numbers that a function of the user's own named."""
        yield ScoreResult(self._columns.score, float(row["score"]), *self._columns.scale)
        for one in self._columns.criteria:
            if row[one.name] is not None:
                yield one._replace(value=float(row[one.name]))
        for name, value in _object(row.get("values")).items():
            if isinstance(value, int | float):
                yield ScoreResult(f"values.{name}", float(value), None, None)

    # ── texts ────────────────────────────────────────────────────────────────────────────────────────────────

    def _text(self, row: Mapping[str, Any]) -> SampleTexts:
        if self._columns.are_evaluations:
            seen = self._judged.seen(row["sample"])
            return SampleTexts(storable(seen.task) or None, None, storable(seen.text), None)
        prompt, expected = row.get("prompt"), row.get("expected")
        if prompt is None:
            prompt, expected = self._asked.get(row["item_id"], (None, None))
        return SampleTexts(prompt, expected, row.get("answer"), row.get("rationale"))

    @cached_property
    def _judged(self) -> Any:
        return self.evaluator.judged_texts(self.record)

    @cached_property
    def _asked(self) -> dict[str, tuple[str, str | None]]:
        """Each item's prompt and expected answer, where the table of samples does not have them."""
        with recorded_evalset(self.record, self.record.started()) as evalset:
            return {storable(one.id): (storable(one.prompt), _storable(one.expected_answer)) for one in evalset}


# ── a row of samples.parquet ──────────────────────────────────────────────────────────────────────────────────────

_PLACES = ("section", "category", "difficulty", "group")
_GROUPS = (*_PLACES, "question_id", "prompt_variant", "output_id", "method")
_KEPT = (
    "sample", "repeat", *_GROUPS, "judge_model", "target_model", "verdict", "model_reported", "input_tokens",
    "output_tokens", "latency_e2e_ms", "eval_time_ms", "cost_usd", "n_dissenting", "own", "error", "candidate_error",
    "evaluator_error", "unscored", "values",
)  # fmt: skip
_TEXTS = ("prompt", "expected", "rationale")


class _Columns:
    """The columns of a samples.parquet by what they are, as the contract tells them."""

    def __init__(self, evaluator: Evaluator, record: Record) -> None:
        self.are_evaluations = evaluator.samples_are == "evaluations"
        self._evaluator = evaluator
        compared = evaluator.compared
        if compared is not None:
            self.score, self.scale = compared.score, (0.0, 1.0)
            graded = [one for one in compared.metrics if one.kind in ("score", "grade", "rate", "ratio")]
            self.criteria = [ScoreResult(one.column, 0, one.lowest, one.highest) for one in graded]
        else:
            asked = evaluator.label_criteria(record.started())
            self.criteria = [ScoreResult(one.column, 0, min(one.scores), max(one.scores)) for one in asked]
            columns = evaluator.tables(record.started())["samples.parquet"].__struct_fields__
            self.score = "overall_score" if "overall_score" in columns else "score"
            self.scale = (sum(one.lowest or 0 for one in self.criteria), sum(one.highest or 0 for one in self.criteria))

    def chosen(
        self, types: Mapping[str, polars.DataType], why: polars.Expr, *, with_texts: bool
    ) -> Mapping[str, Any] | list[Any]:
        """The columns that are read, by the names that they have here."""
        import polars as pl

        compared = self._evaluator.compared
        own = {one.name for one in self.criteria}
        kept = [name for name in (*_KEPT, *(_TEXTS if with_texts else ())) if name in types and name not in own]
        if compared is None:
            listed = self._evaluator.listed(types)
            made = {"item_id": listed["item_id"], "score": listed["score"], "passed": listed["passed"]}
            made |= {"reasons": listed["reasons"]}
        else:
            reasons = [name for name in compared.reasons if name in types and name != "unscored"]
            texts = [pl.col(name) if isinstance(types[name], pl.List) else pl.concat_list(name) for name in reasons]
            made = {"item_id": pl.col("item_id"), "score": pl.col(compared.score).cast(pl.Float64)}
            made |= {"passed": pl.col(compared.passed).cast(pl.Float64) == 1}
            made |= {"reasons": pl.concat_list(texts) if texts else pl.lit([], pl.List(pl.String))}
            if with_texts:
                made["answer"] = pl.col(compared.answer)
        return [
            *(pl.col(name) for name in kept),
            *(pl.col(name).cast(pl.Float64) for name in own),
            *(one.alias(name) for name, one in (made | {"why": why}).items()),
        ]


def _error_of(row: Mapping[str, Any], *, is_evaluation: bool) -> str | None:
    """The class of what went wrong; None where nothing did. A run that failed itself is scored all the same (A3)."""
    if is_evaluation:
        flags: Sequence[str] = row["reasons"] or ()
        return None if row["passed"] else flags[0] if flags else "invalid"
    if row["why"] is not None:
        return str(row.get("candidate_error") or row["why"]).replace(" ", "_")
    error = row.get("error")
    if row["score"] is not None:
        return error if error in ("crashed", "timed_out") else None
    return row.get("evaluator_error") or ("unscored" if row.get("unscored") else "_OTHER")


def _label(row: Mapping[str, Any]) -> str:
    verdict: str | None = row.get("verdict")
    return verdict or ("pass" if row["passed"] else "fail")


def _reasons(row: Mapping[str, Any], *, with_texts: bool) -> Iterator[str]:
    """Why a sample did not pass, by words of the evaluator. What a function of the user's own said may quote an answer:
    it counts as a text."""
    yield from (one for one in row["reasons"] or () if one is not None)
    if with_texts and row.get("unscored"):
        yield row["unscored"]


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _object(text: str | None) -> dict[str, Any]:
    """A column that holds a JSON object: the run's own keys of a prediction (A5), what a function named."""
    found = msgspec.json.decode(text) if text else {}
    return found if isinstance(found, dict) else {}


def _hexadecimal(value: Any, n: int) -> str | None:
    """An id of OpenTelemetry's: so many hexadecimal digits, not all of them 0; None for anything else."""
    if not isinstance(value, str) or len(value) != n or not value.isascii():
        return None
    low = value.lower()
    return low if set(low) <= set("0123456789abcdef") and set(low) != {"0"} else None
