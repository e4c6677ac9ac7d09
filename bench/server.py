"""What the server's hot path costs: pages of 100 predictions out of a run with a million.

    script/bench server [--rows N] [--pages N] [--json]

`last_over_first`: the time of pages at the end of the run over that of pages at its start, each asked once, so that
none was kept; goal: at most 1.5. `of_bare`: requests per CPU second of the server's process, over those of a bare
Starlette that has the same bytes ready and sends them; goal: at least 0.5, for pages that were asked before (`again`).
`paging` follows `next_cursor` through pages that nobody asked yet, `random` asks such pages anywhere: there the
database is read, which the bare framework never does. Both servers run under uvicorn in a process of their own, and are
asked in turn over one connection.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchbook.derivations.correctness_rows import CorrectnessRow
from benchbook.derivations.derived_files import hashes_of, pretty_json, write_manifest
from benchbook.records.facts import RunEnded, RunStarted
from benchbook.records.folder import create_record
from benchbook.records.journal import JournalWriter
from benchbook.records.tables import arrow_schema

GOAL_LAST_OVER_FIRST, GOAL_OF_BARE = 1.5, 0.5
PAGE = 100
PATH = f"/api/tunix/runs/large/predictions?limit={PAGE}"
FILES = ("samples.parquet", "aggregates.json", "decision.json")

_BARE = """
import sys, uvicorn
from pathlib import Path
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
pages = Path(sys.argv[1]).read_bytes().split(b"\\n")
async def page(request):
    return Response(pages[int(request.query_params["page"])], media_type="application/json")
app = Starlette(routes=[Route("/pages", page)])
uvicorn.run(app, port=int(sys.argv[2]), log_config=None, access_log=False, timeout_keep_alive=60)
"""


def write_record(runs: Path, n_rows: int) -> None:
    """A record's folder as a run leaves it, with a table of `n_rows` made by Polars."""
    import polars as pl

    evalset = runs.parent / "items.jsonl"
    evalset.write_text('{"id": "item-0", "prompt": "?", "expected_answer": "0"}\n', encoding="utf-8")

    def first(hashes: dict[str, str]) -> RunStarted:
        identity = {"dataset_id": "items", "plan": {"candidate": {"model_id": "bench/m@1"}}, "dry_run": False}
        return RunStarted(
            run_id="large", spec="answer_correctness@v1", spec_sha256="0" * 64, plan_sha256="0" * 64, n_items=n_rows,
            repeats=1, config={}, inputs=hashes, identity=identity, code_version={}, environment={},
        )  # fmt: skip

    record = create_record(runs, "large", {"evalset": evalset}, first)
    with JournalWriter(record.journal) as journal:
        last = journal.append(RunEnded())
    number = pl.int_range(n_rows, eager=True).alias("sample").to_frame()
    columns = {name: pl.lit(None) for name in CorrectnessRow.__struct_fields__} | {
        "sample": pl.col("sample"),
        "item_id": pl.format("item-{}", "sample"),
        "repeat": pl.lit(0),
        "prompt": pl.format("What is {} plus one?", "sample"),
        "expected": (pl.col("sample") + 1).cast(pl.String),
        "predicted": pl.format("Let me think. {} plus one makes {}.", "sample", pl.col("sample") + 1),
        "correctness": pl.lit(0.0),
        "eval_time_ms": pl.col("sample") % 50,
    }
    table = number.select(**columns).to_arrow().cast(arrow_schema(CorrectnessRow))
    import pyarrow.parquet as pq

    pq.write_table(table, record.samples, compression="zstd", row_group_size=4_096)
    record.aggregates.write_bytes(pretty_json({"primary_score": 0.0, "n_items": n_rows}))
    record.decision.write_bytes(pretty_json({"verdict": "pass"}))
    started = record.started()
    write_manifest(record.path, {
        "run_id": "large", "spec": started.spec, "state": "complete", "timestamp_utc": started.at,
        "ended_utc": started.at, "dataset_id": "items", "model_id": "bench/m@1", "n_items": n_rows, "repeats": 1,
        "inputs": started.inputs,
        "journal_facts": 2, "journal_sha256": last, "derived": hashes_of(record.path, list(FILES)),
    })  # fmt: skip


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────


