"""`compare`, `leaderboard` and `gate` with --labels: as judged, and as people would judge."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import benchbook as bb
from benchbook.cli.main import benchbook
from benchbook.errors import UsageError
from benchbook.labels.labels import give_labels, open_labels
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.record.folder import Record
from labelled import judged_run
from scored import scored

N = 12
Call = Callable[..., str]


def label(record: Record, out: Path, scores: tuple[int, int], n: int = N) -> None:
    book = sample_labels(record, out, n=n, stratify=[], seed=0)
    give_labels(
        book,
        [Given(one, "ann", name, s) for one in book.started.samples for name, s in zip(FIELDS, scores, strict=True)],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs a, b and c over one set: the judge is kindest to b, whose answers people find wrong; c's answers are a's."""
    folder = tmp_path_factory.mktemp("labelled")
    other = [{"answer": f"Other {number:03d}."} for number in range(N)]
    for name, scores, items in (("a", (1, 2), ()), ("b", (2, 2), other), ("c", (2, 2), ())):
        record = judged_run(folder / name, [scores] * N, items=items, run_id=name)
        shutil.copytree(record.path, folder / "runs" / name)
        if name != "c":
            label(record, folder / f"labels-{name}", (2, 2) if name == "a" else (0, 0))
    label(Record(folder / "runs/b"), folder / "good-b", (2, 2))
    return folder


@pytest.fixture(scope="module")
def harsh(folder: Path) -> Path:
    """Run d has the answers of a, and a judge that finds them worse."""
    record = judged_run(folder / "harsh", [(0, 1)] * N, run_id="d")
    shutil.copytree(record.path, folder / "runs" / "d")
    return folder


@pytest.fixture
def call(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.chdir(folder)

    def invoked(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(benchbook, words)
        assert done.exit_code == code, done.output
        return done.output

    return invoked


TURNED = "By score, people would judge the other way: as judged B is better than A, as people would judge it is worse."


def test_what_is_turned_comes_before_any_number(call: Call) -> None:
    lines = call("compare", "a", "b", "--labels", "labels-a", "--labels", "labels-b").splitlines()
    assert lines[0].strip() == f"! {TURNED}"
    assert any(line.startswith("12 items compared") for line in lines[1:])
    assert any(line.startswith("As people would judge: ") for line in lines)


def test_the_page_and_markdown_say_it_first(call: Call, folder: Path) -> None:
    labels = ("--labels", "labels-a", "--labels", "labels-b")
    markdown = call("compare", "a", "b", *labels, "--markdown", "--html", "c.html")
    assert markdown.startswith(f"# a → b\n\n- {TURNED}\n")
    page = (folder / "c.html").read_text(encoding="utf-8")
    assert 0 < page.index(TURNED) < page.index("12 items compared")
    assert "Score, as people would judge" in page


def test_json_has_both(call: Call) -> None:
    found = json.loads(call("compare", "a", "b", "--labels", "labels-a", "--labels", "labels-b", "--json"))
    score, passing = found["comparisons"][0]["as_people_would_judge"]
    assert (score["metric"], score["turned"], score["verdict"], score["design"]) == (
        "score",
        "reversed",
        "worse",
        "paired",
    )
    assert score["judged"]["difference"] == found["comparisons"][0]["score"]["difference"] > 0
    assert score["low"] <= score["difference"] <= score["high"] < 0
    assert (score["n"], score["n_labelled_a"], score["n_labelled_b"]) == (N, N, N)
    assert passing["metric"] == "passing"


def test_a_claim_that_goes_away(call: Call) -> None:
    first = call("compare", "a", "b", "--labels", "labels-a", "--labels", "good-b").splitlines()[0]
    said = "By score, B is better than A as judged alone: as people would judge, which is better can't be told."
    assert first.strip() == f"! {said}"


def test_another_judge_of_the_same_answers(call: Call) -> None:
    shown = " ".join(call("compare", "a", "c", "--labels", "labels-a").split())
    assert shown.startswith("! By score, B is better than A as judged alone: both gave the same answers")
    assert "Corrected over 12 items, 12 of them with the same answer in both, by the answers alone." in shown


def test_labels_of_one_run_alone_say_so(call: Call) -> None:
    shown = " ".join(call("compare", "a", "b", "--labels", "labels-a").split())
    assert shown.startswith("A a B b")
    assert "nothing can be said, since no answer of B is labelled where the two runs' answers differ." in shown


def test_three_runs_at_a_glance(call: Call) -> None:
    shown = " ".join(call("compare", "a", "b", "c", "--labels", "labels-a", "--labels", "labels-b").split())
    assert shown.startswith("! By score, people would judge the other way: as judged b is better than a")
    assert "! By score, c is better than a as judged alone: both gave the same answers" in shown
    assert "As judged, and as people would judge, each against the first" in shown
    assert "by an interval" not in shown  # of pairs in full alone
    full = call("compare", "a", "b", "c", "--labels", "labels-a", "--labels", "labels-b", "--details")
    assert "For people, B is as an interval says that is adjusted by Bonferroni over 2." in full


def test_without_labels_nothing_is_said_of_people(call: Call) -> None:
    assert "as_people_would_judge" not in call("compare", "a", "b", "--json")
    assert "people" not in call("compare", "a", "b")
    assert "as_people_would_judge" not in call("leaderboard", "a", "b", "--json")


def test_the_leaderboard_has_people_beside_the_judge(call: Call) -> None:
    lines = call("leaderboard", "a", "b", "--labels", "labels-b").splitlines()
    assert lines[1].split()[:6] == ["Rank", "Run", "Model", "Score", "For", "people"]
    of_b, of_a = lines[2].split(), lines[3].split()
    assert (of_b[1], of_b[3], of_b[6]) == ("b", "1.0000", "to")  # score, people's, and its interval
    assert (of_a[1], of_a[4], of_a[5]) == ("a", "–", "–")
    assert (
        "For people: the score as people would judge, with its 95 % interval, by labelled items: b 12 of 12." in lines
    )
    (found,) = json.loads(call("leaderboard", "a", "b", "--labels", "labels-b", "--json"))["as_people_would_judge"]
    assert (found["run"], found["n_labelled"]) == ("b", N)
    assert found["low"] <= found["value"] <= found["high"] < 1.0
    assert of_b[4] == f"{found['value']:.4f}"


def test_a_leaderboard_by_what_labels_do_not_correct(folder: Path) -> None:
    with pytest.raises(UsageError, match="accuracy_score; they correct score and passing"):
        bb.leaderboard("a", "b", metric="accuracy_score", labels=folder / "labels-b", runs=folder / "runs")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("gate", "b", "--labels", "labels-b", "--by-rule"), "--by-rule is by the values alone"),
        (("gate", "b", "--labels", "labels-b", "--confidence", "none"), "--confidence none is by the values alone"),
        (("gate", "b", "--labels", "labels-b", "--labels", "labels-a"), "of the release gates, one folder decides"),
    ],
)
def test_what_does_not_go_together(call: Call, words: tuple[str, ...], says: str) -> None:
    assert says in call(*words, code=2)


