"""Machines that are lost in the middle of a shard, disk and all: what the bucket has is not asked again."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchbook.canonical import canonical_json
from benchbook.errors import StoreError
from benchbook.evaluators.joining import join_kept
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.folder import ShardRecord
from benchbook.record.reading import read_journal
from benchbook.stores.address import store_address
from benchbook.stores.objects import open_objects
from benchbook.stores.pulling import pull_record
from running import options, write_items
from scripted_server import always_good, running

SAMPLES, LOST = 120, 4


def in_the_bucket(url: str, folder: Path) -> set[str]:
    """The requests whose answers the bucket has: whoever looks there now finds a journal that is whole."""
    try:
        found = pull_record(open_objects(store_address(url) / "run"), folder, "run").record
    except StoreError as error:
        assert "there is no record" in str(error)  # noqa: PT017 - it was lost before its first part
        return set()
    shard = ShardRecord(found.path / "shards" / "1")
    facts = (line.fact for line in read_journal(shard.journal))
    return {fact.request_sha256 for fact in facts if isinstance(fact, Reply) and fact.request_sha256}


@pytest.mark.slow
def test_a_shard_wanders_from_machine_to_machine(tmp_path: Path, url: str) -> None:
    chance = random.Random(56)
    write_items(tmp_path / "items.jsonl", SAMPLES)
    asked: list[str] = []
    most: int | None = None

    def answer(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        asked.append(hashlib.sha256(canonical_json(request)).hexdigest())
        return {"behaviour": "hang"} if most is not None and len(asked) > most else always_good(role, n, request)

    with running(answer) as server:
        words = options(tmp_path, server)

        def start(machine: Path) -> subprocess.Popen[bytes]:
            at = [*words, "--runs", str(machine), "--shard", "1/1", "--store", url, "--push-seconds", "0.02"]
            line = [sys.executable, "-m", "benchbook", "run", *at, "--quiet", "--max-connections", "4"]
            return subprocess.Popen(line, env=os.environ)

        for number in range(LOST):
            kept = in_the_bucket(url, tmp_path / "looking")
            n_asked = len(asked)
            most = n_asked + 40
            process = start(tmp_path / f"machine{number}")
            n_answers = len(server.answered) + chance.randint(10, 35)
            server.wait_for_answers(n_answers, lambda process=process: process.poll() is None)  # type: ignore[misc]
            if number % 2:  # it is not lost before more of it is there; the others at any moment
                while len(in_the_bucket(url, tmp_path / "looking")) == len(kept):
                    assert process.poll() is None
            process.kill()
            assert process.wait() == -signal.SIGKILL
            shutil.rmtree(tmp_path / f"machine{number}")
            assert kept.isdisjoint(asked[n_asked:]), "what the bucket has was asked again"
        most = None
        assert start(tmp_path / "last").wait() == 0
    found = join_kept(store_address(url), "run", tmp_path / "joiner")
    assert found.findings == ()
    assert found.derived is not None
    assert found.derived.aggregates.ledger.n_attempted == SAMPLES
    assert verify(found.record).findings == ()
