"""At every file operation of every writer something goes wrong: what was acknowledged is there, and it goes on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crashing import crashes, leftovers, why_not_here
from writers import WRITERS

pytestmark = pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is not the one that crashes: its fsyncs would only take time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """In memory, where there is such a place."""
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


def _silent(word: str) -> None:
    del word


@pytest.mark.parametrize("name", WRITERS)
def test_a_crash_at_each_operation(name: str, room: Path) -> None:
    writer = WRITERS[name]
    faults = []
    for crash in crashes(writer.act, room, prepare=writer.prepare):
        kept = writer.kept(crash.folder)
        faults += [f"{crash}: lost {word[:40]}" for word in crash.acknowledged if word not in kept]
        (writer.again or writer.act)(crash.folder, _silent)
        if writer.seen(crash.folder) != writer.seen(crash.whole):
            faults.append(f"{crash}: {writer.seen(crash.folder)} instead of {writer.seen(crash.whole)}")
        faults += [f"{crash}: {path} is left" for path in leftovers(crash.folder)]
    assert not faults, "\n".join(faults)
