"""Servers that are broken or mean harm: a run has a clear end, and each sample is answered, or is not by a cause."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from attack.hostile_replies import hostile
from attack.tally import Tally
from benchbook.ask import asking
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from tried import WAYS, Tried, begin, resume

pytestmark = pytest.mark.attack

REPLIES = 500  # hostile ones, of each way
N_ITEMS = 12
MOST_SITTINGS = 4


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "backoff_s", lambda retries, jitter: 0.0)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("way", [name for name in WAYS if name != "run-judge"])  # as run-model: both are attacked
def test_whatever_a_server_sends_has_a_clear_end(
    way: str, stream: bool, tmp_path: Path, rng: random.Random, share: Callable[[int], int],
    tally: Callable[[str, str], Tally],
) -> None:  # fmt: skip
    if stream and way == "judge-run":
        pytest.skip("judges' replies are not streamed")
    counted = tally("a server's hostile reply", f"{way}{', streamed' if stream else ''}")
    words = ["--timeout-ms", "400", "--max-retries", "1", "--max-connections", "4", "--max-wait-ms", "50", "--quiet"]
    number = 0
    while counted.tried < share(REPLIES):
        folder = tmp_path / str(number)
        folder.mkdir()
        with hostile(rng, rng.choice([0.2, 0.5, 1])) as server:
            fault = clear_end(
                way, begin(way, folder, server, *words, *(["--stream"] if stream else []), n_items=N_ITEMS)
            )
        sent = Counter(server.sent)
        del sent["healthy"]
        counted.held += max(sent.total() - 1, 0)
        counted.count(fault and f"run {number}, of {dict(sent)}: {fault}")
        shutil.rmtree(folder)
        number += 1


def clear_end(way: str, tried: Tried) -> str | None:
    """What is wrong with how a run ended, or with how it goes on."""
    for _ in range(MOST_SITTINGS):
        if fault := unclear(tried):
            return fault
        if tried.code != 3:
            return None
        tried = resume(way, tried)
    return unclear(resume(way, tried, "--accept-unanswered"))


def unclear(tried: Tried) -> str | None:
    if tried.code not in (0, 1, 3):
        return f"ended with {tried.code}: {tried.err[-1500:]}"
    if "Traceback" in tried.err:
        return tried.err[-1500:]
    if findings := verify(Record(tried.record.path)).findings:
        return f"does not verify: {findings[0]}"
    if tried.code == 3 and not tried.err.strip():
        return "stopped, and no word why"
    told = json.loads((tried.record.path / "aggregates.json").read_text("utf-8"))
    causes = told.get("unanswered", [])
    if tried.n_unanswered and not causes:
        return f"{tried.n_unanswered} unanswered, and no cause"
    return None
