"""Every command over every odd place, and under every odd clock: it ends in a sentence, and records hold."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.commands import COMMANDS, check_sentence, make_places, odd_places, words_of
from cli.test_odd_places import CLOCKS
from running import benchbook_here

pytestmark = pytest.mark.attack


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_places(tmp_path_factory.mktemp("places"))


@pytest.fixture
def folder(places: Path, tmp_path: Path) -> Path:
    return shutil.copytree(places, tmp_path / "work", symlinks=True)


@pytest.mark.parametrize("row", COMMANDS)
def test_odd_places_end_in_a_sentence(folder: Path, row: str) -> None:
    words, places = words_of(row, folder)
    for number in places:
        for place in odd_places(words[number], folder):
            check_sentence([*words[:number], place, *words[number + 1 :]], folder)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("row", COMMANDS)
def test_odd_clocks_change_nothing(folder: Path, row: str, clock: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", CLOCKS[clock])
    done = benchbook_here(*words_of(row, folder)[0], cwd=folder)
    ends = (2,) if "label next" in row else (0, 1, 2) if row.startswith("send") else (0, 1)  # a terminal; a client
    assert done.returncode in ends, done.stderr
    for record in (folder / "runs").iterdir():
        if (record / "manifest.json").exists():
            held = benchbook_here("verify", str(record))
            assert held.returncode == 0, held.stdout + held.stderr
