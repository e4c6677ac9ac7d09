"""Something goes wrong at every file operation of every writer: what was acknowledged is there, and it goes on."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attack.tally import Tally
from crashing import KINDS, Crash, crashes, leftovers, why_not_here
from writers import WRITERS, Writer

pytestmark = [pytest.mark.attack, pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """In memory, where there is such a place."""
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WRITERS)
def test_a_crash_at_each_file_operation(
    name: str, kind: str, room: Path, rng: random.Random, share: Callable[[int], int],
    tally: Callable[[str, str], Tally], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # of this process, which is not the one that crashes
    writer = WRITERS[name]
    counted = tally(f"at a file operation: {KINDS[kind].partition(',')[0].partition(':')[0]}", name)

    def drawn(every: list[tuple[str, int]]) -> list[tuple[str, int]]:
        return rng.sample(every, min(len(every), share(len(every)))) if every else []

    for crash in crashes(writer.act, room, prepare=writer.prepare, kinds=[kind], pick=drawn):
        counted.count("; ".join(faults_of(writer, crash)) or None)


def faults_of(writer: Writer, crash: Crash) -> Iterator[str]:
    """What does not hold after a crash, and after the second go."""
    kept = writer.kept(crash.folder) if crash.acknowledged else ()
    yield from (f"{crash}: lost {word[:40]}" for word in crash.acknowledged if word not in kept)
    (writer.again or writer.act)(crash.folder, lambda word: None)
    if writer.seen(crash.folder) != writer.seen(crash.whole):
        yield f"{crash}: after the second go it is another"
    yield from (f"{crash}: {path} is left" for path in leftovers(crash.folder))
