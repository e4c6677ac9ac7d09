"""`benchbook runs`: what was decided, the score, when, and of whom, a line a record; the same as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from running import benchbook_here
from scored import PREDICTIONS, scored

MODELS = {"one": "local/tunix@step-000100", "two": "local/tunix@step-000200"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two checkpoints, a run that crashed and one that is damaged; the last was written last."""
    made = tmp_path_factory.mktemp("listed")
    for run_id, model in MODELS.items():
        scored(made, PREDICTIONS[: 4 if run_id == "one" else 1], run_id=run_id, model=model)
    scored(made, run_id="crashed", run_status="crashed", model="local/other@1")
    scored(made, run_id="damaged")
    (made / "runs" / "damaged" / "journal" / "000001.jsonl").write_text("{", encoding="utf-8")
    for age, run_id in enumerate(("one", "two", "crashed", "damaged")):
        os.utime(made / "runs" / run_id / "journal", (1_700_000_000 + age,) * 2)
        for path in (made / "runs" / run_id / "journal").iterdir():
            os.utime(path, (1_700_000_000 + age,) * 2)
    return made


def listed(folder: Path, *words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(benchbook_here("runs", *words, "--json", cwd=folder).stdout)
    return rows


def test_json_has_the_score_with_its_interval_the_date_and_who_was_asked(folder: Path) -> None:
    row = {row["run"]: row for row in listed(folder)}["one"]
    aggregates = json.loads((folder / "runs" / "one" / "aggregates.json").read_bytes())
    assert row["score"] == 0.4  # two of five
    assert [row["low"], row["high"]] == [aggregates["interval"]["low"], aggregates["interval"]["high"]]
    manifest = json.loads((folder / "runs" / "one" / "manifest.json").read_bytes())
    assert row | {"date": manifest["timestamp_utc"], "hash": manifest["journal_sha256"]} == row
    names = ("evaluator", "model", "judge", "eval set", "score_name", "decision", "outcome", "state")
    assert [row[name] for name in names] == [
        "answer_correctness@v1", MODELS["one"], None, "items", "primary_score", "pass", "completed", "complete",
    ]  # fmt: skip


def test_a_damaged_record_has_no_number_and_says_what_is_wrong(folder: Path) -> None:
    row = {row["run"]: row for row in listed(folder)}["damaged"]
    assert (row["state"], row["score"], row["decision"]) == ("damaged", None, None)
    assert row["error"].startswith("journal/000001.jsonl")
    said = benchbook_here("runs", cwd=folder).stdout.decode()
    assert "! damaged: journal/000001.jsonl" in said
    assert "nan" not in said.lower().split()


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        pytest.param("newest", ["damaged", "crashed", "two", "one"], id="newest"),
        pytest.param("score", ["one", "two", "crashed", "damaged"], id="score"),
        pytest.param("run", ["crashed", "damaged", "one", "two"], id="name"),
    ],
)
def test_the_order(folder: Path, order: str, expected: list[str]) -> None:
    assert [row["run"] for row in listed(folder, "--sort", order)] == expected


def test_the_table_fits_and_tells_checkpoints_apart(folder: Path) -> None:
    lines = benchbook_here("runs", cwd=folder).stdout.decode().splitlines()
    assert lines[0].split() == [
        "run", "decision", "score", "interval", "date", "(UTC)", "evaluator", "model", "eval", "set",
    ]  # fmt: skip
    assert all(len(line) <= 120 for line in lines if not line.startswith("!"))
    of = {line.split()[0]: line for line in lines[1:]}
    assert "0.4000  0.1176 to 0.7693" in of["one"]  # Wilson, two of five
    assert of["crashed"].split()[1] == "failed"  # of a run that crashed the score is no score of its answers
    assert of["one"].split()[-2] != of["two"].split()[-2]


def test_a_narrow_terminal_has_names_below(folder: Path) -> None:
    from benchbook.cli.run_list import listed_run, run_lines
    from benchbook.record.folder import Record

    rows = [listed_run(Record(folder / "runs" / name)) for name in ("one", "two")]
    lines = list(run_lines(rows, 60))
    asked_set = f"items@{rows[0].eval_set_version.removeprefix('sha256:')[:8]}"
    assert lines[2] == f"    answer_correctness@v1, {MODELS['one']}, {asked_set}"
    assert [line.split()[0] for line in (lines[1], lines[3])] == ["one", "two"]
