"""What the server's hot path costs: pages of 100 predictions out of a run with a million.

    script/bench server [--rows N] [--pages N] [--rounds N] [--text BYTES] [--json]

`*_of_bare`: requests per CPU second of the server's process, over those of a bare Starlette that has the same bytes
ready and sends them; goal: at least 0.5. `paging` follows pages that nobody asked yet, one after another; `random` asks
as many anywhere in the other half of the run, which nobody asked either; `again` asks for pages that were sent before.
`last_over_first`: the time of a page at the end of the run over that of one at its start; goal: at most 1.5.
`cold_page_ms`: a page of which nothing near was asked, so that its row group is read first.

Each round has a new server, which has shown another run before, and asks the bare one in turn. Both run under uvicorn
in a process of their own, and are asked over one connection. `--text`: how long each prediction is, in bytes.
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
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.evaluators.correctness.rows import AskedCorrectnessRow
from benchbook.evaluators.registry import score_predictions
from benchbook.evaluators.settings import ScoreConfig
from benchbook.record.derived_files import hashes_of, write_manifest
from benchbook.record.facts import RunEnded, RunStarted
from benchbook.record.folder import create_record
from benchbook.record.journal import JournalWriter
from benchbook.record.tables import ROW_GROUP, ROW_GROUP_BYTES, table_schema, write_row_groups
from measuring import show

GOAL_LAST_OVER_FIRST, GOAL_OF_BARE = 1.5, 0.5
PAGE = 100
APART = 1_000  # positions between pages that go through the whole run
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


def write_record(runs: Path, run_id: str, n_rows: int, write_table: Callable[[Path], None]) -> None:
    """A record's folder as a run of `answer_correctness@v1` leaves it; `write_table` gets the path of its samples.

    All else is as a run of one item has it.
    """
    evalset, predictions = runs.parent / "items.jsonl", runs.parent / "predictions.jsonl"
    evalset.write_text('{"id": "item-0", "prompt": "?", "expected_answer": "0"}\n', encoding="utf-8")
    predictions.write_text('{"item_id": "item-0", "predicted": "0"}\n', encoding="utf-8")
    with tempfile.TemporaryDirectory() as elsewhere:
        config = ScoreConfig(
            evalset=str(evalset), predictions=str(predictions), runs=elsewhere, run_id=run_id, model="bench/m@1"
        )
        small = score_predictions(config).record
        of_small, aggregates, decision = small.started(), small.aggregates.read_bytes(), small.decision.read_bytes()

    def first(hashes: dict[str, str]) -> RunStarted:
        plan = {**of_small.identity["plan"], "n_items": n_rows}
        identity = {**of_small.identity, "plan": plan}
        return msgspec.structs.replace(of_small, inputs=hashes, identity=identity, n_items=n_rows)

    record = create_record(runs, run_id, {"evalset": evalset, "predictions": predictions}, first)
    with JournalWriter(record.journal) as journal:
        last = journal.append(RunEnded())
    write_table(record.samples)
    record.aggregates.write_bytes(aggregates)
    record.decision.write_bytes(decision)
    started = record.started()
    write_manifest(record.path, {
        "run_id": run_id, "spec": started.spec, "state": "complete", "timestamp_utc": started.at,
        "ended_utc": started.at, "dataset_id": "items", "model_id": "bench/m@1", "n_items": n_rows, "repeats": 1,
        "inputs": started.inputs,
        "journal_facts": 2, "journal_sha256": last, "derived": hashes_of(record.path, list(FILES)),
    })  # fmt: skip


def write_samples(path: Path, n_rows: int, text_bytes: int = 0) -> None:
    """A table of predictions of about `text_bytes`, in row groups as `record.tables` cuts them."""
    import polars as pl

    group = min(ROW_GROUP, ROW_GROUP_BYTES // max(text_bytes, 1))
    words = " and so on" * (text_bytes // 10)
    schema = table_schema(AskedCorrectnessRow)

    def frames() -> Iterator[pl.DataFrame]:
        for start in range(0, n_rows, group):
            sample = pl.int_range(start, min(start + group, n_rows), eager=True).alias("sample").to_frame()
            columns = {name: pl.lit(None) for name in AskedCorrectnessRow.__struct_fields__} | {
                "sample": pl.col("sample"),
                "item_id": pl.format("item-{}", "sample"),
                "repeat": pl.lit(0),
                "prompt": pl.format("What is {} plus one?", "sample"),
                "expected": (pl.col("sample") + 1).cast(pl.String),
                "predicted": pl.format(
                    f"Let me think. {{}} plus one{words} makes {{}}.", "sample", pl.col("sample") + 1
                ),
                "correctness": pl.lit(0.0),
                "eval_time_ms": pl.col("sample") % 50,
            }
            yield sample.select(**columns).cast(schema)

    write_row_groups(path, schema, frames())


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────


class Asker:
    """One connection to a server, and the CPU time of its process."""

    def __init__(self, port: int, pid: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._process = Path(f"/proc/{pid}")

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {data[:200]!r}")
        return data

    def cpu_s(self) -> float:
        """In nanoseconds, unlike /proc/PID/stat, whose ticks are too coarse for a short round."""
        threads = (self._process / "task").iterdir()
        return sum(int((one / "schedstat").read_text(encoding="ascii").split()[0]) for one in threads) / 1e9

    def peak_mb(self) -> float:
        return self._memory_mb("VmHWM")

    def resident_mb(self) -> float:
        return self._memory_mb("VmRSS")

    def _memory_mb(self, name: str) -> float:
        found = re.search(rf"{name}:\s+(\d+)", (self._process / "status").read_text(encoding="ascii"))
        assert found is not None
        return round(int(found[1]) / 1024, 1)

    def per_cpu_second(self, paths: list[str]) -> float:
        before = self.cpu_s()
        for path in paths:
            self.get(path)
        return len(paths) / (self.cpu_s() - before)

    def time_ms(self, paths: list[str]) -> float:
        """The median."""
        found = []
        for path in paths:
            began = time.perf_counter()
            self.get(path)
            found.append((time.perf_counter() - began) * 1000)
        return statistics.median(found)


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
    while json.loads(asked(port, "/api/v1/indexing"))["words"] is not None:
        time.sleep(0.02)
    return port


def wait_for(port: int) -> None:
    while True:
        try:
            asked(port, "/")
        except OSError:
            time.sleep(0.1)
        else:
            return


def asked(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    return connection.getresponse().read()


def page_after(position: int, run_id: str = "large") -> str:
    """The address of the page behind a position."""
    cursor = base64.urlsafe_b64encode(b'{"position":%d}' % position).decode().rstrip("=")
    return f"/api/tunix/runs/{run_id}/predictions?limit={PAGE}&cursor={cursor}"


# ── measuring ────────────────────────────────────────────────────────────────────────────────────────────────


def measure(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        (folder / "runs").mkdir()
        write_record(folder / "runs", "small", 20_000, lambda path: write_samples(path, 20_000))
        write_record(
            folder / "runs", "large", options.rows, lambda path: write_samples(path, options.rows, options.text)
        )
        with serving(folder) as (port, pid):  # the catalog is made, and what the bare server sends
            ours = Asker(port, pid)
            sent = [ours.get(page_after(PAGE * number)) for number in range(options.pages)]
        (folder / "pages").write_bytes(b"\n".join(sent))
        with bare_serving(folder) as (port, pid):
            bare = Asker(port, pid)
            bare.per_cpu_second([f"/pages?page={number}" for number in range(100)])
            rounds = [one_round(folder, bare, options, seed) for seed in range(options.rounds)]
    found = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
    last_over_first = found["last_page_ms"] / found["first_page_ms"]
    bare_per_cpu_s = found.pop("bare_per_cpu_s")
    ratios = {
        f"{name}_of_bare": round(
            statistics.median(one[f"{name}_per_cpu_s"] / one["bare_per_cpu_s"] for one in rounds), 3
        )
        for name in ("paging", "random", "again")
    }
    return {
        "rows": options.rows, "pages": options.pages, "rounds": options.rounds,
        "bytes_a_page": round(statistics.mean(map(len, sent))),
        **{name: round(value, 3) for name, value in found.items()},
        "bare_per_cpu_s": round(bare_per_cpu_s),
        "last_over_first": round(last_over_first, 3),
        **ratios,
        "within_goal": last_over_first <= GOAL_LAST_OVER_FIRST and ratios["paging_of_bare"] >= GOAL_OF_BARE,
        "load_average": round(os.getloadavg()[0], 2),
    }  # fmt: skip


def one_round(folder: Path, bare: Asker, options: argparse.Namespace, seed: int) -> dict[str, float]:
    half, rng = options.rows // 2, random.Random(seed)
    with serving(folder) as (port, pid):
        ours = Asker(port, pid)
        for number in range(200):  # Polars and Arrow are loaded, as in a server that has run for a while
            ours.get(page_after(PAGE * number, "small"))
        in_turn = [page_after(PAGE * number + 5_000) for number in range(options.pages)]
        anywhere = [page_after(half + rng.randrange(half - 20_000)) for _ in range(options.pages)]
        found = {
            "paging_per_cpu_s": ours.per_cpu_second(in_turn),
            "bare_per_cpu_s": bare.per_cpu_second([f"/pages?page={number}" for number in range(options.pages)]),
            "again_per_cpu_s": ours.per_cpu_second(in_turn),
            "random_per_cpu_s": ours.per_cpu_second(anywhere),
        }
    with serving(folder) as (port, pid):
        ours = Asker(port, pid)
        ours.get(page_after(0, "small"))
        apart = options.rows // 25
        found["cold_page_ms"] = ours.time_ms([page_after(apart * number) for number in range(1, 24)])
        found["first_page_ms"] = ours.time_ms([page_after(7 * number) for number in range(200)])
        found["last_page_ms"] = ours.time_ms([page_after(options.rows - 101 - 7 * number) for number in range(200)])
        for number in range(options.rows // APART):  # through all of it: what is kept is bounded
            ours.get(page_after(APART * number))
        found["peak_mb"] = ours.peak_mb()
    return found


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[int, int]]:
    words = [sys.executable, "-m", "benchbook", "serve", "--quiet", "--port", "0", "--runs", str(folder / "runs")]
    with process(words, printed_port) as found:
        yield found


def bare_serving(folder: Path) -> contextlib.AbstractContextManager[tuple[int, int]]:
    return bare_process(_BARE, folder / "pages")


@contextlib.contextmanager
def bare_process(program: str, data: Path) -> Iterator[tuple[int, int]]:
    """A bare server's process, which gets the path of what it sends, and its port."""
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]

    def waited(_: subprocess.Popen[bytes]) -> int:
        wait_for(port)
        return port

    with process([sys.executable, "-c", program, str(data), str(port)], waited) as found:
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--text", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.rows < (least := 2 * (PAGE * options.pages + 30_000)):
        parser.error(f"--rows: expected at least {least:,} for so many pages")
    result = measure(options)
    show(result, as_json=options.json)
    sys.exit(0 if result["within_goal"] else 1)


if __name__ == "__main__":
    main()
