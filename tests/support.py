"""What tests share: the case files, and other people's data."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CASES = Path(os.environ.get("BENCHBOOK_CASES", ROOT / "tests" / "cases"))
SHARED = Path(os.environ.get("BENCHBOOK_SHARED", ROOT.parent / "shared"))


def cases(name: str) -> list[Any]:
    """The cases of `<BENCHBOOK_CASES>/<name>.json` as pytest parameters; none where the folder lacks the file."""
    path = CASES / f"{name}.json"
    if not path.exists():
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(f"{path.name} is not in BENCHBOOK_CASES"))]
    return [pytest.param(case, id=case["id"]) for case in json.loads(path.read_text("utf-8"))]


def shared_data(name: str) -> Path:
    """A folder of other people's real data, read in place; the test is skipped where it is absent."""
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"shared data {name!r} is not here (set BENCHBOOK_SHARED)")
    return path
