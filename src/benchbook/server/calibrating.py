"""People's labels held against the run that they were drawn from: `benchbook calibrate` over HTTP."""

from __future__ import annotations

from benchbook.derivations.judge_card import between_people, judge_card
from benchbook.errors import RecordError, UsageError
from benchbook.records.labels import LabelBook
from benchbook.reports.judge_card import card_words
from benchbook.reports.judge_card_tables import people_table
from benchbook.server.labelling import book_of
from benchbook.server.operations import Call
from benchbook.server.problems import ProblemError, problem_of
from benchbook.server.questions import CalibrationAsked
from benchbook.server.services import FoundRun, Services
from benchbook.server.types import CalibrationAnswer

__all__ = ["get_calibration"]

_ABOUT_BYTES = 1 << 18  # of an answer in memory


def get_calibration(call: Call) -> CalibrationAnswer:
    """Computed when it is first asked for, and kept until a label or the run changes."""
    book, asked = book_of(call), call.query
    run, missing = _run_of(call.services, book.started.run_id)
    state = run.state_id if run is not None else "none"
    call.is_of(book.sha256[:32], state, str(asked.confidence), str(asked.seed))
    return call.services.kept.get(
        ("calibration", book.path.name, call.etag),
        lambda: _answer(call.services, book, run, missing, asked),
        lambda _: _ABOUT_BYTES,
    )


def _run_of(services: Services, run_id: str) -> tuple[FoundRun | None, str | None]:
    """The run that was labelled; or why it can't be read here: labels travel without it."""
    try:
        return services.finished(run_id), None
    except ProblemError as problem:
        return None, problem.detail


def _answer(
    services: Services, book: LabelBook, run: FoundRun | None, reason: str | None, asked: CalibrationAsked
) -> CalibrationAnswer:
    people, card = between_people(book, confidence=asked.confidence, seed=asked.seed), None
    if run is not None:
        try:
            card = judge_card(run.record, book, confidence=asked.confidence, seed=asked.seed)
        except (UsageError, RecordError) as error:
            reason = problem_of(error, str(services.settings.runs)).detail
    return CalibrationAnswer(
        book=book.path.name,
        run_id=book.started.run_id,
        between_people=people,
        between_people_table=people_table(people),
        card=card,
        words=None if card is None else card_words(card),
        reason=reason,
    )
