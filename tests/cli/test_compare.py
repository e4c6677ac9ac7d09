"""`benchbook compare`, `baseline`, `gate --baseline` and `leaderboard`, over real records."""

from __future__ import annotations

import importlib
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import benchbook as bb
from benchbook.comparison.records import baseline_record, read_baseline, set_baseline
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.registry import score_predictions
from benchbook.evaluators.settings import ScoreConfig
from benchbook.library.comparing import records_on_one_evalset
from benchbook.record.folder import Record
from benchbook.training.curves import TRAINING_TABLE, MetricPoint, training_rows, write_training_table
from running import benchbook
from support import shared_data

# What each run answers to items 0 to 9; the expected answer is the number.
ANSWERS = {
    "first": "0 1 2 3 4 x x x x x",
    "second": "0 1 2 x 4 5 6 7 8 x",
    "third": "0 1 2 3 4 5 6 7 8 9",
}


def score(folder: Path, run_id: str, answers: str, *, evalset: str = "items.jsonl", **more: Any) -> Record:
    items = folder / evalset
    if not items.exists():
        rows = [
            {"id": f"i{n}", "prompt": f"Say {n}.", "expected_answer": str(n), "category": f"c{n % 2}"} | more
            for n in range(10)
        ]
        items.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    predictions = folder / f"{run_id}-predictions.jsonl"
    lines = [json.dumps({"id": f"i{n}", "predicted": text}) + "\n" for n, text in enumerate(answers.split())]
    predictions.write_text("".join(lines), encoding="utf-8")
    config = ScoreConfig(evalset=str(items), predictions=str(predictions), runs=str(folder / "runs"), run_id=run_id)
    return score_predictions(config).record


