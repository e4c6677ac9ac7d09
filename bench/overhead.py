"""What `benchbook run` costs over a bare aiohttp loop that sends the same bytes and only reads the replies.

    script/bench overhead [--samples N] [--connections N] [--rounds N] [--json]

A local server that answers at once; N judged samples, a candidate call and a judge call each. The two are run in turn,
each in a process of its own; CPU seconds are of the whole process (user and system), and the median of the ratios of
neighbouring runs is what counts on a noisy machine. Journal, hash chain and fsync are on.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import measure, show

HERE = Path(__file__).parent
CONTEXT = "Refunds are paid within fourteen days of the day on which the parcel arrives at our warehouse. " * 6


@contextlib.contextmanager
def instant_server(folder: Path) -> Iterator[int]:
    """The server in a process of its own; yields its port."""
    port_file = folder / "port"
    process = subprocess.Popen([sys.executable, str(HERE / "instant_server.py"), str(port_file)])
    try:
        while not port_file.exists():
            if process.poll() is not None:
                raise SystemExit("the server did not start")
            time.sleep(0.01)
        yield int(port_file.read_text(encoding="ascii"))
    finally:
        process.kill()
        process.wait()


def write_evalset(path: Path, samples: int) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number in range(samples):
            item = {
                "id": f"item-{number}",
                "prompt": f"Within how many days is refund number {number} paid? Answer in one sentence.",
                "expected_answer": "Within fourteen days of the day on which the parcel arrives.",
                "context": CONTEXT,
            }
            file.write(json.dumps(item) + "\n")


def run_command(folder: Path, evalset: Path, port: int, connections: int, name: str) -> list[str]:
    url = f"http://127.0.0.1:{port}/v1"
    return [
        sys.executable, "-m", "benchbook", "run", "--evalset", str(evalset), "--model", "openai/instant@2026-01-01",
        "--judge", "openai/judge@2026-01-01", "--model-base-url", url, "--judge-base-url", url,
        "--max-connections", str(connections), "--runs", str(folder / "runs"), "--run-id", name,
        "--reports", "none", "--quiet",
    ]  # fmt: skip


def floor_command(evalset: Path, port: int, connections: int) -> list[str]:
    return [sys.executable, __file__, "--floor", str(evalset), "--port", str(port), "--connections", str(connections)]


async def floor(evalset: Path, port: int, connections: int) -> None:
    """The bare loop: the same requests, written before it starts to the same bytes, and the replies read."""
    import aiohttp

    bodies = evalset.with_suffix(".bodies")
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    with bodies.open("rb") as file:
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections), headers={"Content-Type": "application/json"}
        ) as session:

            async def worker() -> None:
                while candidate := file.readline():
                    judge = file.readline()
                    for body in (candidate[:-1], judge[:-1]):
                        async with session.post(url, data=body) as response:
                            await response.read()

            await asyncio.gather(*(worker() for _ in range(connections)))


def write_bodies(evalset: Path) -> None:
    """The bytes that `benchbook run` sends for this eval set, a line each: candidate, judge, candidate, …"""
    from benchbook.evalsets import open_evalset
    from benchbook.evaluators.rubric.plan import Requests
    from benchbook.evaluators.rubric.preparing import prepare
    from benchbook.evaluators.settings import RunConfig
    from instant_server import _CANDIDATE_REPLY

    url = "http://127.0.0.1/v1"
    names = {"model": "openai/instant@2026-01-01", "judge": "openai/judge@2026-01-01"}
    prepared = prepare(RunConfig(evalset=str(evalset), model_base_url=url, judge_base_url=url, **names))
    requests = Requests(prepared.plan, prepared.spec, prepared.template)
    with open_evalset(evalset) as items, evalset.with_suffix(".bodies").open("wb") as file:
        for item in items:
            file.write(requests.candidate(item) + b"\n")
            file.write(requests.judge(item, _CANDIDATE_REPLY) + b"\n")


def compare(samples: int, connections: int, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name, instant_server(Path(name)) as port:
        folder = Path(name)
        evalset = folder / "items.jsonl"
        write_evalset(evalset, samples)
        write_bodies(evalset)
        floors, runs = [], []
        for number in range(rounds):
            floors.append(measure(floor_command(evalset, port, connections)))
            runs.append(measure(run_command(folder, evalset, port, connections, f"run-{number}")))
            shutil.rmtree(folder / "runs")
    pairs = list(zip(runs, floors, strict=True))
    return {
        "samples": samples,
        "connections": connections,
        "rounds": rounds,
        "cpu_ratio": round(statistics.median(run["cpu_s"] / bare["cpu_s"] for run, bare in pairs), 3),
        "wall_ratio": round(statistics.median(run["wall_s"] / bare["wall_s"] for run, bare in pairs), 3),
        "peak_mb": round(max(run["peak_mb"] for run in runs), 1),
        "floor_peak_mb": round(max(bare["peak_mb"] for bare in floors), 1),
        "run_cpu_s": round(statistics.median(run["cpu_s"] for run in runs), 3),
        "floor_cpu_s": round(statistics.median(bare["cpu_s"] for bare in floors), 3),
        "run_wall_s": round(statistics.median(run["wall_s"] for run in runs), 3),
        "floor_wall_s": round(statistics.median(bare["wall_s"] for bare in floors), 3),
        "load_average": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--floor", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.floor is not None:
        asyncio.run(floor(options.floor, options.port, options.connections))
        return
    result = compare(options.samples, options.connections, options.rounds)
    show(result, as_json=options.json)


if __name__ == "__main__":
    main()
