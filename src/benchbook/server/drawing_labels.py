"""The API's answer about a draw of answers for people to label: by chance, or those that settle the decision."""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from benchbook.labels.decision_sheet import sample_for_decision
from benchbook.labels.sheet import sample_labels
from benchbook.server.labelling import Book, book_named, shown_book
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import BookNew
from benchbook.server.submission_store import taken
from benchbook.views.label_plan import plan_words

_BY_CHANCE = 100  # answers, where nobody says how many


class DrawnBook(Book, frozen=True, kw_only=True):
    """A new record of labels. `says` has how many of them are expected to settle the decision, where they were drawn
    for that; else it is left out."""

    says: str | msgspec.UnsetType = msgspec.UNSET


def create_book(call: Request) -> DrawnBook:
    """Draw samples of a run into a new record of labels."""
    services, wanted = call.services, call.body
    _check(wanted)
    found = services.finished(wanted.run)
    if services.submissions.is_open(wanted.book) or services.children.has(wanted.book):
        raise taken(wanted.book)
    target = services.settings.runs / wanted.book
    says: str | msgspec.UnsetType = msgspec.UNSET
    if wanted.drawn_for is None:
        n = _BY_CHANCE if wanted.n is None else wanted.n
        book = sample_labels(found.record, target, n=n, stratify=wanted.stratify, seed=wanted.seed)
    else:
        before = None if wanted.labels is None else book_named(services, wanted.labels)
        book, plan = sample_for_decision(found.record, target, n=wanted.n, seed=wanted.seed, labels=before)
        says = plan_words(plan)
    return DrawnBook(**msgspec.structs.asdict(shown_book(book)), says=says)


def _check(wanted: BookNew) -> None:
    if wanted.drawn_for is None and wanted.labels is not None:
        why = "labels: only a draw for the decision goes on from others; expected drawn_for decision"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, why)
    if wanted.drawn_for is not None and wanted.stratify:
        why = "stratify: for the decision the judge's verdicts are the strata; leave it out"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, why)
