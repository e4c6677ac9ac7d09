"""A submission that was sent, and its end: a writer for tests that kill it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.errors import RecordError
from benchbook.record.derived_files import sha256_of
from benchbook.server import submissions
from benchbook.server.settings import Settings
from benchbook.server.submission_store import Submissions
from crashing import Say

ITEMS = [{"id": name, "prompt": "?", "expected_answer": name} for name in ("a", "b")]


def begun(folder: Path) -> None:
    """An eval set, and a submission of two chunks."""
    evalset = folder / "items.jsonl"
    evalset.write_bytes(b"".join(json.dumps(item).encode() + b"\n" for item in ITEMS))
    about = {"evalset": "items.jsonl", "evalset_sha256": sha256_of(evalset), "n_items": 2, "model": "org/m@1"}
    runs = folder / "runs"
    runs.mkdir()
    store = Submissions(Settings(runs=runs, catalog=""))
    store.begin("sent", {"items.parquet": b"", "about.json": canonical_json(about)})
    with store.sending("sent") as sent:
        for key, name in (("1", "a"), ("2", "b")):
            line = json.dumps({"item_id": name, "predicted": name}).encode() + b"\n"
            sent.add(key, line, lambda path: None)


def ended(folder: Path, say: Say) -> None:
    """What `finish_submission` does, without the catalog."""
    services: Any = SimpleNamespace(settings=Settings(runs=folder / "runs", catalog=""))
    store = Submissions(services.settings)
    try:
        with store.ending("sent") as sent:
            with sent.together() as (predictions, digest):
                if not store.is_recorded(sent, digest):
                    submissions._score(services, sent, predictions)
            store.remove(sent)
        say("ended")
    except OSError as error:
        raise RecordError(str(error.strerror)) from None
