"""OpenTelemetry's events and Langfuse's scores as plain data: nothing is installed for them."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from benchbook.integrations.trackers.evaluation_events import nanoseconds, run_events, sample_events
from benchbook.integrations.trackers.evaluation_run import EvaluationRun
from benchbook.integrations.trackers.langfuse import run_scores, sample_scores
from benchbook.integrations.trackers.results import RecordResults, SampleResult, SampleTexts, ScoreResult
from benchbook.record.folder import Record

Golden = Callable[[str], Record]
SENT = ("rubric_faults", "rubric_panel", "rubric_repeats", "rubric_until", "score_a", "score_asked", "judged_gaps")

RUN = EvaluationRun(
    run_id="nightly", evaluator="tone@v2", evaluator_sha256="e" * 64, record_sha256="a" * 64,
    began_at="2026-11-29T10:00:00.000Z", ended_at="2026-11-29T10:00:01.500Z", eval_set="letters",
    eval_set_sha256="b" * 64, repeats=1, model="openai/m@2026-01-01", model_version="m-2026-01-01",
    judges=("openai/j",), settings={"generation_params.seed": 42}, decision="READY", reasons=("all gates hold",),
    aggregates=(),
)  # fmt: skip
SAMPLE = SampleResult(
    sample=3, repeat=0, item_id="i3", groups={"section": "core"}, name="sample_score",
    scores=(ScoreResult("sample_score", 0.7, 0.0, 1.0), ScoreResult("tone_score", 2.0, 0, 2)), error=None, label="fail",
    reasons=("tone_below_minimum",), model="openai/m@2026-01-01", model_reported="m-2026-01-01", judges=("openai/j",),
    input_tokens=100, output_tokens=10, latency_ms=250, cost_usd=0.001, n_dissenting=None,
    trace_id="4bf92f3577b34da6a3ce929d0e0e4736", span_id="00f067aa0ba902b7", response_id="chatcmpl-1",
)  # fmt: skip
OF_RUN = {
    "benchbook.run.id": "nightly", "benchbook.record.sha256": "a" * 64, "benchbook.evaluator.name": "tone",
    "benchbook.evaluator.version": "v2", "benchbook.evaluator.sha256": "e" * 64, "benchbook.eval_set.id": "letters",
    "benchbook.eval_set.sha256": "b" * 64, "gen_ai.provider.name": "openai", "gen_ai.request.model": "m",
    "benchbook.model.version": "2026-01-01", "benchbook.judge.models": ("openai/j",),
}  # fmt: skip
OF_SAMPLE = OF_RUN | {
    "benchbook.level": "sample", "benchbook.item.id": "i3", "benchbook.item.section": "core", "benchbook.sample": 3,
    "benchbook.repeat": 0, "gen_ai.response.model": "m-2026-01-01", "gen_ai.response.id": "chatcmpl-1",
}  # fmt: skip


def test_a_scored_sample_is_an_event_a_score_and_what_is_of_the_sample_stands_in_the_first() -> None:
    first, second = sample_events(RUN, SAMPLE)
    assert first.attributes == OF_SAMPLE | {
        "gen_ai.evaluation.name": "sample_score",
        "gen_ai.evaluation.score.value": 0.7,
        "gen_ai.evaluation.score.label": "fail",
        "gen_ai.evaluation.explanation": "tone_below_minimum",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "benchbook.latency_ms": 250,
        "benchbook.cost_usd": 0.001,
        "benchbook.score.lowest": 0.0,
        "benchbook.score.highest": 1.0,
        "log.record.uid": RUN.uid(3, "sample_score"),
    }
    assert second.attributes == OF_SAMPLE | {
        "gen_ai.evaluation.name": "tone_score",
        "gen_ai.evaluation.score.value": 2.0,
        "benchbook.score.lowest": 0.0,
        "benchbook.score.highest": 2.0,
        "log.record.uid": RUN.uid(3, "tone_score"),
    }
    assert {one.time_ns for one in (first, second)} == {1_795_946_401_500_000_000}
    assert (second.trace_id, second.span_id) == (SAMPLE.trace_id, SAMPLE.span_id)


def test_an_unscored_sample_is_one_event_with_a_type_of_error_and_no_value() -> None:
    unscored = msgspec.structs.replace(SAMPLE, scores=(), error="rate_limit", label=None, reasons=())
    (event,) = sample_events(RUN, unscored)
    assert event.attributes["error.type"] == "rate_limit"
    assert event.attributes["gen_ai.evaluation.name"] == "sample_score"
    assert not {name for name in event.attributes if name.startswith("gen_ai.evaluation.score")}


def test_texts_go_along_where_the_sample_has_them() -> None:
    told = msgspec.structs.replace(SAMPLE, texts=SampleTexts("Dear …", None, "Hi!", "Too short."))
    first, second = (one.attributes for one in sample_events(RUN, told))
    assert (first["benchbook.text.prompt"], first["benchbook.text.answer"]) == ("Dear …", "Hi!")
    assert first["gen_ai.evaluation.explanation"] == "Too short."
    assert "benchbook.text.expected" not in first
    assert not {name for name in second if name.startswith("benchbook.text")}


def test_a_run_is_an_event_an_aggregate_and_one_for_its_decision(golden: Golden) -> None:
    run = RecordResults(golden("rubric_faults")).run
    events = {one.attributes["gen_ai.evaluation.name"]: one.attributes for one in run_events(run)}
    rate = events["pass_rate"]
    assert rate["gen_ai.evaluation.score.value"] == 0.333333333
    assert (rate["benchbook.interval.confidence"], rate["benchbook.interval.n"]) == (0.95, 12)
    assert rate["benchbook.interval.low"] < 1 / 3 < rate["benchbook.interval.high"]
    assert (rate["benchbook.gate.direction"], rate["benchbook.gate.limit"]) == ("at_least", 0.85)
    assert (rate["benchbook.gate.holds"], rate["benchbook.level"]) == (False, "run")
    # Its upper bound is not known: a null is left out.
    assert "benchbook.interval.high" not in events["latency_e2e_p95_ms"]
    assert events["decision"]["gen_ai.evaluation.score.label"] == "INCONCLUSIVE"
    assert "n_samples" not in events


@pytest.mark.parametrize("name", SENT)
def test_no_number_of_a_run_has_the_name_of_a_samples(golden: Golden, name: str) -> None:
    """Whoever takes the mean of one name's values mixes no aggregates in; and no two events have the same id."""
    results = RecordResults(golden(name))
    samples = [event.attributes for one in results.samples() for event in sample_events(results.run, one)]
    whole = [event.attributes for event in run_events(results.run)]
    of_samples, of_run = ({one["gen_ai.evaluation.name"] for one in events} for events in (samples, whole))
    assert of_samples.isdisjoint(of_run)
    uids = [one["log.record.uid"] for one in (*samples, *whole)]
    assert len(uids) == len(set(uids))
    assert all("error.type" in one for one in samples if "gen_ai.evaluation.score.value" not in one)


