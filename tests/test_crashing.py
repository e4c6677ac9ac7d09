"""The tool itself: each kind of trouble does what it says."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import RecordError
from crashing import Say, crashes, two_at_each, why_not_here

pytestmark = pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())


def three_lines(folder: Path, say: Say) -> None:
    try:
        descriptor = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for number in range(3):
            data = f"line {number}\n".encode()
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
            say(str(number))
    except OSError as error:
        raise RecordError(f"log: can't be written ({error.strerror})") from None


def filled(folder: Path) -> None:
    (folder / "log").write_bytes(b"there\n")


def seen(act: Any, room: Path, *kinds: str) -> dict[str, tuple[str, str, bytes]]:
    """Kind and operation's number -> how it ended, what was acknowledged, and what is in the log."""
    return {
        f"{one.kind} {one.at}": (one.ended, "".join(one.acknowledged), (one.folder / "log").read_bytes())
        for one in crashes(act, room, prepare=filled, kinds=kinds)
    }


def test_killed_before_each_operation(tmp_path: Path) -> None:
    """Opened, then written, synced and acknowledged, three times."""
    assert seen(three_lines, tmp_path, "kill") == {
        "kill 0": ("killed", "", b"there\n"),
        "kill 1": ("killed", "", b"there\n"),
        "kill 2": ("killed", "", b"there\nline 0\n"),
        "kill 3": ("killed", "", b"there\nline 0\n"),
        "kill 4": ("killed", "0", b"there\nline 0\n"),
        "kill 5": ("killed", "0", b"there\nline 0\nline 1\n"),
        "kill 6": ("killed", "0", b"there\nline 0\nline 1\n"),
        "kill 7": ("killed", "01", b"there\nline 0\nline 1\n"),
        "kill 8": ("killed", "01", b"there\nline 0\nline 1\nline 2\n"),
        "kill 9": ("killed", "01", b"there\nline 0\nline 1\nline 2\n"),
    }


def test_at_a_power_cut_no_byte_is_there_that_was_not_synced(tmp_path: Path) -> None:
    found = seen(three_lines, tmp_path, "power")
    assert [one[2].count(b"\n") for one in found.values()] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4]


def renamed(folder: Path, say: Say) -> None:
    (folder / "new").write_bytes(b"replaced\n")
    for synced in ("new", "."):
        descriptor = os.open(folder / synced, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        if synced == "new":
            (folder / "new").replace(folder / "log")


def test_at_a_power_cut_no_name_is_there_that_was_not_synced(tmp_path: Path) -> None:
    """Created, written, synced, renamed, and its folder synced; after which the new one is there."""
    found = seen(renamed, tmp_path, "names")
    assert [one[2] for one in found.values()] == [b"there\n"] * 5 + [b"replaced\n"]


def test_other_trouble_at_the_second_line(tmp_path: Path) -> None:
    found = seen(three_lines, tmp_path, "torn", "short", "full", "io")
    expected = {
        "torn 4": ("killed", "0", b"there\nline 0\nlin"),
        "short 1": ("done", "012", b"there\nline 0\nline 1\nline 2\n"),
        "full 4": ("refused", "0", b"there\nline 0\nlin"),
        "io 0": ("refused", "", b"there\n"),
        "io 4": ("refused", "0", b"there\nline 0\n"),
        "io 5": ("refused", "0", b"there\nline 0\n"),  # an fsync that failed: what it should have written is gone
    }
    assert {name: found[name] for name in expected} == expected


def unsaid(folder: Path, say: Say) -> None:
    with suppress(OSError), (folder / "log").open("ab") as file:
        os.fsync(file.fileno())


def careless(folder: Path, say: Say) -> None:
    (folder / "log").write_bytes(b"")


def test_a_failed_fsync_and_a_traceback_are_found(tmp_path: Path) -> None:
    for act, words in ((unsaid, "a failed fsync that nobody was told of"), (careless, "OSError")):
        (tmp_path / act.__name__).mkdir()
        with pytest.raises(AssertionError, match=words):
            seen(act, tmp_path / act.__name__, "io")


def in_sqlite(folder: Path, say: Say) -> None:
    try:
        with closing(sqlite3.connect(folder / "log", isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = EXTRA")  # else a power cut may undo what was committed last
            database.execute("CREATE TABLE facts (name TEXT)")
            say("made")
            database.execute("INSERT INTO facts VALUES ('a')")
            say("a")
    except sqlite3.Error as error:
        raise RecordError(f"log: can't be written ({error})") from None


def test_what_c_code_writes_is_seen(tmp_path: Path) -> None:
    """SQLite keeps its promise at each of its file operations."""
    n_crashes = 0
    for crash in crashes(in_sqlite, tmp_path, pick=two_at_each, strict=False):
        n_crashes += 1
        is_folder = crash.operation == "sync ."  # which SQLite tries
        assert crash.fault(may_stay_silent=is_folder) is None
        with closing(sqlite3.connect(crash.folder / "log")) as database:
            there = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
            rows = database.execute("SELECT * FROM facts").fetchall() if there else []
        assert len(there) + len(rows) >= len(crash.acknowledged), str(crash)
    assert n_crashes > 20
