"""Worker processes: the same bytes as without, a fault that is told, and none left behind, whatever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import ConfigError
from benchbook.evaluators import parts, workers
from benchbook.evaluators.rubric.evaluator import EVALUATOR
from benchbook.evaluators.rubric.tables import DERIVED_FILES
from benchbook.evaluators.workers import SETTING, derived_parts, worker_count
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from part_jobs import Doing, parts_without_facts
from running import run
from scripted_server import OK_JUDGE, always_good, running


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Twelve samples, one of which the judge could not be read for."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        is_bad = role == "judge" and n in (5, 6)
        return OK_JUDGE | {"content": "no JSON"} if is_bad else always_good(role, n, request)

    with running(reply) as server:
        return run(tmp_path_factory.mktemp("workers"), server, 12, max_connections=1).record


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers for any run, and parts of two samples."""
    monkeypatch.setattr(workers, "_SAMPLES_A_WORKER", 1)
    monkeypatch.setattr(workers, "usable_cores", lambda: 2)
    monkeypatch.setattr(parts, "_MOST_SAMPLES", 2)
    monkeypatch.setattr(workers, "_PARTS_AT_ONCE", 2)


def _derived(record: Record, target: Path) -> Any:
    target.mkdir()
    findings = EVALUATOR.derive_checked(record, target, read_state(record.journal))
    return findings, {name: (target / name).read_bytes() for name in DERIVED_FILES}


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_workers_give_the_same_bytes(record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[Any] = []
    worker = workers._Worker
    monkeypatch.setattr(workers, "_Worker", lambda job: began.append(worker(job)) or began[-1])
    monkeypatch.setenv(SETTING, "1")
    alone = _derived(record, tmp_path / "alone")
    assert not began
    monkeypatch.setenv(SETTING, "2")
    assert _derived(record, tmp_path / "together") == alone
    assert [one._process.returncode for one in began] == [0, 0]
    assert all(one._job is None for one in began)  # each was sent its job, and a part
    assert alone[1]["samples.parquet"] == record.samples.read_bytes()


@pytest.mark.parametrize(
    ("asked", "cores", "samples", "expected"),
    [
        ("", 4, 99_999, 1), ("", 4, 200_000, 2), ("", 4, 10**7, 4), ("2", 4, 10**7, 2), ("9", 4, 10**7, 4),
        ("1", 4, 10**7, 1), ("", None, 10**7, 1), ("", 4, 0, 1),
    ],
)  # fmt: skip
def test_how_many_there_are(
    asked: str, cores: int | None, samples: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, asked)
    monkeypatch.setattr(workers, "usable_cores", lambda: cores)
    assert worker_count(samples) == expected


@pytest.mark.parametrize("asked", ["0", "-1", "two", "1.5", "²"])
def test_another_number_is_refused(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, asked)
    with pytest.raises(ConfigError, match=SETTING):
        worker_count(10**7)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["fails", "dies"])
def test_what_a_worker_cant_do_is_done_here(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_PARTS_AT_ONCE", 3)
    here: list[int] = []

    def derive(part: Any) -> int:
        here.append(part.first)
        return os.getpid()

    found = list(derived_parts(Doing(what), parts_without_facts(8), 2, derive))
    assert len(found) == 8
    assert here == [0, 1, 2]  # with those that were sent along
    assert found[:3] == [os.getpid()] * 3
    assert os.getpid() not in found[3:]
    assert [_is_there(pid) for pid in set(found) - {os.getpid()}].count(True) == 0


@pytest.mark.slow
def test_none_is_left_where_whoever_takes_results_stops() -> None:
    found: Iterator[int] = derived_parts(Doing(""), parts_without_facts(8), 2, lambda _: 0)
    pids = {next(found), next(found), next(found), next(found)}
    found.close()  # type: ignore[attr-defined]
    assert not any(map(_is_there, pids))


_PARENT = """
import sys, time
sys.path[:0] = {path!r}
from part_jobs import Doing, parts_without_facts
from benchbook.evaluators.workers import derived_parts
found = derived_parts(Doing(""), parts_without_facts(10**5), 2, lambda _: 0)
print(next(found), next(found), next(found), flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_none_is_left_where_its_parent_is_killed(how: signal.Signals) -> None:
    code = _PARENT.format(path=sys.path)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        pids = set(map(int, parent.stdout.readline().split()))
        assert len(pids) in (1, 2)
        parent.send_signal(how)
        parent.wait()
    until = time.monotonic() + 60
    while any(map(_is_there, pids)):
        assert time.monotonic() < until, "a worker was left behind"
        time.sleep(0.01)


def _is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
