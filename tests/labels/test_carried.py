"""Labels belong to answers: what they say of another judge's run, of a later run, and when they say nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.errors import RecordDamagedError, UsageError
from benchbook.labels.carried import LabelsOfRun, labels_of_run
from benchbook.labels.judge_card import judge_card
from benchbook.labels.labels import LabelBook, SheetRow, answer_sha256, create_labels, give_labels, open_labels
from benchbook.labels.sheet import derived_anew, sample_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.record.facts import LabelsStarted
from benchbook.record.folder import Record
from labelled import judged_run
from scored import scored

PEOPLE = [(2, 2), (1, 2), (2, 0), (0, 2), (2, 2), (2, 1)]
ROW = SheetRow(sample=4, item_id="i4", prompt="Why?", context={"a": 1}, expected_answer="So.", answer="Because.")


def labelled(record: Record, out: Path, n: int = 6) -> LabelBook:
    """People's scores of the run's first answers, item by item."""
    book = sample_labels(record, out, n=n, stratify=[], seed=0)
    return give_labels(
        book,
        [
            Given(sample, "ann", field, score)
            for sample in book.started.samples
            for field, score in zip(FIELDS, PEOPLE[sample], strict=True)
        ],
    )


def held(book: LabelBook, record: Record) -> LabelsOfRun:
    with derived_anew(record) as run:
        return labels_of_run(book, run)


# ── the hash of an answer ────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_is_its_text_and_what_it_was_shown_with() -> None:
    assert answer_sha256(msgspec.structs.replace(ROW, sample=9)) == answer_sha256(ROW)
    # By sha256sum, of
    # {"answer":"Because.","context":{"a":1},"expected_answer":"So.","item_id":"i4","prompt":"Why?"}
    assert answer_sha256(ROW) == "895765898e90a55812eaabe4d26235895f1bd0db12f7ba9feff29670ba5155c3"


@pytest.mark.parametrize(
    "change",
    [{"item_id": "i5"}, {"prompt": "Why not?"}, {"context": None}, {"expected_answer": None}, {"answer": "because."}],
)
def test_another_answer_has_another_hash(change: dict[str, Any]) -> None:
    assert answer_sha256(msgspec.structs.replace(ROW, **change)) != answer_sha256(ROW)


def test_the_first_fact_names_the_answers(tmp_path: Path) -> None:
    book = sample_labels(judged_run(tmp_path, [(2, 2)] * 3), tmp_path / "labels", n=2, stratify=[], seed=0)
    assert book.started.answers == [answer_sha256(book.sheet[sample]) for sample in book.started.samples]

    def first(inputs: dict[str, str]) -> LabelsStarted:
        started = msgspec.structs.replace(book.started, inputs=inputs, seq=-1, prev="", at="")
        started.answers = started.answers[::-1]
        return started

    with pytest.raises(RecordDamagedError, match="holds other answers than the first fact names"):
        create_labels(tmp_path / "forged", list(book.sheet.values()), first)


# ── other runs ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_another_judge_of_the_same_answers_is_held_against_the_same_labels(tmp_path: Path) -> None:
    book = labelled(judged_run(tmp_path / "a", PEOPLE), tmp_path / "labels")
    other = judged_run(tmp_path / "b", [(1, 1), *PEOPLE[1:]], judge="scripted/other@1")
    found = held(book, other)
    assert found.gold == {n: dict(zip(FIELDS, scores, strict=True)) for n, scores in enumerate(PEOPLE)}
    assert found.carried is not None
    assert (found.carried.run_id, found.carried.n_labelled, found.carried.n_used) == ("run", 6, 6)
    card = judge_card(other, book)
    accuracy = card.calibration.fields[0]
    assert accuracy.confusion["2"] == {"0": 0, "1": 1, "2": 3}  # the first answer is 2 for people, 1 for this judge
    assert card.labels.carried == found.carried
    assert card.labels.as_drawn is False


def test_a_later_run_uses_the_labels_of_the_answers_that_stayed(tmp_path: Path) -> None:
    book = labelled(judged_run(tmp_path / "a", PEOPLE), tmp_path / "labels", n=6)
    items = [{}, {"answer": "Another one."}, {}, {"context": "New."}, {}, {}]
    later = judged_run(tmp_path / "b", [*PEOPLE[:4], None, PEOPLE[5]], items=items)
    found = held(book, later)
    assert sorted(found.gold) == [0, 2, 5]  # another text, another context, and one that its judge did not score
    assert found.carried is not None
    assert (found.carried.n_labelled, found.carried.n_used) == (6, 3)


def test_repeats_share_the_label_of_their_answer(tmp_path: Path) -> None:
    book = labelled(judged_run(tmp_path / "a", PEOPLE), tmp_path / "labels", n=6)
    found = held(book, judged_run(tmp_path / "b", PEOPLE[:2], repeats=3))
    assert sorted(found.gold) == [0, 1, 2, 3, 4, 5]
    assert found.carried is not None
    assert found.carried.n_used == 2


def test_what_people_said_differently_of_one_answer_is_left_out(tmp_path: Path) -> None:
    book = sample_labels(judged_run(tmp_path / "a", [(2, 2)], repeats=2), tmp_path / "labels", n=2, stratify=[], seed=0)
    given = [(0, "accuracy_score", 2), (1, "accuracy_score", 1), (0, "faithfulness_score", 2)]
    book = give_labels(book, [Given(sample, "ann", field, score) for sample, field, score in given])
    assert held(book, judged_run(tmp_path / "b", [(1, 1)])).gold == {0: {"faithfulness_score": 2}}


def test_the_run_that_they_were_drawn_from_uses_them_by_sample(tmp_path: Path) -> None:
    record = judged_run(tmp_path, PEOPLE)
    found = held(labelled(record, tmp_path / "labels", n=6), record)
    assert found.carried is None
    assert found.gold[3] == {"accuracy_score": 0, "faithfulness_score": 2}


def test_labels_of_before_have_their_hashes_from_the_sheet(tmp_path: Path) -> None:
    book = labelled(judged_run(tmp_path / "a", PEOPLE), tmp_path / "labels")

    def first(inputs: dict[str, str]) -> LabelsStarted:
        return msgspec.structs.replace(book.started, inputs=inputs, seq=-1, prev="", at="", criteria=[], answers=[])

    rows = [book.sheet[sample] for sample in book.started.samples]
    older = give_labels(create_labels(tmp_path / "older", rows, first), [Given(2, "ann", "accuracy_score", 1)])
    assert b"answers" not in (tmp_path / "older/journal/000001.jsonl").read_bytes()
    assert held(open_labels(older.path), judged_run(tmp_path / "b", PEOPLE, judge="scripted/other@1")).gold == {
        2: {"accuracy_score": 1}
    }


def test_labels_of_no_answer_of_the_run_are_refused(tmp_path: Path) -> None:
    book = labelled(judged_run(tmp_path / "a", PEOPLE), tmp_path / "labels")
    other = judged_run(tmp_path / "b", PEOPLE, items=[{"answer": f"Else {n}."} for n in range(6)])
    with pytest.raises(UsageError, match="none of its 6 labelled answers is there"):
        held(book, other)


def test_labels_by_other_criteria_are_refused(tmp_path: Path) -> None:
    book = labelled(judged_run(tmp_path / "a", PEOPLE), tmp_path / "labels")
    with pytest.raises(
        UsageError, match=r"found labels of accuracy_score \(0, 1 or 2\), .* expected passed \(0 or 1\)"
    ):
        held(book, scored(tmp_path).record)


def test_checkpoints_share_labels_of_the_answers_that_they_share(tmp_path: Path) -> None:
    first = scored(tmp_path).record
    book = sample_labels(first, tmp_path / "labels", n=4, stratify=[], seed=0)
    book = give_labels(book, [Given(sample, "ann", "passed", 1) for sample in book.started.samples])
    later = [{"item_id": "a", "predicted": "It is 2."}, {"item_id": "b", "predicted": "Lyon"}]
    found = held(book, scored(tmp_path, later, run_id="later", spec="contains@v1").record)
    assert found.gold == {0: {"passed": 1}}
    assert json.loads(msgspec.json.encode(found.carried))["n_labelled"] == 4
