"""A record written as an offline run by W&B, twice, and its file read back by W&B's protobufs: RECORD FOLDER."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wandb.proto.wandb_internal_pb2 import Record as Written

from benchbook.integrations.trackers.sending import send
from benchbook.record.folder import Record

record_folder, folder = map(Path, sys.argv[1:])
where = [send(Record(record_folder), "wandb", endpoint=str(folder)).where for _ in range(2)]

_BLOCK, _HEAD, _FILE_HEAD = 32_768, 7, 7


def records(data: bytes) -> Iterator[Any]:
    """The records of a .wandb file: LevelDB's log after seven bytes of its own. A long one comes in parts."""
    place, parts = _FILE_HEAD, b""
    while place + _HEAD <= len(data):
        if _BLOCK - place % _BLOCK < _HEAD:  # the rest of a block is empty
            place += _BLOCK - place % _BLOCK
            continue
        size, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        parts += data[place + _HEAD : place + _HEAD + size]
        place += _HEAD + size
        if kind in (1, 4):  # whole, or its last part
            yield Written.FromString(parts)
            parts = b""


(run_folder,) = (folder / "wandb").glob("offline-run-*")
(file,) = run_folder.glob("*.wandb")
found: dict[str, Any] = {"config": {}, "history": {}, "summary": {}, "kinds": []}
for one in records(file.read_bytes()):
    kind = one.WhichOneof("record_type")
    found["kinds"].append(kind)
    if kind == "run":
        found["run"] = {"id": one.run.run_id, "name": one.run.display_name, "project": one.run.project,
                        "tags": list(one.run.tags), "host": one.run.host, "job_type": one.run.job_type}  # fmt: skip
        found["config"] |= {pair.key: json.loads(pair.value_json) for pair in one.run.config.update}
    for part in ("history", "summary"):
        if kind == part:
            pairs = one.history.item if part == "history" else one.summary.update
            found[part] |= {(p.key or ".".join(p.nested_key)): json.loads(p.value_json) for p in pairs}

kept = {path.relative_to(run_folder).as_posix() for path in (run_folder / "files").rglob("*") if path.is_file()}
table = next(path for path in (run_folder / "files").rglob("*.table.json"))
program = "import sys; sys.path.append(sys.argv.pop(1)); from wandb.cli.cli import cli; cli()"
words = [os.environ["BENCHBOOK_CLIENTS"], "sync", "--dry-run", run_folder]
dry = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, check=False)
sys.stdout.write(json.dumps(found | {
    "where": where,
    "files": sorted(kept),
    "table": json.loads(table.read_text("utf-8")),
    "dry_run": dry.stdout.decode() + dry.stderr.decode(),
    "data": file.read_bytes().decode("latin-1"),
}))  # fmt: skip
