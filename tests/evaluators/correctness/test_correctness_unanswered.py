"""Items that a model was asked and no answer came to: of no mean, until their run is ended as it is (R1.3b, A3).

The journals are written here, fact by fact: what a runner makes of a server is tested elsewhere.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.requests import request_sha256
from benchbook.ask.work import run_async
from benchbook.catalog.indexing import read_predictions
from benchbook.comparison.records import compared_run
from benchbook.evalsets import open_evalset
from benchbook.evaluators.answers.rows import why_unanswered
from benchbook.evaluators.answers.tables import AnswersDerived, derive_answers
from benchbook.evaluators.candidate import CandidateRequests, candidate_plan_of, template_of
from benchbook.evaluators.correctness.evaluator import METRIC
from benchbook.evaluators.registry import samples_type, start_run
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.library.objects import CorrectnessRun
from benchbook.record.facts import Failure, Interrupted, Reply, Resumed, RunEnded
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.tables import read_rows
from running import write_items
from scripted_server import running

ITEMS = 6  # "What is N plus one?", and its answer
RIGHT, WRONG = "right", "wrong"
CONNECTION = {"error": "provider_error", "ends": "sitting", "cause": "connection", "latency_ms": 40}
REFUSED = {"error": "provider_error", "ends": "run", "cause": "authentication", "status": 401}
TOO_SLOW = {"error": "timeout", "ends": "sample", "cause": "time_limit", "latency_ms": 60_000}
SLOW_ONCE = TOO_SLOW | {"ends": "attempt"}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A record of a model that answered nothing; its first fact and its inputs are those of all records here."""
    folder = tmp_path_factory.mktemp("asked")
    with running(lambda role, n, request: {"status": 401}) as server:
        config = RunConfig(
            spec="answer_correctness@v1",
            evalset=str(write_items(folder / "items.jsonl", ITEMS)),
            model="openai/m@2026-01-01",
            model_base_url=server.base_url,
            runs=str(folder),
            run_id="run",
        )
        return run_async(start_run(config)).record


RecordOf = Callable[..., Record]


@pytest.fixture
def record_of(asked: Record, tmp_path: Path) -> RecordOf:
    def make(facts: Sequence[tuple[int, Any]], *ends: Any, derivation: int = 3) -> Record:
        """A record in which a model was asked `facts`: (sample, a text, or what its call failed with)."""
        record = Record(shutil.copytree(asked.path, tmp_path / "run"))
        started = record.started()
        started.identity["derivation"] = derivation
        shutil.rmtree(record.journal)
        record.journal.mkdir()
        plan = candidate_plan_of(started)
        requests = CandidateRequests(plan, template_of(record, started))
        with open_evalset(record.input(plan.evalset_sha256)) as items, JournalWriter(record.journal) as journal:
            journal.append(started)
            for sample, what in facts:
                digest = request_sha256(requests.candidate(items[sample]))
                known: dict[str, Any] = {"sample": sample, "role": "candidate", "request_sha256": digest}
                if isinstance(what, dict):
                    journal.append(Failure(**known, **what))
                else:
                    text = items[sample].expected_answer if what == RIGHT else "no"
                    journal.append(Reply(**known, text=text, latency_e2e_ms=5))
            for end in ends:
                journal.append(end)
        return record

    return make


def derived_of(record: Record) -> AnswersDerived:
    return derive_answers(record, record.path, METRIC)


def rows_of(record: Record) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (record.path / "samples.jsonl").read_bytes().splitlines()]


FACTS = (
    (0, RIGHT),
    (1, WRONG),
    (2, TOO_SLOW),
    (3, {"error": "provider_error", "ends": "attempt", "cause": "server_error", "status": 500}),
    (3, CONNECTION),
    (4, REFUSED),
)  # and sample 5 was never asked
STOPPED = Interrupted(reason="ten samples in a row")


def test_until_its_run_is_ended_what_is_unanswered_is_of_no_mean(record_of: RecordOf) -> None:
    record = record_of(FACTS, STOPPED)
    file, decision = (made := derived_of(record)).aggregates, made.decision
    assert (file.n_items, file.n_scored, file.n_skipped, file.n_unanswered) == (6, 2, 1, 3)
    assert (file.primary_score, file.n_correct) == (0.333333333, 1)  # one of three: right, wrong, too slow
    assert file.stddev == 0.577350269  # of 1, 0, 0
    assert file.interval.n == 3
    assert (sum(file.misses.values()), file.misses.get("unanswered")) == (2, None)
    assert decision.verdict == "incomplete"
    assert decision.reason == "the run is interrupted (ten samples in a row): 2 of 6 items have a prediction"
    assert [warning.split(" 127.")[0].split(" http:")[0] for warning in file.warnings[:3]] == (
        ["1 of 6 samples is unanswered: the model's server at"] * 3
    )
    assert file.warnings[3] == (
        "3 of 6 items are unanswered (authentication 1, connection 1, not_asked 1): left out of the score until they "
        "are answered (SPEC R1.3b)."
    )
    assert [(row["correctness"], row["miss_reason"], row["candidate_error"]) for row in rows_of(record)] == [
        (1.0, None, None),
        (0.0, "different", None),
        (0.0, "no_prediction", None),
        (None, None, "connection"),
        (None, None, "authentication"),
        (None, None, "not_asked"),
    ]
    assert [row["eval_time_ms"] for row in rows_of(record)] == [5, 5, 60_000, None, None, None]
    assert [row["error"] for row in rows_of(record)] == [
        None,
        None,
        "timeout",
        "provider_error",
        "provider_error",
        None,
    ]
    assert verify(record).holds


