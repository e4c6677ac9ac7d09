"""What the API answers about people's labels: books, questions, what is disputed, and the judge's card."""

from __future__ import annotations

from typing import Literal

import msgspec

from benchbook.labels.judge_card import BetweenPeople, JudgeCard
from benchbook.views.json import Table
from benchbook.views.judge_card import CardWords

__all__ = ["Book", "BookList", "CalibrationAnswer", "Dispute", "DisputesPage", "LabelQuestion", "LabelStep", "Opinion"]


class Book(msgspec.Struct, frozen=True, kw_only=True):
    """A record of people's labels, and how far they are."""

    book: str
    run_id: str
    sha256: str
    n_samples: int
    n_labels_a_person: int
    by_labeller: dict[str, int]
    by_field: dict[str, dict[str, int]]


class BookList(msgspec.Struct, frozen=True, kw_only=True):
    books: tuple[Book, ...]


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What one person said, without who it was."""

    score: int
    note: str


class LabelQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One field of one sample, to be scored 0, 1 or 2. `opinions` is empty but in adjudication."""

    sample: int
    item_id: str
    field: Literal["accuracy_score", "faithfulness_score"]
    meaning: str  # the words that the judge is given for this field
    place: int  # of the sample in the sheet, from 1
    prompt: str
    context: str | None
    expected: str | None
    answer: str
    opinions: tuple[Opinion, ...]


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    """One field of one sample that two people scored differently, and nobody has settled."""

    sample: int
    item_id: str
    field: Literal["accuracy_score", "faithfulness_score"]
    place: int  # of the sample in the sheet, from 1
    opinions: tuple[Opinion, ...]


class DisputesPage(msgspec.Struct, frozen=True, kw_only=True):
    disputes: tuple[Dispute, ...]
    n: int  # that are open, of all
    n_settled: int


class LabelStep(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be labelled next; null where nothing is left. `n_given` counts this person's labels.

    In adjudication: the next that is in dispute, this person's adjudications, and all that is or was in dispute.
    """

    book: str
    labeller: str
    question: LabelQuestion | None
    n_given: int
    n_labels: int


class CalibrationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What people say of each other and of the judge, as `benchbook calibrate` does.

    `card` and `words` are null where the labels can't be held against the run, for `reason`. `between_people` is said
    in either case; `between_people_table` has it as it is shown.
    """

    book: str
    run_id: str
    between_people: BetweenPeople
    between_people_table: Table
    card: JudgeCard | None
    words: CardWords | None
    reason: str | None
