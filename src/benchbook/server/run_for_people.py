"""A run's decision as judged and as people would judge, by each set of labels that was drawn from it."""

from __future__ import annotations

import msgspec

from benchbook.errors import RecordError
from benchbook.labels.labels import LabelBook, open_labels
from benchbook.server.by_people import labels_of, told_of
from benchbook.server.labelling import CalibrationAnswer, calibration_of
from benchbook.server.operations import Request
from benchbook.server.questions import CalibrationAsked
from benchbook.server.services import FoundRun, Services
from benchbook.text import storable
from benchbook.views.answer_card import as_people_sentences
from benchbook.views.judges import CardDecision, decision_sentence, turned_decision

MOST_SAMPLES = 20_000  # of the run, which is derived anew: about 4 s, once, for which its page waits


class DecisionForPeople(msgspec.Struct, frozen=True, kw_only=True):
    """A set of labels held against its run. `says` has the decision both ways, or the scores where none is made, or the
    reason why nothing can be said. `turned`: people would decide otherwise, which is to be read before any number.

    `as_judged` and `as_people_judge` are null where the run's evaluator decides no release.
    """

    labels: str
    says: str
    turned: bool
    as_judged: CardDecision | None = None
    as_people_judge: CardDecision | None = None


class RunForPeople(msgspec.Struct, frozen=True, kw_only=True):
    """The sets of labels of a run's answers in which people gave any, by name."""

    run_id: str
    sets: tuple[DecisionForPeople, ...]


def get_run_for_people(call: Request) -> RunForPeople:
    """Computed where there are labels, and kept until they or the run change."""
    services = call.services
    found = services.finished(call.path["run_id"])
    labels = labels_of(services, [found.row.run_id])
    call.is_of(found.state_id, "people", *labels.of_state)
    sets = []
    for one in labels.folders:
        try:
            book = open_labels(one.path)
        except RecordError as error:
            sets.append(DecisionForPeople(labels=storable(one.path.name), says=told_of(services, error), turned=False))
            continue
        if book.state.has_labels:
            sets.append(_held(services, found, book))
    return RunForPeople(run_id=storable(found.row.run_id), sets=tuple(sets))


def _held(services: Services, run: FoundRun, book: LabelBook) -> DecisionForPeople:
    name = storable(book.path.name)
    if (run.row.n_attempted or 0) > MOST_SAMPLES:
        why = f"A run of more than {MOST_SAMPLES:,} samples is held against labels where they are shown."
        return DecisionForPeople(labels=name, says=why, turned=False)
    found = calibration_of(services, book, run, None, CalibrationAsked())
    words = found.words
    return DecisionForPeople(
        labels=name,
        says=_says(found),
        turned=found.card is not None and turned_decision(found.card) is not None,
        as_judged=None if words is None else words.as_judged,
        as_people_judge=None if words is None else words.as_people_judge,
    )


def _says(found: CalibrationAnswer) -> str:
    if found.card is not None:
        return decision_sentence(found.card)
    if found.answers is not msgspec.UNSET:
        return " ".join(as_people_sentences(found.answers))
    return f"Nothing can be said, since {found.reason}."
