"""Holds a writer against what it promises, after something went wrong at each of its file operations."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchbook.text import shorten
from benchbook.writing import folder_made_whole
from crashing import Act, Crash, Pick, Say, crashes, leftovers
from running import benchbook_here

ENDED = "ended"  # what a command acknowledges


def _nothing(folder: Path) -> None:
    """Nothing is there at first."""


def files(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, but for what differs from go to go: times, and what follows from them."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if not _varies(path)}


def _varies(path: Path) -> bool:
    if path.name.endswith(".tmp"):
        return True
    return path.name == "manifest.json" or path.parent.name == "journal" or path.suffix in (".html", ".md", ".xml")


@dataclass(frozen=True, kw_only=True)
class Writer:
    """`kept` reads with what users read with: of what was acknowledged all must be in it, whatever happened.

    `again` is the second go; by default the same once more. It leaves what an undisturbed go does, as `seen` shows it.
    `told` is what readers say before that, None where one refuses: all of the old or all of the new, never a mixture.
    """

    modules: tuple[str, ...]  # of src/benchbook, whose writing it tests
    act: Act
    kept: Callable[[Path], Collection[str]] = lambda _: {ENDED}
    prepare: Callable[[Path], None] = _nothing
    again: Act | None = None
    seen: Callable[[Path], Any] = files
    told: Callable[[Path], list[Any]] | None = None
    is_slow: bool = False  # left to tests/attack
    may_forget: bool = False  # what it keeps can be made again, and a failed fsync need not be told


def commands(lines: Sequence[Sequence[str]], folder: Path, say: Say) -> int:
    """Commands in a folder, one after the other. The end is acknowledged."""
    for words in lines:
        done = benchbook_here(*words, cwd=folder)
        if done.returncode:
            print(done.stderr.decode(), end="")  # noqa: T201
            return done.returncode
    say(ENDED)
    return 0


def command(*words: str) -> Act:
    return partial(commands, [words])


def unless(path: str, words: Sequence[str], otherwise: Sequence[str]) -> Act:
    """A command if there is no such path, and another one if there is."""

    def again(folder: Path, say: Say) -> int:
        return commands([otherwise if (folder / path).exists() else words], folder, say)

    return again


def or_refused(*words: str) -> Act:
    """The command once more, which may refuse what is there."""

    def again(folder: Path, say: Say) -> int:
        del say
        code = benchbook_here(*words, cwd=folder).returncode
        return 0 if code == 2 else code

    return again


def do(folder: Path, *words: str) -> None:
    done = benchbook_here(*words, cwd=folder)
    assert done.returncode == 0, done.stderr


def said_by(*words: str) -> Callable[[Path], Any]:
    """What a command answers, with --json; None where it refuses."""

    def told(folder: Path) -> Any:
        done = benchbook_here(*words, "--json", cwd=folder)
        return json.loads(done.stdout) if done.returncode == 0 else None

    return told


def hold(writer: Writer, room: Path, pick: Pick) -> None:
    """Let something go wrong at the writer's operations, as `pick` takes them. Raises: AssertionError."""
    faults = [fault for faults in faults_of(writer, room, pick) for fault in faults]
    assert not faults, "\n".join(faults)


def faults_of(writer: Writer, room: Path, pick: Pick) -> Iterator[list[str]]:
    """What does not hold, for each time that something goes wrong."""
    known = _Known(writer, room / "before")
    for crash in crashes(writer.act, room, prepare=writer.prepare, pick=pick, strict=False):
        fault = crash.fault(may_stay_silent=writer.may_forget)
        yield [fault] if fault is not None else list(_broken(writer, crash, known))


class _Known:
    """What is seen and told of what was there before, and of what an undisturbed go leaves; looked up once."""

    def __init__(self, writer: Writer, before: Path) -> None:
        self._writer, self._before = writer, before
        self._seen: Any = None
        self._told: tuple[list[Any], ...] = ()

    def seen(self, crash: Crash) -> Any:
        if self._seen is None:
            self._seen = self._writer.seen(crash.whole)
        return self._seen

    def told(self, crash: Crash) -> tuple[list[Any], ...]:
        if not self._told and self._writer.told is not None:
            self._told = tuple(map(self._writer.told, (self._before, crash.whole)))
        return self._told


def _silent(word: str) -> None:
    del word


def _broken(writer: Writer, crash: Crash, known: _Known) -> Iterator[str]:
    """What does not hold after a crash, and after the second go."""
    kept = writer.kept(crash.folder) if crash.acknowledged and not writer.may_forget else crash.acknowledged
    yield from (f"{crash}: lost {word[:40]}" for word in crash.acknowledged if word not in kept)
    whole = known.seen(crash)
    is_done = crash.ended == "done" and not crash.code and not writer.may_forget
    if is_done and crash.kind not in ("power", "names") and (seen := writer.seen(crash.folder)) != whole:
        yield f"{crash}: told as done: {_short(seen)} instead of {_short(whole)}"
    if writer.told is not None:
        told = writer.told(crash.folder)
        ways = known.told(crash)
        if not any(all(one in (None, other) for one, other in zip(told, each, strict=True)) for each in ways):
            yield f"{crash}: a reader takes a mixture of old and new"
    code = (writer.again or writer.act)(crash.folder, _silent)
    if code:
        yield f"{crash}: the second go ends with {code}"
    elif (seen := writer.seen(crash.folder)) != whole:
        yield f"{crash}: after the second go {_short(seen)} instead of {_short(whole)}"
    for folder in {(crash.folder / path).parent for path in leftovers(crash.folder)}:
        with folder_made_whole(folder / "another"):  # whoever makes something there next sweeps
            pass
    yield from (f"{crash}: {path} is left" for path in leftovers(crash.folder))


def _short(value: Any) -> str:
    return shorten(repr(value), 300)
