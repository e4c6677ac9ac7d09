"""A large run in shards: made, joined, verified, and what each sample of it costs, beside a small one's.

    script/bench scale [--samples N] [--small N] [--shards N] [--keep FOLDER] [--json]

Items of some sixty bytes are asked of a server that answers at once, one shard after the other, each by a process of
its own (`benchbook run --shard`); then `benchbook join`, `verify`, `rescore` and `show`. `*_us` is CPU for a sample of
the run, with what a command starts; `*_mb` the peak of its largest process.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import measure
from overhead import instant_server, run_command

_COMMANDS = {
    "join": ["join", "--reports", "none", "--quiet"],
    "verify": ["verify"],
    "rescore": ["rescore", "--reports", "none"],
    "show": ["show"],
}


def write_items(path: Path, n: int) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f'{{"id":"i{number}","prompt":"How much is {number} + 1?"}}\n' for number in range(n))


def bytes_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure_run(folder: Path, port: int, samples: int, shards: int) -> dict[str, Any]:
    """One run of so many samples in so many shards."""
    items, name = folder / f"items-{samples}.jsonl", f"run-{samples}"
    write_items(items, samples)
    asked = []
    for number in range(1, shards + 1):
        asked.append(measure([*run_command(folder, items, port, 64, name), "--shard", f"{number}/{shards}"]))
        print(f"{samples:,} samples: shard {number} of {shards}, {asked[-1]}", file=sys.stderr)
    record = folder / "runs" / name
    journals = bytes_of(record / "shards")
    found: dict[str, Any] = {
        "samples": samples,
        "shards": shards,
        "asked_us": 1e6 * sum(one["cpu_s"] for one in asked) / samples,
        "asked_mb": max(one["peak_mb"] for one in asked),
        "journal_bytes": journals / samples,
        "files": sum(1 for path in record.rglob("*") if path.is_file()),
    }
    for command, words in _COMMANDS.items():
        done = measure([sys.executable, "-m", "benchbook", words[0], str(record), *words[1:]])
        print(f"{samples:,} samples: {command}, {done}", file=sys.stderr)
        found[f"{command}_us"] = 1e6 * done["cpu_s"] / samples
        found[f"{command}_wall_s"] = done["wall_s"]
        found[f"{command}_mb"] = done["peak_mb"]
    found["derived_bytes"] = (record / "samples.parquet").stat().st_size / samples
    return {key: round(value, 1) if isinstance(value, float) else value for key, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--small", type=int, default=100_000)
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--keep", type=Path, help="a folder to work in, which stays")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="benchbook-bench-"))
    folder.mkdir(exist_ok=True)
    try:
        with instant_server(folder) as port:
            found = [measure_run(folder, port, samples, options.shards) for samples in (options.small, options.samples)]
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    small, large = found
    if options.json:
        print(json.dumps({"small": small, "large": large, "load_average": round(os.getloadavg()[0], 2)}))
        return
    for name, value in large.items():
        print(f"{name:16} {small[name]!s:>14} {value!s:>14}")


if __name__ == "__main__":
    main()
