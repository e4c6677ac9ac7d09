"""Draws of another run's items: the same items, the same chance for every answer, drawn again, refused where unfair."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

import benchbook as bb
from benchbook.comparison.compared import compare_runs
from benchbook.comparison.corrected import corrected_set
from benchbook.comparison.records import compared_run
from benchbook.errors import ConfigError, UsageError
from benchbook.labels.decision_sheet import sample_for_decision
from benchbook.labels.drawing import BOTH, HERE_ALONE, draw, draw_of_items
from benchbook.labels.items_of import n_not_drawn, sample_items_of
from benchbook.labels.labels import LabelBook, give_labels
from benchbook.labels.sheet import derived_anew, is_as_drawn, sample_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.labels.verify import verify_labels
from benchbook.labels.worths import worths_of_runs
from benchbook.record.folder import Record
from labelled import Scores, judged_run
from labels.test_verify_labels import forge, in_fact
from running import benchbook_here

N = 40


def run_of(folder: Path, run_id: str, scores: Sequence[Scores], **settings: object) -> Record:
    """A run over the same items as every other of so many, with answers of its own."""
    items = [{"answer": f"{run_id} says {number:03d}."} for number in range(len(scores))]
    return judged_run(folder, scores, items=items, run_id=run_id, **settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def a(folder: Path) -> Record:
    """Items 0 to 3 have no score: the judge's replies could not be read."""
    return run_of(folder, "a", [None] * 4 + [(1, 2)] * (N - 5) + [(2, 2)])


@pytest.fixture(scope="module")
def b(folder: Path) -> Record:
    """Items 4 to 11, and 3, have no score."""
    return run_of(folder, "b", [(2, 2)] * 3 + [None] * 9 + [(2, 2)] * (N - 12))


@pytest.fixture(scope="module")
def of_a(a: Record) -> LabelBook:
    return sample_labels(a, a.path.parent / "of-a", n=18, stratify=["accuracy_score"], seed=5)


def test_the_same_items_are_drawn_and_no_answer_has_another_chance(b: Record, of_a: LabelBook, tmp_path: Path) -> None:
    book = sample_items_of(b, tmp_path / "of-b", items_of=of_a)
    items = {one.item_id for one in of_a.sheet.values()}
    ours = {one.item_id for one in book.sheet.values()}
    unscored, alone = {f"i{n:03d}" for n in range(3, 12)}, {"i000", "i001", "i002"}
    both = items - unscored
    assert unscored & items  # else nothing is tried here
    assert both == ours - alone
    assert n_not_drawn(book.started) == len(items) - len(both)
    # Of the three that A has no score beside, the share that came of the 28 that both scored.
    share = round(3 * len(both) / 28)
    assert len(ours & alone) == share
    assert {name: (one.n_drawn, one.n_eligible) for name, one in book.started.strata.items()} == {
        BOTH: (len(both), 28), HERE_ALONE: (share, 3),
    }  # fmt: skip
    assert all(row.answer.startswith("b says") for row in book.sheet.values())
    assert [one.item_id for one in book.sheet.values()] != sorted(ours)  # shown by chance


@pytest.mark.slow
def test_every_answer_has_the_same_chance() -> None:
    """Over 4,000 seeds of the other run: 12 of its 30 samples, of which this run scored 24, and 10 it scored alone.
    An answer's chance is 12 / 30 = 0.4; a share of 4,000 is off by more than 0.03 once in 10,000 times."""
    unit_of = {sample: (f"i{sample}", 0) for sample in range(6, 40)}
    alone = frozenset(range(30, 40))
    counts: Counter[int] = Counter()
    for seed in range(4_000):
        there = draw(dict.fromkeys(range(30), ""), 12, seed=seed, run_sha256="there").samples
        wanted = [(f"i{sample}", 0) for sample in there]
        counts.update(draw_of_items(unit_of, wanted, alone=alone, seed=seed, run_sha256="here").samples)
    chances = [counts[sample] / 4_000 for sample in unit_of]
    assert min(chances) > 0.37
    assert max(chances) < 0.43


def test_a_run_with_none_of_the_items_has_no_draw() -> None:
    with pytest.raises(
        ConfigError, match="items_of: found 1 items; expected some that this run has a scored answer to"
    ):
        draw_of_items({0: ("x", 0)}, [("y", 0)], alone=frozenset(), seed=0, run_sha256="")