class Asker:
    """One connection to a server, and the CPU time of its process."""

    def __init__(self, port: int, pid: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._stat = Path(f"/proc/{pid}/stat")

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {data[:200]!r}")
        return data

    def cpu_s(self) -> float:
        fields = self._stat.read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def per_cpu_second(self, paths: list[str]) -> float:
        before = self.cpu_s()
        for path in paths:
            self.get(path)
        return len(paths) / max(self.cpu_s() - before, 0.01)

    def times_ms(self, paths: list[str]) -> list[float]:
        found = []
        for path in paths:
            began = time.perf_counter()
            self.get(path)
            found.append((time.perf_counter() - began) * 1000)
        return found


@contextlib.contextmanager
def process(words: list[str], port_of: Any) -> Iterator[tuple[int, int]]:
    """A server's process: its port and its id."""
    child = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        yield port_of(child), child.pid
    finally:
        child.terminate()
        child.communicate()


def printed_port(child: subprocess.Popen[bytes]) -> int:
    assert child.stdout is not None
    found = re.search(rb":(\d+)/", child.stdout.readline())
    if found is None:
        raise SystemExit("the server did not start")
    port = int(found[1])
    wait_for(port)
    return port


def wait_for(port: int) -> None:
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", "/")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return


def after(position: int) -> str:
    """The address of the page behind a position."""
    cursor = base64.urlsafe_b64encode(b'{"position":%d}' % position).decode().rstrip("=")
    return f"{PATH}&cursor={cursor}"


# ── measuring ────────────────────────────────────────────────────────────────────────────────────────────────


def measure(n_rows: int, n_pages: int) -> dict[str, Any]:
    rng = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        (folder / "runs").mkdir()
        write_record(folder / "runs", n_rows)
        serve = [sys.executable, "-m", "benchbook", "serve", "--quiet", "--port", "0", "--runs", str(folder / "runs")]
        with process(serve, printed_port) as (port, pid):
            ours = Asker(port, pid)
            ours.get(PATH)
            first = ours.times_ms([after(7 * number) for number in range(200)])
            last = ours.times_ms([after(n_rows - 101 - 7 * number) for number in range(200)])
            paths, pages = [], []
            path = after(n_rows // 3)
            for _ in range(n_pages):  # what the pages are: asked at another place than will be measured
                paths.append(path)
                pages.append(ours.get(path))
                path = f"{PATH}&cursor={json.loads(pages[-1])['next_cursor']}"
            shifted = [after(n_rows // 3 + 50 + PAGE * number) for number in range(n_pages)]
            anywhere = [after(rng.randrange(n_rows - PAGE)) for _ in range(n_pages)]
            found = {
                "paging": ours.per_cpu_second(shifted),
                "again": ours.per_cpu_second(paths),
                "random": ours.per_cpu_second(anywhere),
            }
            memory = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        (folder / "pages").write_bytes(b"\n".join(pages))
        bare = bare_per_cpu_second(folder, n_pages)
    ratios = {f"{name}_of_bare": round(value / bare, 3) for name, value in found.items()}
    last_over_first = statistics.median(last) / statistics.median(first)
    return {
        "rows": n_rows,
        "pages": n_pages,
        "bytes_a_page": round(statistics.mean(map(len, pages))),
        "first_page_ms": round(statistics.median(first), 3),
        "last_page_ms": round(statistics.median(last), 3),
        "last_over_first": round(last_over_first, 3),
        **{f"{name}_per_cpu_s": round(value) for name, value in found.items()},
        "bare_per_cpu_s": round(bare),
        **ratios,
        "peak_mb": round(int(re.search(r"VmHWM:\s+(\d+)", memory)[1]) / 1024, 1),  # type: ignore[index]
        "within_goal": last_over_first <= GOAL_LAST_OVER_FIRST and ratios["again_of_bare"] >= GOAL_OF_BARE,
        "load_average": round(os.getloadavg()[0], 2),
    }


def bare_per_cpu_second(folder: Path, n_pages: int) -> float:
    with contextlib.closing(__import__("socket").socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def waited(_: subprocess.Popen[bytes]) -> int:
        wait_for(port)
        return int(port)

    words = [sys.executable, "-c", _BARE, str(folder / "pages"), str(port)]
    with process(words, waited) as (_, pid):
        bare = Asker(port, pid)
        paths = [f"/pages?page={number}" for number in range(n_pages)]
        bare.per_cpu_second(paths[:100])
        return bare.per_cpu_second(paths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.rows < 3 * PAGE * (options.pages + 10):
        parser.error(f"--rows: expected at least {3 * PAGE * (options.pages + 10):,} for so many pages")
    result = measure(options.rows, options.pages)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:22} {value}")
    sys.exit(0 if result["within_goal"] else 1)


if __name__ == "__main__":
    main()
