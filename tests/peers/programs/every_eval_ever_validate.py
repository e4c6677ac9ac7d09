"""The verdict of Every Eval Ever's own validator on each file below a folder, as its store has them."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

if importlib.util.find_spec("every_eval_ever") is None:
    print("null")  # noqa: T201
    sys.exit()

from every_eval_ever.validator.validate import _local_path_context, validate_file

os.chdir(sys.argv[1])
found = {}
for path in sorted(Path("data").rglob("*.json*")):
    where, files = _local_path_context(path)
    report = validate_file(
        path, repo_path=where, available_files=files, read_repo_file=files.read_text, run_semantic_checks=True
    )
    found[path.suffix] = {"valid": report.valid, "told": [str(one) for one in (*report.errors, *report.warnings)]}
print(json.dumps(found))  # noqa: T201
