"""Files and folders that appear whole or not at all, whoever else writes them and whatever was left before."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from benchbook.errors import RecordError, UsageError
from benchbook.locks import is_locked
from benchbook.writing import folder_made_whole, temporary_folder, write_all, write_file, written_new, written_whole

pytestmark = pytest.mark.usefixtures("system")


def names(folder: Path) -> list[str]:
    """All that is there but locks beside folders, which Windows has."""
    found = (path for path in folder.rglob("*") if not path.name.endswith(".lock"))
    return sorted(path.relative_to(folder).as_posix() for path in found)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "read-only"
    folder.mkdir()
    (folder / "x").write_bytes(b"before")
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        folder.chmod(0o700)
        pytest.skip("this user may write anywhere")
    yield folder
    folder.chmod(0o700)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_file(tmp_path / "x", b"before")
    write_file(tmp_path / "x", b"after")
    assert (tmp_path / "x").read_bytes() == b"after"
    assert names(tmp_path) == ["x"]


def test_what_can_not_be_replaced_stays(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "inside").touch()
    with pytest.raises(RecordError, match=r"x: can't be written"):
        write_file(tmp_path / "x", b"after")
    assert names(tmp_path) == ["x", "x/inside"]


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"x: can't be written \(No such file or directory\)"):
        write_file(tmp_path / "none" / "x", b"")


def test_a_read_only_folder_is_told(read_only: Path) -> None:
    with pytest.raises(RecordError, match=r"x: can't be written \(Permission denied\)"):
        write_file(read_only / "x", b"after")
    assert (read_only / "x").read_bytes() == b"before"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_whatever_fails_half_way_what_was_there_stays(tmp_path: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with written_whole(tmp_path / "x") as file:
            file.write(b"after")
            raise error

    (tmp_path / "x").write_bytes(b"before")
    with pytest.raises(error):
        fail()
    assert (tmp_path / "x").read_bytes() == b"before"
    assert names(tmp_path) == ["x"]


def test_two_writers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    with written_whole(tmp_path / "x") as one:
        one.write(b"one")
        with written_whole(tmp_path / "x") as other:
            other.write(b"other")
        assert (tmp_path / "x").read_bytes() == b"other"
    assert (tmp_path / "x").read_bytes() == b"one"
    assert names(tmp_path) == ["x"]


def test_what_a_killed_writer_left_is_written_over(tmp_path: Path) -> None:
    (tmp_path / ".x.tmp").write_bytes(b"half of something long")
    write_file(tmp_path / "x", b"after")
    assert (tmp_path / "x").read_bytes() == b"after"
    assert names(tmp_path) == ["x"]


def test_what_a_living_writer_writes_is_not(tmp_path: Path) -> None:
    with (tmp_path / ".x.tmp").open("wb") as living:
        fcntl.flock(living, fcntl.LOCK_EX)
        write_file(tmp_path / "x", b"after")
    assert names(tmp_path) == [".x.tmp", "x"]


def test_a_second_name_that_a_killed_writer_left_is_no_place_to_write(tmp_path: Path, system: str) -> None:
    """It was killed between giving a new file its name and taking the temporary one away."""
    (tmp_path / "x").write_bytes(b"before")
    os.link(tmp_path / "x", tmp_path / ".x.tmp")
    with written_whole(tmp_path / "x") as file:
        assert (tmp_path / "x").read_bytes() == b"before"
        file.write(b"after")
    assert (tmp_path / "x").read_bytes() == b"after"
    assert names(tmp_path) == ["x"] if system == "posix" else [".x.tmp", "x"]  # Windows leaves no such name itself


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (tmp_path / ".x.tmp").symlink_to("elsewhere")
    with pytest.raises(RecordError, match="x: can't be written"):
        write_file(tmp_path / "x", b"after")
    assert (tmp_path / "elsewhere").read_bytes() == b"precious"


def test_a_file_of_ones_own_is_nobody_elses(tmp_path: Path) -> None:
    with written_whole(tmp_path / "x", mode=0o600):
        pass
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_a_new_file_takes_no_others_place(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"before")
    with pytest.raises(FileExistsError), written_new(tmp_path / "x"):
        raise AssertionError("never")
    with pytest.raises(FileExistsError), written_new(tmp_path / "y"):
        (tmp_path / "y").write_bytes(b"another was quicker")
    assert names(tmp_path) == ["x", "y"]
    for _ in range(3):
        with written_new(tmp_path / "z", otherwise=(tmp_path / f"z{n}" for n in count(2))) as file:
            file.write(b"new")
    assert names(tmp_path) == ["x", "y", "z", "z2", "z3"]


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    with folder_made_whole(tmp_path / "below" / "x") as made:
        (made / "inside").touch()
        assert not (tmp_path / "below" / "x").exists()
    assert names(tmp_path) == ["below", "below/x", "below/x/inside"]
    with (
        pytest.raises(UsageError, match="x: can't be written"),
        folder_made_whole(tmp_path / "y" / "x", refuse=UsageError) as made,
    ):
        (tmp_path / "y" / "x" / "another").mkdir(parents=True)
    assert names(tmp_path / "y") == ["x", "x/another"]


def test_what_a_killed_maker_of_a_folder_left_is_swept_and_what_a_living_one_makes_is_not(tmp_path: Path) -> None:
    (tmp_path / ".new-deaddead" / "new").mkdir(parents=True)
    with folder_made_whole(tmp_path / "x") as living:
        (tmp_path / ".new-deaddead" / "new").mkdir(parents=True)
        with folder_made_whole(tmp_path / "y"):
            pass
        assert living.exists()
    assert names(tmp_path) == ["x", "y"]


def test_a_folder_replaces_another(tmp_path: Path) -> None:
    for name in ("before", "after"):
        with folder_made_whole(tmp_path / "x", replaces=True) as made:
            (made / name).touch()
    assert names(tmp_path) == ["x", "x/after"]


def test_a_part_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: whole(descriptor, bytes(data)[:1]))
    with (tmp_path / "x").open("wb") as file:
        write_all(file.fileno(), b"seven letters")
    assert (tmp_path / "x").read_bytes() == b"seven letters"


# ── temporary folders ────────────────────────────────────────────────────────────────────────────────────────

_HOLDS = """
import sys
from pathlib import Path
from benchbook.writing import temporary_folder
if sys.argv[2] == "windows":
    import windows_rules
    windows_rules.take_over()
