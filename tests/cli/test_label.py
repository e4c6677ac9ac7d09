"""`benchbook label` and `benchbook calibrate`: keys, sheets, cards, and what each ends with."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from benchbook.cli.judges import calibrate
from benchbook.cli.label import label
from benchbook.errors import UsageError
from benchbook.labels.labels import open_labels
from labelled import judged_run
from running import benchbook_here

SCORES = [(2, 0 if n % 10 == 0 else 2) if n % 3 else (1, 2) for n in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one judged run."""
    folder = tmp_path_factory.mktemp("labels")
    judged_run(folder, [*SCORES, None])
    return folder


@pytest.fixture
def at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def do(*words: str, keys: str | None = None) -> Result:
    """A command in this process; `keys` is what is typed."""
    command, rest = (calibrate, words[1:]) if words[0] == "calibrate" else (label, words[1:])
    return CliRunner().invoke(command, list(rest), input=keys, catch_exceptions=True)


def good(*words: str, keys: str | None = None) -> str:
    done = do(*words, keys=keys)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def drawn(out: Path, n: int = 4, *more: str) -> str:
    good("label", "sample", "run", "--n", str(n), "--seed", "7", "--out", str(out), *more)
    return str(out)


def standing(out: str) -> list[tuple[int, str, int | None]]:
    return [(one.sample, one.labeller, one.score) for one in open_labels(out).state.labels()]


def test_keys_label_undo_and_resume(at: Path, tmp_path: Path) -> None:
    out = drawn(tmp_path / "labels")
    samples = open_labels(out).started.samples
    said = good("label", "next", out, "--labeller", "ann", keys="21x0q")
    assert standing(out) == [(samples[0], "ann", 2), (samples[0], "ann", 1), (samples[1], "ann", 0)]
    assert "Everything so far is recorded." in said
    assert "1 of 4" in said
    said = good("label", "next", out, "--labeller", "ann", keys="u12q")
    assert f"undone: sample {samples[1]} accuracy_score 0" in said
    assert standing(out)[2:] == [(samples[1], "ann", 1), (samples[1], "ann", 2)]
    said = good("label", "next", out, "--labeller", "ann", keys="2222")
    assert said.endswith("Nothing is left to label.\n")
    assert len(standing(out)) == 8


def test_a_note_goes_with_the_next_label(at: Path, tmp_path: Path) -> None:
    out = drawn(tmp_path / "labels")
    good("label", "next", out, "--labeller", "ann", keys="n=SUM(A1)\n1q")
    (one,) = open_labels(out).state.labels()
    assert (one.note, one.score) == ("=SUM(A1)", 1)
    (row, *_) = csv.DictReader(io.StringIO(good("label", "export", out, "--labeller", "ann"), newline=""))
    assert json.loads(good("label", "export", out, "--labeller", "ann", "--json"))[0] == row
    assert row["note"] == "'=SUM(A1)"


def test_nothing_to_undo(at: Path, tmp_path: Path) -> None:
    assert "nothing to undo" in good("label", "next", drawn(tmp_path / "labels"), "--labeller", "ann", keys="uq")


def test_the_judge_is_hidden(at: Path, tmp_path: Path) -> None:
    out = drawn(tmp_path / "labels", 10, "--stratify", "faithfulness_score")
    said = good("label", "next", out, "--labeller", "ann", keys="q") + good("label", "export", out)
    assert "It is so." not in said  # the judge's rationale
    assert "scripted" not in said
    for path in (tmp_path / "labels" / "inputs").iterdir():
        assert b"It is so." not in path.read_bytes()
        assert b"faithfulness_score" not in path.read_bytes()


def test_two_people_and_a_third_settle_by_keys(at: Path, tmp_path: Path) -> None:
    out = drawn(tmp_path / "labels", 2)
    good("label", "next", out, "--labeller", "ann", keys="2222")
    good("label", "next", out, "--labeller", "bob", keys="2202")
    assert "Nothing is left to label." in good("label", "next", out, "--labeller", "eve")
    assert "1 disputed" in good("label", "status", out)
    said = good("label", "adjudicate", out, "--labeller", "eve", keys="1")
    assert "one said 2\n  one said 0" in said
    assert "Nothing is left to settle." in said
    found = json.loads(good("label", "status", out, "--json"))
    assert found["progress"]["by_field"]["accuracy_score"]["adjudicated"] == 1
    assert found["progress"]["by_labeller"] == {"ann": 4, "bob": 4}


def test_a_published_hash_is_held_against(at: Path, tmp_path: Path) -> None:
    out = drawn(tmp_path / "labels", 2)
    sha256 = open_labels(out).sha256
    assert do("label", "status", out, "--expect", sha256).exit_code == 0
    assert do("label", "status", out, "--expect", "0" * 64).exit_code == 1
    assert do("label", "status", out, "--expect", "0" * 64, "--json").exit_code == 1


