"""Every input of every kind of run, changed in every way between being read and being copied."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.commands import make_places
from cli.test_changed_inputs import CHANGES, FILES, ROWS, check

pytestmark = pytest.mark.attack


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_places(tmp_path_factory.mktemp("places"))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("row", "file"), [(row, file) for row in ROWS for file in FILES[row]])
def test_a_file_that_changes_before_it_is_copied(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, file: str, change: str
) -> None:
    work = shutil.copytree(places, tmp_path / "work", symlinks=True)
    check(work, monkeypatch, row, lambda: CHANGES[change](work / file))