@pytest.mark.parametrize("name", SENT)
def test_no_prompt_and_no_answer_goes_along_unasked(golden: Golden, name: str) -> None:
    record = golden(name)
    texts = {text for one in RecordResults(record, texts=True).samples() for text in one.texts or () if text}
    texts = {text for text in texts if len(text) > 3}  # a number may be anything's
    assert texts
    results = RecordResults(record)
    sent = [[event.attributes for event in sample_events(results.run, one)] for one in results.samples()]
    sent += [list(sample_scores(results.run, one)) for one in results.samples()]
    sent += [[event.attributes for event in run_events(results.run)], list(run_scores(results.run))]
    said = json.dumps(sent, ensure_ascii=False)
    assert [text for text in texts if text in said] == []


def test_times_are_nanoseconds() -> None:
    assert nanoseconds("2026-11-29T10:00:01.500Z") == 1_795_946_401_500_000_000
    assert nanoseconds("1970-01-01T00:00:00.001Z") == 1_000_000


# ── Langfuse ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_scored_sample_is_a_number_a_score_and_whether_it_passed() -> None:
    first, second, passed = sample_scores(RUN, SAMPLE)
    assert {name: value for name, value in first.items() if name != "metadata"} == {
        "id": RUN.uid(3, "sample_score"),
        "name": "tone@v2.sample_score",
        "value": 0.7,
        "dataType": "NUMERIC",
        "timestamp": "2026-11-29T10:00:01.500Z",
        "comment": "tone_below_minimum",
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "observationId": "00f067aa0ba902b7",
    }
    assert (first["metadata"]["item_id"], first["metadata"]["record_sha256"]) == ("i3", "a" * 64)
    assert (second["name"], second["value"], "comment" in second) == ("tone@v2.tone_score", 2.0, False)
    assert (passed["name"], passed["value"], passed["dataType"]) == ("tone@v2.passed", 0, "BOOLEAN")


def test_an_unscored_sample_is_a_word_and_no_number() -> None:
    unscored = msgspec.structs.replace(SAMPLE, scores=(), error="rate_limit", label=None, trace_id=None, span_id=None)
    (score,) = sample_scores(RUN, unscored)
    assert (score["name"], score["value"], score["dataType"]) == ("tone@v2.unscored", "rate_limit", "CATEGORICAL")
    assert score["traceId"] == RUN.uid(3)
    assert "observationId" not in score


def test_a_verdict_is_a_word(golden: Golden) -> None:
    results = RecordResults(golden("judged_gaps"))
    scores = list(sample_scores(results.run, next(results.samples())))
    assert [one["value"] for one in scores] == [8, 2, 2, 2, 2, "PASS"]
    assert scores[-1]["name"] == "judge_protocol@v1.verdict"


def test_aggregates_are_scores_of_the_runs_session(golden: Golden) -> None:
    found = {one["name"]: one for one in run_scores(RecordResults(golden("rubric_faults")).run)}
    rate = found["rubric@v1.pass_rate"]
    assert (rate["sessionId"], rate["value"]) == ("rubric_faults", 0.333333333)
    assert (rate["metadata"]["interval"]["n"], rate["metadata"]["gate"]["holds"]) == (12, False)
    assert found["rubric@v1.decision"]["value"] == "INCONCLUSIVE"


@pytest.mark.parametrize("name", SENT)
def test_a_score_has_the_same_id_whenever_it_is_sent_and_no_other_has_it(golden: Golden, name: str) -> None:
    def scores() -> list[dict[str, object]]:
        results = RecordResults(golden(name))
        return [
            *(score for one in results.samples() for score in sample_scores(results.run, one)),
            *run_scores(results.run),
        ]

    keys = [(one["id"], one["name"], one["timestamp"]) for one in scores()]
    assert keys == [(one["id"], one["name"], one["timestamp"]) for one in scores()]
    assert len(set(keys)) == len(keys)
