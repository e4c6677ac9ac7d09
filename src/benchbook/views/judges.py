"""Views of judges: one judge's card, and a table of whether the place of an answer decides.

A card is Markdown, one HTML page, and lines of a terminal; as JSON it is the structure itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchbook.evaluators import document
from benchbook.evaluators.document import (
    Block,
    Column,
    Document,
    Fact,
    Listed,
    Notices,
    Opening,
    Paragraph,
    Table,
    Tone,
)
from benchbook.evaluators.gates import Decision
from benchbook.labels.calibration_results import CorrectedDecision
from benchbook.labels.judge_card import JudgeCard
from benchbook.labels.position import PositionTrial
from benchbook.statistics import Estimate
from benchbook.text import one_line, shorten
from benchbook.views import numbers
from benchbook.views.against_people import (
    Crossed,
    OnTrial,
    agreement_sentences,
    crossed,
    gate_sentences,
    gate_spans,
    unmoved_gates,
)
from benchbook.views.html import html_page
from benchbook.views.judge_card_tables import card_notices, card_sections, scales_of
from benchbook.views.markdown import markdown_page
from benchbook.views.spans import Spans
from benchbook.views.views import TableWords, named_model, table_json
from benchbook.views.words import criterion_word, decision_headline, decision_word, in_prose, reason

_CELL, _COLUMNS = 34, 6  # characters of a cell, and columns, on a terminal


@dataclass(frozen=True, slots=True)
class CardDecision:
    """A decision as it is shown: its headline, its colour, and why it is so."""

    headline: str
    tone: Tone
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CardSection:
    """A part of the card. A table without rows is not shown."""

    title: str
    tables: tuple[TableWords, ...]


@dataclass(frozen=True, slots=True)
class CardWords:
    """The card in words, and as data of pictures. `sentences` come first: what it all comes to; `says` is them in one.

    `as_judged` and `as_people_judge` are the decision by the judge's scores and the corrected one, null where the card
    is of none that decides a release. `values` are as judged and as people would judge, `criteria` the scores of both.
    """

    says: str
    sentences: tuple[str, ...]
    as_judged: CardDecision | None
    as_people_judge: CardDecision | None
    notices: tuple[str, ...]
    values: tuple[Spans, ...]
    values_about: str  # what of them is not drawn; may be empty
    criteria: tuple[Crossed, ...]
    sections: tuple[CardSection, ...]


def card_words(card: JudgeCard) -> CardWords:
    """The card for whoever shows it in a way of their own: the same sentences and tables as in the others."""
    found = card.calibration
    frozen, corrected = found.frozen_decision, found.corrected_decision
    gates = () if corrected is None else corrected.gates
    sentences = tuple(card_sentences(card))
    return CardWords(
        says=" ".join(sentences),
        sentences=sentences,
        as_judged=_decision_shown(frozen),
        as_people_judge=_decision_shown(corrected),
        notices=tuple(card_notices(card)),
        values=tuple(gate_spans(() if frozen is None else frozen.gates, gates, scales_of(card))),
        values_about=unmoved_gates(gates),
        criteria=tuple(crossed(one, found.confidence) for one in _trials(card)),
        sections=tuple(
            CardSection(one.title, tuple(table_json(part) for part in one.blocks if isinstance(part, document.Table)))
            for one in card_sections(card)
        ),
    )


def card_sentences(card: JudgeCard) -> list[str]:
    """The card in sentences: the decision, what becomes of the gates, and how far judge and people agree."""
    frozen, decision = card.calibration.frozen_decision, card.calibration.corrected_decision
    gates = [] if frozen is None or decision is None else gate_sentences(frozen.gates, decision.gates)
    return [decision_sentence(card), *gates, *agreement_sentences(_trials(card))]


def _trials(card: JudgeCard) -> list[OnTrial]:
    return [
        OnTrial(criterion_word(one.field), "judge", one.n, one.confusion, one.same, one.bias)
        for one in card.calibration.fields
    ]


def card_document(card: JudgeCard) -> Document:
    """The card as a document."""
    decision = card.calibration.corrected_decision
    word = decision_word(decision)
    judge = named_model("Judge", card.judge_model_id, card.judge_model_version)
    opening = Opening(
        word.headline,
        word.tone,
        "refused" if decision is None else f"{decision.decision}, corrected",
        tuple(card_sentences(card)),
        () if decision is None else (Listed(tuple(reason(one) for one in decision.reasons)),),
        (judge, *(Fact(name, value) for name, value in _identity(card))),
    )
    blocks: list[Block] = [opening, Notices(tuple(card_notices(card))), *card_sections(card)]
    return Document(f"The judge {_who_judged(card)}", card.spec, blocks, digest=card.run_sha256)


def card_markdown(card: JudgeCard) -> Iterator[str]:
    """The card (CommonMark with GFM tables), in pieces; nothing that others wrote is read as markup."""
    return markdown_page(card_document(card))


def card_html(card: JudgeCard) -> Iterator[str]:
    """The card as a page that needs nothing but itself, without a script."""
    return html_page(card_document(card))


def card_lines(card: JudgeCard) -> Iterator[str]:
    """The card in short, for a terminal."""
    yield f"judge {_who_judged(card)}, held against {card.calibration.n_labelled:,} labelled samples"
    yield from card_sentences(card)
    for one in card_sections(card):
        if one.title in ("Gates", "Corrected values", "Agreement"):
            for part in one.blocks:
                yield ""
                yield one.title
                yield from _columns(part) if isinstance(part, document.Table) else ()
    for notice in card_notices(card):
        yield f"note: {notice}"


def gated_by_people_lines(card: JudgeCard) -> Iterator[str]:
    """The decision as people would judge beside the one as judged, gate by gate: what a gate by labels goes by."""
    yield decision_sentence(card)
    for one in card_sections(card):
        if one.title == "Gates":
            for part in one.blocks:
                yield from _columns(part) if isinstance(part, document.Table) else ()
    decision = card.calibration.corrected_decision
    yield from (f"  - {reason(one)}" for one in (() if decision is None else decision.reasons))
    yield from (f"note: {notice}" for notice in card_notices(card))


def for_people_blocks(card: JudgeCard) -> Iterator[Block]:
    """The same for a document: both decisions in a sentence, the gates, why, and what to beware of."""
    yield Paragraph(decision_sentence(card))
    yield from (part for one in card_sections(card) if one.title == "Gates" for part in one.blocks)
    decision = card.calibration.corrected_decision
    if decision is not None and decision.reasons:
        yield Listed(tuple(reason(one) for one in decision.reasons), "Why, as people would judge")
    yield from (Paragraph(notice, "quiet") for notice in card_notices(card))


def _columns(table: document.Table) -> Iterator[str]:
    """Cells below each other, cut to a width that a terminal has; the whole of them is in Markdown, HTML and JSON."""
    if not table:
        return
    rows = [[column.name for column in table.columns], *numbers.cells(table)]
    cut = [[shorten(cell, _CELL) for cell in row[:_COLUMNS]] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    for row in cut:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def decision_sentence(card: JudgeCard) -> str:
    """Both decisions, and how sure the corrected one is."""
    found = card.calibration.corrected_decision
    if found is None:
        return "The run's own decision is refused, so there is none to correct."
    frozen = card.calibration.frozen_decision
    own = "refused" if frozen is None else f"“{decision_headline(frozen.decision)}”"
    people, alone = (f"“{decision_headline(name)}”" for name in (found.decision, found.by_values_alone))
    as_people = "the same" if people == own else people
    sure = "" if alone == people else f" ({alone} if the corrected values are taken as sure)"
    percent = numbers.limit("rate", found.confidence)
    return f"The decision is {own} as judged, and {as_people} as people would judge, by {percent} intervals{sure}."


def turned_decision(card: JudgeCard) -> str | None:
    """The sentence on both decisions where people would decide otherwise than the judge; None where they would not."""
    frozen, people = card.calibration.frozen_decision, card.calibration.corrected_decision
    if frozen is None or people is None or frozen.decision == people.decision:
        return None
    return decision_sentence(card)


def _decision_shown(found: Decision | CorrectedDecision | None) -> CardDecision:
    word, reasons = decision_word(found), () if found is None else found.reasons
    return CardDecision(word.headline, word.tone, tuple(in_prose(reason(one)) for one in reasons))


def _identity(card: JudgeCard) -> list[tuple[str, str]]:
    return [
        ("Evaluator", card.spec),
        ("Model", card.model_id),
        ("Eval set", card.dataset_id),
        ("Run", f"{card.run_id}, {card.run_sha256}"),
        ("Labels", card.labels.sha256),
    ]


def _who_judged(card: JudgeCard) -> str:
    return f"{card.judge_model_id} ({card.judge_model_version or 'version not known'})"


# ── the place of an answer ───────────────────────────────────────────────────────────────────────────────────


def position_table(found: Sequence[PositionTrial], by: Sequence[str] = ()) -> Table:
    """A row for each judge in each group; `by` names the columns that made the groups. Ties, if any, are shown."""
    ties = any(one.n_tied or one.n_half_tied for one in found)
    columns = (
        Column("Judge"),
        *(Column(one_line(name)) for name in by),
        Column("Pairs", "count"),
        Column("No verdict", "count"),
        Column("Consistent", "number"),
        *([Column("Tied in both", "count")] if ties else []),
        Column("First place", "count"),
        Column("Second place", "count"),
        *([Column("Tied in one", "count")] if ties else []),
        Column("p of no bias", "p"),
        Column("Right in both", "number"),
    )
    rows = tuple(
        (
            one.judge,
            *one.group,
            one.n_pairs,
            one.n_missing,
            _share(one.consistency),
            *([one.n_tied] if ties else []),
            one.n_first,
            one.n_second,
            *([one.n_half_tied] if ties else []),
            one.p_value,
            None if one.right is None else _share(one.right),
        )
        for one in found
    )
    return Table("Whether the answer wins in both orders, or the place in which it was shown", columns, rows)


def _share(found: Estimate) -> str | None:
    if found.estimate is None or found.low is None or found.high is None:
        return None
    return f"{100 * found.estimate:.1f} % [{100 * found.low:.1f}, {100 * found.high:.1f}]"
