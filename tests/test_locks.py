"""Locks on files and folders, and looking whether there is one, by the layer of either system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

import benchbook.system
from benchbook.locks import held, is_locked, locked_folder

pytestmark = pytest.mark.usefixtures("system")


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["folder", "file"])
def test_to_look_disturbs_nobody(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    assert not is_locked(place)
    place.mkdir() if name == "folder" else place.touch()
    assert not is_locked(place)
    with held(place):
        assert is_locked(place)
        with held(place):  # a second one is only not seen
            assert is_locked(place)
        assert is_locked(place)
    assert not is_locked(place)
    with held(tmp_path / "none"):
        pass
    assert left_in(tmp_path) == [name]


def test_who_shares_a_lock_shuts_out_who_wants_it_alone(tmp_path: Path) -> None:
    system = benchbook.system.SYSTEM
    place = tmp_path / "x"
    place.mkdir()
    one, other, alone = (system.to_lock(place) for _ in range(3))
    one.take(shared=True, wait=False)
    other.take(shared=True, wait=False)
    assert not is_locked(place)  # it looks along with them
    with pytest.raises(BlockingIOError):
        alone.take(wait=False)
    one.close()
    with pytest.raises(BlockingIOError):
        alone.take(wait=False)
    other.close()
    alone.take(wait=False)
    assert alone.is_of(place)
    alone.close()
    assert left_in(tmp_path) == ["x"]


def test_who_waits_comes_next(tmp_path: Path) -> None:
    came: list[str] = []

    def second() -> None:
        with locked_folder(tmp_path):
            came.append("second")

    with locked_folder(tmp_path):
        waiting = Thread(target=second)
        waiting.start()
        came.append("first")
    waiting.join()
    assert came == ["first", "second"]


def test_what_is_not_there_can_not_be_held(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), locked_folder(tmp_path / "none"):
        raise AssertionError("never")


_HOLDS = """
import sys
from pathlib import Path
if sys.argv[2] == "windows":
    import windows_rules
    windows_rules.take_over()
from benchbook.locks import locked_folder
with locked_folder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_ends_with_its_process(tmp_path: Path, system: str) -> None:
    place = tmp_path / "x"
    place.mkdir()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    holds = subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(place), system], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    )
    assert holds.stdout is not None
    assert holds.stdout.readline() == b"held\n"
    assert is_locked(place)
    holds.kill()
    holds.communicate()
    assert not is_locked(place)
    with locked_folder(place):
        pass
    assert left_in(tmp_path) == ["x"]
