"""Labelling by keys: the next question, and the meaning of a key. Pure; the reader of keys calls this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import msgspec

from benchbook.canonical import canonical_json
from benchbook.labels.labels import LabelBook, SheetRow
from benchbook.labels.state import NOT_APPLYING, Given, GoldOrigin, said_words
from benchbook.record.facts import Label, LabelScale
from benchbook.text import visible

Action: TypeAlias = Given | Literal["undo", "quit", "note", "unknown"]

# The words that the judge of rubric@v1 is given (SPEC R2.1): people and judge must score the same thing.
_MEANING = {
    "accuracy_score": "accuracy\n"
    "  2 fully correct and complete\n"
    "  1 partially correct with minor error or omission\n"
    "  0 incorrect, missing, or non-responsive",
    "faithfulness_score": "faithfulness\n"
    "  2 all material claims grounded in provided context/tools/references\n"
    "  1 mostly grounded with minor unsupported inference\n"
    "  0 materially ungrounded or fabricated",
}


_LETTERS = "abcdefghijklmoprstvwxyz"  # without those that mean something else


def meaning_of(criterion: LabelScale) -> str:
    """A criterion's question, in words."""
    return criterion.meaning or _MEANING.get(criterion.name, criterion.name)


def keys_of(criterion: LabelScale) -> dict[str, int | None]:
    """The scores by key: a score's own digit, or digits and letters in order where a scale has other numbers.

    Scores beyond the last letter have no key: a sheet takes them. A minus is None: the criterion does not apply.
    """
    keys: dict[str, int | None] = {}
    if all(0 <= score <= 9 for score in criterion.scores):
        keys |= {str(score): score for score in criterion.scores}
    else:
        keys |= zip(f"123456789{_LETTERS}", criterion.scores, strict=False)
    return keys | {"-": None} if criterion.may_not_apply else keys


class LabelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A choice that a criterion gives: a score, or null where it does not apply.

    `key` chooses it, where it has one; `words` are its meaning.
    """

    score: int | None
    key: str | None
    words: str


def choices_of(criterion: LabelScale) -> tuple[LabelChoice, ...]:
    """The choices that a criterion gives, the highest score first."""
    keys = {score: key for key, score in keys_of(criterion).items()}
    said = dict(zip(criterion.scores, criterion.grades, strict=False)) or _words_of_scores(criterion)
    found = [
        LabelChoice(score=one, key=keys.get(one), words=said.get(one, ""))
        for one in sorted(criterion.scores, reverse=True)
    ]
    if criterion.may_not_apply:
        found.append(LabelChoice(score=None, key=keys[None], words=NOT_APPLYING))
    return tuple(found)


def _words_of_scores(criterion: LabelScale) -> dict[int, str]:
    """The words of scores, from the lines of its meaning that begin with a score."""
    lines = [line.strip().partition(" ") for line in meaning_of(criterion).splitlines()[1:]]
    scores = {str(score): score for score in criterion.scores}
    return {scores[number]: words for number, _, words in lines if number in scores}


def asked_of(criterion: LabelScale) -> str:
    """A criterion's question without its name and without the words for scores, which `choices_of` has."""
    name = criterion.name.removesuffix("_score")
    first, *others = meaning_of(criterion).splitlines() or [""]
    if first in (name, criterion.name):
        first = ""
    first = first.removeprefix(f"{name}:")
    told = set() if criterion.grades else {str(score) for score in _words_of_scores(criterion)}
    left = [one.strip() for one in others if one.strip().partition(" ")[0] not in told]
    return "\n".join([first.strip(), *left]).strip()


@dataclass(frozen=True, slots=True)
class Question:
    """One criterion of one sample, to be scored. `opinions` is empty except in adjudication."""

    row: SheetRow
    criterion: LabelScale
    place: int  # of the sample in the sheet, from 1
    n: int
    opinions: tuple[Label, ...] = ()

    @property
    def field(self) -> str:
        """The criterion's name."""
        return self.criterion.name


