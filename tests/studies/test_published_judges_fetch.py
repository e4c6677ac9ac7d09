"""What the study fetches: the named files of one commit, from a server of git or from clones at hand."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fetch import fetch
from published_judges.sources import Source, read_sources


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", str(folder), *who, *words], capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """A source of one commit, in `served/owner/name`, with a later commit that is not asked for."""
    folder = tmp_path / "served/owner/name"
    (folder / "data").mkdir(parents=True)
    git(folder, "init", "--quiet")
    for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(folder, "config", name, "true")  # as public servers are set
    (folder / "data/a=1,b.json").write_bytes(b"one\r\n")
    (folder / "data/notes.txt").write_bytes(b"not asked for")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    commit = git(folder, "rev-parse", "HEAD")
    (folder / "data/a=1,b.json").write_bytes(b"two")
    git(folder, "commit", "--quiet", "-am", "two")
    return Source("key", "title", "owner/name", commit, "MIT", "people", ("data/*.json",))


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_one_commits_files_come_from_a_server(source: Source, tmp_path: Path) -> None:
    said = fetch(source, tmp_path / "data/key", server=(tmp_path / "served").as_uri())
    assert said == "key: 1 files, 0.0 MB"
    assert files_in(tmp_path / "data") == {"key/data/a=1,b.json": b"one\r\n"}


@pytest.mark.parametrize("place", ["owner+name", "owner+name/repo"])
def test_one_commits_files_come_from_a_clone(source: Source, place: str, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "served/owner/name", f"mirror/{place}")
    fetch(source, tmp_path / "data/key", tmp_path / "mirror")
    assert files_in(tmp_path / "data") == {"key/data/a=1,b.json": b"one\r\n"}


def test_what_is_there_is_left_alone(source: Source, tmp_path: Path) -> None:
    (tmp_path / "data/key").mkdir(parents=True)
    assert fetch(source, tmp_path / "data/key", tmp_path / "no mirror") == "key: is there"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patterns": ("data/*.csv",)}, r"owner/name at \w+: nothing is named data/\*\.csv"),
        ({"repository": "owner/other"}, r"owner\+other: no clone is there"),
        ({"commit": "0" * 40}, "ls-tree"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_left(
    source: Source, change: dict[str, object], message: str, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "served/owner/name", "mirror/owner+name")
    with pytest.raises(SystemExit, match=message):
        fetch(replace(source, **change), tmp_path / "data/key", tmp_path / "mirror")
    assert not any((tmp_path / "data").iterdir())


def test_sources_are_named_by_whole_commits_and_known_licences() -> None:
    sources = read_sources()
    assert len(sources) >= 8
    for one in sources.values():
        assert not one.patterns or len(one.commit) == 40
        assert one.licence in {"none stated", "Apache-2.0", "MIT", "CC-BY-NC-SA-4.0"}
