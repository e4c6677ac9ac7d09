"""A run by batch while both sides are killed again and again: nothing is lost, and nothing is paid for twice.

    script/bench batch [--items N] [--kills N] [--vendor NAME] [--judge-vendor NAME] [--seed N] [--json]

N items, each asked of a model and judged: twice as many requests, and those that go again. The vendors are the tests'
stand-in, in a process of its own, whose results come shuffled: 3 % of the requests expire, 1 % fail, 1 % come twice.
The client and the stand-in are killed (SIGKILL) in turn, each so often, at places drawn by chance over the whole run.
At the end the record verifies, each sample has its replies, and each request was carried out once.

`cpu_s` and `peak_mb` are of the client's processes, `stand_in_cpu_s` of the stand-in's; `verify_s` is `benchbook
verify` at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))

from batch_vendors import Vendors  # noqa: E402 - it lies with the tests
from benchbook.record.facts import Failure, Reply  # noqa: E402
from benchbook.record.reading import MAX_SEGMENT_BYTES, read_journal  # noqa: E402

GOAL_MB = 400
_EXPIRED, _FAILED, _DOUBLED = 30, 10, 10  # of a thousand
_LOOK_S = 0.2
_BYTES_OF_ITEM = 850  # of journal: a little less than it comes to, so that every kill comes before the end


class Side:
    """A process that is started again whenever it was killed, and what its lives cost."""

    def __init__(self, words: list[str], env: dict[str, str], log: Path) -> None:
        self._words, self._env, self._log = words, env, log
        self.cpu_s, self.peak_mb, self.n_killed = 0.0, 0.0, 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, words: list[str] | None = None) -> None:
        self._words = words or self._words
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._words, env=self._env, stdout=log, stderr=log)

    def ended(self) -> int | None:
        """The exit code of a process that is over; None while it runs."""
        assert self._process is not None
        done, status, used = os.wait4(self._process.pid, os.WNOHANG)
        if not done:
            return None
        self._count(used)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return self._process.returncode

    def kill(self) -> None:
        """Kill the process, unless it is over by itself, in which case it is told at the next look."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGKILL)
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._count(used)
        self.n_killed += 1

    def _count(self, used: Any) -> None:
        self.cpu_s += used.ru_utime + used.ru_stime
        self.peak_mb = max(self.peak_mb, used.ru_maxrss / 1024)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def write_items(path: Path, n: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            item = {"id": f"i{number}", "prompt": f"What is {number} + 1?", "expected_answer": str(number + 1)}
            file.write(json.dumps(item) + "\n")


def journal_bytes(record: Path) -> int:
    """How far a run has come: all segments but the last are full."""
    try:
        segments = sorted((record / "journal").iterdir())
        return (len(segments) - 1) * MAX_SEGMENT_BYTES + segments[-1].stat().st_size if segments else 0
    except OSError:
        return 0


def run_killed(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """The run, both sides killed as often as was asked for, to its end."""
    write_items(folder / "items.jsonl", asked.items)
    port, record = free_port(), folder / "runs" / "run"
    url = f"http://127.0.0.1:{port}"
    address = {"openai": f"{url}/openai/v1", "anthropic": f"{url}/anthropic/v1", "gemini": f"{url}/v1beta"}
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    stand_in = Side(
        [sys.executable, str(TESTS / "batch_vendors.py"), str(folder / "vendors"), str(port),
         "--expired", str(_EXPIRED), "--failed", str(_FAILED), "--doubled", str(_DOUBLED)],
        env, folder / "vendors.log",
    )  # fmt: skip
    benchbook = [sys.executable, "-m", "benchbook", "batch"]
    (folder / "batch.toml").write_text(
        f"""evalset = "items.jsonl"
model = "openai/m@2026-01-01"
model_base_url = "{address[asked.vendor]}"
judge = "openai/j@2026-01-01"
judge_base_url = "{address[asked.judge_vendor]}"
runs = "runs"
run_id = "run"
max_retries = 20
[batch]
vendor = "{asked.vendor}"
judge_vendor = "{asked.judge_vendor}"
settle_seconds = 2
""",
        encoding="utf-8",
    )
    submit = [
        *benchbook,
        "submit",
        str(folder / "batch.toml"),
        "--reports",
        "none",
        "--quiet",
        "--wait",
        "--every",
        "1",
    ]
    collect = [*benchbook, "collect", str(record), "--reports", "none", "--quiet", "--wait", "--every", "1"]
    client = Side(submit, env, folder / "client.log")
    drawn = random.Random(asked.seed)
    whole = asked.items * _BYTES_OF_ITEM
    places = sorted(
        (drawn.uniform(0, whole), side) for side in (client, stand_in) for _ in range(asked.kills)
    ) if asked.kills else []  # fmt: skip
    began = time.monotonic()
    stand_in.start()
    client.start()
    while True:
        time.sleep(_LOOK_S)
        code = client.ended()
        if code is not None and not places:
            break
        come = journal_bytes(record)
        if code is None and places and (come >= places[0][0]):
            side = places.pop(0)[1]
            time.sleep(drawn.uniform(0, _LOOK_S))
            if side is stand_in or client.ended() is None:
                side.kill()
            side.start(collect if side is client and (record / "journal").is_dir() else None)
        elif code is not None:  # the stand-in was away for longer than it waits, or the run was quicker than the kills
            if code == 0 and _is_complete(record):
                break
            client.start(collect if (record / "journal").is_dir() else None)
    wall_s = time.monotonic() - began
    n_left = len(places)
    stand_in.kill()
    stand_in.n_killed -= 1
    return {
        "wall_s": round(wall_s, 1), "cpu_s": round(client.cpu_s, 1), "peak_mb": round(client.peak_mb),
        "stand_in_cpu_s": round(stand_in.cpu_s, 1), "client_killed": client.n_killed,
        "stand_in_killed": stand_in.n_killed, "kills_not_come_to": n_left, "exit_code": code,
    }  # fmt: skip


def _is_complete(record: Path) -> bool:
    manifest = record / "manifest.json"
    return manifest.is_file() and json.loads(manifest.read_bytes()).get("state") == "complete"


def held_against(folder: Path, items: int) -> dict[str, Any]:
    """What the record has, and what the stand-in carried out."""
    record = folder / "runs" / "run"
    replies: Counter[str] = Counter()
    seen: set[tuple[int, str, int]] = set()
    n_twice = n_failures = n_facts = 0
    for line in read_journal(record / "journal"):
        n_facts += 1
        if isinstance(line.fact, Reply):
            key = (line.fact.sample, line.fact.role, line.fact.attempt)
            n_twice += key in seen
            seen.add(key)
            replies[line.fact.role] += 1
        n_failures += isinstance(line.fact, Failure)
    billed = Vendors(folder / "vendors").billed()
    began = time.monotonic()
    verified = subprocess.run(
        [sys.executable, "-m", "benchbook", "verify", str(record)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, check=False,
    )  # fmt: skip
    return {
        "n_facts": n_facts, "n_candidate_replies": replies["candidate"], "n_judge_replies": replies["judge"],
        "n_failures": n_failures, "n_replies_twice": n_twice, "n_carried_out": len(billed),
        "n_carried_out_twice": sum(n > 1 for n in billed.values()),
        "n_carried_out_without_reply": len(billed) - sum(replies.values()),
        "n_batches": Vendors(folder / "vendors").n_batches(),
        "verify_s": round(time.monotonic() - began, 1), "verifies": verified.returncode == 0,
        "is_whole": replies["candidate"] == items,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=10, help="of each side")
    parser.add_argument("--vendor", default="openai", choices=("openai", "anthropic", "gemini"))
    parser.add_argument("--judge-vendor", default="anthropic", choices=("openai", "anthropic", "gemini"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where it goes; by default a temporary folder")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-batch-") as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found = {"items": asked.items, **run_killed(folder, asked), **held_against(folder, asked.items)}
    holds = (
        found["verifies"] and found["is_whole"] and not found["n_replies_twice"]
        and not found["n_carried_out_twice"] and not found["n_carried_out_without_reply"]
    )  # fmt: skip
    if asked.json:
        print(json.dumps(found | {"holds": holds}, indent=2))
    else:
        for name, value in found.items():
            print(f"{name:28} {value}")
        print("holds" if holds else "does NOT hold")
    return 0 if holds and found["peak_mb"] <= GOAL_MB else 1


if __name__ == "__main__":
    sys.exit(main())
