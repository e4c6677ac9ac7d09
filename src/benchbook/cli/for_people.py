"""A run held against people's labels, as commands say it beside the run's own decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchbook.errors import UsageError

if TYPE_CHECKING:
    from benchbook.evaluators.document import Block
    from benchbook.labels.labels import LabelBook
    from benchbook.record.folder import Record


@dataclass(frozen=True, slots=True)
class HeldAgainstPeople:
    """`found` is for programs: the corrected decision, or where the evaluator decides no release each criterion's
    value. `turned` is to be said first: people would decide otherwise. `lines` are not safe for a terminal yet, and
    `blocks` are the same for a document."""

    found: Any
    turned: str | None
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]


def held_against(record: Record, book: LabelBook) -> HeldAgainstPeople:
    """The run as people would judge, by these labels.

    Raises: UsageError for labels of none of its answers; RecordError.
    """
    from benchbook.labels.judge_card import has_judge_card, judge_card

    if has_judge_card(record):
        from benchbook.views.judges import for_people_blocks, gated_by_people_lines, turned_decision

        card = judge_card(record, book)
        found, turned = card.calibration.corrected_decision, turned_decision(card)
        return HeldAgainstPeople(found, turned, tuple(gated_by_people_lines(card)), tuple(for_people_blocks(card)))
    from benchbook.evaluators.document import Paragraph
    from benchbook.labels.answer_card import answer_card
    from benchbook.views.answer_card import answer_card_lines, as_people_sentences

    answers = answer_card(record, book)
    said = Paragraph(" ".join(as_people_sentences(answers)))
    return HeldAgainstPeople(answers.criteria, None, tuple(answer_card_lines(answers)), (said,))


def held_by_its_own(record: Record, books: Sequence[LabelBook]) -> HeldAgainstPeople | None:
    """The run as people would judge, by those labels that were drawn from it, else by the first of its answers; None
    where all are of other runs, as those of its baseline are."""
    for book in sorted(books, key=lambda one: one.started.run_id != record.run_id):
        try:
            return held_against(record, book)
        except UsageError:
            continue
    return None
