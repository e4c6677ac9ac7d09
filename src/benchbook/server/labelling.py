"""The API's answers about people's labels: books, questions, disputes, and the judge's card."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

import msgspec

from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError, RecordError, UsageError
from benchbook.labels.answer_card import AnswerCard, answer_card
from benchbook.labels.judge_card import BetweenPeople, JudgeCard, between_people, has_judge_card, judge_card
from benchbook.labels.labels import LabelBook, give_labels, labeller_name, open_labels, take_back
from benchbook.labels.session import (
    LabelChoice,
    Question,
    asked_of,
    choices_of,
    disputed_questions,
    meaning_of,
    next_question,
    progress_of,
)
from benchbook.labels.state import Given, said_words
from benchbook.record.folder import RUN_ID, Record, is_of_labels
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError, problem_of
from benchbook.server.questions import CalibrationAsked
from benchbook.server.services import FoundRun, Services
from benchbook.text import shorten
from benchbook.views.answer_card import answer_card_words
from benchbook.views.judge_card_tables import people_table
from benchbook.views.judges import CardWords, card_words
from benchbook.views.views import TableWords, table_json
from benchbook.views.words import criterion_word


class Book(msgspec.Struct, frozen=True, kw_only=True):
    """A record of people's labels, and their progress. `drawn_for` is left out of a draw by chance."""

    book: str
    run_id: str
    sha256: str
    n_samples: int
    n_labels_a_person: int
    by_labeller: dict[str, int]
    by_field: dict[str, dict[str, int]]
    titles: dict[str, str]  # of the fields, as people read them
    drawn_for: Literal["decision"] | msgspec.UnsetType = msgspec.UNSET


class DamagedBook(msgspec.Struct, frozen=True, kw_only=True):
    """A record of labels that can't be read as it was written, and what is wrong with it."""

    book: str
    error: str


class BookList(msgspec.Struct, frozen=True, kw_only=True):
    books: tuple[Book, ...]
    damaged: tuple[DamagedBook, ...] | msgspec.UnsetType = msgspec.UNSET  # left out where none is


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """One person's score, without the name; null: the criterion does not apply. `words` are the grade's name, where
    scores have names."""

    score: int | None
    words: str
    note: str


class LabelQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion of one sample, `field`, to be scored. `opinions` is empty except in adjudication."""

    sample: int
    item_id: str
    field: str
    title: str  # the criterion's name, as people read it
    meaning: str  # its whole description, as the judge got it
    asked: str  # the same without its name and without what stands in `choices`
    choices: tuple[LabelChoice, ...]
    place: int  # of the sample in the sheet, from 1
    prompt: str
    context: str | None
    expected: str | None
    answer: str
    opinions: tuple[Opinion, ...]


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion of one sample that two people scored differently and that nobody has settled."""

    sample: int
    item_id: str
    field: str
    title: str
    place: int  # of the sample in the sheet, from 1
    opinions: tuple[Opinion, ...]


class DisputesPage(msgspec.Struct, frozen=True, kw_only=True):
    disputes: tuple[Dispute, ...]
    n: int  # open disputes, on all pages
    n_settled: int


class LabelStep(msgspec.Struct, frozen=True, kw_only=True):
    """The next question for a person; null where nothing is left. `n_given` counts this person's labels.

    In adjudication: the next dispute, the number of this person's adjudications, and that of all disputes, open or not.
    """

    book: str
    labeller: str
    question: LabelQuestion | None
    n_samples: int
    n_given: int
    n_labels: int


class CalibrationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The agreement of people with each other and with the judge, as `benchbook calibrate` computes it.

    `card` is of a judge; of an evaluator without one, or whose criteria need not apply, `answers` stands in its place.
    `words` is null where the labels can't be held against the run, for `reason`. `between_people` is there in either
    case; `between_people_table` has it as it is shown.
    """

    book: str
    run_id: str
    between_people: BetweenPeople
    between_people_table: TableWords
    card: JudgeCard | None
    answers: AnswerCard | msgspec.UnsetType = msgspec.UNSET
    words: CardWords | None
    reason: str | None


def list_books(call: Request) -> BookList:
    books, damaged = list[Book](), list[DamagedBook]()
    for folder in call.services.label_folders():
        try:
            books.append(shown_book(open_labels(folder.path)))
        except BenchbookError as error:
            told = problem_of(error, call.services.settings).detail or str(error)
            damaged.append(DamagedBook(book=folder.path.name, error=told))
    return BookList(books=tuple(books), damaged=tuple(damaged) or msgspec.UNSET)


def get_book(call: Request) -> Book:
    return shown_book(book_of(call))


def next_label(call: Request) -> LabelStep:
    """The next question for this person; or the dispute that the query names, if it still is one."""
    asked = call.query
    book, labeller = book_of(call), _labeller(call, asked.labeller)
    if not asked.adjudicate or asked.sample is None:
        return _step(book, labeller, adjudicates=asked.adjudicate)
    return _dispute_step(book, labeller, asked.sample, asked.field)


def list_disputes(call: Request) -> DisputesPage:
    """The open disputes, blind as adjudication is: both scores, but no names and nothing of the judge."""
    book, asked = book_of(call), call.query
    call.is_of(book.sha256[:32], "disputes", str(asked.offset), str(asked.limit))
    found = list(disputed_questions(book))
    return DisputesPage(
        disputes=tuple(_dispute(one) for one in found[asked.offset : asked.offset + asked.limit]),
        n=len(found),
        n_settled=_n_settled(book),
    )


def _dispute(one: Question) -> Dispute:
    return Dispute(
        sample=one.row.sample,
        item_id=one.row.item_id,
        field=one.field,
        title=criterion_word(one.field),
        place=one.place,
        opinions=_opinions(one),
    )


def _opinions(one: Question) -> tuple[Opinion, ...]:
    grades: dict[int | None, str] = dict(zip(one.criterion.scores, one.criterion.grades, strict=False))
    return tuple(
        Opinion(score=label.score, words=grades.get(label.score, said_words(label.score)), note=label.note)
        for label in one.opinions
    )


def _n_settled(book: LabelBook) -> int:
    return sum(counts["adjudicated"] for counts in progress_of(book).by_field.values())


def give_label(call: Request) -> LabelStep:
    """Record a score; it is on disk before the next question is sent."""
    given = call.body
    labeller = _labeller(call, given.labeller)
    one = Given(given.sample, labeller, given.field, given.score, given.note, given.adjudicate)
    return _step(give_labels(book_of(call), [one]), labeller, adjudicates=given.adjudicate)


def undo_label(call: Request) -> LabelStep:
    book, labeller = book_of(call), _labeller(call, call.body.labeller)
    undone = take_back(book, labeller, adjudicated=call.body.adjudicate)
    if undone is None:
        raise ProblemError(HTTPStatus.CONFLICT, "there is no label of yours that could be taken back")
    if call.body.adjudicate:
        return _dispute_step(book.reload(), labeller, undone.sample, undone.field)
    return _step(book.reload(), labeller, adjudicates=False)


def _labeller(call: Request, name: str | None) -> str:
    """The name of the labeller. Where tokens are needed it is the token's: nobody labels in another's name."""
    principal = call.principal
    if principal.is_local:
        if name is None:
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "labeller: found nothing; expected who labels")
        return labeller_name(name)
    if name is not None and labeller_name(name) != principal.name:
        raise ProblemError(HTTPStatus.FORBIDDEN, f"this token labels as {shorten(principal.name, 60)!r}")
    return labeller_name(principal.name)


def _step(book: LabelBook, labeller: str, *, adjudicates: bool) -> LabelStep:
    return _step_to(book, labeller, next_question(book, labeller, adjudicates=adjudicates), adjudicates=adjudicates)


def _dispute_step(book: LabelBook, labeller: str, sample: int, field: str | None) -> LabelStep:
    """The step with this dispute as its question; without a question where it is settled."""
    of_sample = (one for one in disputed_questions(book) if one.row.sample == sample)
    found = next((one for one in of_sample if field in (None, one.field)), None)
    return _step_to(book, labeller, found, adjudicates=True)


def _step_to(book: LabelBook, labeller: str, found: Question | None, *, adjudicates: bool) -> LabelStep:
    progress = progress_of(book)
    if adjudicates:
        given = sum(one.labeller == labeller and one.round == "adjudicated" for one in book.state.labels())
        n_labels = sum(counts["adjudicated"] + counts["disputed"] for counts in progress.by_field.values())
    else:
        given, n_labels = progress.by_labeller.get(labeller, 0), progress.n_labels_a_person
    return LabelStep(
        book=book.path.name,
        labeller=labeller,
        question=None if found is None else _question(found),
        n_samples=progress.n_samples,
        n_given=given,
        n_labels=n_labels,
    )


def _question(found: Question) -> LabelQuestion:
    row, context = found.row, found.row.context
    return LabelQuestion(
        sample=row.sample,
        item_id=row.item_id,
        field=found.field,
        title=criterion_word(found.field),
        meaning=meaning_of(found.criterion),
        asked=asked_of(found.criterion),
        choices=choices_of(found.criterion),
        place=found.place,
        prompt=row.prompt,
        context=context if context is None or isinstance(context, str) else canonical_json(context).decode("utf-8"),
        expected=row.expected_answer,
        answer=row.answer,
        opinions=_opinions(found),
    )


def shown_book(book: LabelBook) -> Book:
    """The labels as lists have them."""
    progress = progress_of(book)
    return Book(
        book=book.path.name,
        run_id=book.started.run_id,
        sha256=book.sha256,
        n_samples=progress.n_samples,
        n_labels_a_person=progress.n_labels_a_person,
        by_labeller=progress.by_labeller,
        by_field=progress.by_field,
        titles={name: criterion_word(name) for name in progress.by_field},
        drawn_for=msgspec.UNSET if book.started.allocation is None else book.started.allocation.drawn_for,
    )


def book_of(call: Request) -> LabelBook:
    """The labels that the path names. Raises: ProblemError (404)."""
    return book_named(call.services, call.path["book"])


def book_named(services: Services, name: str) -> LabelBook:
    """The labels of this name. Raises: ProblemError (404)."""
    path = services.settings.runs / name
    if not RUN_ID.fullmatch(name) or not is_of_labels(Record(path)):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there are no labels {shorten(name, 100)!r}")
    return open_labels(path)


_ABOUT_BYTES = 1 << 18  # of an answer in memory


def get_calibration(call: Request) -> CalibrationAnswer:
    """A book's labels held against their run: computed when first asked for, and kept until either changes."""
    book, asked = book_of(call), call.query
    run, missing = _run_of(call.services, book.started.run_id)
    state = run.state_id if run is not None else "none"
    call.is_of(book.sha256[:32], state, str(asked.confidence), str(asked.seed))
    return calibration_of(call.services, book, run, missing, asked)


