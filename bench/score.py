"""What scoring a million predictions costs, against Polars reading and writing the same files alone.

    script/bench score [--items N] [--record N] [--json]
    script/bench score --table-alone --items 10000000 [--json]

`table` is `benchbook score --table`: both files from Parquet, a row an item written. `polars` reads the same two files,
joins them and writes a table of the same columns with a constant in the place of each result; `polars_no_join` takes
the rows as they stand. `record` is a whole record of fewer items: a fact and a row each. Goals at a million: `table`
within 3 times the CPU of `polars_no_join`, and under 1.5 GB. With `--table-alone` nothing else is measured, and
predictions come in the items' order and `shuffled`. Goals at ten million: under 500 MB, and twice the CPU an item.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measuring import measure, show

if TYPE_CHECKING:
    import polars

_READ = """
import sys, polars as pl
items, predictions = pl.read_parquet(sys.argv[1]), pl.read_parquet(sys.argv[2])
results = dict(correctness=pl.lit(0.0), miss_reason=pl.lit("different"))
"""
_JOINED = "rows = items.join(predictions.drop('expected'), on='item_id', how='left', maintain_order='left')\n"
_AS_THEY_STAND = "rows = items.hstack(predictions.drop('item_id', 'expected'))\n"
_SCORE = [sys.executable, "-m", "benchbook", "score", "answer_correctness@v1"]
_ROWS = 1 << 17  # that are made at once
_WRITE = "rows.with_columns(**results).write_parquet(sys.argv[3])\n"


def rows_of(numbers: polars.Series) -> polars.DataFrame:
    """Items as checkpoints answer them, by number: half right, a third in a sentence, a tenth not in ASCII."""
    import polars as pl

    number = pl.col("number")
    text = number.cast(pl.String)
    city = pl.format("Zürich {}", number % 50)
    form = number.hash(42) % 100
    return (
        numbers.to_frame("number")
        .with_columns(
            item_id=pl.format("item-{}", text.str.zfill(8)),
            expected=pl.when(number % 10 != 0).then((number * 7 % 1000).cast(pl.String)).otherwise(city),
            section=pl.format("section-{}", number % 3),
            category=pl.format("category-{}", number % 10),
            difficulty=pl.lit("easy"),
        )
        .with_columns(
            predicted=pl.when(form < 50)
            .then("expected")
            .when(form < 83)
            .then(pl.format("Let me think. The answer is {}, since that is what follows.", "expected"))
            .when(form < 90)
            .then(pl.format(" {}.0", "expected"))
            .otherwise(pl.lit("I do not know the answer to this question.")),
            eval_time_ms=pl.lit(12),
        )
    )


_ITEM = ("item_id", "expected", "section", "category", "difficulty")
_PREDICTION = ("item_id", "expected", "predicted", "eval_time_ms")


def write_files(folder: Path, n: int) -> None:
    """Items, and predictions in their order and in another, in which neighbours are far apart; a part at a time."""
    import polars as pl

    from benchbook.record.tables import write_row_groups

    step = next(step for step in range(int(n * 0.618) | 1, 2 * n + 2) if math.gcd(step, n) == 1)

    def rows(order: polars.Expr, columns: tuple[str, ...]) -> Iterator[polars.DataFrame]:
        for start in range(0, n, _ROWS):
            numbers = pl.select(number=pl.int_range(start, min(start + _ROWS, n))).select(order)
            yield rows_of(numbers["number"]).select(columns)

    number = pl.col("number")
    files = {"items": (number, _ITEM), "predictions": (number, _PREDICTION)}
    files["shuffled"] = (number * step % n, _PREDICTION)
    for name, (order, columns) in files.items():
        write_row_groups(folder / f"{name}.parquet", pl.Schema(), rows(order, columns))


def write_lines(folder: Path) -> None:
    """The items as JSON lines, for a record."""
    import polars as pl

    lines = pl.read_parquet(folder / "items.parquet").rename({"item_id": "id", "expected": "expected_answer"})
    lines.with_columns(prompt=pl.lit("What is the answer?")).write_ndjson(folder / "items.jsonl")


def files_of(folder: Path, n: int) -> tuple[str, str]:
    """They are made by a process of their own: a child's peak memory begins with what its parent holds."""
    measure([sys.executable, __file__, "--write", str(folder), "--items", str(n)])
    return str(folder / "items.parquet"), str(folder / "predictions.parquet")


def measure_table(n: int) -> dict[str, Any]:
    """The table alone, of as many items as there is room for on the disk."""
    result: dict[str, Any] = {"items": n}
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        items, predictions = files_of(folder, n)
        for order, path in (("table", predictions), ("shuffled", str(folder / "shuffled.parquet"))):
            table = measure(
                [*_SCORE, "--evalset", items, "--predictions", path, "--table", str(folder / "out.parquet")]
            )
            result[f"{order}_cpu_s"] = round(table["cpu_s"], 2)
            result[f"{order}_cpu_us_per_item"] = round(table["cpu_s"] / n * 1e6, 2)
            result[f"{order}_wall_s"] = round(table["wall_s"], 1)
            result[f"{order}_peak_mb"] = round(table["peak_mb"], 1)
    return result | {"load_average": round(os.getloadavg()[0], 2)}


def measure_score(n: int, n_record: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        items, predictions = files_of(folder, n)
        files = [items, predictions, str(folder / "out.parquet")]
        table = measure([*_SCORE, "--evalset", items, "--predictions", predictions, "--table", files[2]])
        joined = measure([sys.executable, "-c", _READ + _JOINED + _WRITE, *files])
        plain = measure([sys.executable, "-c", _READ + _AS_THEY_STAND + _WRITE, *files])
        files_of(folder, n_record)
        write_lines(folder)
        words = ["--evalset", str(folder / "items.jsonl"), "--predictions", predictions, "--runs", str(folder)]
        record = measure([*_SCORE, *words, "--run-id", "run", "--reports", "none"])
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
    parser.add_argument("--table-alone", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--lines", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write is not None:
        write_files(options.write, options.items)
        if options.lines:
            write_lines(options.write)
        return
    alone = options.table_alone
    result = measure_table(options.items) if alone else measure_score(options.items, options.record)
    show(result, as_json=options.json)


if __name__ == "__main__":
    main()