class Said(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Said]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """`benchbook WORDS` in a folder, in this process: quick, and with pytest's own streams."""

    def main_in(folder: Path, *words: str) -> Said:
        monkeypatch.chdir(folder)
        monkeypatch.setattr("sys.argv", ["benchbook", *words])
        main = importlib.import_module("benchbook.cli.main")  # `benchbook.cli` has a function of this name
        monkeypatch.setattr(main, "_save_memory", lambda: None)
        monkeypatch.setattr(main, "prepare_streams", lambda: None)
        with pytest.raises(SystemExit) as stop:
            main.main()
        shown = capsys.readouterr()
        return Said(int(str(stop.value.code)), shown.out, shown.err)

    return main_in


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records that no test changes."""
    folder = tmp_path_factory.mktemp("records")
    for name, answers in ANSWERS.items():
        score(folder, name, answers)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, answers in ANSWERS.items():
        score(tmp_path, name, answers)
    return tmp_path


def test_compare_prints_and_writes_every_view(folder: Path) -> None:
    done = benchbook("compare", "first", "second", "--html", "c.html", "--parquet", "c.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode("ascii", "replace")  # in whatever encoding this runs
    assert shown.splitlines()[1] == "10 items compared, none left out."
    assert "1 lost, 4 won of 10: score 0.5000 " in shown
    assert "<html" in (folder / "c.html").read_text(encoding="utf-8")
    assert dict(pl.read_parquet(folder / "c.parquet")["class"].value_counts().rows()) == {
        "same_correct": 4, "improved": 4, "regressed": 1, "same_wrong": 1,
    }  # fmt: skip


def test_compare_as_json_and_markdown(records: Path, call: Call) -> None:
    found = json.loads(call(records, "compare", "first", "second", "third", "--json").out)
    assert [pair["classes"]["regressed"] for pair in found["comparisons"]] == [1, 0]
    assert found["comparisons"][0]["items"][0]["item_id"] == "i3"
    assert found["comparisons"][0]["unknown_in_both"] == ["prompt_template", "generation_params"]
    assert found["histories"][0]["counts"]["flipping"] == 1
    assert found["training_metrics"] == {"first": False, "second": False, "third": False}
    markdown = call(records, "compare", "first", "second", "--markdown").out
    assert markdown.startswith("# first → second\n\n## What changed\n\n10 items compared, none left out.\n")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["compare", "first"], 2, "a comparison needs two runs"),
        (["compare", "first", "absent"], 2, "absent: not a record"),
        (["compare", "first", "first"], 2, "named twice"),
        (["compare", "first", "second", "--json", "--markdown"], 2, "one of them"),
        (["compare", "first", "second", "--margin", "0"], 2, "margin 0.0"),
        (["compare", "first", "second", "--html", "absent/c.html"], 3, "can't be written"),
        (["gate", "second", "--max-regressions", "0"], 2, "no baseline is set"),
        (["gate", "second"], 2, "answer_correctness@v1 has no release gates; ask with --min-score"),
        (["gate", "second", "--min-score", "nan"], 2, "expected a number from 0 to 1"),
        (["gate", "second", "--baseline", "first", "--allow-different", "all"], 2, "expected some of evalset"),
        (["gate", "second", "--baseline", "first", "--confidence", "0.9"], 2, "--confidence is about"),
        (["leaderboard", "--evalset", "absent"], 2, "no finished record on eval set 'absent'"),
        (["baseline", "set", "absent"], 2, "absent: not a record"),
    ],
)
def test_mistakes_are_named(words: list[str], code: int, says: str, records: Path, call: Call) -> None:
    found = call(records, *words)
    assert (found.code, says in found.err) == (code, True), found


def test_a_baseline_is_set_held_against_and_cleared(folder: Path, call: Call) -> None:
    assert call(folder, "baseline", "show").code == 1
    assert call(folder, "baseline", "set", "first").code == 0
    assert json.loads(call(folder, "baseline", "show", "--json").out)["run_id"] == "first"
    done = call(folder, "gate", "second", "--max-regressions", "0", "--min-score", "0.9", "--junit", "j.xml")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == "The gate does not hold: second against first, score 0.8000"
    assert lines[1:3] == [
        "  - 1 item regressed; the gate allows 0",
        "  - the score is 0.8; the gate asks for at least 0.9",
    ]
    assert lines[-1] == "  regressed: i3"
    assert ET.parse(folder / "j.xml").getroot().get("failures") == "2"
    assert call(folder, "gate", "second", "--max-regressions", "1", "--min-score", "0.8").code == 0
    assert call(folder, "gate", "third", "--baseline", "first").code == 0
    # An evaluator without release gates is held against the baseline, where nothing else is asked.
    assert call(folder, "gate", "second").out == call(folder, "gate", "second", "--margin", "0.05").out
    refused = call(folder, "gate", "second", "--by-rule")
    assert (refused.code, "has no release gates" in refused.err) == (2, True)
    assert call(folder, "baseline", "clear").code == 0
    assert read_baseline(folder / "runs") is None


def test_the_gate_refuses_another_eval_set_and_a_table_that_was_edited(folder: Path, call: Call) -> None:
    score(folder, "other", ANSWERS["third"], evalset="other.jsonl", category="c")
    done = call(folder, "gate", "other", "--baseline", "first", "--json")
    assert done.code == 1
    assert json.loads(done.out)["gate"]["reasons"][0].startswith("what was measured differs: evalset")
    allowed = ("--allow-different", "evalset")
    assert call(folder, "gate", "other", "--baseline", "first", *allowed).code == 0
    # A table that says that all is well is not believed: the gate derives its own.
    (folder / "runs/second/samples.parquet").write_bytes((folder / "runs/third/samples.parquet").read_bytes())
    assert call(folder, "gate", "second", "--baseline", "first", "--max-regressions", "0").code == 1


def test_the_gate_by_its_margin(folder: Path, call: Call) -> None:
    """The same run twice is no regression; what ten items can't tell is neither yes nor no, and has its own code."""
    score(folder, "again", ANSWERS["first"])
    same = call(folder, "gate", "again", "--baseline", "first")
    assert (same.code, "no item regressed" in same.out) == (0, True)
    unsure = call(folder, "gate", "second", "--baseline", "first", "--json")
    found = json.loads(unsure.out)
    assert (unsure.code, found["exit_code"]) == (4, 4)
    assert (found["gate"]["outcome"], found["gate"]["margin"]) == ("undecided", 0.05)
    assert "can't be told from 10 items" in found["gate"]["reasons"][0]
    assert call(folder, "gate", "second", "--baseline", "first", "--allow-undecided").code == 0
    assert call(folder, "gate", "second", "--baseline", "first", "--margin", "0.2").code == 0
    worse = call(folder, "gate", "first", "--baseline", "third", "--junit", "j.xml")
    assert (worse.code, "the score is worse: -0.5000 (p = 0.031)" in worse.out) == (1, True)
    assert ET.parse(folder / "j.xml").getroot().get("failures") == "6"


def failed_and_dry(folder: Path) -> None:
    values = {"evalset": str(folder / "items.jsonl"), "runs": str(folder / "runs")}
    score_predictions(ScoreConfig(**values, run_id="crashed", run_status="crashed", reason="no memory"))
    score_predictions(ScoreConfig(**values, run_id="dry", dry_run=True))
    score(folder, "floor", "x " * 10)


def test_a_run_that_crashed_passes_no_gate_and_is_no_baseline(folder: Path, call: Call) -> None:
    failed_and_dry(folder)
    said = call(folder, "gate", "crashed", "--baseline", "floor", "--min-score", "0")
    assert said.code == 1
    assert said.out.count("the run itself failed: crashed") == 1
    assert call(folder, "gate", "floor", "--baseline", "floor").code == 0
    for name, why in (("crashed", "crashed"), ("dry", "dry run")):
        said = call(folder, "baseline", "set", name)
        assert (said.code, f"{why}; a baseline is a run that was scored" in said.err) == (2, True)


