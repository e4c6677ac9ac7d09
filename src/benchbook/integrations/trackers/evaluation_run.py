"""A finished run as a whole, as plain data for trackers: who was asked what, all its numbers, and the decision."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from benchbook.canonical import ready
from benchbook.catalog.numbers import Aggregate, aggregates_of
from benchbook.evaluators.contract import DerivedFiles, Evaluator
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.gates import Gate
from benchbook.evaluators.intervals import Interval

# Parts of aggregates.json that are no numbers of the run: bounds stand with their aggregates, and rules are settings.
_NO_NUMBERS = ("intervals.", "interval.", "cases.", "analysis.rules.", "analysis.minimums.", "analysis.confidence")
_GENERATION = "generation_params"


class AggregateResult(msgspec.Struct, frozen=True, kw_only=True):
    """A number of the whole run. `is_shown`: one that a gate, an interval or the run itself stands on; others count."""

    name: str
    value: float
    is_shown: bool
    interval: Interval | None = None
    gate: Gate | None = None


class EvaluationRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run as a whole. `record_sha256` is the journal's last hash: it names the record and all that is in it."""

    run_id: str
    evaluator: str  # name@vN
    evaluator_sha256: str
    record_sha256: str
    began_at: str  # RFC 3339, UTC
    ended_at: str
    eval_set: str
    eval_set_sha256: str
    repeats: int
    model: str | None
    model_version: str | None
    judges: tuple[str, ...]
    settings: Mapping[str, str | int | float | bool]  # of generation, of model and judge
    decision: str | None  # READY, pass, …; None where nothing is decided
    reasons: tuple[str, ...]
    aggregates: tuple[AggregateResult, ...]

    @property
    def name_and_version(self) -> tuple[str, str]:
        """`rubric` and `v1` of rubric@v1."""
        name, _, version = self.evaluator.rpartition("@")
        return name, version

    def uid(self, *of: object) -> str:
        """An id of 32 hexadecimal digits for something in this record: the same whenever it is sent."""
        return hashlib.sha256("\n".join([self.record_sha256, *map(str, of)]).encode()).hexdigest()[:32]


def evaluation_run(evaluator: Evaluator, derived: DerivedFiles, manifest: Mapping[str, Any]) -> EvaluationRun:
    decision = derived.decision
    judges = manifest.get("judges")
    if isinstance(judges, dict):
        judged_by = tuple(str(one.get("model_id") or name) for name, one in judges.items())
    else:
        named = manifest.get("panel", {}).get("judges") or [{"model_id": manifest.get("evaluator_model_id")}]
        judged_by = tuple(one["model_id"] for one in named if one["model_id"])
    decided = _member(decision, "decision") or _member(decision, "verdict")
    reason = _member(decision, "reason")
    reasons = tuple(getattr(decision, "reasons", ())) or ((reason,) if reason else ())
    return EvaluationRun(
        run_id=manifest["run_id"],
        evaluator=manifest["spec"],
        evaluator_sha256=manifest["spec_sha256"],
        record_sha256=manifest["journal_sha256"],
        began_at=manifest["timestamp_utc"],
        ended_at=manifest.get("ended_utc") or manifest["timestamp_utc"],
        eval_set=manifest["dataset_id"],
        eval_set_sha256=manifest["dataset_version_or_hash"].removeprefix("sha256:"),
        repeats=manifest["repeats"],
        model=manifest.get("model_id"),
        model_version=manifest.get("model_version"),
        judges=judged_by,
        settings=dict(_settings(manifest)),
        decision=decided,
        reasons=reasons,
        aggregates=tuple(_aggregates(evaluator, derived)),
    )


def _member(decision: Any, name: str) -> str | None:
    found = getattr(decision, name, None)
    return None if found is None or found is msgspec.UNSET else str(found)


def _settings(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str | int | float | bool]]:
    for name in (_GENERATION, f"evaluator_{_GENERATION}"):
        for key, value in (manifest.get(f"{name}_effective") or manifest.get(name) or {}).items():
            if isinstance(value, str | int | float | bool):
                yield f"{name}.{key}", value
    for name in ("prompt_template_id", "prompt_template_version_or_hash", "benchmark"):
        if manifest.get(name) is not None:
            yield name, manifest[name]


def _aggregates(evaluator: Evaluator, derived: DerivedFiles) -> Iterator[AggregateResult]:
    content = msgspec.to_builtins(derived.aggregates)
    intervals = {name: msgspec.convert(one, ready(Interval)) for name, one in content.get("intervals", {}).items()}
    if "interval" in content and evaluator.primary is not None:
        intervals[evaluator.primary] = msgspec.convert(content["interval"], ready(Interval))
    gates = {gate.aggregate: gate for gate in getattr(derived.decision, "gates", ())}
    shown = {*intervals, *gates, evaluator.primary}
    by_mean = {f"{name}_mean" for name in content.get("checks", {})}
    for path, one in aggregates_of(content).items():
        value = _number(path, one)
        if value is None or path.startswith(_NO_NUMBERS) or path == "n_warnings_first":
            continue
        called = f"{path.split('.')[1]}_mean" if path.startswith("checks.") and path.endswith(".mean") else path
        name = called if called in by_mean else path
        yield AggregateResult(
            name=name, value=value, is_shown=name in shown, interval=intervals.get(name), gate=gates.get(name)
        )


def _number(path: str, one: Aggregate) -> float | None:
    """The number of an aggregate. An amount of money is exact in aggregates.json, and so a text there."""
    if one.text is not None and path.endswith("_usd"):
        return float(one.text)
    return as_float(one.nano)
