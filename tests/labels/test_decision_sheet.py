"""Draws for the decision: recorded, drawn again, gone on from, and held to what the record says of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

import benchbook as bb
from benchbook.errors import ConfigError, UsageError
from benchbook.labels.deciding import DecisionPlan
from benchbook.labels.decision_sheet import sample_for_decision
from benchbook.labels.judge_card import judge_card
from benchbook.labels.labels import LabelBook, give_labels
from benchbook.labels.sheet import derived_anew, is_as_drawn, sample_labels
from benchbook.labels.state import Given
from benchbook.labels.verify import verify_labels
from benchbook.record.folder import Record
from benchbook.views.label_plan import plan_words
from labelled import judged_run
from running import benchbook_here

RNG = random.Random(3)
SCORES = [
    (RNG.choices([0, 1, 2], [3, 10, 87])[0], RNG.choices([0, 1, 2], [3, 5, 92])[0]) for _ in range(120)
]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return judged_run(tmp_path_factory.mktemp("run"), SCORES)


def people_label(book: LabelBook) -> LabelBook:
    """Ann agrees with the judge, but finds every fortieth answer inaccurate: too few to settle anything, whatever is
    drawn, which goes by the run's hash."""
    names = "accuracy_score", "faithfulness_score"
    given = [
        Given(sample, "ann", name, 0 if sample % 40 == 0 and place == 0 else SCORES[sample][place])
        for sample in book.started.samples
        for place, name in enumerate(names)
        if book.state.score_by("ann", sample, name) is None
    ]
    return give_labels(book, given)


def test_the_draw_is_in_the_record_and_is_drawn_again(run: Record, tmp_path: Path) -> None:
    book, plan = sample_for_decision(run, tmp_path / "labels", n=40)
    allocation = book.started.allocation
    assert allocation is not None
    assert (allocation.n_to_settle, allocation.aggregates) == (plan.n_to_settle, [*plan.aggregates])
    assert sum(one.n_drawn for one in book.started.strata.values()) == len(book.started.samples) == 40
    assert set(allocation.verdicts.values()) == set(book.started.strata)
    found = verify_labels(Record(book.path), against=run)
    assert (found.findings, found.notes) == ((), ())


def test_rare_verdicts_are_drawn_more_than_by_chance(run: Record, tmp_path: Path) -> None:
    book, _ = sample_for_decision(run, tmp_path / "labels", n=40)
    shares = {name: one.n_drawn / one.n_eligible for name, one in book.started.strata.items()}
    assert shares["2 / 2"] < 40 / 120 < max(shares.values())


def test_another_draw_than_the_record_says_is_found(run: Record, tmp_path: Path) -> None:
    book, _ = sample_for_decision(run, tmp_path / "labels", n=40)
    others = [one for one in range(120) if one not in book.started.samples]
    with derived_anew(run) as derived:
        assert is_as_drawn(derived, book.started)
        swapped = msgspec.structs.replace(book.started, samples=[others[0], *book.started.samples[1:]])
        assert not is_as_drawn(derived, swapped)
        assert book.started.allocation is not None
        fewer = dict(list(book.started.allocation.verdicts.items())[1:])
        allocation = msgspec.structs.replace(book.started.allocation, verdicts=fewer)
        assert not is_as_drawn(derived, msgspec.structs.replace(book.started, allocation=allocation))
        assert not is_as_drawn(derived, msgspec.structs.replace(book.started, stratify=["no such thing"]))


@pytest.mark.slow
def test_a_second_wave_goes_on_from_the_first(run: Record, tmp_path: Path) -> None:
    first = people_label(sample_labels(run, tmp_path / "first", n=30, stratify=["category"], seed=5))
    second, plan = sample_for_decision(run, tmp_path / "second", n=20, labels=first)
    assert plan.n_labelled == 30
    assert len(second.started.samples) == 50
    assert set(first.started.samples) < set(second.started.samples)
    assert {(one.sample, one.field, one.score) for one in second.state.labels()} == {
        (one.sample, one.field, one.score) for one in first.state.labels()
    }
    third, _ = sample_for_decision(run, tmp_path / "third", n=10, seed=9, labels=second)  # no more that could settle it
    assert third.started.allocation is not None
    assert third.started.allocation.earlier[0].sha256 == first.sha256
    for book in (second, third):
        assert verify_labels(Record(book.path), against=run).findings == ()
    assert sum(one.n_drawn for one in third.started.strata.values()) == 60


def test_what_was_settled_in_dispute_is_taken_along(run: Record, tmp_path: Path) -> None:
    book = sample_labels(run, tmp_path / "first", n=5, stratify=[], seed=0)
    one = book.started.samples[0]
    book = give_labels(book, [Given(one, "ann", "accuracy_score", 2), Given(one, "bob", "accuracy_score", 0)])
    book = give_labels(book, [Given(one, "eve", "accuracy_score", 1, adjudicates=True)])
    again, _ = sample_for_decision(run, tmp_path / "second", n=5, labels=book)
    assert again.state.gold(one, "accuracy_score") == book.state.gold(one, "accuracy_score")


