"""The folders of submissions, with a process that is killed at each of its operations, or whose disk is full there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchbook.errors import RecordError
from benchbook.server.settings import Settings
from benchbook.server.submission_store import Submissions
from crashing import Say, crashes, leftovers, why_not_here

pytestmark = pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())


def chunks_come_and_go(folder: Path, say: Say) -> None:
    """Begin, send three chunks, take one back, and drop it all."""
    try:
        store = Submissions(Settings(runs=folder, catalog=""))
        store.begin("sent", {"items.parquet": b"items", "about.json": b"{}"})
        say("begun")
        for key in ("1", "2", "3"):
            with store.sending("sent") as sent:
                sent.add(key, key.encode() * 10, lambda path: None)
            say(f"+{key}")
        with store.sending("sent") as sent:
            sent.take_back("2")
        say("-2")
        with store.ending("sent") as sent:
            store.remove(sent)
        say("gone")
    except OSError as error:
        raise RecordError(os.strerror(error.errno or 0)) from None


STATES = (None, set[str](), {"1"}, {"1", "2"}, {"1", "2", "3"}, {"1", "3"}, None)


def test_wherever_it_is_killed_what_was_acknowledged_is_kept(tmp_path: Path) -> None:
    """What is there is what was acknowledged, or one step more; each chunk is whole, and nothing else is left."""
    kinds, seen = ("power", "names", "torn", "full"), 0
    for crash in crashes(chunks_come_and_go, tmp_path, kinds=kinds, pick=lambda every: every[::2]):
        store = Submissions(Settings(runs=crash.folder, catalog=""))
        there = None
        if store.is_open("sent"):
            with store.sending("sent") as sent:
                there = {key: path.read_bytes() for key, path in sent.chunks().items()}
        n = len(crash.acknowledged)
        assert (None if there is None else set(there)) in STATES[n : n + 2], str(crash)
        assert all(data == key.encode() * 10 for key, data in (there or {}).items()), str(crash)
        left = crash.folder / ".server" / "submissions"
        assert not left.exists() or {path.name for path in left.iterdir()} <= {"sent"}, str(crash)
        assert leftovers(crash.folder) == [], str(crash)
        seen += 1
    assert seen > 30
