"""Results as the vendors' own libraries write them are read, and OpenAI's takes the requests that are written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.exchange.openai_batch.writing import written
from benchbook.exchange.tools import opened_logs
from exchange.batches.test_openai_batch_writing import TALK, Made, sample
from peers.conftest import Peer

# Of each sample: its id, answer, finish reason, input and output tokens, and how it failed.
READ = {
    "anthropic_batch": [
        ("a", "Hi", "length", 7, 2, None),
        ("b", None, None, None, None, "error"),
        ("c", None, None, None, None, "cancelled"),
        ("d", None, None, None, None, "cancelled"),
    ],
    "gemini_batch": [("a", "Hi", "length", 4, 5, None), ("b", None, None, None, None, "error")],
    "openai_batch": [("a", "Hi", "length", 3, 2, None)],
}


@pytest.fixture(scope="module")
def said(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("requests") / "requests.jsonl"
    written(Made(sample("a"), sample("b", messages=TALK), temperature=0, max_tokens=9, seed=42), path)
    return peer("vendors_batches.py", path)


@pytest.mark.parametrize("vendor", READ)
def test_what_the_library_writes_is_read(vendor: str, said: Any, tmp_path: Path) -> None:
    if (lines := said["results"][vendor]) is None:
        pytest.skip("the vendor's library is not among the tools")
    (tmp_path / "results.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (log,) = opened_logs(tmp_path / "results.jsonl")
    with log:
        found = [
            (
                one.id,
                one.answer,
                one.finish_reason,
                one.input_tokens,
                one.output_tokens,
                one.failure and one.failure.kind,
            )
            for one in log.samples()
        ]
    assert (log.header.tool, found) == (vendor, READ[vendor])


def test_openai_s_library_takes_the_requests(said: Any) -> None:
    if said["n_taken"] is None:
        pytest.skip("OpenAI's library is not among the tools")
    assert said["n_taken"] == 2