def test_a_dry_run_is_said_to_be_unavailable_and_is_not_ranked(folder: Path, call: Call) -> None:
    """SPEC A6: nothing is invented for it, and it takes no other run off the leaderboard."""
    failed_and_dry(folder)
    assert "Run B was a dry run: its items are unavailable" in call(folder, "compare", "first", "dry").out
    ranked = json.loads(call(folder, "leaderboard", "--json").out)
    assert (ranked["n_items"], len(ranked["places"])) == (10, 4)
    assert {one["run"]: one["reason"] for one in ranked["apart"]} == {
        "crashed": "the run itself failed: crashed", "dry": "a dry run: its answers are made up",
    }  # fmt: skip
    shown = call(folder, "leaderboard").out.splitlines()
    (crashed,) = (line for line in shown if " crashed " in line)
    assert crashed.split()[0] == "–"
    assert crashed.endswith("not ranked: the run itself failed: crashed")
    assert "dry" not in {one["run"] for one in ranked["places"]}


def test_a_baseline_must_be_finished_here_and_stay_as_it_was(folder: Path) -> None:
    runs = folder / "runs"
    with pytest.raises(UsageError, match="no baseline is set"):
        baseline_record(runs)
    set_baseline(runs, Record(runs / "first"))
    assert baseline_record(runs).run_id == "first"
    journal = runs / "first" / "journal" / "000001.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(RecordError, match="another record now"):
        baseline_record(runs)
    with pytest.raises(UsageError, match="has not come to its end"):
        set_baseline(runs, Record(runs / "first"))
    with pytest.raises(UsageError, match="not in"):
        set_baseline(folder, Record(runs / "second"))
    (runs / "baseline.json").write_text('{"run_id": "../first", "journal_sha256": ""}', encoding="utf-8")
    with pytest.raises(UsageError, match="which is not there"):
        baseline_record(runs)


def test_the_leaderboard_is_over_the_newest_records_eval_set(folder: Path, call: Call) -> None:
    found = json.loads(call(folder, "leaderboard", "--json").out)
    assert [(one["run"], one["score"], one["rank"]) for one in found["places"]] == [
        ("third", 1.0, 1), ("second", 0.8, 2), ("first", 0.5, 3),
    ]  # fmt: skip
    score(folder, "other", ANSWERS["third"], evalset="other.jsonl", category="c")
    records, n_others = records_on_one_evalset(folder / "runs", "items")
    assert (sorted(record.run_id for record in records), n_others) == (["first", "second", "third"], 1)
    shown = call(folder, "leaderboard", "first", "third").out
    assert "Better than all others here: third." in shown  # 5 won, none lost: mid-p 0.031
    shown = call(folder, "leaderboard", "second", "third").out
    assert "Can't be told from one another, and the best is among them: third, second." in shown


def test_the_library_gives_frames(records: Path) -> None:
    runs = records / "runs"
    found = bb.compare(runs / "first", bb.load(runs / "second"), margin=0.1)
    assert (found.score.n_lost, found.score.n_won) == (1, 4)
    assert found.score.not_worse is not None
    assert found.items.filter(pl.col("class") == "regressed")["item_id"].to_list() == ["i3"]
    assert found.slices.select("field", "value", "n").rows() == [("category", "c0", 5), ("category", "c1", 5)]
    assert found.history is None
    assert "1 lost, 4 won of 10" in str(found)
    assert found.to_html().startswith("<!doctype html>")
    assert bb.compare(runs / "first", runs / "second", runs / "third").history is not None


def test_loss_curves_come_out_of_the_records(folder: Path) -> None:
    points = [MetricPoint(name="loss", step=step, value=2.0 - step) for step in range(3)]
    write_training_table(folder / "runs" / "first" / TRAINING_TABLE, training_rows("log", points))
    html = bb.compare(folder / "runs" / "first", folder / "runs" / "second").to_html()
    assert "second: not drawn, its trainer logged none" in html
    assert "curve-0" in html


def test_records_without_their_tables_are_named(folder: Path) -> None:
    (folder / "runs/first/samples.parquet").write_bytes(b"PAR1 not")
    with pytest.raises(RecordError, match=r"first/samples\.parquet: not a readable table"):
        bb.compare(folder / "runs/first", folder / "runs/second")
    (folder / "runs/first/manifest.json").unlink()
    with pytest.raises(RecordError, match=r"manifest\.json: not there"):
        bb.compare(folder / "runs/first", folder / "runs/second")


def test_real_checkpoints_from_the_command_line(tmp_path: Path) -> None:
    """m45 base to stage c: no score moves, and the diagnosis names what was lost and won (SPEC A7)."""
    data = shared_data("tunix-rt")
    for name in ("m45_m44_baseline", "m45_post_stage_c"):
        config = ScoreConfig(
            evalset=str(data / "eval_v2_original.jsonl"), predictions=str(data / f"{name}_predictions.jsonl"),
            runs=str(tmp_path / "runs"), run_id=name,
        )  # fmt: skip
        score_predictions(config)
    shown = str(bb.compare(*(tmp_path / "runs" / name for name in ("m45_m44_baseline", "m45_post_stage_c"))))
    assert "100 items compared, none left out." in shown
    assert "0 lost, 0 won of 100: score 0.0000 → 0.0000" in shown
    assert "Expected answer in the text lost in 10 items: eval-v2-005, eval-v2-012, eval-v2-029," in shown
    assert "Expected answer in the text won in 37 items: eval-v2-002, eval-v2-008, eval-v2-010," in shown
