"""Records as logs: every number that a header states follows from the samples, whatever evaluator made the record."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import benchbook as bb
from benchbook.errors import RecordError, UsageError
from benchbook.exchange.importing import Wanted, import_log
from benchbook.exchange.log import Claim, LogFailure, LogSample, LogScore, LogScorer
from benchbook.exchange.of_record import RecordLog, log_of_record
from benchbook.record.folder import Record
from golden.views import FOLDERS, PROTOCOL
from labelled import judged_run
from made_logs import Made, sample
from outages import number_of
from own_scorers import scored as scored_by_function
from round_trips import derived_copy
from running import benchbook_here, write_items
from scored import scored, write_lines
from scripted_server import Reply, running


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A copy of a golden record, derived anew; each once."""
    folder = tmp_path_factory.mktemp("records")

    def copy(name: str) -> Record:
        record = Record(folder / name)
        return record if record.manifest.exists() else derived_copy(name, folder)

    return copy


def _followed(claim: Claim, samples: list[LogSample]) -> float:
    scores = [one.scores[claim.scorer] for one in samples if claim.scorer]
    values = [one.value for one in scores if one.value is not None]
    match claim.formula:
        case "mean":
            return math.fsum(values) / len(values)
        case "share_passed":
            return sum(one.passed is True for one in scores) / len(values)
        case "n_passed":
            return sum(one.passed is True for one in scores)
        case "sum_of_input_tokens":
            return sum(one.input_tokens or 0 for one in samples)
        case "sum_of_output_tokens":
            return sum(one.output_tokens or 0 for one in samples)
        case "sum_of_tokens":
            return sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in samples)
    raise AssertionError(claim)


_REFUSED = {*PROTOCOL, "score_dry"}


@pytest.mark.parametrize("name", [name for name in FOLDERS if name not in _REFUSED])
def test_what_a_record_claims_follows_from_its_samples(name: str, derived: Any) -> None:
    log = log_of_record(derived(name))
    samples = list(log.samples())
    assert log.header.claims
    for claim in log.header.claims:
        assert (claim.formula is None) == bool(claim.why_not)
        if claim.formula is not None and claim.value is not None:
            assert _followed(claim, samples) == pytest.approx(claim.value, abs=1e-9), claim
    for one in samples:
        assert set(one.scores) == {scorer.name for scorer in log.header.scorers}
        assert all((score.value is None) == (score.unscored is not None) for score in one.scores.values())
    assert [(one.id, one.scores) for one in log.samples(whole=False)] == [(one.id, one.scores) for one in samples]


@pytest.mark.parametrize("name", sorted(_REFUSED))
def test_what_is_no_log_of_answers_is_refused_with_the_way_out(name: str, derived: Any) -> None:
    with pytest.raises(UsageError, match=r"dry run|judges' evaluations .* as a table"):
        log_of_record(derived(name))


