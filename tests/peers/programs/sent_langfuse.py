"""A record sent twice by Langfuse's client, to a server that keeps scores by id, name and day, as it does: RECORD."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

from loopback import Asked, Said, loopback

from benchbook.errors import BenchbookError
from benchbook.integrations.trackers.sending import send
from benchbook.record.folder import Record

record = Record(Path(sys.argv[1]))
os.environ |= {"LANGFUSE_PUBLIC_KEY": "a-public-one", "LANGFUSE_SECRET_KEY": "a-secret-one"}
kept: dict[tuple[str, str, str], dict[str, Any]] = {}
asked: list[Asked] = []


def accepting(one: Asked) -> Said:
    asked.append(one)
    for score in json.loads(one.body):
        kept[score["id"], score["name"], score["timestamp"][:10]] = score
    return 202, "application/json", json.dumps({"message": "Accepted"}).encode()


def said(status: int, body: Any) -> str:
    try:
        with loopback(lambda one: (status, "application/json", json.dumps(body).encode())) as address:
            return send(record, "langfuse", endpoint=address).where
    except BenchbookError as error:
        return str(error).replace(address, "")


with loopback(accepting) as here:
    first = send(record, "langfuse", endpoint=here)
    n_once = len(kept)
    send(record, "langfuse", endpoint=here)

sys.stdout.write(json.dumps({
    "where": first.where.replace(here, ""),
    "n_once": n_once,
    "scores": list(kept.values()),
    "paths": sorted({one.path for one in asked}),
    "keys": sorted({base64.b64decode(one.headers["authorization"].split()[1]).decode() for one in asked}),
    "sizes": [len(json.loads(one.body)) for one in asked],
    "rejected": said(207, {"accepted": 1, "rejected": 2, "errors": [{"message": "no such config"}]}),
    "unauthorized": said(401, {"message": "a-secret-one is no key"}),
}))  # fmt: skip
