"""huggingface_hub reads the evaluation results that we write, each value as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.exchange.hf_eval_results.writing import written
from benchbook.exchange.log import LogScore, LogScorer
from benchbook.text import one_line
from exchange.every_eval_ever.test_writing import MadeLog, sample
from exchange.hf_eval_results.test_writing import NUMBERS, TEXTS
from peers.conftest import Peer


def entry_of(folder: Path, peer: Peer, log: MadeLog) -> dict[str, Any]:
    written(log, folder / "results.yaml")
    found = peer("hugging_face_entries.py", folder / "results.yaml")
    assert found["same"]
    (entry,) = found["entries"]
    return dict(entry)


def test_an_entry_has_all_its_fields(tmp_path: Path, peer: Peer) -> None:
    log = MadeLog(
        [sample("s1", 1.0), sample("s2", 0.0)], dataset="Idavidrein/gpqa:gpqa_diamond", dataset_version="ab" * 20
    )
    entry = entry_of(tmp_path, peer, log)
    assert entry | {"notes": None} == {
        "dataset_id": "Idavidrein/gpqa", "task_id": "gpqa_diamond", "value": 0.5, "dataset_revision": "ab" * 20,
        "date": "2026-01-02T03:04:05Z", "notes": None, "verify_token": None,
        "source_url": None, "source_name": None, "source_user": None, "source_org": None,
    }  # fmt: skip
    assert entry["notes"] == "exact, mean of 2 samples; from 0 to 1; standard error 0.5"


@pytest.mark.parametrize("value", [value for value, _ in NUMBERS])
def test_numbers_come_back(tmp_path: Path, peer: Peer, value: float) -> None:
    log = MadeLog([sample(scores={"x": LogScore(value=value)})], scorers=())
    assert entry_of(tmp_path, peer, log)["value"] == value


@pytest.mark.parametrize("text", TEXTS)
def test_texts_come_back(tmp_path: Path, peer: Peer, text: str) -> None:
    log = MadeLog([sample(scores={text: LogScore(value=1.0)})], dataset=text, scorers=(LogScorer(name=text),))
    entry = entry_of(tmp_path, peer, log)
    assert (entry["dataset_id"], entry["notes"]) == (one_line(text), f"{one_line(text)}, mean of 1 sample")
