"""What `benchbook export --to inspect` writes, read by Inspect itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import benchbook as bb
from benchbook.exchange.inspect.writing import written
from exchange.inspect.test_writing import made_samples
from labelled import judged_run
from made_logs import Made
from outages import number_of
from peers.conftest import Peer
from running import write_items
from scripted_server import Reply, running


def _failing_second(role: str, n: int, request: dict[str, Any]) -> Reply:
    del role, n
    if number_of(request) == 1:
        return {"status": 503}
    return {"status": 200, "content": "1", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def test_inspect_reads_a_run_that_a_judge_scored(peer: Peer, tmp_path: Path) -> None:
    record = judged_run(tmp_path / "run", [(2, 2), (1, 2), None], repeats=2)
    logs = tmp_path / "logs"
    logs.mkdir()
    found = bb.export(record.path, to="inspect", out=logs / "judged.eval")
    (log,) = peer("inspect_export.py", logs, "judged.eval")
    assert (log["status"], log["model"], log["temperature"], log["epochs"]) == ("success", "scripted/m@1", 0, 2)
    assert log["metadata"]["record_sha256"] == found.record_sha256
    assert log["metadata"]["decision"] == "INCONCLUSIVE"
    # 1.0 and 0.775 in both repeats; their mean 0.8875, s = 0.225 / sqrt(2), over sqrt(2).
    assert log["results"]["rubric@v1"]["aggregate_score"] == log["results"]["rubric@v1"]["mean"] == 0.8875
    assert round(log["results"]["rubric@v1"]["stderr"], 12) == 0.1125
    assert log["reductions"]["accuracy_score"] == {"i000": 2.0, "i001": 1.0, "i002": None}
    first, *_, last = log["samples"]
    assert (first["input"], first["target"], first["answer"], first["tokens"]) == (
        "Question 000?",
        "Yes.",
        "Answer 000.",
        20,
    )
    assert first["messages"] == [["user", "Question 000?"], ["assistant", "Answer 000."]]
    assert first["scores"]["accuracy_score"] == [2.0, None, "It is so.", None]
    assert (last["id"], last["epoch"]) == ("i002", 2)
    assert last["scores"]["rubric@v1"] == [None, None, None, "parse_error: malformed_json"]


def test_inspect_reads_what_was_not_answered_as_an_error(peer: Peer, tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    with running(_failing_second) as server:
        run = bb.score(
            tmp_path / "items.jsonl", model="openai/m@2026-01-01", model_base_url=server.base_url,
            runs=tmp_path / "runs", max_retries=0,
        )  # fmt: skip
    (tmp_path / "logs").mkdir()
    bb.export(run, to="inspect", out=tmp_path / "logs" / "gaps.eval")
    (log,) = peer("inspect_export.py", tmp_path / "logs", "gaps.eval")
    assert log["status"] == "cancelled"
    assert [one["error"] for one in log["samples"]] == [None, "provider_error: status 503", None]
    assert log["samples"][1]["scores"]["answer_correctness@v1"] == [None, None, None, "unanswered: provider_error"]


def test_inspect_reads_whatever_there_may_be(peer: Peer, tmp_path: Path) -> None:
    """All logs that the property makes, in one go: a process of Inspect's takes seconds to start."""
    logs = tmp_path / "logs"
    logs.mkdir()
    names: list[str] = []

    @given(made_samples, st.integers(0, 1))
    def write(samples: list[Any], n: int) -> None:
        names.append(f"{len(names)}-{n}.eval")
        written(Made(samples, repeats=3), logs / names[-1])

    write()
    found = peer("inspect_export.py", logs, *names)
    assert len(found) == len(names)
