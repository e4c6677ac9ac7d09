"""Shards on a real Ray, of one machine: workers are killed while they ask, and the bytes are those of one writer.

Ray's packages are those of `script/peers`, behind our own, in the driver and in all that it starts.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.stores.address import store_address
from benchbook.stores.objects import open_objects
from benchbook.stores.pulling import pull_record
from running import options, write_items
from scripted_server import always_good
from scripted_server import running as scripted
from sharded import DERIVED, ask, joined, write_judged
from support import ROOT

pytestmark = pytest.mark.xdist_group("ray")  # one cluster at a time
_LONG_S = 240.0  # for what a busy machine may take
_KILLS = 6
_TOKEN = "BENCHBOOK_TEST_RAY"
KEY = "sk-this-must-stay-where-it-is"


class Begun:
    """A `benchbook` with Ray, and the workers of the cluster that it starts."""

    def __init__(self, python: Path, home: Path, words: list[str], environment: dict[str, str]) -> None:
        self.token = uuid.uuid4().hex
        self.home = home
        ours = sysconfig.get_paths()["purelib"]
        places = os.pathsep.join((str(ROOT / "src"), ours))
        known = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        known.pop("PYTHONWARNDEFAULTENCODING", None)
        given = {"PYTHONPATH": places, "RAY_TMPDIR": str(home), _TOKEN: self.token, "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [python, "-m", "benchbook", *words], env=known | given | environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip

    def ended(self) -> tuple[int, str]:
        """The code that it ended with, and all that it said; `out` is what it said on standard output."""
        out, err = self.process.communicate(timeout=_LONG_S)
        self.out = out.decode()
        return self.process.returncode, self.out + err.decode()

    def workers(self, called: bytes = b"ray::shard") -> list[int]:
        """The processes that ask a shard, or are called otherwise, of this cluster alone."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                title = (path / "cmdline").read_bytes()
                environment = (path / "environ").read_bytes()
            except OSError:
                continue
            if title.startswith(called) and self.token.encode() in environment:
                found.append(int(path.name))
        return found

    def until(self, found: Callable[[], Any]) -> Any:
        """What is found, once it is. It must not end before."""
        deadline = time.monotonic() + _LONG_S
        while not (one := found()):
            assert self.process.poll() is None, self.ended()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return one


@pytest.fixture
def begin(peers: Path) -> Iterator[Callable[..., Begun]]:
    packages = peers / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    if not (packages / "ray").is_dir():
        pytest.skip("Ray is not among the tools for this Python: script/peers installs it")
    home = Path(tempfile.mkdtemp(prefix="bb-ray-", dir="/tmp"))  # short: Ray's sockets are in it
    begun: list[Begun] = []

    def one(*words: str, **environment: str) -> Begun:
        begun.append(Begun(peers / "bin" / "python", home, list(words), environment))
        return begun[-1]

    yield one
    for each in begun:
        if each.process.poll() is None:
            each.process.terminate()
            each.process.wait(timeout=_LONG_S)
    shutil.rmtree(home, ignore_errors=True)


def words_for(config: RunConfig, *more: str) -> list[str]:
    names = ("evalset", "outputs", "model", "judge", "judge_path", "repeats", "runs", "run_id")
    given = [(f"--{name.replace('_', '-')}", str(getattr(config, name))) for name in names]
    return ["run", *(word for pair in given for word in pair), "--reports", "none", "--engine", "ray", *more]


def has_facts(run: Path, n: int) -> bool:
    return sum(path.read_bytes().count(b"\n") for path in run.glob("shards/*/journal/*.jsonl")) > n


def test_workers_that_are_killed_make_no_difference(tmp_path: Path, begin: Callable[..., Begun]) -> None:
    """Whenever some hundred facts have come, one of those that ask is killed."""
    chance = random.Random(16)
    one, many = (write_judged(tmp_path / name, 400, 6) for name in ("one", "many"))
    ask(one, "1/1")
    alone = Record(tmp_path / "one" / "runs" / "run")
    joined(alone)
    begun = begin(*words_for(many, "--shards", "6", "--max-connections", "1", "--json"))
    run, enough = tmp_path / "many" / "runs" / "run", 0
    for _ in range(_KILLS):
        enough += chance.randrange(100, 400)
        begun.until(partial(has_facts, run, enough))
        os.kill(chance.choice(begun.until(begun.workers)), signal.SIGKILL)
    code, said = begun.ended()
    assert code == 0, said
    assert json.loads(begun.out)["manifest"]["state"] == "complete"  # what Ray says of them is elsewhere
    record = Record(run)
    assert [(run / name).read_bytes() for name in DERIVED] == [(alone.path / name).read_bytes() for name in DERIVED]
    assert verify(record).findings == ()
    resumed = sum(path.read_bytes().count(b'"kind":"resumed"') for path in run.glob("shards/*/journal/*.jsonl"))
    assert 1 <= resumed <= _KILLS


