"""A run held against people's labels, as commands say it beside the run's own decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchbook.record.folder import Record


@dataclass(frozen=True, slots=True)
class HeldAgainstPeople:
    """`found` is for programs: the corrected decision, or where the evaluator decides no release each criterion's
    value. `turned` is to be said first: people would decide otherwise. `lines` are not safe for a terminal yet."""

    found: Any
    turned: str | None
    lines: tuple[str, ...]


def held_against(record: Record, labels: str) -> HeldAgainstPeople:
    """The run as people would judge, by the labels in this folder.

    Raises: UsageError for labels of none of its answers; RecordError.
    """
    from benchbook.labels.judge_card import has_judge_card, judge_card
    from benchbook.labels.labels import open_labels

    book = open_labels(labels)
    if has_judge_card(record):
        from benchbook.views.judges import gated_by_people_lines, turned_decision

        card = judge_card(record, book)
        found = card.calibration.corrected_decision
        return HeldAgainstPeople(found, turned_decision(card), tuple(gated_by_people_lines(card)))
    from benchbook.labels.answer_card import answer_card
    from benchbook.views.answer_card import answer_card_lines

    answers = answer_card(record, book)
    return HeldAgainstPeople(answers.criteria, None, tuple(answer_card_lines(answers)))
