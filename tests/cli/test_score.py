"""`benchbook score`, and the commands that follow it: verify, rescore, show, runs; and the same from Python."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import benchbook as bb
from running import benchbook, benchbook_here, write_items
from scored import ITEMS, PREDICTIONS, scored, write_lines


def words_of(folder: Path, *more: str, columns: str = "item_id=key,predicted=said") -> list[str]:
    evalset, predictions = folder / "items.jsonl", folder / "predictions.jsonl"
    write_lines(evalset, ITEMS)
    write_lines(predictions, [{"key": row["item_id"], "said": row["predicted"]} for row in PREDICTIONS])
    return [
        "score", "answer_correctness@v1", "--evalset", str(evalset), "--predictions", str(predictions),
        "--columns", columns, "--run-id", "one", *more,
    ]  # fmt: skip


def test_a_score_and_what_follows_from_it(tmp_path: Path) -> None:
    runs = str(tmp_path / "runs")
    made = benchbook(*words_of(tmp_path, "--out", runs, "--reports", str(tmp_path / "reports")), cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    for words in (
        b"Score 0.4000 by answer_correctness@v1; the run itself completed",
        b"2 of 5 items correct",
        b"numerically_equal",
    ):
        assert words in made.stdout
    assert sorted(path.name for path in (tmp_path / "reports" / "one").iterdir()) == ["report.html", "report.md"]

    verified = benchbook_here("verify", "one", "--runs", runs, "--json")
    assert json.loads(verified.stdout)["holds"] is True
    before = (tmp_path / "runs" / "one" / "aggregates.json").read_bytes()
    assert benchbook_here("rescore", "one", "--runs", runs, "--reports", "none").returncode == 0
    assert (tmp_path / "runs" / "one" / "aggregates.json").read_bytes() == before

    shown = benchbook_here("show", "one", "--runs", runs, "--json")
    assert json.loads(shown.stdout)["aggregates"]["primary_score"] == 0.4
    missed = benchbook_here("show", "one", "--runs", runs, "--failed")
    assert [line.split() for line in missed.stdout.decode().splitlines()] == [
        ["0", "a", "expected_inside_longer_text"], ["3", "d", "numerically_equal"], ["4", "e", "no_prediction"]
    ]  # fmt: skip
    sample = json.loads(benchbook_here("show", "one", "--runs", runs, "--sample", "1", "--json").stdout)
    assert (sample["item_id"], sample["correctness"]) == ("b", 1.0)
    (row,) = json.loads(benchbook_here("runs", "--runs", runs, "--json").stdout)
    assert (row["run"], row["decision"], row["eval set"]) == ("one", "pass", "items")


def test_json_for_programs(tmp_path: Path) -> None:
    made = benchbook_here(*words_of(tmp_path, "--runs", str(tmp_path / "runs"), "--reports", "none", "--json"))
    found = json.loads(made.stdout)
    assert (found["aggregates"]["n_correct"], found["decision"]["verdict"], found["reports"]) == (2, "pass", [])


def test_a_crashed_run_ends_with_1(tmp_path: Path) -> None:
    words = words_of(tmp_path, "--runs", str(tmp_path / "runs"), "--reports", "none")
    made = benchbook_here(*words, "--run-status", "crashed", "--reason", "out of memory")
    assert made.returncode == 1
    assert b"The run crashed\nthe run crashed: out of memory. Score 0.0000 by answer_correctness@v1" in made.stdout
    assert b"crashed      5" in made.stdout
    for words in (b"provider_error", b"no_prediction"):  # a crash is a crash
        assert words not in made.stdout


@pytest.mark.parametrize(
    ("columns", "more", "says"),
    [
        pytest.param("item_id=key,predicted", (), b"OURS=THEIRS", id="columns"),
        pytest.param("predicted=said,predicted=key", (), b"is there twice", id="twice"),
        pytest.param("item_id=key,predicted=gone", (), b"columns.predicted: found 'gone'", id="no-such-column"),
        pytest.param(
            "item_id=key,predicted=said", ("--reason", "no"), b"reason: found a reason for a run that", id="reason"
        ),
    ],
)
def test_wrong_use_ends_with_2(columns: str, more: tuple[str, ...], says: bytes, tmp_path: Path) -> None:
    made = benchbook_here(*words_of(tmp_path, "--runs", str(tmp_path / "runs"), *more, columns=columns))
    assert (made.returncode, says in made.stderr) == (2, True), made.stderr
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_says_that_its_samples_are_unavailable(tmp_path: Path) -> None:
    runs = str(tmp_path / "runs")
    made = benchbook_here(*words_of(tmp_path, "--runs", runs, "--reports", str(tmp_path / "reports"), "--dry-run"))
    assert (made.returncode, b"Nothing was scored" in made.stdout) == (0, True)
    for more in (("--failed",), ("--sample", "0")):
        shown = benchbook_here("show", "one", "--runs", runs, *more)
        assert shown.returncode == 2
        assert b"its samples are unavailable: this was a dry run (MockJudge" in shown.stderr


def test_the_same_from_python(tmp_path: Path) -> None:
    evalset = write_lines(tmp_path / "items.jsonl", ITEMS)
    predictions = write_lines(tmp_path / "p.jsonl", PREDICTIONS)
    run = bb.score(evalset, predictions, runs=tmp_path / "runs", run_id="py")
    assert repr(run) == "<CorrectnessRun py: 0.4, 2 of 5 correct>"
    assert "2 of 5 items correct" in str(run)
    again = bb.load(run.path)
    assert isinstance(again, bb.CorrectnessRun)
    assert again.aggregates == run.aggregates
    assert again.manifest == run.manifest
    assert again.decision.verdict == "pass"
    assert again.samples["correctness"].to_list() == [0.0, 1.0, 1.0, 0.0, 0.0]
    assert again.samples.schema["own"] == pl.String
    assert [row.item_id for row in again.rows()] == list("abcde")
    assert again.verify().holds
    assert [path.name for path in again.write_reports(tmp_path / "r")] == ["report.html", "report.md"]


def test_a_dry_run_from_python(tmp_path: Path) -> None:
    run = bb.score(write_lines(tmp_path / "items.jsonl", ITEMS), dry_run=True, runs=tmp_path / "runs")
    with pytest.raises(bb.BenchbookError, match="samples are unavailable: this was a dry run"):
        _ = run.samples
    with pytest.raises(bb.BenchbookError, match="unavailable"):
        run.rows()


def test_the_reports_hold_hostile_text_as_text(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script>|\n# head\n\x1b[31m\u202e[x](http://e.x)"
    run = scored(tmp_path, [{"item_id": "a", "predicted": nasty}])
    folder = tmp_path / "r"
    bb.load(run.record.path).write_reports(folder)
    page, document = ((folder / name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    for text in (page, document):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script" not in document
    assert "\n# head" not in document


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["predicted=output,item_id=key"], id="with-commas"),
        pytest.param(["predicted=output", "item_id=key"], id="one-after-the-other"),
    ],
)
def test_columns_are_given_with_commas_or_one_after_the_other(tmp_path: Path, words: list[str]) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    (tmp_path / "said.csv").write_text("key,output\ni0,1\ni1,2\n", encoding="utf-8")
    columns = [word for one in words for word in ("--columns", one)]
    found = benchbook_here(
        "score", "--evalset", "items.jsonl", "--predictions", "said.csv", *columns, "--quiet", cwd=tmp_path
    )
    assert found.returncode == 0, found.stderr