def test_keys_stay_in_the_environment(tmp_path: Path, begin: Callable[..., Begun]) -> None:
    """A server on the loopback is asked with a key; a worker is killed meanwhile, and everything that Ray writes is
    looked through."""
    write_items(tmp_path / "items.jsonl", 300)
    with scripted(always_good) as server:
        words = options(tmp_path, server, **{"model-api-key-env": "A_KEY", "judge-api-key-env": "A_KEY"})
        begun = begin("run", *words, "--shards", "3", "--engine", "ray", "--max-connections", "2", A_KEY=KEY)
        begun.until(lambda: len(server.answered) > 200)
        os.kill(begun.until(begun.workers)[0], signal.SIGKILL)
        code, said = begun.ended()
    assert code == 0, said
    assert {one["authorization"] for one in server.headers} == {f"Bearer {KEY}"}
    record = Record(tmp_path / "runs" / "run")
    assert verify(record).findings == ()
    aggregates = json.loads((record.path / "aggregates.json").read_bytes())
    assert aggregates["ledger"]["n_scored"] == 300
    written = [path for place in (begun.home, tmp_path) for path in place.rglob("*") if path.is_file()]
    assert any("worker" in path.name for path in written)  # Ray's logs are among them
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("kills_the_desk", [False, True])
def test_workers_keep_a_rate_together(tmp_path: Path, begin: Callable[..., Begun], kills_the_desk: bool) -> None:
    """Twenty requests a second, and 120 at once, also where the actor that lends them is killed in the middle: then
    each has its part, and nothing is saved up."""
    write_items(tmp_path / "items.jsonl", 120)
    moments: list[float] = []

    def answer(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        moments.append(time.monotonic())
        return always_good(role, n, request)

    with scripted(answer) as server:
        words = options(tmp_path, server, **{"requests-per-minute": 1_200, "max-connections": 2})
        begun = begin("run", *words, "--shards", "4", "--engine", "ray", "--quiet")
        if kills_the_desk:
            begun.until(lambda: len(moments) > 130)
            os.kill(begun.until(lambda: begun.workers(b"ray::LendingDesk"))[0], signal.SIGKILL)
        else:
            assert begun.until(lambda: begun.workers(b"ray::LendingDesk"))
        code, said = begun.ended()
    assert code == 0, said
    assert len(moments) == 240
    under_way = 4 * 2  # that may have been let through long before they came
    for first, begins in enumerate(moments):
        for number, ends in enumerate(moments[first:], 1):
            assert number <= 120 + 20 * (ends - begins) + under_way


def test_an_interrupt_is_passed_on_and_the_same_command_goes_on(tmp_path: Path, begin: Callable[..., Begun]) -> None:
    config = write_judged(tmp_path, 2_000, 1)
    words = words_for(config, "--shards", "4", "--max-connections", "1", "--quiet")
    begun, run = begin(*words), tmp_path / "runs" / "run"
    begun.until(partial(has_facts, run, 50))
    begun.process.send_signal(signal.SIGINT)
    code, said = begun.ended()
    assert (code, "interrupted by Ctrl-C" in said, "--run-id run" in said) == (3, True, True), said
    begun = begin(*words)
    assert begun.ended()[0] == 0
    assert verify(Record(run)).findings == ()


def test_what_is_wrong_on_a_worker_is_said_once(tmp_path: Path, begin: Callable[..., Begun]) -> None:
    """Here nobody looks for keys: workers have their own. The settings are to blame, so that no one tries again."""
    write_items(tmp_path / "items.jsonl", 20)
    with scripted(always_good) as server:
        words = options(tmp_path, server, **{"model-api-key-env": "NO_SUCH_KEY"})
        code, said = begin("run", *words, "--shards", "5", "--at-once", "1", "--engine", "ray", "--quiet").ended()
        assert server.answered == []
    assert code == 2, said
    assert "stopped: shard 1/5: " in said
    assert "NO_SUCH_KEY, which is not set" in said
    assert not (tmp_path / "runs" / "run" / "shards").exists()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "auto"])
def test_a_cluster_that_is_not_there(tmp_path: Path, begin: Callable[..., Begun], address: str) -> None:
    words = words_for(write_judged(tmp_path, 4, 1), "--shards", "2", "--ray-address", address)
    code, said = begin(*words).ended()
    assert (code, said.startswith(f"benchbook: Ray at {address}: ")) == (2, True), said


def test_workers_keep_their_shards_in_a_store(tmp_path: Path, begin: Callable[..., Begun]) -> None:
    config = write_judged(tmp_path, 12, 1)
    run, store = tmp_path / "runs" / "run", f"file://{tmp_path}/store"
    for _ in range(2):  # the second time by what the store has alone
        code, said = begin(*words_for(config, "--shards", "3", "--store", store, "--quiet")).ended()
        assert code == 0, said
        derived = [(run / name).read_bytes() for name in DERIVED]
        shutil.rmtree(run)
    pulled = pull_record(open_objects(store_address(store) / "run"), tmp_path / "third", "run").record
    assert verify(pulled).findings == ()
    assert [(pulled.path / name).read_bytes() for name in DERIVED] == derived
