"""`benchbook mark`, and what `benchbook runs` shows and filters of what it wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from running import benchbook_here
from scored import scored


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: `one` with a name and tags, `two` archived."""
    made = tmp_path_factory.mktemp("marked")
    for run_id in ("one", "two", "three"):
        scored(made, run_id=run_id)
    said(made, "mark", "one", "--name", "The first", "--note", "with \x1b[31m red", "--tag", "b", "--tag", "a")
    said(made, "mark", "two", "--archive", "--tag", "b")
    return made


def said(folder: Path, *words: str) -> str:
    done = benchbook_here(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def listed(folder: Path, *words: str) -> list[str]:
    rows: list[dict[str, Any]] = json.loads(said(folder, "runs", "--sort", "run", "--json", *words))
    return [row["run"] for row in rows]


def test_marks_stand_below_a_run_and_no_record_knows_of_them(folder: Path) -> None:
    table = said(folder, "runs", "--archived", "any")
    assert "    The first · with \\u001b[31m red · tags a, b\n" in table
    assert "    tags b · archived\n" in table
    assert verify(Record(folder / "runs" / "one")).holds


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ["one", "three"]),
        (("--archived", "any"), ["one", "three", "two"]),
        (("--archived", "only"), ["two"]),
        (("--tag", "b"), ["one"]),
        (("--tag", "b", "--tag", "a", "--archived", "any"), ["one"]),
        (("--text", "FIRST red"), ["one"]),
        (("--text", "first three"), []),
    ],
)
def test_the_list_goes_by_marks(folder: Path, words: tuple[str, ...], expected: list[str]) -> None:
    assert listed(folder, *words) == expected


def test_what_is_left_out_is_counted(folder: Path) -> None:
    assert b"1 archived run left out" in benchbook_here("runs", cwd=folder).stderr
    assert b"left out" not in benchbook_here("runs", "--tag", "a", cwd=folder).stderr


def test_several_runs_at_once_and_what_stands_there(tmp_path: Path) -> None:
    for run_id in ("one", "two"):
        scored(tmp_path, run_id=run_id)
    assert (
        said(tmp_path, "mark", "one", "two", "--tag", "x", "--archive")
        == "one: tags 'x'; archived\ntwo: tags 'x'; archived\n"
    )
    said(tmp_path, "mark", "runs/one", "--restore", "--untag", "x", "--note", "so")
    assert said(tmp_path, "mark", "one") == "one: note 'so'; tags none\n"
    assert json.loads(said(tmp_path, "mark", "two", "--json")) == [
        {"run": "two", "name": "", "note": "", "tags": ["x"], "archived": True}
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("one", "three", "--name", "x"), "--name and --note are of one run; found 2"),
        (("one", "--tag", "x" * 61), "--tag: Expected `str` of length <= 60"),
        (("one", "--note", "x" * 2_001), "--note: Expected `str` of length <= 2000"),
        (("none",), "none: not a record"),
    ],
)
def test_what_is_no_mark(folder: Path, words: tuple[str, ...], expected: str) -> None:
    done = benchbook_here("mark", *words, cwd=folder)
    assert (done.returncode, expected in done.stderr.decode()) == (2, True), done.stderr
