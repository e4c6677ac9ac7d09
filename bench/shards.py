"""A run in shards by processes that are killed, held against the run of one writer; and what a second core brings.

    script/bench shards [--shards N] [--samples N] [--workers N] [--engine ray] [--flips N] [--json]

Shards of so many samples each are asked by so many processes at once, each of which may be killed at any moment and is
started again, until all are whole; with --engine it is one command that starts them, and again what is killed. Then
they are joined, and compared with what one writer derives, byte by byte. Bits
are flipped in the journals, the set and proofs, one at a time, and each must be found. The speed-up is the wall time of
the same shards by one process at a time over that by two.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchbook.errors import BenchbookError
from benchbook.evaluators.joining import check_joined
from benchbook.record.folder import Record
from benchbook.record.proofs import faults_of, proof_bytes, prove, read_proof
from benchbook.record.sets import newest_set
from engine_kills import killed_at_random
from measuring import measure, show

DERIVED = ("samples.parquet", "aggregates.json", "decision.json")
_MEASURED = {"latency_ms": 100, "prompt_tokens": 20, "completion_tokens": 5}


def write_inputs(folder: Path, items: int, repeats: int) -> None:
    """Items, recorded answers to them, and the script of a judge. Nothing in them depends on how fast a machine is."""
    with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
        for number in range(items):
            file.write(json.dumps({"id": f"i{number}", "prompt": f"{number} + 1?", "expected_answer": "x"}) + "\n")
    with (folder / "outputs.jsonl").open("w", encoding="utf-8") as file:
        for repeat in range(repeats):
            for number in range(items):
                said = {"item_id": f"i{number}", "repeat": repeat, "output": f"says {number * 7 + repeat}"} | _MEASURED
                file.write(json.dumps(said) + "\n")
    replies: list[dict[str, Any]] = [
        {"contains": f"says {digit}", "text": json.dumps(
            {"accuracy_score": digit % 3, "faithfulness_score": 2 - digit % 2, "rationale": "so"}
        ), "input_tokens": 30, "output_tokens": 10}
        for digit in range(1, 10)
    ]  # fmt: skip
    replies.append({"contains": "", "text": "no verdict", "input_tokens": 30, "output_tokens": 10})
    (folder / "judge.json").write_text(json.dumps({"replies": replies}))


def asking(folder: Path, run_id: str, repeats: int, shard: str | None = None) -> list[str]:
    files = {"--evalset": "items.jsonl", "--outputs": "outputs.jsonl", "--judge-path": "judge.json", "--runs": "runs"}
    words = [word for option, name in files.items() for word in (option, str(folder / name))]
    words += ["--model", "recorded/m@1", "--judge", "scripted/j@1", "--repeats", str(repeats), "--run-id", run_id]
    words += ["--reports", "none", "--quiet", *(("--shard", shard) if shard else ())]
    return [sys.executable, "-m", "benchbook", "run", *words]


def asked_by_many(folder: Path, run_id: str, shards: int, repeats: int, workers: int, seed: int | None) -> int:
    """Ask all shards, so many at once; with a seed, kill most of them once or more. Return the number of kills."""
    chance = random.Random(seed)
    order = list(range(1, shards + 1))
    chance.shuffle(order)
    waiting = deque(order)
    at_work: dict[int, tuple[subprocess.Popen[bytes], float]] = {}
    kills = 0
    while waiting or at_work:
        while waiting and len(at_work) < workers:
            number = waiting.popleft()
            process = subprocess.Popen(asking(folder, run_id, repeats, f"{number}/{shards}"))
            lives = float("inf") if seed is None or chance.random() < 0.4 else chance.uniform(0.2, 6.0)
            at_work[number] = (process, time.monotonic() + lives)
        for number, (process, until) in list(at_work.items()):
            if process.poll() is not None:
                del at_work[number]
                if process.returncode == 0:
                    continue
                if process.returncode > 0:
                    raise SystemExit(f"shard {number} ended with {process.returncode}")
                waiting.append(number)
            elif time.monotonic() > until:
                process.kill()
                process.wait()
                kills += 1
        time.sleep(0.01)
    return kills


def join(folder: Path, run_id: str) -> dict[str, float]:
    words = ["join", str(folder / "runs" / run_id), "--reports", "none", "--quiet"]
    return measure([sys.executable, "-m", "benchbook", *words])


def _tiny(folder: Path) -> Path:
    """A record of eight shards of 25 samples: each flip has all of it read."""
    folder.mkdir()
    write_inputs(folder, 25, 8)
    asked_by_many(folder, "run", 8, 8, 2, seed=None)
    join(folder, "run")
    return folder / "runs" / "run"


def same_files(one: Path, other: Path) -> list[str]:
    return [name for name in DERIVED if (one / name).read_bytes() == (other / name).read_bytes()]


def flips(run: Path, n: int, seed: int) -> Iterator[tuple[str, bool]]:
    """Flip a bit at a time, in a journal, the set or a proof; whether it was found."""
    chance = random.Random(seed)
    newest = newest_set(run)
    assert newest is not None
    sample = chance.randrange(newest.head.n_samples)
    proved = prove(Record(run), sample)
    proof, facts = run.parent / "proof.json", run.parent / "facts.jsonl"
    proof.write_bytes(proof_bytes(proved.proof))
    facts.write_bytes(proved.lines)
    journals = sorted((run / "shards").glob("*/journal/*"))
    places: list[tuple[str, Callable[[], Path]]] = [
        ("journal", lambda: chance.choice(journals)),
        ("set", lambda: max((run / "sets").iterdir())),
        ("proof", lambda: proof),
        ("facts of a proof", lambda: facts),
    ]
    for number in range(n):
        kind, choose = places[number % len(places)]
        path = choose()
        whole = path.read_bytes()
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
        try:
            if kind in ("journal", "set"):
                found = bool(check_joined(Record(run))[0])
            else:
                found = bool(list(faults_of(read_proof(proof), newest.root, facts.read_bytes())))
        except BenchbookError:
            found = True
        path.write_bytes(whole)
        yield kind, found


def measure_shards(options: argparse.Namespace) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="benchbook-bench-"))
    try:
        return _measured(folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measured(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    write_inputs(folder, options.samples, options.shards)
    shards, runs = options.shards, folder / "runs"
    alone = measure(asking(folder, "one", shards))
    subprocess.run(asking(folder, "single", shards, "1/1"), check=True)
    join(folder, "single")
    begun = time.monotonic()
    if options.engine is None:
        kills = asked_by_many(folder, "many", shards, shards, options.workers, seed=options.seed)
    else:
        words = [*asking(folder, "many", shards)[3:], "--shards", str(shards), "--engine", options.engine, "--no-join"]
        kills = killed_at_random(words, runs / "many", options.engine, options.seed)
    asked_s = time.monotonic() - begun
    joined = join(folder, "many")
    verified = measure([sys.executable, "-m", "benchbook", "verify", str(runs / "many")])
    walls = {}
    few = min(shards, options.speed_up)
    write_inputs(folder, options.samples, few)
    for workers in (1, 2):
        begun = time.monotonic()
        asked_by_many(folder, f"by{workers}", few, few, workers, seed=None)
        walls[workers] = time.monotonic() - begun
    missed = [kind for kind, found in flips(_tiny(folder / "tiny"), options.flips, options.seed) if not found]
    return {
        "samples": shards * options.samples,
        "shards": shards,
        "engine": options.engine,
        "workers": options.workers,
        "kills": kills,
        "one_writer_cpu_s": round(alone["cpu_s"], 2),
        "asked_wall_s": round(asked_s, 1),
        "join_cpu_s": round(joined["cpu_s"], 2),
        "join_wall_s": round(joined["wall_s"], 2),
        "join_peak_mb": round(joined["peak_mb"], 1),
        "verify_cpu_s": round(verified["cpu_s"], 2),
        "verify_wall_s": round(verified["wall_s"], 2),
        "verify_peak_mb": round(verified["peak_mb"], 1),
        "same_bytes_as_one_writer": same_files(runs / "single", runs / "many"),
        "same_numbers_as_a_plain_run": same_files(runs / "one", runs / "many"),
        "flips": options.flips,
        "flips_missed": missed,
        "wall_s_by_one": round(walls[1], 2),
        "wall_s_by_two": round(walls[2], 2),
        "speed_up": round(walls[1] / walls[2], 2),
        "load_average": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=200)
    parser.add_argument("--samples", type=int, default=1_000, help="in each shard")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--engine", choices=["processes", "ray"], help="asks all shards; by default, --workers do")
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--speed-up", type=int, default=20, help="shards by which the speed-up is measured")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure_shards(options)
    show(result, as_json=options.json)


if __name__ == "__main__":
    main()