def test_the_gate_goes_by_people(call: Call) -> None:
    shown = " ".join(call("gate", "b", "--labels", "labels-b", code=1).split())
    assert shown.startswith("! The decision is “Inconclusive” as judged, and “Not ready” as people would judge")
    assert "Gated by what people would judge (--labels)." in shown
    assert "The decision is “Inconclusive” as judged, and “Not ready” as people would judge" in shown
    found = json.loads(call("gate", "b", "--labels", "labels-b", "--json", code=1))
    assert (found["decision"]["decision"], found["gated_by"]) == ("INCONCLUSIVE", "labels")
    assert found["as_people_would_judge"]["decision"] == "NOT_READY"


def test_show_says_first_where_people_would_decide_otherwise(call: Call) -> None:
    lines = call("show", "b", "--labels", "labels-b").splitlines()
    said = "The decision is “Inconclusive” as judged, and “Not ready” as people would judge"
    assert lines[0].startswith(f"  ! {said}")
    assert any(line.startswith(said) for line in lines[1:])
    assert not call("show", "a", "--labels", "labels-a").startswith("  ! The decision")
    found = json.loads(call("show", "b", "--labels", "labels-b", "--json"))
    assert (found["decision"]["decision"], found["as_people_would_judge"]["decision"]) == ("INCONCLUSIVE", "NOT_READY")
    assert "as_people_would_judge" not in call("show", "b", "--json")
    assert "--labels, --failed: one of them" in call("show", "b", "--labels", "labels-b", "--failed", code=2)


def test_show_of_a_run_that_nobody_judged_has_the_scores_both_ways(call: Call, folder: Path) -> None:
    (folder / "exact").mkdir()
    record = scored(folder / "exact", run_id="exact").record
    book = sample_labels(record, folder / "labels-exact", n=2, stratify=[], seed=0)
    give_labels(book, [Given(one, "ann", *book.state.criteria, 1) for one in book.started.samples])
    runs = ("--runs", str(folder / "exact/runs"))
    assert "as people would score" in call("show", "exact", "--labels", "labels-exact", *runs)
    (found,) = json.loads(call("show", "exact", "--labels", "labels-exact", "--json", *runs))["as_people_would_judge"]
    assert found["n"] == 2


def test_the_gate_opens_where_people_would_have_it_ready(call: Call, folder: Path) -> None:
    """A judge that finds fault with every tenth answer, in which people find next to none."""
    record = judged_run(folder / "d", [(0, 0) if number % 10 == 0 else (2, 2) for number in range(100)], run_id="d")
    book = sample_labels(record, folder / "labels-d", n=100, stratify=[], seed=0)
    people = [(1 if one % 10 == 0 else 2, 2) for one in book.started.samples]
    give_labels(
        book,
        [
            Given(one, "ann", name, score)
            for one, scores in zip(book.started.samples, people, strict=True)
            for name, score in zip(FIELDS, scores, strict=True)
        ],
    )
    runs = ("--runs", str(folder / "d/runs"))
    call("gate", "d", *runs, code=1)
    shown = call("gate", "d", "--labels", "labels-d", *runs)
    assert "The decision is “Inconclusive” as judged, and “Ready to release” as people would judge" in shown


def test_the_library(folder: Path) -> None:
    labels: list[Any] = [bb.load_labels(folder / "labels-a"), folder / "labels-b"]
    found = bb.compare("a", "b", labels=labels, runs=folder / "runs")
    score, _ = found.as_people_would_judge
    assert score.turned == "reversed"
    assert str(found).splitlines()[0].strip() == f"! {TURNED}"
    assert bb.compare("a", "b", runs=folder / "runs").as_people_would_judge == ()
    board = bb.leaderboard("a", "b", labels=folder / "labels-b", runs=folder / "runs")
    assert [one.run for one in board.people] == ["b"]
    assert open_labels(folder / "labels-a").sha256 == labels[0].sha256


def test_labels_drawn_for_a_decision_correct_no_comparison(call: Call) -> None:
    """More of some verdicts than of others were labelled, and whoever takes them for a chance draw is wrong."""
    call("label", "sample", "a", "--for", "decision", "--n", "6", "--out", "for-a")
    said = CliRunner().invoke(benchbook, ["compare", "a", "b", "--labels", "for-a"]).exception
    assert "for-a: was drawn for a decision, more of some verdicts than of others: it corrects its own run" in str(said)
