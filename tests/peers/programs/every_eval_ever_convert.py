"""Every Eval Ever's own conversion of another tool's log: null where what it needs for that is not here."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys


def convert(tool: str, log: str, folder: str) -> str | None:
    needed = {"inspect": "inspect_ai", "lm_eval": "every_eval_ever"}[tool]
    if importlib.util.find_spec("every_eval_ever") is None or importlib.util.find_spec(needed) is None:
        return None
    os.environ["HF_HUB_OFFLINE"] = "1"
    from every_eval_ever.cli import main
    from every_eval_ever.helpers.io import SourceRecordsError

    words = ["convert", tool, "--log_path", log, "--output_dir", f"{folder}/data"]
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SourceRecordsError):  # of a task without samples
        main(words + (["--include_samples"] if tool == "lm_eval" else []))
    return folder


print(json.dumps(convert(*sys.argv[1:])))  # noqa: T201
