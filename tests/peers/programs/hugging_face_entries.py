"""The entries that huggingface_hub reads in a file of evaluation results, and if it would write the same again."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import yaml
from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries

data = yaml.safe_load(Path(sys.argv[1]).read_bytes())
entries = parse_eval_result_entries(data)
print(json.dumps({"entries": [asdict(one) for one in entries], "same": eval_result_entries_to_yaml(entries) == data}))  # noqa: T201
