"""Every command over a place that is odd, and under a clock that is: it ends in a sentence, and never in a traceback.

Each row has one odd place of many here, and one clock; `tests/attack/test_odd_places.py` has them all.
"""

from __future__ import annotations

import errno
import itertools
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from benchbook.cli.main import benchbook as program
from cli.commands import COMMANDS, check_sentence, make_places, odd_places, words_of
from running import benchbook_here


def leaves(command: click.Command, *name: str) -> Iterator[str]:
    """The names of all commands."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for one in command.list_commands(context):
            found = command.get_command(context, one)
            assert found is not None
            yield from leaves(found, *name, one)
    else:
        yield " ".join(name)


def test_every_command_has_a_row() -> None:
    """But for those that never end, or that ask for a model of their own."""
    for name in set(leaves(program)) - {"serve", "demo"}:
        assert [row for row in COMMANDS if f"{row} ".startswith(f"{name} ")], name


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_places(tmp_path_factory.mktemp("places"))


@pytest.fixture(scope="module")
def folder(places: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all rows may write into, one after the other."""
    return shutil.copytree(places, tmp_path_factory.mktemp("written") / "work", symlinks=True)


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_an_odd_place_ends_in_a_sentence(folder: Path, number: int) -> None:
    words, at = words_of(COMMANDS[number], folder)
    for place in at:
        odd = list(odd_places(words[place], folder))
        check_sentence([*words[:place], odd[(number + place) % len(odd)], *words[place + 1 :]], folder)


_ticks = itertools.count(1)
CLOCKS: dict[str, Callable[[], float]] = {
    "before 1970": lambda: -1.5,
    "at 1970": lambda: 0.0,
    "after 9999": lambda: 253_402_300_800.5,
    "backwards": lambda: 1e9 - 1e5 * next(_ticks),
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_records_hold_under_any_clock(
    places: Path, tmp_path: Path, clock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = shutil.copytree(places, tmp_path / "work", symlinks=True)
    monkeypatch.setattr("time.time", CLOCKS[clock])
    for row in COMMANDS:
        if row.startswith(("run --evalset", "score scorer", "import", "rescore", "label import", "token create")):
            done = benchbook_here(*words_of(row, work)[0], cwd=work)
            assert done.returncode in (0, 1), done.stderr
    for record in (work / "runs").iterdir():
        if (record / "manifest.json").exists():
            held = benchbook_here("verify", str(record))
            assert held.returncode == 0, held.stdout + held.stderr


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EROFS, 3), (errno.EACCES, 3), (errno.ENOSPC, 3), (errno.EIO, 3), (errno.EMFILE, 3), (errno.ENOTDIR, 2),
     (errno.ENAMETOOLONG, 2), (errno.ELOOP, 2)],
)  # fmt: skip
def test_whatever_the_system_refuses_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, "so it says", b"caf\xe9/tokens.json")

    monkeypatch.setattr("benchbook.server.access.TokenFile.create", refused)
    done = benchbook_here("token", "create", "--name", "ann", "--runs", str(tmp_path / "runs"))
    assert done.returncode == code
    assert done.stderr.decode() == "benchbook: caf\\udce9/tokens.json: can't be read or written (so it says)\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort])
def test_an_interrupt_says_what_becomes_of_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    ignored: list[object] = []
    monkeypatch.setattr("signal.signal", lambda *words: ignored.append(words))

    def interrupted(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("pathlib.Path.mkdir", interrupted)
    done = benchbook_here("token", "create", "--name", "ann", "--runs", str(tmp_path / "runs"))
    by_hand = error is KeyboardInterrupt
    said = "interrupted; what was recorded is whole, and a run resumes with --resume" if by_hand else "aborted"
    assert (done.returncode, done.stderr.decode().strip()) == (3, f"benchbook: {said}")
    assert ignored == ([(signal.SIGINT, signal.SIG_IGN)] if by_hand else [])
