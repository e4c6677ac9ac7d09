"""A hundred runs against a server that fails at random, each resumed until it is whole: the record is that of a run
without a fault, and what was answered is paid once (SPEC R1.3a, R3.6a)."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ask.test_outages import replies_of, told_by
from benchbook.ask import asking
from benchbook.ask.work import run_async
from benchbook.canonical import canonical_json
from benchbook.evaluators.registry import resume_run, start_run
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from outages import FAULTS, well
from running import config
from scripted_server import running

N_ITEMS = 5
SHARD = 25
MOST_SITTINGS = 40

PASSING = {
    **{name: FAULTS[name] for name in FAULTS if name != "too-large"},
    "429-now": {"status": 429, "headers": {"Retry-After": "0"}},
    "429-in-ms": {"status": 429, "headers": {"retry-after-ms": "1"}},
    "429-in-the-body": {"status": 429, "body": {"error": {"message": "Please try again in 1ms."}}},
    "503-date-past": {"status": 503, "headers": {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}},
}


class FailingServer:
    """Fails by chance, as `seed` draws it: less and less, so that every run comes to its end."""

    def __init__(self, seed: int) -> None:
        self._drawn = random.Random(seed)
        self._rate = self._drawn.uniform(0.2, 0.8)
        self.n_failed = 0
        self.answered: Counter[bytes] = Counter()

    def __call__(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if self._drawn.random() < self._rate:
            self._rate *= 0.97
            self.n_failed += 1
            return PASSING[self._drawn.choice(sorted(PASSING))]
        self.answered[canonical_json(request)] += 1
        return well(role, n, request)


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "backoff_s", lambda retries, jitter: 0.0)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    with running(well) as server:
        return told_by(run_async(start_run(config(tmp_path_factory.mktemp("well"), server, N_ITEMS))).record)


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", range(0, 100, SHARD))
def test_runs_through_faults_end_as_if_there_were_none(
    tmp_path: Path, undisturbed: list[dict[str, Any]], first_seed: int
) -> None:
    n_failed = 0
    for seed in range(first_seed, first_seed + SHARD):
        folder = tmp_path / str(seed)
        folder.mkdir()
        server_of = FailingServer(seed)
        record = run_until_whole(folder, server_of)
        n_failed += server_of.n_failed
        assert told_by(record) == undisturbed, seed
        assert set(server_of.answered.values()) == {1}, seed  # no answer is paid twice
        assert set(replies_of(record).values()) == {1}, seed
        assert verify(record).holds, seed
    assert n_failed > SHARD


def run_until_whole(folder: Path, server_of: FailingServer) -> Record:
    """A run, resumed as often as it stops."""
    with running(server_of) as server:
        result = run_async(start_run(config(folder, server, N_ITEMS, max_retries=1, max_connections=3)))
        for _ in range(MOST_SITTINGS):
            if result.stop.reason is None:
                return result.record
            assert result.derived.manifest.state == "interrupted"
            result = run_async(resume_run(result.record))
    raise AssertionError(f"not whole after {MOST_SITTINGS} sittings: {result.stop.reason}")
