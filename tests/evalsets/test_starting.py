"""`evalset new`: a first line that keeps the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.errors import UsageError
from benchbook.evalsets.starting import SetKind, start_evalset
from benchbook.evalsets.validate import validate


@pytest.mark.parametrize(("kind", "profile"), [("answer_correctness", None), ("rubric", "rubric")])
def test_a_new_set_has_no_finding(kind: SetKind, profile: str | None, tmp_path: Path) -> None:
    path = start_evalset(tmp_path / "mine.jsonl", kind)
    assert list(validate(path, profile)) == []


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="there is a file already"):
        start_evalset(path)
    assert path.read_text("utf-8") == "mine"
    with pytest.raises(UsageError, match="can't be written"):
        start_evalset(tmp_path / "none" / "mine.jsonl")
