"""`gate --baseline` with --labels: not worse than the baseline, as people would judge."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner

import benchbook as bb
from benchbook.cli.main import benchbook
from benchbook.errors import UsageError
from benchbook.labels.labels import open_labels
from benchbook.library.comparing import regression_gate
from benchbook.record.folder import Record
from cli.test_compare_by_people import TURNED, Call, N, call, folder, harsh, label

__all__ = ["call", "folder", "harsh"]

BOTH = ("--labels", "labels-a", "--labels", "labels-b")
GATED = "Gated by what people would judge (--labels)."


def test_a_run_that_people_find_worse_does_not_pass(call: Call) -> None:
    lines = call("gate", "b", "--baseline", "a", *BOTH, code=1).splitlines()
    assert lines[0] == "  ! As judged: the gate holds. As people would judge: the gate does not hold."
    assert lines[1] == f"  ! {TURNED}"
    assert lines[2].startswith("The gate holds: b against a")
    place = lines.index(GATED)
    assert lines[place + 1] == "The gate does not hold as people would judge"
    assert lines[place + 2].startswith("  - the score is worse as people would judge: -0.")
    assert lines[place + 2].endswith("; the gate allows a loss of 0.05")
    assert lines[place + 3].startswith("As people would judge: −")


@pytest.mark.usefixtures("harsh")
def test_a_run_that_only_the_judge_finds_worse_passes(call: Call) -> None:
    call("gate", "d", "--baseline", "a", code=1)
    lines = call("gate", "d", "--baseline", "a", "--labels", "labels-a").splitlines()
    assert lines[0] == "  ! As judged: the gate does not hold. As people would judge: the gate holds."
    assert lines[lines.index(GATED) + 2] == (
        "  not worse by more than 0.05 as people would judge: at 95 % confidence the difference is above +0.0000."
    )


def test_labels_of_one_run_can_not_tell(call: Call) -> None:
    shown = call("gate", "b", "--baseline", "a", "--labels", "labels-b", code=4)
    assert (
        "whether the score is worse by more than 0.05 as people would judge can't be told by labels of 0 items of the "
        "baseline and 12 of the run: of both, answers in which they differ have to be labelled"
    ) in shown
    call("gate", "b", "--baseline", "a", "--labels", "labels-b", "--allow-undecided")


def test_too_few_labels_can_not_tell(call: Call, folder: Path) -> None:
    label(Record(folder / "runs/a"), folder / "few-a", (2, 2), n=3)
    label(Record(folder / "runs/b"), folder / "few-b", (2, 2), n=3)
    shown = call("gate", "b", "--baseline", "a", "--labels", "few-a", "--labels", "few-b", code=4)
    assert (
        "can't be told by labels of 3 items of the baseline and 3 of the run: the difference may be down to -" in shown
    )


def test_the_bound_is_that_of_the_corrected_difference(folder: Path) -> None:
    """One-sided at 95 %: what an interval of 90 % leaves out at its lower end."""
    records = [Record(folder / "runs" / name) for name in ("b", "a")]
    books = [open_labels(folder / "labels-b"), open_labels(folder / "good-b"), open_labels(folder / "labels-a")]
    for of_b in books[:2]:
        found = regression_gate(records[1], records[0], margin=0.2, labels=[of_b, books[2]])
        assert found.people is not None
        twosided = bb.compare("b", "a", confidence=0.9, labels=[of_b.path, books[2].path], runs=folder / "runs")
        assert found.people.not_worse.low == twosided.as_people_would_judge[0].low
        assert found.people.not_worse.confidence == 0.95
        assert found.people.not_worse.holds == ((found.people.not_worse.low or 0.0) > -0.2)
        assert found.outcome == found.people.check.outcome


def test_json_has_both(call: Call) -> None:
    found = json.loads(call("gate", "b", "--baseline", "a", *BOTH, "--json", code=1))
    assert (found["gate"]["outcome"], found["gated_by"], found["exit_code"]) == ("holds", "labels", 1)
    people = found["as_people_would_judge"]
    assert people["gate"]["outcome"] == "does_not_hold"
    assert people["not_worse"]["holds"] is False
    assert people["differences"][0]["turned"] == "reversed"
    plain = json.loads(call("gate", "b", "--baseline", "a", "--json"))
    assert found | plain == found | {"exit_code": 0}
    assert plain.keys() == found.keys() - {"as_people_would_judge", "gated_by"}


@pytest.mark.usefixtures("harsh")
def test_junit_goes_by_people_and_has_both(call: Call, folder: Path) -> None:
    call("gate", "b", "--baseline", "a", *BOTH, "--junit", "b.xml", code=1)
    root = ET.fromstring((folder / "b.xml").read_bytes())
    people, judged = root[0]
    assert (root[0].get("tests"), root[0].get("failures"), root[0].get("errors")) == ("2", "1", "0")
    assert (people.get("name"), people[0].tag) == ("against a, as people would judge", "failure")
    said = (people[0].text or "").splitlines()
    assert said[:2] == ["As judged: the gate holds. As people would judge: the gate does not hold.", TURNED]
    assert (judged.get("name"), judged[0].tag) == ("against a, as judged", "system-out")
    assert judged[0].text == "The gate holds as judged"

    call("gate", "d", "--baseline", "a", "--labels", "labels-a", "--junit", "d.xml")
    root = ET.fromstring((folder / "d.xml").read_bytes())
    assert (root.get("failures"), root.get("errors")) == ("0", "0")  # as the command ends
    assert (root[0][1][0].text or "").startswith("The gate does not hold as judged\n")
    assert len(root[1]) == N


@pytest.mark.parametrize("option", [("--max-regressions", "0"), ("--min-score", "0.5")])
def test_what_is_counted_is_not_corrected(call: Call, option: tuple[str, str], folder: Path) -> None:
    said = call("gate", "b", "--baseline", "a", *option, *BOTH, code=2)
    assert f"{option[0]} goes by the scores as judged" in said
    a, b = (Record(folder / "runs" / name) for name in "ab")
    with pytest.raises(UsageError, match="labels: correct the difference"):
        regression_gate(b, a, max_regressions=0, labels=[open_labels(folder / "labels-a")])


def test_labels_drawn_for_a_decision_are_refused(call: Call) -> None:
    call("label", "sample", "a", "--for", "decision", "--n", "6", "--out", "gate-for-a")
    words = ["gate", "b", "--baseline", "a", "--labels", "gate-for-a"]
    said = CliRunner().invoke(benchbook, words).exception
    assert "was drawn for a decision" in str(said)
