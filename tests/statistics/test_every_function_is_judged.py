"""Every public function is held against somebody else's: a package's, or a formula written out a second time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbook import statistics as st

HERE = Path(__file__).parent
FILES = ("test_against_others.py", "test_against_formulas.py", "test_bradley_terry.py", "test_stratified.py")
JUDGES = "".join((HERE / name).read_text(encoding="utf-8") for name in FILES)
FUNCTIONS = [name for name in st.__all__ if name.islower()]


@pytest.mark.parametrize("name", [*FUNCTIONS, "FiniteBet"])
def test_it_is_held_against_another(name: str) -> None:
    assert re.search(rf"\bst\.{name}\b|\b{name}\(", JUDGES), (
        f"hold `{name}` against SciPy, statsmodels, or its source's formula"
    )
