"""What scoring a million predictions costs, against Polars reading and writing the same files alone.

    script/bench score [--items N] [--record N] [--json]

`table` is `benchbook score --table`: both files from Parquet, a row an item written. `polars` reads the same two files,
joins them and writes a table of the same columns with a constant in the place of each result; `polars_no_join` takes
the rows as they stand. `record` is a whole record of fewer items: a fact and a row each. Goals at a million: `table`
within 3 times the CPU of `polars_no_join`, and under 1.5 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from overhead import measure

_READ = """
import sys, polars as pl
items, predictions = pl.read_parquet(sys.argv[1]), pl.read_parquet(sys.argv[2])
results = dict(correctness=pl.lit(0.0), miss_reason=pl.lit("different"))
"""
_JOINED = "rows = items.join(predictions.drop('expected'), on='item_id', how='left', maintain_order='left')\n"
_AS_THEY_STAND = "rows = items.hstack(predictions.drop('item_id', 'expected'))\n"
_WRITE = "rows.with_columns(**results).write_parquet(sys.argv[3])\n"


def write_files(folder: Path, n: int) -> None:
    """Items and predictions as checkpoints write them: half right, a third in a sentence, a tenth not in ASCII."""
    import polars as pl

    rng = random.Random(42)
    rows, said = [], []
    for number in range(n):
        expected = str(number * 7 % 1000) if number % 10 else f"Zürich {number % 50}"
        rows.append((f"item-{number:07d}", expected, f"section-{number % 3}", f"category-{number % 10}", "easy"))
        form = rng.random()
        said.append(
            expected if form < 0.5
            else f"Let me think. The answer is {expected}, since that is what follows." if form < 0.83
            else f" {expected}.0" if form < 0.9
            else "I do not know the answer to this question."
        )  # fmt: skip
    items = pl.DataFrame(rows, ["item_id", "expected", "section", "category", "difficulty"], orient="row")
    predictions = items.select("item_id", "expected", predicted=pl.Series(said), eval_time_ms=pl.lit(12))
    items.write_parquet(folder / "items.parquet")
    predictions.write_parquet(folder / "predictions.parquet")
    lines = items.rename({"item_id": "id", "expected": "expected_answer"})
    lines.with_columns(prompt=pl.lit("What is the answer?")).write_ndjson(folder / "items.jsonl")


def files_of(folder: Path, n: int) -> tuple[str, str]:
    """They are made by a process of their own: a child's peak memory begins with what its parent holds."""
    measure([sys.executable, __file__, "--write", str(folder), "--items", str(n)])
    return str(folder / "items.parquet"), str(folder / "predictions.parquet")


def measure_score(n: int, n_record: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        items, predictions = files_of(folder, n)
        files = [items, predictions, str(folder / "out.parquet")]
        score = [sys.executable, "-m", "benchbook", "score", "answer_correctness@v1"]
        table = measure([*score, "--evalset", items, "--predictions", predictions, "--table", files[2]])
        joined = measure([sys.executable, "-c", _READ + _JOINED + _WRITE, *files])
        plain = measure([sys.executable, "-c", _READ + _AS_THEY_STAND + _WRITE, *files])
        files_of(folder, n_record)
        words = ["--evalset", str(folder / "items.jsonl"), "--predictions", predictions, "--runs", str(folder)]
        record = measure([*score, *words, "--run-id", "run", "--reports", "none"])
        verify = measure([sys.executable, "-m", "benchbook", "verify", str(folder / "run")])
    return {
        "items": n,
        "table_cpu_s": round(table["cpu_s"], 2),
        "table_peak_mb": round(table["peak_mb"], 1),
        "polars_cpu_s": round(joined["cpu_s"], 2),
        "polars_no_join_cpu_s": round(plain["cpu_s"], 2),
        "ratio": round(table["cpu_s"] / joined["cpu_s"], 2),
        "ratio_no_join": round(table["cpu_s"] / plain["cpu_s"], 2),
        "record_items": n_record,
        "record_cpu_s": round(record["cpu_s"], 2),
        "record_peak_mb": round(record["peak_mb"], 1),
        "verify_cpu_s": round(verify["cpu_s"], 2),
        "load_average": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--record", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write is not None:
        write_files(options.write, options.items)
        return
    result = measure_score(options.items, options.record)
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
