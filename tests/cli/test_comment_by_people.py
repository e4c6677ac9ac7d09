"""`comment` with --labels: as people would judge beside as judged, and what that turns first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchbook.cli.main import benchbook
from benchbook.labels.decision_sheet import sample_for_decision
from benchbook.labels.labels import give_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.record.folder import Record
from cli.test_compare_by_people import Call, call, folder, harsh

__all__ = ["call", "folder", "harsh"]

MARK = "<!-- benchbook-comment benchbook -->\n\n"
AGAINST = ("comment", "b", "--baseline", "a", "--labels", "labels-a", "--labels", "labels-b")
GATE = "As judged: the gate holds. As people would judge: the gate does not hold."
TURNED = (
    "By score, people would judge the other way: as judged this run is better than the baseline, as people would judge "
    "it is worse."
)


def test_what_is_turned_comes_before_the_headline(call: Call) -> None:
    out = call(*AGAINST)
    own = "The decision is “Inconclusive” as judged, and “Not ready” as people would judge"
    assert out.startswith(f"{MARK}- {GATE}\n- {TURNED}\n- {own}")
    assert out.index(TURNED) < out.index("# The gate holds (`holds`)")
    assert out.index("# The gate holds") < out.index("\nAs people would judge: the gate does not hold.\n")
    section = out[out.index("## As people would judge") : out.index("## The run by itself\n")]
    assert "- the score is worse as people would judge: -0." in section
    assert "| Score, as people would judge | −0." in section
    itself = out[out.index("## The run by itself, as people would judge") :]
    assert itself.index(own) < itself.index("| Gate") < itself.index("## Check it yourself")


def test_without_a_baseline_it_is_the_run_s_own_decision_both_ways(call: Call) -> None:
    out = call("comment", "b", "--labels", "labels-b")
    assert out.startswith(f"{MARK}- The decision is “Inconclusive” as judged, and “Not ready” as people would judge")
    assert "## As people would judge" in out
    assert "What changed" not in out


def test_without_labels_nothing_is_said_of_people(call: Call) -> None:
    assert "people" not in call("comment", "b", "--baseline", "a")
    assert "as_people_would_judge" not in call("comment", "b", "--json")


def test_json_has_both(call: Call) -> None:
    found = json.loads(call(*AGAINST, "--json"))
    people = found["as_people_would_judge"]
    assert (found["outcome"], people["outcome"], people["own"]["decision"]) == ("holds", "does_not_hold", "NOT_READY")


@pytest.mark.usefixtures("harsh")
def test_sarif_and_annotations_have_it_before_the_items(call: Call, folder: Path) -> None:
    """Run d gave the answers of a: a judge that finds them worse has lost each item."""
    said = "As judged: the gate does not hold. As people would judge: the gate holds."
    words = ("comment", "d", "--baseline", "a", "--labels", "labels-a", "--out", "d.md")
    lines = call(*words, "--annotations", "--sarif", "d.sarif").splitlines()
    assert lines[0] == f"::notice title=Benchbook%3A as people would judge::{said}"
    assert lines[1].startswith(
        "::notice title=Benchbook%3A as people would judge::By score, this run is worse than the"
    )
    assert sum(line.startswith("::warning") for line in lines) == 10  # as without labels
    run = json.loads((folder / "d.sarif").read_bytes())["runs"][0]
    told = [one["message"]["text"] for one in run["invocations"][0]["toolExecutionNotifications"]]
    assert told[0] == said
    assert len(run["results"]) == 12


def test_what_is_not_turned_is_said_to_annotations_all_the_same(call: Call) -> None:
    words = ("comment", "c", "--baseline", "a", "--labels", "labels-a", "--out", "c.md", "--annotations", "--margin")
    lines = call(*words, "0.05").splitlines()
    assert lines[0].startswith("::notice title=Benchbook%3A as people would judge::")


def test_labels_drawn_for_a_decision_are_of_the_run_s_own(call: Call, folder: Path) -> None:
    book, _ = sample_for_decision(Record(folder / "runs/b"), folder / "decision-b", n=6)
    give_labels(book, [Given(one, "ann", name, 0) for one in book.started.samples for name in FIELDS])
    out = call("comment", "b", "--baseline", "a", "--labels", "decision-b")
    assert "## As people would judge" in out
    assert "As people would judge: the gate" not in out


def test_labels_of_another_run_alone_are_refused(call: Call) -> None:
    said = CliRunner().invoke(benchbook, ["comment", "b", "--labels", "labels-a"]).exception
    assert "labels-a: labels none of the answers of" in str(said)
    del call
