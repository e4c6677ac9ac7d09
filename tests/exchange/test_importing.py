"""Logs as records: an unscored sample is no 0, and what follows from a log is the same as of any record (R1.3b)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.errors import ConfigError, InputError
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.verify import verify
from benchbook.exchange.importing import Wanted, import_log
from benchbook.exchange.log import LogFailure, LogScore, LogScorer
from running import benchbook_here
from scored_logs import MadeLog, sample


def imported(tmp_path: Path, samples: Any, name: str = "run", **header: Any) -> Any:
    log = MadeLog(tmp_path, samples, **header)
    return import_log(log, Wanted(runs=str(tmp_path / "runs"), run_id=name))


def test_a_log_becomes_a_record_that_verifies(tmp_path: Path) -> None:
    result = imported(tmp_path, [sample("a", 1.0), sample("b", 0.0), sample("c", 1.0)])
    file = result.derived.aggregates
    assert (file.primary_score, file.pass_rate, file.n_passed, file.n_items) == (0.666666667, 0.666666667, 2, 3)
    assert result.derived.decision.verdict == "pass"
    assert not verify(result.record).findings
    assert evaluator_of(result.record).id == "imported@v1"


UNSCORED = LogScore(value=None, unscored="NaN")
NEVER_ZERO = {
    "NaN": sample("x", scores={"match": UNSCORED}),
    "skipped": sample("x", scores={}),
    "a limit before it was scored": sample("x", scores={}, limit="token"),
    "an error of the harness": sample("x", scores={}, answer=None, failure=LogFailure(message="boom")),
    "an error of the harness after an answer": sample("x", scores={}, failure=LogFailure(message="boom")),
    "a time-out of the harness": sample("x", scores={}, answer=None, failure=LogFailure(message="", kind="timeout")),
    "a value outside the scale": sample("x", scores={"match": LogScore(value=7.0)}),
}


@pytest.mark.parametrize("what", NEVER_ZERO)
def test_what_was_not_scored_is_in_no_mean(tmp_path: Path, what: str) -> None:
    scorers = (LogScorer(name="match", lowest=0.0, highest=1.0),)
    held = [sample("a", 1.0), sample("b", 1.0), NEVER_ZERO[what]]
    log = MadeLog(tmp_path, held, scorers=scorers)
    result = import_log(log, Wanted(runs=str(tmp_path / "runs"), scorer="match"))
    file = result.derived.aggregates
    assert file.primary_score == 1.0
    assert file.n_unscored + file.n_unanswered == 1
    assert file.misses == {}
    rows = pl.read_parquet(result.record.samples)
    assert rows.filter(item_id="x")["score"].to_list() == [None]
    assert not verify(result.record).findings


def test_what_failed_is_told_where_no_answer_came(tmp_path: Path) -> None:
    failed = sample("b", answer=None, limit="time", failure=LogFailure(message="connection reset"))
    rows = pl.read_parquet(imported(tmp_path, [sample("a", 1.0), failed]).record.samples)
    assert rows.select("failure", "limit").rows() == [(None, None), ("connection reset", "time")]


def test_a_repeat_that_the_log_does_not_hold_is_unanswered(tmp_path: Path) -> None:
    result = imported(tmp_path, [sample("a", 1.0), sample("b", 0.0), sample("a", 1.0, repeat=1)])
    file = result.derived.aggregates
    assert (file.n_items, file.n_unanswered, file.primary_score) == (4, 1, 0.666666667)


def test_of_two_samples_of_one_item_and_repeat_the_last_counts(tmp_path: Path) -> None:
    result = imported(tmp_path, [sample("a", 0.0), sample("b", 0.0), sample("a", 1.0)], n_claimed=2)
    assert result.derived.aggregates.primary_score == 0.5
    assert any("in it again" in one for one in result.derived.aggregates.warnings)


def test_fewer_samples_than_claimed_are_said_first(tmp_path: Path) -> None:
    result = imported(tmp_path, [sample("a", 1.0)], n_claimed=80)
    assert "says that it has 80 samples, and 1 are in it" in result.derived.aggregates.warnings[0]


def test_several_scorers_have_columns_and_the_first_on_a_scale_from_0_to_1_stands_first(tmp_path: Path) -> None:
    scores = {"length,words": LogScore(value=12.0), "f1": LogScore(value=0.5), "judge": LogScore(value=1.0, said="C")}
    held = [sample("a", scores=scores), sample("b", scores=scores | {"f1": LogScore(value=0.25)})]
    scorers = tuple(LogScorer(name=name) for name in scores)
    result = imported(tmp_path, held, scorers=scorers)
    assert result.derived.manifest.imported.headline == "f1"
    assert result.derived.aggregates.primary_score == 0.375
    assert {name: one.mean for name, one in result.derived.aggregates.scorers.items()} == {
        "length,words": 12.0, "f1": 0.375, "judge": 1.0,
    }  # fmt: skip
    rows = pl.read_parquet(result.record.samples)
    assert rows["scorer_length_words"].to_list() == [12.0, 12.0]
    assert rows["scorer_judge_said"].to_list() == ["C", "C"]


def test_a_scale_of_its_own_becomes_one_from_0_to_1(tmp_path: Path) -> None:
    log = MadeLog(tmp_path, [sample("a", 3.0), sample("b", 10.0)])
    result = import_log(log, Wanted(runs=str(tmp_path / "runs"), scale=(0.0, 10.0)))
    assert result.derived.aggregates.primary_score == 0.65


def test_answers_without_scores_are_no_failure_of_the_model(tmp_path: Path) -> None:
    result = imported(tmp_path, [sample("a"), sample("b")], scorers=())
    assert (result.derived.decision.verdict, result.derived.aggregates.primary_score) == ("unavailable", None)


def test_an_empty_text_beside_a_failure_is_no_answer(tmp_path: Path) -> None:
    failed = LogFailure(message="HTTP 500")
    made = imported(tmp_path, [sample("a", answer="", failure=failed), sample("b", answer="two", failure=failed)])
    rows = pl.read_parquet(made.record.samples)
    assert rows["predicted"].to_list() == [None, "two"]
    assert rows["candidate_error"].to_list() == ["harness", None]
    alone = imported(tmp_path, [sample("a", answer="", failure=failed)], "alone", scorers=())
    assert alone.derived.decision.reason == "the log has no answer, and no scores"


def test_samples_that_the_log_lacks_are_unanswered_for_that(tmp_path: Path) -> None:
    made = imported(tmp_path, [sample("a", 1.0), sample("b", 1.0), sample("b", 1.0, repeat=1)], repeats=2)
    (why,) = made.derived.aggregates.unanswered
    assert why.words == "1 of 4 samples is unanswered: the log does not hold it."


NOT_ENDED = {
    "failed": ("fail", "its log says that it failed: out of credit"),
    "cancelled": ("fail", "its log says that it was cancelled: out of credit"),
    "being_written": ("incomplete", "its log is still being written, or was cut off: out of credit"),
    "complete": ("pass", None),
    "not_known": ("pass", None),
}


@pytest.mark.parametrize("status", NOT_ENDED)
def test_an_eval_that_did_not_come_to_its_end_is_no_pass(tmp_path: Path, status: Any) -> None:
    result = imported(tmp_path, [sample("a", 1.0)], status=status, error="out of credit")
    assert (result.derived.decision.verdict, result.derived.decision.reason) == NOT_ENDED[status]


def test_no_gate_holds_by_a_part_of_an_eval(tmp_path: Path) -> None:
    for run, status in (("whole", "complete"), ("part", "being_written")):
        log = MadeLog(tmp_path, [sample("a", 1.0)], status=status)
        import_log(log, Wanted(runs=str(tmp_path / "runs"), run_id=run))
    said = benchbook_here("show", "part", cwd=tmp_path).stdout.decode()
    assert ("The run is not complete" in said, "--resume" in said) == (True, False)
    done = benchbook_here("gate", "part", "--baseline", "whole", "--max-regressions", "0", cwd=tmp_path)
    assert (done.returncode, b"its log is still being written" in done.stdout + done.stderr) == (3, True)


def test_an_empty_log_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without samples"):
        imported(tmp_path, [])
    assert not (tmp_path / "runs").exists()


def test_a_scorer_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'match'"):
        import_log(MadeLog(tmp_path, [sample("a", 1.0)]), Wanted(runs=str(tmp_path / "runs"), scorer="mtach"))


HOSTILE = {
    "lone surrogates": "\ud800 and \udfff",
    "controls": "\x1b[31mred\x07\x00",
    "a formula": "=HYPERLINK(1)",
    "markup": "<script>alert(1)</script>",
    "a path": "../../etc/passwd",
    "blank": "  ",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_whatever_the_texts_are_the_record_verifies(tmp_path: Path, what: str) -> None:
    text = HOSTILE[what]
    scores = {text: LogScore(value=1.0, said=text, answer=text, explanation=text)}
    held = sample(
        text, scores=scores, prompt=text, answer=text, references=(text,), context=text, group=text, category=text,
        limit=text, metadata={text: [text]}, model_reported=text, finish_reason=text, choices=(text,),
        messages=[{"role": "user", "content": text}],
    )  # fmt: skip
    result = imported(tmp_path, [held], scorers=(LogScorer(name=text, judge=text),), task=text, model=text, error=text)
    assert result.derived.aggregates.primary_score == 1.0
    assert not verify(result.record).findings


@pytest.mark.parametrize(
    ("repeats", "said"),
    [
        pytest.param([-1], "found repeat -1 of item 'a'; expected 0 to 268,435,455", id="below none"),
        pytest.param([0, 10**9], "found repeat 1,000,000,000 of item 'a'; expected 0 to", id="beyond all"),
        pytest.param(
            [0, 200_000],
            "found 2 samples of 1 item, and numbers of repeats up to 200,001: 199,999 would be absent; expected",
            id="far apart",
        ),
    ],
)
def test_a_repeat_that_a_record_would_be_filled_up_to_is_refused(tmp_path: Path, repeats: list[int], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        imported(tmp_path, [sample("a", 1.0, repeat=one) for one in repeats])
    assert list((tmp_path / "runs").glob("*")) == []


def test_counts_that_nobody_can_mean_are_not_known(tmp_path: Path) -> None:
    result = imported(tmp_path, [sample("a", 1.0, input_tokens=1 << 64, output_tokens=-5, latency_ms=1 << 60)])
    row = pl.read_parquet(result.record.samples).to_dicts()[0]
    assert not [name for name, value in row.items() if ("tokens" in name or "latency" in name) and value is not None]
