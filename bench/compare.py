"""What `benchbook compare` costs on two large runs, its classes held against those that were made.

    script/bench compare [--items N] [--other-order] [--json]

Scores made predictions into two records, and compares them by the command line, writing every item to Parquet, in a
process of its own. Beside it: what Polars alone needs to read both tables and to write one of that size. Goal: under 5
CPU seconds for 1,000,000 items.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from measuring import measure, show

GOAL_CPU_S = 5.0
_BENCHBOOK = [sys.executable, "-m", "benchbook"]


def write_record(folder: Path, right: np.ndarray, *, backwards: bool) -> None:
    """A record of predictions. Half of what is wrong has the answer inside."""
    item = pl.col("item")
    answer = (item + 1).cast(pl.String)
    rows = pl.DataFrame({"item": np.arange(right.size), "right": right}).select(
        "right",
        "item",
        item_id=pl.format("item-{}", item),
        section=pl.when(item % 5 == 0).then(pl.lit("edge_case")).otherwise(pl.lit("core")),
        category=pl.format("category {}", item % 10),
        difficulty=pl.format("difficulty {}", item % 3),
        prompt=pl.format("What is {} plus one? Answer with the number alone.", item),
        expected_answer=answer,
        predicted=pl.when("right").then(answer).when(item % 2 == 0).then(pl.format("It is {}, I think.", answer))
        .otherwise(pl.lit("I do not know.")),
    )  # fmt: skip
    rows = rows.reverse() if backwards else rows
    items, predictions = (folder.with_suffix(suffix) for suffix in (".jsonl", ".parquet"))
    rows.drop("right", "item", "predicted").rename({"item_id": "id"}).write_ndjson(items)
    rows.select("item_id", "predicted").write_parquet(predictions)
    files = ["--evalset", str(items), "--predictions", str(predictions)]
    where = ["--runs", str(folder.parent), "--run-id", folder.name, "--reports", "none"]
    measure([*_BENCHBOOK, "score", "answer_correctness@v1", *files, *where])


def expected_classes(a: np.ndarray, b: np.ndarray) -> dict[str, int]:
    """Counted with NumPy, by another way than the comparison's."""
    counts = {
        "regressed": int((a & ~b).sum()),
        "improved": int((~a & b).sum()),
        "same_correct": int((a & b).sum()),
        "same_wrong": int((~a & ~b).sum()),
    }
    return counts | dict.fromkeys(("only_in_a", "only_in_b", "expected_changed"), 0)


def measure_compare(items: int, *, other_order: bool) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    a, b = rng.random((2, items)) < 0.6
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        write_record(folder / "a", a, backwards=False)
        write_record(folder / "b", b, backwards=other_order)
        out = folder / "items.parquet"
        # The summary stays within the process: what is measured is reading, comparing, and writing every item.
        compared = measure([*_BENCHBOOK, "compare", str(folder / "a"), str(folder / "b"), "--parquet", str(out)])
        counts = dict(pl.read_parquet(out, columns=["class"])["class"].value_counts().iter_rows())
        alone = measure([sys.executable, "-c", _POLARS_ALONE, str(folder)])
    found = {name: counts.get(name, 0) for name in expected_classes(a, b)}
    return {
        "items": items,
        "compare_cpu_s": round(compared["cpu_s"], 2),
        "compare_peak_mb": round(compared["peak_mb"], 1),
        "polars_alone_cpu_s": round(alone["cpu_s"], 2),
        "classes_exact": found == expected_classes(a, b),
        "within_goal": compared["cpu_s"] < GOAL_CPU_S,
        "load_average": round(os.getloadavg()[0], 2),
    }


_POLARS_ALONE = """
import sys, polars as pl
a, b = (pl.read_parquet(f"{sys.argv[1]}/{run}/samples.parquet") for run in "ab")
both = pl.concat([a, b.rename(lambda name: name + "_b")], how="horizontal")
both.write_parquet(f"{sys.argv[1]}/alone.parquet", compression="zstd", compression_level=1, statistics=False)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--other-order", action="store_true", help="the second run's items stand in another order")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure_compare(options.items, other_order=options.other_order)
    show(result, as_json=options.json)
    sys.exit(0 if result["classes_exact"] else 1)


if __name__ == "__main__":
    main()
