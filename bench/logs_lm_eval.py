"""What reading and auditing lm-evaluation-harness's samples costs, beside reading the same file with Polars.

    script/bench logs_lm_eval [--rows N] [--json]

Makes runs of a task as the harness writes them: texts with one filter, the same with two (a row for each), and four
choices that are weighed. `read` is a pass over all samples as an audit makes it, `audit` is the command, `polars` is
`pl.read_ndjson`, each in a process of its own. Goal: `read` within 1.5 times the CPU seconds of Polars.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from logs import READ, WORDS
from measuring import measure

GOAL = 1.5
POLARS = "import sys, polars as pl; print(pl.read_ndjson(sys.argv[1]).height)"
TIME = "2026-01-02T03-04-05.678901"
KINDS = {"texts": ("none",), "two-filters": ("strict-match", "flexible-extract"), "choices": ("none",)}


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def rows_of(kind: str, n: int, filtered_by: str) -> Iterator[dict[str, Any]]:
    """Rows of one filter, of documents of about 1 kB."""
    rng = random.Random(7)
    texts = [" ".join(rng.choices(WORDS, k=60)) for _ in range(256)]
    for number in range(n):
        question, worked = texts[number % 256], texts[(number * 7 + 3) % 256]
        value = float(rng.random() < 0.6)
        prompt, doc = (
            f"Question {number}: {question}\nAnswer:",
            {"question": question, "answer": f"{worked}\n#### {number}"},
        )
        if kind == "choices":
            arguments = [{"arg_0": prompt, "arg_1": f" {WORDS[at]}"} for at in range(4)]
            resps: list[Any] = [[[str(-1.5 - at), "False"]] for at in range(4)]
            filtered: list[Any] = [one[0] for one in resps]
        else:
            arguments = [{"arg_0": prompt, "arg_1": {"until": ["\n\n"], "temperature": 0.0, "do_sample": False}}]
            resps, filtered = [[f" {worked}\n#### {number}"]], [str(number)]
        yield {
            "doc_id": number,
            "doc": doc,
            "target": "1" if kind == "choices" else str(number),
            "arguments": {f"gen_args_{at}": one for at, one in enumerate(arguments)},
            "resps": resps,
            "filtered_resps": filtered,
            "filter": filtered_by,
            "metrics": ["acc"],
            "doc_hash": _hash(json.dumps(doc, indent=2)),
            "prompt_hash": _hash(prompt),
            "target_hash": _hash("1" if kind == "choices" else str(number)),
            "acc": value,
        }


def write_run(folder: Path, kind: str, n_rows: int) -> None:
    """A folder with results and samples."""
    filters = KINDS[kind]
    n, hashes, numbers = n_rows // len(filters), sha256(), dict[str, Any]()
    folder.mkdir()
    with (folder / f"samples_bench_{TIME}.jsonl").open("w", encoding="utf-8") as file:
        for name in filters:
            right = 0.0
            for row in rows_of(kind, n, name):
                file.write(json.dumps(row) + "\n")
                hashes.update((row["doc_hash"] + row["prompt_hash"] + row["target_hash"]).encode())
                right += row["acc"]
            share = right / n
            numbers[f"acc,{name}"] = share
            numbers[f"acc_stderr,{name}"] = (share * (1 - share) / (n - 1)) ** 0.5
    results = {
        "results": {"bench": {"alias": "bench", **numbers}},
        "configs": {"bench": {"output_type": "multiple_choice" if kind == "choices" else "generate_until",
                              "metric_list": [{"metric": "acc", "aggregation": "mean"}]}},
        "n-samples": {"bench": {"original": n, "effective": n}},
        "lm_eval_version": "0.4.13",
        "model_name": "acme/m",
        "task_hashes": {"bench": hashes.hexdigest()},
    }  # fmt: skip
    (folder / f"results_{TIME}.json").write_text(json.dumps(results), encoding="utf-8")


def measure_run(folder: Path) -> dict[str, Any]:
    """CPU seconds and peak memory of each way to read a run."""
    (samples,) = folder.glob("samples_*")
    ways = {
        "read": [sys.executable, "-c", READ, str(folder)],
        "audit": [sys.executable, "-m", "benchbook", "audit", str(folder), "--json"],
        "polars": [sys.executable, "-c", POLARS, str(samples)],
    }
    found: dict[str, Any] = {"mb": round(samples.stat().st_size / 1e6, 1)}
    cpu = {}
    for name, command in ways.items():
        cost = measure(command)
        cpu[name] = cost["cpu_s"]
        found |= {f"{name}_cpu_s": round(cost["cpu_s"], 2), f"{name}_peak_mb": round(cost["peak_mb"], 1)}
    return found | {"read_to_polars": round(cpu["read"] / cpu["polars"], 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", nargs=2, metavar=("KIND", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write_run(Path(options.write[1]), options.write[0], options.rows)
        return
    result: dict[str, Any] = {"rows": options.rows, "load_average": round(os.getloadavg()[0], 2)}
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        for kind in KINDS:
            folder = Path(name) / kind  # a child's peak memory begins with what its parent holds
            measure([sys.executable, __file__, "--write", kind, str(folder), "--rows", str(options.rows)])
            result[kind] = measure_run(folder)
            for file in folder.iterdir():
                file.unlink()
    within = all(result[kind]["read_to_polars"] <= GOAL for kind in KINDS)
    result["within_goal"] = within
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            shown = "  ".join(f"{word} {one}" for word, one in value.items()) if isinstance(value, dict) else str(value)
            print(f"{name:14} {shown}")
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
