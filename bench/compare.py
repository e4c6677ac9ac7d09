"""What `benchbook compare` costs on two large runs, its classes held against those that were made.

    script/bench compare [--items N] [--repeats N] [--other-order] [--json]

Makes the tables of two `answer_correctness@v1` records, compares them by the command line, reading both from Parquet
and writing every item to Parquet, in a process of its own. Beside it: what Polars alone needs to read both and to
write a table of that size. Goal: under 5 CPU seconds for 1,000,000 items.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from overhead import measure

GOAL_CPU_S = 5.0


def write_record(folder: Path, right: np.ndarray, repeats: int, *, backwards: bool) -> None:
    """A record's folder with the files that a comparison reads. Half of what is wrong has the answer inside."""
    n_items = right.size // repeats
    sample = np.arange(right.size)
    frame = pl.DataFrame({"sample": sample, "repeat": sample // n_items, "item": sample % n_items, "right": right})
    inside = ~pl.col("right") & (pl.col("item") % 2 == 0)
    answer = (pl.col("item") + 1).cast(pl.String)
    frame = frame.select(
        "sample", "repeat",
        item_id=pl.format("item-{}", "item"),
        section=pl.when(pl.col("item") % 5 == 0).then(pl.lit("edge_case")).otherwise(pl.lit("core")),
        category=pl.format("category {}", pl.col("item") % 10),
        difficulty=pl.format("difficulty {}", pl.col("item") % 3),
        group=pl.lit(None, pl.String),
        prompt=pl.format("What is {} plus one? Answer with the number alone.", "item"),
        expected=answer,
        predicted=pl.when("right").then(answer).when(inside).then(pl.format("It is {}, I think.", answer)).otherwise(
            pl.lit("I do not know.")
        ),
        correctness=pl.col("right").cast(pl.Float64),
        miss_reason=pl.when("right").then(None).when(inside).then(pl.lit("expected_inside_longer_text")).otherwise(
            pl.lit("different")
        ),
    )  # fmt: skip
    (folder / "journal").mkdir(parents=True)
    (frame.reverse() if backwards else frame).write_parquet(folder / "samples.parquet", compression="zstd")
    manifest = {"spec": "answer_correctness@v1", "state": "complete", "dataset_version_or_hash": "sha256:1"}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def expected_classes(a: np.ndarray, b: np.ndarray, repeats: int) -> dict[str, int]:
    """Counted with NumPy, by another way than the comparison's."""
    in_a, in_b = (right.reshape(repeats, -1).sum(axis=0) for right in (a, b))
    counts = {
        "regressed": int((in_b < in_a).sum()),
        "improved": int((in_b > in_a).sum()),
        "same_correct": int(((in_a == in_b) & (2 * in_a > repeats)).sum()),
        "same_wrong": int(((in_a == in_b) & (2 * in_a <= repeats)).sum()),
    }
    return counts | dict.fromkeys(("only_in_a", "only_in_b", "expected_changed"), 0)


def measure_compare(items: int, repeats: int, *, other_order: bool) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    a, b = rng.random((2, items * repeats)) < 0.6
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        write_record(folder / "a", a, repeats, backwards=False)
        write_record(folder / "b", b, repeats, backwards=other_order)
        out = folder / "items.parquet"
        # The summary stays within the process: what is measured is reading, comparing, and writing every item.
        compared = measure(
            [sys.executable, "-m", "benchbook", "compare", str(folder / "a"), str(folder / "b"), "--parquet", str(out)]
        )
        counts = dict(pl.read_parquet(out, columns=["class"])["class"].value_counts().iter_rows())
        alone = measure([sys.executable, "-c", _POLARS_ALONE, str(folder)])
    found = {name: counts.get(name, 0) for name in expected_classes(a, b, repeats)}
    return {
        "items": items,
        "repeats": repeats,
        "compare_cpu_s": round(compared["cpu_s"], 2),
        "compare_peak_mb": round(compared["peak_mb"], 1),
        "polars_alone_cpu_s": round(alone["cpu_s"], 2),
        "classes_exact": found == expected_classes(a, b, repeats),
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
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--other-order", action="store_true", help="the second run's items stand in another order")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure_compare(options.items, options.repeats, other_order=options.other_order)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:24} {value}")
    sys.exit(0 if result["classes_exact"] else 1)


if __name__ == "__main__":
    main()