@pytest.mark.slow
def test_the_draw_is_verified_with_the_other_run_and_without(
    a: Record, b: Record, of_a: LabelBook, tmp_path: Path
) -> None:
    book = sample_items_of(b, tmp_path / "of-b", items_of=of_a)
    found = verify_labels(Record(book.path), against=b)
    assert (found.findings, found.notes) == ((), ())
    away = Record(tmp_path / "elsewhere" / "b")
    b.path.rename(tmp_path / "moved")
    try:
        away.path.parent.mkdir()
        (tmp_path / "moved").rename(away.path)
        found = verify_labels(Record(book.path), against=away)
        assert (found.findings, found.notes) == ((), ("The run a is not there: who drew its items was not checked",))
        assert verify_labels(Record(book.path), against=away, runs=a.path.parent).notes == ()
    finally:
        away.path.rename(b.path)


def test_another_draw_than_the_record_says_is_found(b: Record, of_a: LabelBook, tmp_path: Path) -> None:
    book = sample_items_of(b, tmp_path / "of-b", items_of=of_a)
    started, here = book.started, {one.item_id for one in book.sheet.values()}
    assert started.items_of is not None
    others = [one for one in range(12, N) if one not in started.samples]
    with derived_anew(b) as run:
        assert is_as_drawn(run, started)
        swapped = msgspec.structs.replace(started, samples=[others[0], *started.samples[1:]])
        assert not is_as_drawn(run, swapped)
        known = next(one for one in started.items_of.items if one in here)
        fewer = msgspec.structs.replace(started.items_of, items=[one for one in started.items_of.items if one != known])
        assert not is_as_drawn(run, msgspec.structs.replace(started, items_of=fewer))


def test_items_that_somebody_chose_are_found_by_the_other_run(b: Record, of_a: LabelBook, tmp_path: Path) -> None:
    """An item that A did not draw, in the place of one that B has no score for: by B alone the draw is right."""
    book = sample_items_of(b, tmp_path / "of-b", items_of=of_a)
    plan = json.loads((book.path / "journal" / "000001.jsonl").read_bytes().splitlines()[0])["items_of"]
    known = {f"i{n:03d}" for n in range(4, 12)}
    place = next(n for n, one in enumerate(plan["items"]) if one in known)
    plan["items"][place] = next(one for one in sorted(known) if one not in plan["items"])
    forge(book.path, in_fact(0, items_of=plan))
    told = [str(one) for one in verify_labels(Record(book.path), against=b).findings]
    assert told == ["journal/000001.jsonl:1: items_of: not the items that the seed 5 draws from the run a"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"repeats": [0]}, "items_of: found 1 repeats; expected one for each of 18 items"),
        ({"run_id": "../a"}, "items_of: found '../a'; expected a name for a folder"),
        ({"run_sha256": "A" * 64}, "items_of: expected a hash of 64 hexadecimal digits"),
    ],
    ids=["repeats", "run-id", "hash"],
)
def test_a_plan_that_no_draw_makes_is_named(
    b: Record, of_a: LabelBook, tmp_path: Path, change: dict[str, object], what: str
) -> None:
    book = sample_items_of(b, tmp_path / "of-b", items_of=of_a)
    plan = json.loads((book.path / "journal" / "000001.jsonl").read_bytes().splitlines()[0])["items_of"]
    forge(book.path, in_fact(0, items_of=plan | change))
    assert any(what in str(one) for one in verify_labels(Record(book.path), against=b).findings)


@pytest.mark.slow
def test_a_comparison_of_the_two_is_of_pairs(a: Record, b: Record, of_a: LabelBook, tmp_path: Path) -> None:
    """Drawn apart, the two books share what chance lets them: with the same items all of them are pairs."""
    books = [of_a, sample_items_of(b, tmp_path / "of-b", items_of=of_a)]
    n_both = books[1].started.strata[BOTH].n_drawn
    said = [
        give_labels(book, [Given(one, "ann", field, 1) for one in book.started.samples for field in FIELDS])
        for book in books
    ]
    found = corrected_set(compare_runs([compared_run(one) for one in (a, b)]), worths_of_runs([a, b], said))
    score = found.pairs[0].corrected[0]
    assert (score.design, score.n_both, score.is_drawn) == ("paired", n_both, True)