@pytest.mark.slow
def test_corrected_values_weigh_each_stratum_by_its_size(run: Record, tmp_path: Path) -> None:
    book, _ = sample_for_decision(run, tmp_path / "labels", n=60)
    book = people_label(book)
    card = judge_card(run, book)
    found = {one.aggregate: one.corrected for one in card.calibration.corrected}["accuracy_mean"]
    assert book.started.allocation is not None
    verdicts = book.started.allocation.verdicts
    by_hand = 0.0
    for name, one in book.started.strata.items():
        labels = [
            label.score or 0
            for label in book.state.labels()
            if label.field == "accuracy_score" and verdicts[" / ".join(map(str, SCORES[label.sample]))] == name
        ]
        by_hand += one.n_eligible / 120 * sum(labels) / len(labels)
    assert found.estimate == pytest.approx(by_hand)
    assert found.method == "stratified_jeffreys"
    assert card.labels.as_drawn
    assert "agreement and bias are those of the labelled answers" in card.calibration.warnings[-1]


@pytest.mark.slow
def test_a_draw_by_chance_keeps_its_bytes_and_its_methods(run: Record, tmp_path: Path) -> None:
    book = people_label(sample_labels(run, tmp_path / "labels", n=60, stratify=["accuracy_score"], seed=1))
    line = (book.path / "journal" / "000001.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert "allocation" not in json.loads(line)
    methods = {one.corrected.method for one in judge_card(run, book).calibration.corrected}
    assert methods == {"post_stratified", "ppi++_bounded"}


def test_labels_of_one_decision_are_not_taken_for_another_run(run: Record, tmp_path: Path) -> None:
    book, _ = sample_for_decision(run, tmp_path / "labels", n=60)
    other = judged_run(tmp_path / "other", [(2, 2)] * 120)
    with pytest.raises(UsageError, match="hold for no other run"):
        judge_card(other, people_label(book))
    with pytest.raises(UsageError, match="not drawn from this run"):
        sample_for_decision(other, tmp_path / "more", labels=book)


def test_what_labels_have_settled_needs_no_more(tmp_path: Path) -> None:
    run = judged_run(tmp_path, [(0, 0)] * 60)
    book = sample_labels(run, tmp_path / "labels", n=50, stratify=[], seed=0)
    names = "accuracy_score", "faithfulness_score"
    book = give_labels(book, [Given(one, "ann", name, 0) for one in book.started.samples for name in names])
    with pytest.raises(UsageError, match=r"settled it: .* does not hold"):
        sample_for_decision(run, tmp_path / "more", labels=book)


@pytest.mark.parametrize("n", [0, 121])
def test_numbers_that_can_not_be_are_refused(run: Record, tmp_path: Path, n: int) -> None:
    with pytest.raises(ConfigError, match="1 to 120"):
        sample_for_decision(run, tmp_path / "labels", n=n)


def test_the_command_says_how_many_of_each(run: Record, tmp_path: Path) -> None:
    done = benchbook_here(
        "label", "sample", str(run.path), "--for", "decision", "--n", "50", "--out", "labels", cwd=tmp_path
    )
    said = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert said.startswith("labels: 50 of 120 scored answers, drawn by seed 0 for the decision\n")
    assert "  accuracy_score / faithfulness_score 2 / 2: " in said


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        pytest.param(
            {"aggregates": ("pass_rate",), "n_to_settle": 40, "n_by_chance": 95},
            "About 40 labels settle it, if people score as expected (pass_rate holds); by chance about 95: 55 fewer",
            id="fewer",
        ),
        pytest.param(
            {"aggregates": ("a", "b", "c"), "n_to_settle": 40, "n_by_chance": None},
            "About 40 labels settle it, if people score as expected (a, b and c hold); by chance, labels of all "
            "answers would not",
            id="not-by-chance",
        ),
        pytest.param(
            {"aggregates": ("pass_rate",), "would": "fail", "reason": "on_the_limit"},
            "No number of labels is expected to settle pass_rate: its value is the limit itself",
            id="none",
        ),
    ],
)
def test_a_plan_in_words(plan: dict[str, Any], says: str) -> None:
    rest = {"would": "hold", "n_to_settle": None, "n_by_chance": None, "n_labelled": 0}
    assert plan_words(DecisionPlan(**(rest | plan))) == says


def test_the_library_draws_for_the_decision(run: Record, tmp_path: Path) -> None:
    first = bb.label(run.path, out=tmp_path / "first", n=10, drawn_for="decision")
    assert first.plan is not None
    assert bb.label(run.path, out=tmp_path / "more", n=5, drawn_for="decision", labels=first).sheet.height == 15
    with pytest.raises(UsageError, match="drawn_for"):
        bb.label(run.path, out=tmp_path / "none", labels=first)
    with pytest.raises(UsageError, match="stratify"):
        bb.label(run.path, out=tmp_path / "none", drawn_for="decision", stratify="passed")