def test_labels_are_no_log(tmp_path: Path) -> None:
    record = judged_run(tmp_path, [(2, 2), (1, 1)])
    done = benchbook_here("label", "sample", str(record.path), "--n", "1", "--out", "book", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with pytest.raises(RecordError, match="begin"):
        log_of_record(Record(tmp_path / "book"))


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────────────────


def samples_of(record: Record) -> dict[str, LogSample]:
    return {one.id: one for one in log_of_record(record).samples()}


def test_answers_that_were_made_elsewhere(tmp_path: Path) -> None:
    log = log_of_record(scored(tmp_path).record)
    found = {one.id: one for one in log.samples()}
    header = log.header
    assert (header.tool, header.task, header.model, header.status) == (
        "benchbook", "items", "recorded/predictions", "complete",
    )  # fmt: skip
    assert (header.n_claimed, header.repeats, header.prompt_template) == (5, 1, None)
    assert [(one.metric, one.value, one.formula) for one in header.claims] == [
        ("primary_score", 0.4, "mean"),
        ("n_correct", 2.0, "n_passed"),
    ]
    assert header.metadata["record_sha256"] == json.loads(log.files["manifest.json"].read_bytes())["journal_sha256"]
    b, e = found["b"], found["e"]
    assert (b.prompt, b.references, b.answer, b.latency_ms) == ("Capital of France?", ("Paris",), " PARIS \n", 12)
    assert (b.scores["answer_correctness@v1"].value, b.scores["answer_correctness@v1"].passed) == (1.0, True)
    # Nothing was said, and that is wrong (A7): no failure of anybody's.
    assert (e.answer, e.failure, e.scores["answer_correctness@v1"].value) == (None, None, 0.0)
    assert e.scores["answer_correctness@v1"].explanation == "no_prediction"
    assert b.messages is None
    assert b.metadata["own"] == {"step": 300}


def test_a_judges_reply_that_nobody_can_read_is_no_score(tmp_path: Path) -> None:
    log = log_of_record(judged_run(tmp_path, [(2, 1), None]))
    first, second = log.samples()
    # 0.45 x 1 + 0.30 x 0.5 + 0.25 for time and tokens, by the rubric's weights
    assert {name: one.value for name, one in first.scores.items()} == {
        "rubric@v1": 0.85, "accuracy_score": 2.0, "faithfulness_score": 1.0,
    }  # fmt: skip
    assert {one.name: (one.lowest, one.highest, one.judge) for one in log.header.scorers} == {
        "rubric@v1": (0.0, 1.0, "scripted/j@1"),
        "accuracy_score": (0.0, 2.0, "scripted/j@1"),
        "faithfulness_score": (0.0, 2.0, "scripted/j@1"),
    }
    assert first.scores["accuracy_score"].explanation == "It is so."
    assert (first.input_tokens, first.finish_reason, first.model_reported) == (10, "stop", "m")
    assert {(one.value, one.unscored) for one in second.scores.values()} == {(None, "parse_error: malformed_json")}
    assert second.failure is None
    assert second.metadata["judge_replies"][0]["text"] == "No scores from me."
    assert log.header.metadata["decision"] == "INCONCLUSIVE"
    assert log.header.generation_params["temperature"] == 0


def _failing_second(role: str, n: int, request: dict[str, Any]) -> Reply:
    del role, n
    if number_of(request) == 1:
        return {"status": 503}
    return {"status": 200, "content": "1", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def test_an_item_that_was_not_answered_is_a_failure_and_no_wrong_answer(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    with running(_failing_second) as server:
        run = bb.score(
            str(tmp_path / "items.jsonl"), model="openai/m@2026-01-01", model_base_url=server.base_url,
            runs=tmp_path / "runs", max_retries=0,
        )  # fmt: skip
    log = log_of_record(run.record)
    first, second, _ = log.samples()
    assert first.failure is None
    assert (second.answer, second.scores["answer_correctness@v1"].value) == (None, None)
    assert second.scores["answer_correctness@v1"].unscored == "unanswered: provider_error"
    assert second.failure is not None
    assert second.failure.kind == "error"
    assert second.failure.message == "provider_error: status 503"
    assert log.header.status == "cancelled"
    # The frozen template puts nothing around a prompt without a context.
    assert first.messages is None


def test_an_item_that_counts_zero_because_the_run_was_ended_is_unscored_and_said(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    with running(_failing_second) as server:
        run = bb.score(
            str(tmp_path / "items.jsonl"), model="openai/m@2026-01-01", model_base_url=server.base_url,
            runs=tmp_path / "runs", max_retries=0, accept_unanswered=True,
        )  # fmt: skip
    log = log_of_record(run.record)
    assert [one.scores["answer_correctness@v1"].value is None for one in log.samples()] == [False, True, False]
    (primary, *_) = log.header.claims
    assert (primary.formula, primary.why_not) == (None, "it counts 1 unanswered samples, which are unscored here")


def test_a_function_that_could_not_score_says_why(tmp_path: Path) -> None:
    found = samples_of(scored_by_function(tmp_path).record)
    assert found["i1"].scores["near@v1"].value == 0.5
    assert found["i2"].scores["near@v1"].value is None
    assert found["i2"].scores["near@v1"].unscored == "ValueError: could not convert string to float: 'three'"
    assert found["i1"].metadata["values"] == {"off": 1.0, "why": "off by 1"}


_TWO_CHECKS = """name = "two"
version = 1
about = "The number, in two words at most."

[[checks]]
name = "number"
kind = "number"

[[checks]]
name = "short"
kind = "max_words"
limit = 2
"""


def test_checks_are_scorers_each(tmp_path: Path) -> None:
    items = [
        {"id": "a", "prompt": "1 + 1?", "expected_answer": "2"},
        {"id": "b", "prompt": "2?", "expected_answer": "2"},
    ]
    folder = tmp_path / "two@v1"
    folder.mkdir()
    (folder / "spec.toml").write_text(_TWO_CHECKS, encoding="utf-8")
    predictions = [{"item_id": "a", "predicted": "2"}, {"item_id": "b", "predicted": "It is a 3."}]
    run = bb.score(items, predictions, spec=folder, runs=tmp_path / "runs")
    log = log_of_record(run.record)
    a, b = log.samples()
    assert [one.name for one in log.header.scorers] == ["two@v1", "number_score", "short_score"]
    assert [one.value for one in a.scores.values()] == [1.0, 1.0, 1.0]
    assert [one.value for one in b.scores.values()] == [0.0, 0.0, 0.0]
    assert b.scores["number_score"].answer == "3"
    assert b.scores["number_score"].explanation == "other_number"
    assert {one.metric: one.value for one in log.header.claims}["mean"] == 0.5


def test_what_was_sent_stands_in_the_messages(tmp_path: Path) -> None:
    items: list[dict[str, Any]] = [
        {"id": "a", "prompt": "Who?", "context": {"page": 1}, "expected_answer": "I."},
        {
            "id": "b", "expected_answer": "Yes.",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Are you?"}],
        },
    ]  # fmt: skip
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"contains": "", "text": "Yes."}]}', encoding="utf-8")
    run = bb.score(items, model="scripted/m@1", model_path=str(script), runs=tmp_path / "runs")
    a, b = log_of_record(run.record).samples()
    assert (a.prompt, a.context) == ("Who?", '{"page":1}')
    assert a.messages is not None
    assert [one["role"] for one in a.messages] == ["user"]
    assert '{"page":1}' in a.messages[0]["content"]
    assert b.messages == items[1]["messages"]
    assert "Be brief." in b.prompt


def test_an_imported_log_is_what_was_imported(tmp_path: Path) -> None:
    """Two items twice, of which b's second time is not in the log, and a's failed."""
    samples = [
        sample(
            id="a", references=("2", "two"), choices=("1", "2"), latency_ms=5, metadata={"page": [1]},
            scores={
                "match": LogScore(value=1.0, said="C", answer="2", explanation="It is."),
                "grade": LogScore(value=7.0),
            },
        ),
        sample(id="b", prompt="3?", limit="token", scores={"match": LogScore(value=None, unscored="NaN")}),
        sample(id="a", repeat=1, answer=None, failure=LogFailure(message="HTTP 500"), references=("2", "two")),
    ]  # fmt: skip
    scorers = (
        LogScorer(name="match", lowest=0.0, highest=1.0),
        LogScorer(name="grade", highest=10.0, judge="acme/j"),
    )
    log = Made(samples, scorers=scorers, repeats=2, dataset_version="v2", tool="other")
    found = log_of_record(import_log(log, Wanted(runs=str(tmp_path))).record)
    first, second, third = found.samples()
    assert [(one.id, one.repeat) for one in (first, second, third)] == [("a", 0), ("b", 0), ("a", 1)]
    assert first.scores["match"] == msgspec.structs.replace(samples[0].scores["match"], passed=True)
    assert first.scores["grade"] == LogScore(value=7.0)
    assert (first.references, first.choices, first.latency_ms) == (("2", "two"), ("1", "2"), 5)
    assert first.metadata == {"page": [1]}
    assert second.scores["match"] == LogScore(value=None, unscored="NaN")
    assert second.limit == "token"
    assert third.failure == LogFailure(message="HTTP 500")
    assert third.scores == {}
    header = found.header
    assert (header.task, header.model, header.n_claimed) == ("sums", "acme/m", 3)
    assert [(one.name, one.highest, one.judge) for one in header.scorers] == [
        ("match", 1.0, None),
        ("grade", 10.0, "acme/j"),
    ]
    assert header.metadata["imported"]["tool"] == "other"
    claims = {(one.scorer, one.metric): (one.value, one.formula) for one in header.claims}
    assert claims["match", "pass_rate"] == (1.0, "share_passed")
    assert claims["grade", "mean"] == (7.0, "mean")
    assert claims["match", "mean"] == (1.0, "mean")
    assert claims["match", "primary_score"] == (1.0, None)


def test_facts_have_what_a_table_has_no_column_for(tmp_path: Path) -> None:
    """Reasons beside explanations, parts, guesses, kinds of failures, and a repeat that asked something else."""
    scores = {
        "a": LogScore(value=None, unscored="NaN", explanation="Neither."),
        "b": LogScore(value=None, parts=(-3.0, 2.0)),
        "c": LogScore(value=1.0, passed=False, guessed="its verdict is in lower case"),
    }
    samples = [
        sample(id="x", prompt="", finish_reason="length", scores=scores),
        sample(id="x", repeat=1, prompt="Once more?", failure=LogFailure(message="late", kind="timeout")),
        sample(id="y", answer=None, failure=LogFailure(message="no more", kind="limit")),
    ]
    record = import_log(Made(samples, repeats=2), Wanted(runs=str(tmp_path), scorer="c")).record
    first, other, again = log_of_record(record).samples()
    assert (first.prompt, first.finish_reason) == ("", "length")
    assert first.scores == scores
    assert (other.id, other.failure) == ("y", LogFailure(message="no more", kind="limit"))
    assert (again.prompt, again.failure) == ("Once more?", LogFailure(message="late", kind="timeout"))


def test_choices_are_those_of_the_items_line(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "items.jsonl",
        [
            {"id": "a", "prompt": "Which?", "expected_answer": "B", "choices": ["one", "two"]},
            {"id": "b", "prompt": "No?", "expected_answer": "A", "choices": "A"},
        ],
    )
    run = bb.score(tmp_path / "items.jsonl", [{"item_id": "a", "predicted": "B"}], runs=tmp_path / "runs")
    assert [one.choices for one in log_of_record(run.record).samples()] == [("one", "two"), ()]


def test_repeats_are_counted_from_nought(tmp_path: Path) -> None:
    log = log_of_record(judged_run(tmp_path, [(2, 2), (1, 2)], repeats=2))
    assert [(one.id, one.repeat) for one in log.samples()] == [("i000", 0), ("i001", 0), ("i000", 1), ("i001", 1)]
    assert (log.header.n_claimed, log.header.repeats) == (4, 2)


def test_a_table_that_is_another_than_the_records_is_refused(tmp_path: Path) -> None:
    record = scored(tmp_path).record
    other = scored(tmp_path / "other" if (tmp_path / "other").mkdir() is None else tmp_path, predictions=[]).record
    record.samples.write_bytes(other.samples.read_bytes())
    with pytest.raises(RecordError, match=r"samples\.parquet: was changed"):
        log_of_record(record)
    record.samples.unlink()
    with pytest.raises(RecordError, match="rescore"):
        log_of_record(record)


def test_a_fourth_evaluator_is_a_log_by_its_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "fourth"))
    write_items(tmp_path / "items.jsonl", 2)
    run = bb.score(
        tmp_path / "items.jsonl",
        [{"item_id": "i0", "predicted": "two words"}],
        spec="brevity@v1",
        runs=tmp_path / "runs",
    )
    log: RecordLog = log_of_record(run.record)
    values: Iterator[float | None] = (one.scores["brevity@v1"].value for one in log.samples())
    assert list(values) == [0.8, 0.0]