@pytest.mark.slow
def test_with_repeats_the_same_repeats_are_drawn(tmp_path: Path) -> None:
    a, b = (run_of(tmp_path, name, [(1, 2)] * 12, repeats=3) for name in "ab")
    of_a = sample_labels(a, tmp_path / "of-a", n=10, stratify=[], seed=0)
    of_b = sample_items_of(b, tmp_path / "of-b", items_of=of_a)
    assert sorted(of_b.started.samples) == sorted(of_a.started.samples)
    assert of_b.started.items_of is not None
    assert max(of_b.started.items_of.repeats) > 0
    assert verify_labels(Record(of_b.path), runs=b.path.parent).notes == ()
    other = run_of(tmp_path, "c", [(1, 2)] * 12)
    with pytest.raises(UsageError, match="found 1 repeat; expected 3, as a has"):
        sample_items_of(other, tmp_path / "of-c", items_of=of_a)


@pytest.mark.slow
def test_labels_of_a_third_run_lead_to_the_first_draw(a: Record, b: Record, of_a: LabelBook, tmp_path: Path) -> None:
    c = run_of(a.path.parent.parent, "c", [(2, 2)] * N)
    of_b = sample_items_of(b, tmp_path / "of-b", items_of=of_a)
    straight = sample_items_of(c, tmp_path / "of-c", items_of=of_a, seed=9)
    around = sample_items_of(c, tmp_path / "around", items_of=of_b, runs=a.path.parent, seed=9)
    assert straight.started.samples == around.started.samples
    with pytest.raises(UsageError, match="its items were drawn from this run; label what it holds"):
        sample_items_of(a, tmp_path / "again", items_of=of_b)


@pytest.mark.slow
def test_unfair_draws_are_refused(a: Record, b: Record, of_a: LabelBook, tmp_path: Path) -> None:
    decisive, _ = sample_for_decision(a, tmp_path / "decisive", n=12)
    with pytest.raises(UsageError, match="drawn for the decision of run a, more of some of its judge's verdicts"):
        sample_items_of(b, tmp_path / "of-b", items_of=decisive)
    other = run_of(tmp_path / "other", "d", [(2, 2)] * 5)
    with pytest.raises(UsageError, match="with another hash: the items are not the same"):
        sample_items_of(other, tmp_path / "of-d", items_of=of_a)
    nowhere = tmp_path / "nowhere"
    with pytest.raises(UsageError, match="the run that the items were drawn from is not in"):
        sample_items_of(other, tmp_path / "of-d", items_of=sample_labels(a, nowhere, n=3, stratify=[], seed=0))
    of_b = sample_items_of(b, tmp_path / "of-b", items_of=of_a)
    with pytest.raises(UsageError, match="has the items of labels of a; only a draw of this run's own"):
        sample_for_decision(b, tmp_path / "more", n=3, labels=of_b)


def test_items_that_were_chosen_are_refused(a: Record, b: Record, tmp_path: Path) -> None:
    chosen = sample_labels(a, tmp_path / "chosen", n=3, stratify=[], seed=0)
    forge(chosen.path, in_fact(0, seed=1))
    with pytest.raises(UsageError, match="its seed draws other samples from a: somebody chose them"):
        bb.label(str(b.path), out=tmp_path / "of-b", items_of=chosen.path)


def test_the_command_and_the_library_say_what_was_not_drawn(
    b: Record, of_a: LabelBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bb.label(str(b.path), out=tmp_path / "by-library", items_of=of_a.path)
    n, missing = len(made.book.started.samples), made.n_not_drawn
    assert missing > 0
    monkeypatch.chdir(tmp_path)
    runs = str(b.path.parent)
    said = benchbook_here("label", "sample", "b", "--items-of", str(of_a.path), "--out", "of-b", "--runs", runs)
    both = made.book.started.strata[BOTH].n_drawn
    more = f"{n - both} of 3 answers that the other run has no score beside"
    assert said.stdout.decode().splitlines()[:3] == [
        f"of-b: {n} of 31 scored answers, to the items of {of_a.path}",
        f"  {missing} items were not drawn: this run has no scored answer there",
        f"  {both} of 28 that both runs scored, and {more}, as large a share",
    ]
    with pytest.raises(UsageError, match="these labels say which items, and how many"):
        bb.label(str(b.path), out=tmp_path / "no", items_of=of_a.path, n=3)
    refused = benchbook_here("label", "sample", "b", "--items-of", str(of_a.path), "--n", "3", "--runs", runs)
    assert refused.returncode == 2
    assert "--items-of: these labels say which items, and how many" in refused.stderr.decode()
