"""What large runs cost the server: downloads, first answers, and the memory that it holds.

    script/bench large [--items N] [--json]

Four runs of 1,000,000 items, and eight with losses of 100,000 steps. CPU seconds are those of the server's process.
`*_over_bare`: over those of a bare Starlette that has the same bytes ready and sends them, in the same run.
`csv_over_parquet`: a run's samples as CSV, over Polars reading and writing the same table as Parquet; goal: at most 2.
`others_*_ms`: how long a page of another run takes, `alone` and `meanwhile` somebody downloads CSV. First answers are
those of a server that has just started and has loaded Polars. `resident_mb`: with two pairs and a history open; goal:
600.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from measuring import show
from pages import N_CURVES, write_losses, write_run
from server import Asker, bare_process, serving

GOAL_MB, GOAL_CSV = 600, 2.0
CSV = "/api/v1/runs/a/samples.csv"
SMALL = "/api/v1/runs/loss-0/samples?limit=100"
ROWS = "/api/v1/comparisons/items?run=a&run=b&limit=1000"
FIRST = {
    "first_samples": "/api/v1/runs/a/samples",
    "one_sample": "/api/v1/runs/b/samples/150000",
    "later_samples": "/api/v1/runs/c/samples?offset=150000",
    "first_items": ROWS,
}
HELD = (
    "/api/v1/comparisons?run=a&run=b", "/api/v1/comparisons/items?run=a&run=b&class=regressed",
    "/api/v1/comparisons?run=c&run=d", "/api/v1/comparisons/items?run=c&run=d&class=regressed",
    "/api/v1/comparisons/history?run=a&run=b&run=c",
)  # fmt: skip

_BARE = """
import sys, uvicorn
from pathlib import Path
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
data = Path(sys.argv[1]).read_bytes()
async def page(request):
    return Response(data, media_type="application/json")
app = Starlette(routes=[Route("/", page)])
uvicorn.run(app, port=int(sys.argv[2]), log_config=None, access_log=False)
"""


def cpu_s(asker: Asker, path: str) -> tuple[float, bytes]:
    before = asker.cpu_s()
    data = asker.get(path)
    return asker.cpu_s() - before, data


def bare_cpu_s(folder: Path, data: bytes) -> float:
    (folder / "sent").write_bytes(data)
    with bare_process(_BARE, folder / "sent") as (port, pid):
        asker = Asker(port, pid)
        asker.get("/")
        return statistics.median(cpu_s(asker, "/")[0] for _ in range(3))


def table_cpu_s(record: Path) -> float:
    """CPU seconds of Polars for the same table as Parquet, read and written."""
    before = time.process_time()
    pl.read_parquet(record / "samples.parquet").write_parquet(record.parent.parent / "again.parquet")
    return time.process_time() - before


@contextlib.contextmanager
def downloading(port: int, pid: int) -> Iterator[threading.Thread]:
    """Somebody reads a run as CSV within the block."""
    thread = threading.Thread(target=lambda: Asker(port, pid).get(CSV))
    thread.start()
    yield thread
    thread.join()


def measure_downloads(folder: Path) -> dict[str, float]:
    with serving(folder) as (port, pid):
        asker = Asker(port, pid)
        asker.get(SMALL)
        alone = asker.time_ms([SMALL] * 100)
        csv_s, data = cpu_s(asker, CSV)
        with downloading(port, pid) as thread:
            times = []
            while thread.is_alive():
                times.append(asker.time_ms([SMALL]))
    parquet_s = table_cpu_s(folder / "runs" / "a")
    return {
        "csv_cpu_s": csv_s,
        "csv_mb": len(data) / 1e6,
        "csv_over_bare": csv_s / bare_cpu_s(folder, data),
        "parquet_cpu_s": parquet_s,
        "csv_over_parquet": csv_s / parquet_s,
        "others_alone_ms": alone,
        "others_meanwhile_ms": statistics.median(times),
    }


def measure_first(folder: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, path in FIRST.items():
        with serving(folder) as (port, pid):
            asker = Asker(port, pid)
            asker.get(SMALL)
            seconds, data = cpu_s(asker, path)
            found[f"{name}_cpu_ms"] = 1000 * seconds
        if path == ROWS:
            found["rows_kb"], found["rows_gzip_kb"] = len(data) / 1000, len(gzip.compress(data, 1)) / 1000
    with serving(folder) as (port, pid):
        asker = Asker(port, pid)
        asker.get(SMALL)
        curves = [f"/api/v1/runs/loss-{number}/training-metrics" for number in range(N_CURVES)]
        found["curves_cpu_ms"] = 1000 * sum(cpu_s(asker, path)[0] for path in curves)
        found["curves_again_cpu_ms"] = 1000 * sum(cpu_s(asker, path)[0] for path in curves)
    return found


def measure_memory(folder: Path) -> dict[str, float]:
    with serving(folder) as (port, pid):
        asker = Asker(port, pid)
        held = []
        for path in HELD:
            asker.get(path)
            held.append(asker.resident_mb())
        return {"resident_mb": max(held), "resident_peak_mb": asker.peak_mb()}


def measure(items: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        (folder / "runs").mkdir()
        for run_id in "abcd":
            write_run(folder / "runs", run_id, rng.random(items) < 0.6)
        for number in range(N_CURVES):
            write_run(folder / "runs", f"loss-{number}", rng.random(1_000) < 0.6)
            write_losses(folder / "runs" / f"loss-{number}", 100_000, number)
        with serving(folder):  # the catalog is made
            pass
        found = measure_downloads(folder) | measure_first(folder) | measure_memory(folder)
    return {
        "items": items,
        **{name: round(value, 2) for name, value in found.items()},
        "within_goal": found["csv_over_parquet"] <= GOAL_CSV and found["resident_mb"] <= GOAL_MB,
        "load_average": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.items)
    show(result, as_json=options.json)
    sys.exit(0 if result["within_goal"] else 1)


if __name__ == "__main__":
    main()