def test_once_its_run_is_ended_as_it_is_each_counts_0(record_of: RecordOf) -> None:
    resumed = Resumed(code_version={}, environment={}, config={})
    record = record_of(FACTS, STOPPED, resumed, RunEnded(accepts_unanswered=True))
    file, decision = (made := derived_of(record)).aggregates, made.decision
    assert (file.n_scored, file.n_skipped, file.n_unanswered) == (2, 1, 3)
    assert (file.primary_score, file.interval.n, file.misses["unanswered"]) == (0.166666667, 6, 3)
    assert decision.verdict == "fail"
    assert decision.reason == ("it was ended with 3 of 6 items unanswered: authentication 1, connection 1, not_asked 1")
    assert [(row["correctness"], row["miss_reason"], row["candidate_error"]) for row in rows_of(record)[3:]] == [
        (0.0, "unanswered", "connection"), (0.0, "unanswered", "authentication"), (0.0, "unanswered", "not_asked")
    ]  # fmt: skip
    assert verify(record).holds


def test_nothing_answered_is_no_score(record_of: RecordOf) -> None:
    file = derived_of(record_of([(0, CONNECTION)], STOPPED)).aggregates
    assert (file.primary_score, file.stddev, file.n_unanswered, file.metrics) == (
        None, None, 6, {"answer_correctness": None}
    )  # fmt: skip
    assert (file.interval.low, file.interval.high) == (None, None)


def test_an_answer_ends_what_was_unanswered(record_of: RecordOf) -> None:
    facts = [(0, CONNECTION), *((number, RIGHT) for number in range(ITEMS))]
    made = derived_of(record_of(facts, RunEnded()))
    assert (made.decision.verdict, made.aggregates.n_unanswered, made.aggregates.primary_score) == ("pass", 0, 1.0)


def failures(*kinds: dict[str, Any]) -> list[Failure]:
    return [Failure(sample=0, role="candidate", **kind) for kind in kinds]


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        pytest.param([], "not_asked", id="never-asked"),
        pytest.param(failures(CONNECTION), "connection", id="not-reached"),
        pytest.param(failures(TOO_SLOW), None, id="the-model-s-time-limit"),
        pytest.param(failures(TOO_SLOW | {"cause": None}), None, id="a-time-out-without-a-cause"),
        pytest.param(failures(SLOW_ONCE), "time_limit", id="to-be-tried-again"),
        pytest.param(failures(SLOW_ONCE, CONNECTION), "connection", id="last-not-reached"),
        pytest.param(failures(CONNECTION, TOO_SLOW), None, id="reached-at-last"),
        pytest.param(failures(CONNECTION | {"cause": None, "ends": "sample"}), "provider_error", id="no-cause"),
        pytest.param([*failures(CONNECTION), Reply(sample=0, role="candidate")], None, id="answered-without-text"),
    ],
)
def test_the_last_fact_says_whose_fault_it_was(facts: list[Reply | Failure], cause: str | None) -> None:
    assert why_unanswered(facts) == cause


def test_before_derivation_3_nothing_is_unanswered(record_of: RecordOf) -> None:
    record = record_of(FACTS, STOPPED, derivation=2)
    made = derived_of(record)
    assert (made.decision.verdict, made.aggregates.n_skipped, made.aggregates.primary_score) == ("fail", 4, 0.166666667)
    assert "n_unanswered" not in json.loads(record.aggregates.read_bytes())
    assert "candidate_error" not in rows_of(record)[0]


def test_a_comparison_and_the_catalog_leave_out_what_is_not_answered_yet(record_of: RecordOf) -> None:
    record = record_of(FACTS, STOPPED)
    derived_of(record)
    assert compared_run(record).items["n_scored"].to_list() == [1, 1, 1, 0, 0, 0]
    assert compared_run(record).score == 0.333333333
    assert [row[0] for row in read_predictions(record.samples)] == [0, 1, 2]


def test_a_row_in_the_table_is_the_one_in_the_lines(record_of: RecordOf) -> None:
    record = record_of(FACTS, STOPPED)
    derived_of(record)
    rows = list(read_rows(record.samples, samples_type(record)))
    assert [row.candidate_error for row in rows] == [row["candidate_error"] for row in rows_of(record)]


def test_reports_say_that_it_is_not_complete_and_count_the_unanswered(record_of: RecordOf, tmp_path: Path) -> None:
    record = record_of(FACTS, STOPPED)
    run = CorrectnessRun(record, derived_of(record))
    said = " ".join(str(run).split())
    for words in (
        "The run is not complete", "Score so far 0.3333 by answer_correctness@v1",
        "6 items: 2 with a prediction, 1 without, 3 unanswered", "benchbook score --resume run",
    ):  # fmt: skip
        assert words in said
    assert "fail" not in said
    for path in run.write_reports(tmp_path / "reports"):
        written = path.read_text(encoding="utf-8")
        assert "left out until they are answered" in written
        assert "The run is not complete" in written
