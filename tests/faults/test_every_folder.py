"""Every folder of the reported faults has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import SHARED

FOLDERS = SHARED / "faults"


def test_every_folder_is_named_by_a_test() -> None:
    if not FOLDERS.is_dir():
        pytest.skip("the folders of reported faults are not here (set BENCHBOOK_SHARED)")
    numbers = {path.name.partition("-")[0]: path.name for path in FOLDERS.iterdir() if re.match(r"\d\d-", path.name)}
    assert numbers
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    named = {number for number, name in numbers.items() if name in tests}
    assert sorted(numbers[number] for number in numbers.keys() - named) == []