def fill(text: str, path: Path, score: Any) -> str:
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    for row in rows:
        row |= dict(zip(("accuracy_score", "faithfulness_score"), map(str, score(int(row["sample"]))), strict=True))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def test_a_sheet_goes_out_and_comes_back(at: Path, tmp_path: Path) -> None:
    out = drawn(tmp_path / "labels", 5)
    sheet = fill(good("label", "export", out), tmp_path / "s.csv", lambda n: SCORES[n])
    said = good("label", "import", out, sheet, "--labeller", "ann")
    assert said == "10 labels recorded, 0 there already, 0 rows empty\n"
    again = json.loads(good("label", "import", out, sheet, "--labeller", "ann", "--json"))
    assert again == {"recorded": 0, "there_already": 10, "problems": []}


def test_a_wrong_line_is_named_and_nothing_is_recorded(at: Path, tmp_path: Path) -> None:
    out = drawn(tmp_path / "labels", 5)
    path = tmp_path / "s.csv"
    sheet = fill(good("label", "export", out), path, lambda n: (2, 2))
    path.write_text(path.read_text(encoding="utf-8").replace(",2,2,", ",5,2,", 1), encoding="utf-8")
    done = do("label", "import", out, sheet, "--labeller", "ann")
    assert done.exit_code == 2
    assert "s.csv:2: accuracy_score: found '5'; expected 0, 1 or 2" in done.output
    assert standing(out) == []


def test_without_a_terminal_there_is_a_way(at: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = drawn(tmp_path / "labels")
    import click

    def no_terminal(echo: bool = False) -> str:
        raise OSError(6, "No such device or address")

    monkeypatch.setattr(click, "getchar", no_terminal)
    with pytest.raises(UsageError, match="use a spreadsheet: benchbook label export"):
        label.main(["next", out, "--labeller", "ann"], standalone_mode=False)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--n", "0"], "n: found 0; expected 1 to 40"),
        (["--n", "41"], "n: found 41; expected 1 to 40"),
        (["--n", "5", "--stratify", "rationale"], "stratify: found 'rationale'; expected accuracy_score"),
    ],
)
def test_wrong_draws(at: Path, tmp_path: Path, words: Sequence[str], named: str) -> None:
    done = do("label", "sample", "run", "--out", str(tmp_path / "labels"), *words)
    assert isinstance(done.exception, UsageError)
    assert named in str(done.exception)
    assert not (tmp_path / "labels").exists()


def calibrated(at: Path, tmp_path: Path, *words: str, judge: Any = lambda n: SCORES[n]) -> str:
    out = drawn(tmp_path / "labels", 20, "--stratify", "faithfulness_score")
    sheet = fill(good("label", "export", out), tmp_path / "s.csv", judge)
    good("label", "import", out, sheet, "--labeller", "ann")
    return good("calibrate", "run", "--labels", out, *words)


def test_a_card_as_json(at: Path, tmp_path: Path) -> None:
    card = json.loads(calibrated(at, tmp_path, "--json"))
    assert card["judge_model_id"] == "scripted/j@1"
    assert (card["validity"]["n_asked"], card["validity"]["n_valid"]) == (41, 40)
    assert card["labels"]["n_labellers"] == 1
    assert card["calibration"]["n_labelled"] == 20
    assert card["calibration"]["fields"][0]["agreement"]["cohens_kappa"]["estimate"] == 1
    assert card["calibration"]["corrected"][3]["aggregate"] == "faithfulness_failure_rate"
    assert card["retest"]["same_scores"]["reason"] == "no_data"
    assert card["evidence"] is None
    assert "NaN" not in json.dumps(card)


def test_a_card_in_words_and_as_a_page(at: Path, tmp_path: Path) -> None:
    said = calibrated(at, tmp_path, "--html", str(tmp_path / "card.html"))
    assert "The decision is “" in said
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Agreement beyond chance" in page
    assert good("calibrate", "run", "--labels", str(tmp_path / "labels"), "--markdown").startswith("# Inconclusive")


def test_labels_of_another_run_are_refused(at: Path, tmp_path: Path) -> None:
    out = drawn(tmp_path / "labels", 5)
    judged_run(tmp_path / "other", [(2, 2)] * 5)
    done = do("calibrate", str(tmp_path / "other/runs/run"), "--labels", out)
    assert isinstance(done.exception, UsageError)
    assert "labels run run with hash" in str(done.exception)


def test_no_label_yet(at: Path, tmp_path: Path) -> None:
    said = good("calibrate", "run", "--labels", drawn(tmp_path / "labels", 5))
    assert "and the same as people would judge" in said


def test_both_are_commands(folder: Path) -> None:
    assert benchbook_here("label", "--help").returncode == 0
    assert benchbook_here("calibrate", "run", cwd=folder).returncode == 2
