"""Results as events `gen_ai.evaluation.result` of OpenTelemetry, as plain data.

The convention is that of the GenAI semantic conventions 0.1.0, in development. What it lacks stands under `benchbook.`:
the evaluator and its version, intervals and gates, the item, and the record's hash.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from benchbook.ask.model_id import parse_model_id
from benchbook.errors import ConfigError
from benchbook.integrations.trackers.evaluation_run import AggregateResult, EvaluationRun
from benchbook.integrations.trackers.results import SampleResult, ScoreResult

CONVENTION = "0.1.0"
EVENT = "gen_ai.evaluation.result"


class EvaluationEvent(NamedTuple):
    """One event. `trace_id` and `span_id` are of the call that is evaluated, where somebody said; hexadecimal."""

    attributes: dict[str, Any]
    time_ns: int
    trace_id: str | None = None
    span_id: str | None = None


def sample_events(run: EvaluationRun, sample: SampleResult) -> Iterator[EvaluationEvent]:
    """An event for each score of a sample; for one without a score a single event, with `error.type` and no value.

    What is of the sample and not of a score (label, tokens, cost, texts) stands in the first alone: a sum over events
    is then a sum over samples.
    """
    told = _of_sample(run, sample)
    time_ns = nanoseconds(run.ended_at)
    for place, score in enumerate(sample.scores or (None,)):
        name = sample.name if score is None else score.name
        more = (_own(sample) if place == 0 else {}) | ({} if score is None else _of_score(score))
        event = {"gen_ai.evaluation.name": name, "log.record.uid": run.uid(sample.sample, name)} | more | told
        yield EvaluationEvent(known(event), time_ns, sample.trace_id, sample.span_id)


def run_events(run: EvaluationRun) -> Iterator[EvaluationEvent]:
    """An event for each aggregate that a gate or an interval stands on, and one for the decision."""
    of_run = _of_run(run) | _of_models(run.model, None, run.judges) | {"benchbook.level": "run"}
    time_ns = nanoseconds(run.ended_at)
    for one in run.aggregates:
        if one.is_shown:
            uid = {"log.record.uid": run.uid("aggregate", one.name)}
            yield EvaluationEvent(known(_of_aggregate(one) | uid | of_run), time_ns)
    if run.decision is not None:
        event = {
            "gen_ai.evaluation.name": "decision",
            "gen_ai.evaluation.score.label": run.decision,
            "gen_ai.evaluation.explanation": "; ".join(run.reasons) or None,
            "log.record.uid": run.uid("decision"),
        }
        yield EvaluationEvent(known(event | of_run), time_ns)


def known(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes without those whose value nobody knows: OTLP has no null in them."""
    return {name: value for name, value in attributes.items() if value is not None and value != ()}


def nanoseconds(at: str) -> int:
    """A time of RFC 3339 in nanoseconds since 1970."""
    return round(datetime.fromisoformat(at).timestamp() * 1_000) * 1_000_000


# ── their parts ──────────────────────────────────────────────────────────────────────────────────────────────


def _of_run(run: EvaluationRun) -> dict[str, Any]:
    name, version = run.name_and_version
    return {
        "benchbook.run.id": run.run_id,
        "benchbook.record.sha256": run.record_sha256,
        "benchbook.evaluator.name": name,
        "benchbook.evaluator.version": version,
        "benchbook.evaluator.sha256": run.evaluator_sha256,
        "benchbook.eval_set.id": run.eval_set,
        "benchbook.eval_set.sha256": run.eval_set_sha256,
    }


def _of_models(model: str | None, reported: str | None, judges: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {"gen_ai.response.model": reported, "benchbook.judge.models": judges}
    try:
        asked = None if model is None else parse_model_id(model, "model")
    except ConfigError:  # the name of a target, in an evaluation set
        return found | {"gen_ai.request.model": model}
    if asked is None:
        return found
    return found | {
        "gen_ai.provider.name": asked.provider,
        "gen_ai.request.model": asked.name,
        "benchbook.model.version": asked.version,
    }


def _of_sample(run: EvaluationRun, sample: SampleResult) -> dict[str, Any]:
    places = {f"benchbook.item.{name}": value for name, value in sample.groups.items()}
    return {
        **_of_run(run),
        **_of_models(sample.model, sample.model_reported, sample.judges),
        **places,
        "benchbook.level": "sample",
        "benchbook.item.id": sample.item_id,
        "benchbook.sample": sample.sample,
        "benchbook.repeat": sample.repeat,
        "error.type": sample.error,
        "gen_ai.response.id": sample.response_id,
    }


def _own(sample: SampleResult) -> dict[str, Any]:
    """The attributes of a sample that are of none of its scores."""
    texts = sample.texts
    said = None if texts is None else texts.explanation
    return {
        "gen_ai.evaluation.score.label": sample.label,
        "gen_ai.evaluation.explanation": said or ", ".join(sample.reasons) or None,
        "gen_ai.usage.input_tokens": sample.input_tokens,
        "gen_ai.usage.output_tokens": sample.output_tokens,
        "benchbook.latency_ms": sample.latency_ms,
        "benchbook.cost_usd": sample.cost_usd,
        "benchbook.panel.n_dissenting": sample.n_dissenting,
        "benchbook.text.prompt": None if texts is None else texts.prompt,
        "benchbook.text.expected": None if texts is None else texts.expected,
        "benchbook.text.answer": None if texts is None else texts.answer,
    }


def _of_score(score: ScoreResult) -> dict[str, Any]:
    return {
        "gen_ai.evaluation.score.value": score.value,
        "benchbook.score.lowest": None if score.lowest is None else float(score.lowest),
        "benchbook.score.highest": None if score.highest is None else float(score.highest),
    }


def _of_aggregate(one: AggregateResult) -> dict[str, Any]:
    found: dict[str, Any] = {"gen_ai.evaluation.name": one.name, "gen_ai.evaluation.score.value": one.value}
    if one.interval is not None:
        told = ("low", "high", "confidence", "method", "n")
        found |= {f"benchbook.interval.{name}": getattr(one.interval, name) for name in told}
    if one.gate is not None:
        found |= {f"benchbook.gate.{name}": getattr(one.gate, name) for name in ("direction", "limit", "holds")}
    return found