def next_question(book: LabelBook, labeller: str, *, adjudicates: bool = False) -> Question | None:
    """The first criterion, in the order of the sheet, that this person can still label; None where there is none."""
    if adjudicates:
        return next(disputed_questions(book), None)
    for place, sample in enumerate(book.started.samples, start=1):
        if fields := book.state.open_fields(sample, labeller):
            return _question(book, sample, fields[0], place)
    return None


def disputed_questions(book: LabelBook) -> Iterator[Question]:
    """The disputes between two people that nobody has settled, in the order of the sheet, with both scores."""
    state = book.state
    for place, sample in enumerate(book.started.samples, start=1):
        for name in state.criteria:
            if state.gold(sample, name).origin == "disputed":
                yield _question(book, sample, name, place, tuple(state.opinions(sample, name)))


def _question(book: LabelBook, sample: int, field: str, place: int, opinions: tuple[Label, ...] = ()) -> Question:
    """The question, in the item's own words where it has some."""
    row, criterion = book.sheet[sample], book.state.criteria[field]
    if not isinstance(row.asked, msgspec.UnsetType):
        criterion = msgspec.structs.replace(criterion, meaning=f"{field}: {row.asked}")
    return Question(row, criterion, place, len(book.started.samples), opinions)


def action_of(key: str, question: Question, labeller: str, *, note: str = "", adjudicates: bool = False) -> Action:
    """The action that a key asks for. Ctrl-C and Ctrl-D quit."""
    match key:
        case "u" | "U":
            return "undo"
        case "q" | "Q" | "\x03" | "\x04":
            return "quit"
        case "n" | "N":
            return "note"
    keys = keys_of(question.criterion)
    if key not in keys:
        return "unknown"
    return Given(question.row.sample, labeller, question.field, keys[key], note, adjudicates)


def screen_of(question: Question) -> str:
    """The sample, with nothing in it that a terminal would act upon."""
    row = question.row
    parts = [
        ("Question", row.prompt),
        ("Context", row.context),
        ("Reference answer", row.expected_answer),
        ("Answer to label", row.answer),
    ]
    texts = [f"{name}:\n{_indented(value)}" for name, value in parts if value is not None]
    return "\n\n".join([f"── {question.place} of {question.n} ──", *texts])


def prompt_of(question: Question) -> str:
    """The question, and for a dispute the two scores to settle."""
    criterion = question.criterion
    called = "".join(
        f"\n  {score} {visible(grade)}" for score, grade in zip(criterion.scores, criterion.grades, strict=False)
    )
    said = "".join(
        f"\n  one said {said_words(one.score)}{f': {visible(one.note)}' if one.note else ''}"
        for one in question.opinions
    )
    return f"{visible(meaning_of(criterion))}{called}{said}"


def _indented(value: object) -> str:
    text = value if isinstance(value, str) else canonical_json(value).decode("utf-8", "replace")
    return "\n".join(f"  {line}" for line in visible(text).split("\n"))


class LabelProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of labelling. `by_field` counts samples: single (one label), agreed, adjudicated, disputed, none."""

    n_samples: int
    n_labels_a_person: int
    by_labeller: dict[str, int]
    by_field: dict[str, dict[str, int]]


def progress_of(book: LabelBook) -> LabelProgress:
    """Counts over the labels that stand."""
    state, samples = book.state, book.started.samples
    given = Counter(one.labeller for one in state.labels() if one.round != "adjudicated")
    by_field = {}
    for field in state.criteria:
        found = Counter(state.gold(sample, field).origin for sample in samples)
        by_field[field] = {origin: found[origin] for origin in get_args(GoldOrigin)}
    return LabelProgress(
        n_samples=len(samples),
        n_labels_a_person=len(samples) * len(state.criteria),
        by_labeller={name: given[name] for name in state.labellers},
        by_field=by_field,
    )
