"""Reads a results and a samples file with lm-evaluation-harness's own tools: `lm_eval_reads.py FOLDER`.

Prints its table of the results; and, of the samples, each metric's mean and error by its own functions, the hash of
all by its own rule, and how many rows the library `datasets` finds.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": sys.argv[1] + "/../cache"}

from datasets import load_dataset
from lm_eval.api.metrics import mean, mean_stderr
from lm_eval.utils import (
    get_file_datetime,
    get_file_task_name,
    get_results_filenames,
    get_sample_results_filenames,
    hash_string,
    make_table,
)


def main() -> None:
    names = [str(one) for one in Path(sys.argv[1]).iterdir()]
    (at,), (samples,) = get_results_filenames(names), get_sample_results_filenames(names)
    results = json.loads(Path(at).read_text("utf-8"))
    rows = [json.loads(line) for line in Path(samples).read_bytes().splitlines()]
    values = defaultdict(list)
    for row in rows:
        for metric in row["metrics"]:
            values[f"{metric},{row['filter']}"].append(row[metric])
    name = Path(samples).name
    found = {
        "table": make_table(results),
        "task": get_file_task_name(name),
        "time": get_file_datetime(name),
        "means": {key: mean(one) for key, one in values.items()},
        "errors": {key: mean_stderr(one) for key, one in values.items()},
        "hash": hash_string("".join(row["doc_hash"] + row["prompt_hash"] + row["target_hash"] for row in rows)),
        "docs": [hash_string(json.dumps(row["doc"], indent=2, ensure_ascii=False)) == row["doc_hash"] for row in rows],
        "n_rows": load_dataset("json", data_files=samples, split="train").num_rows,
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