with temporary_folder(Path(sys.argv[1])) as made:
    (made / "new").mkdir()
    print(made.name, flush=True)
    sys.stdin.read()
"""


def in_it(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith(".lock")}


def test_a_killed_processs_folder_is_swept_and_a_live_ones_is_not(tmp_path: Path, system: str) -> None:
    words = [sys.executable, "-c", _HOLDS, str(tmp_path), system]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    holds = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", env=env)
    assert holds.stdout is not None
    theirs = holds.stdout.readline().strip()
    with temporary_folder(tmp_path) as ours:
        assert in_it(tmp_path) == {theirs, ours.name}
        holds.kill()
        holds.communicate()
        assert not is_locked(tmp_path / theirs)
        with temporary_folder(tmp_path) as another:
            assert in_it(tmp_path) == {ours.name, another.name}
    assert in_it(tmp_path) == set()


def test_what_is_not_ours_is_never_swept(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x", "utf-8")
    runs = tmp_path / "runs"
    for name in (".new-abcd1234", ".new-mine", ".new-abcd12345", "x.new-abcd1234", ".new-ABCD1234", ".old-abcd1234"):
        (runs / name / "new").mkdir(parents=True)
    (runs / ".new-bbbbbbbb").symlink_to(elsewhere)
    (runs / ".new-cccccccc").write_text("a file", "utf-8")
    before = in_it(runs)
    with temporary_folder(runs):
        pass
    assert before - in_it(runs) == {".new-abcd1234"}
    assert (elsewhere / "kept").exists()


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_temporary_folder_is_gone_however_its_block_ends(tmp_path: Path, error: type[BaseException]) -> None:
    def broken() -> None:
        with temporary_folder(tmp_path) as made:
            (made / "new").mkdir()
            raise error

    with pytest.raises(error):
        broken()
    assert in_it(tmp_path) == set()


@pytest.mark.parametrize("path", ["", "."])
def test_a_file_without_a_name_is_refused(path: str) -> None:
    with pytest.raises(RecordError, match=r"\.: can't be written \(Is a directory\)"):
        write_file(Path(path), b"x")
