"""At each file operation of a label, an import and a new book something goes wrong: none is half recorded."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.labels.labels import LabelBook, give_labels, open_labels
from benchbook.labels.verify import verify_labels
from benchbook.record.folder import Record
from crashing import KINDS, Crash, Say, crashes, leftovers, why_not_here
from labels.small import creates, gives, imports, label, labelled, undoes

pytestmark = pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())

CUT = ("the last line is cut", "an import was cut here")  # verify names what a crash left, too


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is not the one that crashes: its fsyncs would only take time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def by(who: str, found: LabelBook) -> int:
    return sum(one.labeller == who for one in found.state.labels())


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """In memory, where there is such a place."""
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("act", "who", "before", "after", "kinds"), [
    (imports, "bob", 0, 3, [*KINDS]), (gives, "bob", 0, 1, ["kill", "power"]), (undoes, "ann", 1, 0, ["kill"]),
])  # fmt: skip
def test_none_or_all_stand_and_labelling_goes_on(
    act: Callable[[Path, Say], Any], who: str, before: int, after: int, kinds: list[str], room: Path
) -> None:
    for crash in crashes(act, room, prepare=labelled, kinds=kinds):
        found = open_labels(crash.folder / "labels")
        assert by(who, found) in ((after,) if crash.acknowledged else (before, after)), str(crash)
        told = [str(one) for one in verify_labels(Record(found.path)).findings]
        assert all(any(word in one for word in CUT) for one in told), f"{crash}: {told}"
        goes_on(found, crash)


def goes_on(found: LabelBook, crash: Crash) -> None:
    give_labels(found, [label(12, "cy", 0)])
    verified = verify_labels(Record(found.path))
    assert (verified.findings, len(verified.notes)) == ((), 1), f"{crash}: {verified}"  # the run is not there
    assert leftovers(found.path) == [], str(crash)


def test_a_new_book_is_there_whole_or_not_at_all(room: Path) -> None:
    for crash in crashes(creates, room, kinds=["kill", "full", "power"]):
        path = crash.folder / "labels"
        assert path.exists() or not crash.acknowledged, str(crash)
        if path.exists():
            goes_on(open_labels(path), crash)
