"""What is said of a run while it goes on is what its end says, of the samples that were done until then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.so_far import RunSoFar
from benchbook.record.folder import Record
from own_scorers import scored as scored_by_function
from running import run
from scripted_server import OK_CANDIDATE, always_good
from scripted_server import running as scripted

USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100}


def graded(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """Judges give 2, 1, 0 in turn; the first answer fails once."""
    if role == "candidate":
        return {"status": 500, "body": {}} if n == 0 else {**OK_CANDIDATE, "usage": USAGE}
    verdict = {"accuracy_score": 2 - n % 3, "faithfulness_score": 2, "rationale": "so"}
    return {"status": 200, "content": json.dumps(verdict), "usage": USAGE}


@contextmanager
def followed(record: Record) -> Iterator[RunSoFar]:
    with closing(RunSoFar(record, evaluator_of(record))) as found:
        yield found


@contextmanager
def read(record: Record) -> Iterator[RunSoFar]:
    with followed(record) as found:
        assert found.read_on(60)
        yield found


@pytest.mark.parametrize("spec", ["rubric@v1", "answer_correctness@v1"])
def test_at_the_end_it_says_what_the_end_says(tmp_path: Path, spec: str) -> None:
    prices = {"model_input_price": 1, "model_output_price": 10}
    own = {} if spec == "rubric@v1" else {"judge": None, "judge_base_url": None}
    if spec == "rubric@v1":
        prices |= {"judge_input_price": 2, "judge_output_price": 0}
    with scripted(graded) as server:
        result = run(tmp_path, server, 7, spec=spec, max_connections=1, **prices, **own)
    aggregates = json.loads(result.record.aggregates.read_bytes())
    numbers = aggregates["aggregates"] if spec == "rubric@v1" else aggregates
    with read(result.record) as found:
        assert (found.n_done, found.n_planned, found.n_scored) == (7, 7, 7)
        assert found.score_name is not None
        assert found.score == numbers[found.score_name]
        if spec == "rubric@v1":
            paid = sum(float(aggregates[name]) for name in ("candidate_cost_usd", "evaluator_cost_usd"))
            assert float(found.cost_usd or 0) == pytest.approx(paid)
            assert paid == pytest.approx(7 * (0.001 + 0.001 + 0.002))
        assert [one.n for one in found.failed] == [1]
        assert [one.item_id for one in found.latest] == [f"i{number}" for number in reversed(range(7))]


def test_it_is_read_on_from_where_it_was(tmp_path: Path) -> None:
    """Also from the middle of a journal, and past where it was cut off: a run that was killed and resumed."""
    with scripted(always_good) as server:
        record = run(tmp_path, server, 6, max_connections=1).record
    segment = record.journal / "000001.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    counted = []
    with followed(record) as found:
        for n in range(1, len(lines) + 1):
            segment.write_bytes(b"".join(lines[:n]) + b'{"torn')
            assert found.read_on(60)
            with read(record) as fresh:
                assert (found.n_done, found.score, found.sha256) == (fresh.n_done, fresh.score, fresh.sha256)
            counted.append(found.n_done)
    assert counted == sorted(counted)
    assert counted[-1] == 6


def test_a_long_journal_is_read_a_stretch_at_a_time(tmp_path: Path) -> None:
    with scripted(always_good) as server:
        record = run(tmp_path, server, 100).record
    looks = 0
    with followed(record) as found:
        while not found.read_on(0):
            looks += 1
        assert found.n_done == 100
    assert looks >= 2


def test_scores_of_a_function_come_at_the_end(tmp_path: Path) -> None:
    with read(scored_by_function(tmp_path).record) as found:
        assert (found.n_done, found.score) == (5, None)
