"""Every Eval Ever's own validator takes what we write, with all its checks of a store; what it converts is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.exchange.every_eval_ever.writing import written
from benchbook.exchange.log import LogFailure, LogSample, LogScore, LogScorer
from benchbook.exchange.tools import opened_logs
from exchange.every_eval_ever.test_writing import MadeLog, sample
from peers.conftest import Peer
from support import shared_data

_CONVERSATION = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "weather", "arguments": {"at": "Rome"}}]},
    {"role": "tool", "content": "rain", "tool_call_id": ["1"]},
]


def _of_all_kinds() -> list[LogSample]:
    return [
        sample("s1", 1.0, input_tokens=3, output_tokens=2, latency_ms=7, choices=("a", "b"), references=("a",)),
        sample("s2", 0.0, answer="two\u2028lines\u0085here", metadata={"n": 3, "deep": {"a": [None]}}),
        sample("s3", None, scores={"exact": LogScore(value=None, unscored="NaN")}),
        sample("s4", None, answer=None, failure=LogFailure(message="reset"), input_tokens=5),
        sample("s5", 1.0, messages=_CONVERSATION, scores={"exact": LogScore(value=1.0, answer="rain")}),
        sample("s6", 1.0, answer="\ud800", repeat=0),
        sample("s6", 0.0, repeat=1),
    ]


def _judged() -> LogScorer:
    return LogScorer(name="exact", lowest=1, highest=5, judge="j", passes_at=4)


@pytest.mark.parametrize(
    ("log", "warned"),
    [
        pytest.param(MadeLog(_of_all_kinds(), repeats=2), False, id="all kinds"),
        pytest.param(MadeLog([sample()], metadata={"record_sha256": "ab" * 32}), False, id="a record's hash"),
        pytest.param(MadeLog([sample("s1", 7.0)]), False, id="outside of its scale"),
        pytest.param(MadeLog([sample("s1", None)]), False, id="nothing scored"),
        pytest.param(MadeLog([sample()], scorers=(_judged(),)), False, id="a judge"),
        pytest.param(MadeLog([sample()], scorers=(LogScorer(name="exact"),)), False, id="no scale"),
        pytest.param(MadeLog([sample()], generation_params={"temperature": 0.5, "seed": 3}), False, id="parameters"),
        pytest.param(MadeLog([sample()], model="a/b/c:d", dataset="data", created_at=None), False, id="odd names"),
        pytest.param(MadeLog([sample()], model="../CON"), True, id="a model with no place"),
        pytest.param(MadeLog([sample()], model="m1"), True, id="a model whose maker is not known"),
    ],
)  # fmt: skip
def test_its_validator_takes_what_we_write(tmp_path: Path, peer: Peer, log: MadeLog, warned: bool) -> None:
    """With one warning where a model's name has no place in its store, which is by developer and model."""
    written(log, tmp_path / "out")
    found: dict[str, Any] | None = peer("every_eval_ever_validate.py", tmp_path / "out")
    if found is None:
        pytest.skip("every_eval_ever is not among the tools: it needs Python 3.12")
    assert {suffix: one["valid"] for suffix, one in found.items()} == {".json": True, ".jsonl": True}
    told = [word for one in found.values() for word in one["told"]]
    assert len(told) == warned
    assert all("names no datastore directory" in one for one in told)


@pytest.mark.parametrize(
    ("tool", "name", "task", "held", "claimed"),
    [
        ("lm_eval", "results_2026-01-21T03-44-18.458309.json", "math_perturbed_full", 10, 5000),
        ("inspect", "eee_data_arc_qwen.json", "arc_easy", 3, 3),
    ],
)
def test_what_its_converters_write_is_read(
    tmp_path: Path, peer: Peer, tool: str, name: str, task: str, held: int, claimed: int
) -> None:
    """Its hashes of samples are right in each of the ways that its converters have."""
    source = shared_data("foreign-logs") / tool / name
    if peer("every_eval_ever_convert.py", tool, source, tmp_path) is None:
        pytest.skip(f"every_eval_ever's converter of {tool} is not among the tools")
    logs = [log for log in opened_logs(tmp_path) if log.header.task.startswith(task)]
    try:
        assert [(log.header.n_claimed, sum(1 for _ in log.samples())) for log in logs] == [(claimed, held)]
        assert logs[0].notes() == []
    finally:
        for log in logs:
            log.close()