def calibration_of(
    services: Services, book: LabelBook, run: FoundRun | None, reason: str | None, asked: CalibrationAsked
) -> CalibrationAnswer:
    """The labels held against the run; where it is None, for `reason`, people against one another alone."""
    state = run.state_id if run is not None else "none"
    return services.kept.get(
        ("calibration", book.path.name, book.sha256, state, asked.confidence, asked.seed),
        lambda: _answer(services, book, run, reason, asked),
        lambda _: _ABOUT_BYTES,
    )


def _run_of(services: Services, run_id: str) -> tuple[FoundRun | None, str | None]:
    """The run that was labelled, or the reason why it can't be read here: labels travel without it."""
    try:
        return services.finished(run_id), None
    except ProblemError as problem:
        return None, problem.detail


def _answer(
    services: Services, book: LabelBook, run: FoundRun | None, reason: str | None, asked: CalibrationAsked
) -> CalibrationAnswer:
    people = between_people(book, confidence=asked.confidence, seed=asked.seed)
    card: JudgeCard | None = None
    answers: AnswerCard | msgspec.UnsetType = msgspec.UNSET
    words = None
    if run is not None:
        try:
            if has_judge_card(run.record):
                card = judge_card(run.record, book, confidence=asked.confidence, seed=asked.seed)
                words = card_words(card)
            else:
                answers = answer_card(run.record, book, confidence=asked.confidence, seed=asked.seed)
                words = answer_card_words(answers)
        except (UsageError, RecordError) as error:
            reason = problem_of(error, services.settings).detail
    return CalibrationAnswer(
        book=book.path.name,
        run_id=book.started.run_id,
        between_people=people,
        between_people_table=table_json(people_table(people)),
        card=card,
        answers=answers,
        words=words,
        reason=reason,
    )
