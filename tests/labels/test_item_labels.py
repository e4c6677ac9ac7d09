"""Where items bring all criteria themselves people are asked each of them, of each answer that is drawn."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from benchbook.errors import UsageError
from benchbook.labels.answer_card import answer_card
from benchbook.labels.judge_card import has_judge_card
from benchbook.labels.labels import LabelBook, give_labels
from benchbook.labels.session import asked_of, choices_of, next_question, prompt_of, screen_of
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import Given
from benchbook.record.folder import Record
from benchbook.views.answer_card import answer_card_lines
from benchbook.views.csv_files import labels_csv, read_labels_csv
from own_rubric import BY_ITEM, met, own_run

DAYS, SHORT, BLAMES = (
    {"text": text, "weight": n} for text, n in (("Names the 30 days.", 5), ("Is short.", 3), ("Blames", -4))
)
CRITERIA = [[DAYS, SHORT, BLAMES], [DAYS], [SHORT, BLAMES]]
VERDICTS = [met(True, False, False), met(False), met(True, True)]
ASKED = {
    1: "Names the 30 days.",
    2: "Is short.",
    3: "Blames",
    1001: "Names the 30 days.",
    2001: "Is short.",
    2002: "Blames",
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return own_run(tmp_path_factory.mktemp("items"), VERDICTS, BY_ITEM, criteria=CRITERIA).record


def said(book: LabelBook, scores: dict[int, int], name: str = "ann") -> LabelBook:
    return give_labels(book, [Given(sample, name, "met", score) for sample, score in scores.items()])


def test_each_criterion_of_a_drawn_answer_is_asked_by_its_text(record: Record, tmp_path: Path) -> None:
    book = sample_labels(record, tmp_path / "all", n=3, stratify=(), seed=0)
    assert {sample: row.asked for sample, row in book.sheet.items()} == ASKED
    answers = [sample // 1000 for sample in book.started.samples]
    assert answers in ([one for one in order for _ in CRITERIA[one]] for order in permutations(range(3)))
    drawn = sample_labels(record, tmp_path / "one", n=1, stratify=(), seed=0)
    assert len(drawn.started.samples) == len(CRITERIA[drawn.started.samples[0] // 1000])
    question = next_question(said(book, {book.started.samples[0]: 1}), "ann")
    assert question is not None
    text = ASKED[book.started.samples[1]]
    assert asked_of(question.criterion) == text
    assert prompt_of(question) == f"met: {text}\n  0 not met\n  1 met"
    assert [one.words for one in choices_of(question.criterion)] == ["met", "not met"]
    assert "Answer 00" in screen_of(question)


def test_a_sheet_holds_what_is_asked(record: Record, tmp_path: Path) -> None:
    book = sample_labels(record, tmp_path / "labels", n=3, stratify=(), seed=0)
    header, *lines = labels_csv(book)
    assert header.startswith('"sample","item_id","prompt","context","expected_answer","answer","asked","met"')
    assert sum('"Is short."' in line for line in lines) == 2
    path = tmp_path / "sheet.csv"
    path.write_text("sample,met\n1,met\n1001,not met\n2002,0\n", encoding="utf-8")
    assert read_labels_csv(path, book, labeller="ann").given == [
        Given(1, "ann", "met", 1), Given(1001, "ann", "met", 0), Given(2002, "ann", "met", 0),
    ]  # fmt: skip


def test_the_judge_is_held_against_people(record: Record, tmp_path: Path) -> None:
    """The judge finds three of six met, people four: they differ on 2 and 3 one way, on 2002 the other."""
    people = {1: 1, 2: 1, 3: 1, 1001: 0, 2001: 1, 2002: 0}
    book = said(sample_labels(record, tmp_path / "labels", n=3, stratify=("passed",), seed=0), people)
    assert not has_judge_card(record)
    card = answer_card(record, book, n_resamples=100)
    (trial,) = card.criteria
    assert (card.as_drawn, card.n_scored, card.n_labelled, card.n_clusters) == (True, 6, 6, 3)
    assert (trial.criterion, trial.as_scored, trial.corrected.estimate) == ("met", 0.5, pytest.approx(4 / 6))
    assert trial.confusion == {"0": {"0": 1, "1": 1}, "1": {"0": 2, "1": 2}}
    assert "Met" in "\n".join(answer_card_lines(card))


def test_labels_belong_to_the_answer_and_to_what_is_asked_of_it(record: Record, tmp_path: Path) -> None:
    """Another judge of the same answers is held against them; the answers to items that ask something else are not."""
    book = said(sample_labels(record, tmp_path / "labels", n=3, stratify=(), seed=0), dict.fromkeys(ASKED, 1))
    other = own_run(tmp_path, [met(True, True, True), met(True), met(True, True)], BY_ITEM, criteria=CRITERIA)
    card = answer_card(other.record, book, n_resamples=100)
    assert card.carried is not None
    assert (card.carried.n_used, card.criteria[0].confusion["1"]) == (6, {"0": 0, "1": 6})
    asked = [[DAYS | {"text": "New."}], [DAYS], [BLAMES | {"weight": 1}, SHORT]]
    changed = own_run(tmp_path, [met(True), met(True), met(True, True)], BY_ITEM, "changed", criteria=asked)
    card = answer_card(changed.record, book, n_resamples=100)
    assert card.carried is not None
    assert card.carried.n_used == 3
    with pytest.raises(UsageError, match="no judge of several is meant"):
        answer_card(record, book, judge="j")
