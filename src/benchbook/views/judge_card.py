"""A judge's card as Markdown and as one HTML page; as JSON it is the structure itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from benchbook.evaluators.rubric.release import Decision
from benchbook.labels.calibration_results import CorrectedDecision
from benchbook.labels.judge_card import JudgeCard
from benchbook.text import shorten
from benchbook.views import numbers
from benchbook.views.judge_card_tables import card_notices, card_sections
from benchbook.views.markdown import bullets, inline, table_section
from benchbook.views.markup import el, join, text
from benchbook.views.page_frame import page_head
from benchbook.views.page_parts import identity_list, named_model, notices_part, opening, render_table, section
from benchbook.views.tables import Table
from benchbook.views.words import decision_word, reason

__all__ = ["CardDecision", "CardSection", "CardWords", "card_html", "card_lines", "card_markdown", "card_words"]


_CELL, _COLUMNS = 34, 6  # characters of a cell, and columns, on a terminal


@dataclass(frozen=True, slots=True)
class CardDecision:
    """A decision as it is shown: its headline, its colour, and why it is so."""

    headline: str
    tone: Literal["good", "bad", "doubt", "none"]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CardSection:
    """A part of the card. A table without rows says nothing."""

    title: str
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class CardWords:
    """The card in words. `says` has both decisions in a sentence; beside them the two, the frozen one first."""

    says: str
    as_judged: CardDecision
    as_people_judge: CardDecision
    notices: tuple[str, ...]
    sections: tuple[CardSection, ...]


def card_words(card: JudgeCard) -> CardWords:
    """The card for whoever shows it in a way of their own: the same sentences and tables as in the others."""
    corrected = card.calibration.corrected_decision
    return CardWords(
        says=_sentence(card),
        as_judged=_decision_shown(card.calibration.frozen_decision),
        as_people_judge=_decision_shown(_as_decision(corrected)),
        notices=tuple(card_notices(card)),
        sections=tuple(CardSection(title, tuple(tables)) for title, tables in card_sections(card)),
    )


def card_markdown(card: JudgeCard) -> Iterator[str]:
    """The card (CommonMark with GFM tables), in pieces; nothing that others wrote is read as markup."""
    yield f"# {inline(f'The judge {_judge(card)}')}\n\n{inline(_sentence(card))}\n\n"
    yield bullets([f"{name}: {value}" for name, value in _identity(card)])
    if (decision := card.calibration.corrected_decision) is not None:
        yield "Why:\n\n" + bullets([reason(one) for one in decision.reasons])
    if notices := card_notices(card):
        yield "## Read this first\n\n" + bullets(notices)
    for title, tables in card_sections(card):
        yield from table_section(title, *tables)


def card_html(card: JudgeCard) -> Iterator[str]:
    """The card as a page that needs nothing but itself, without a script."""
    decision = card.calibration.corrected_decision
    word = decision_word(_as_decision(decision))
    yield '<!doctype html>\n<html lang="en">\n'
    yield page_head(f"The judge {_judge(card)}")
    yield "\n<body>\n<main>\n"
    why = [] if decision is None else [el("ul", *(el("li", text(reason(one)), dir="auto") for one in decision.reasons))]
    says = opening(word.headline, _code(decision), word.tone, el("p", text(_sentence(card)), class_="meaning"), *why)
    others = [(name, el("span", text(value), dir="auto")) for name, value in _identity(card)[1:]]
    identity = identity_list([("Judge", named_model(card.judge_model_id, card.judge_model_version)), *others])
    yield el("section", says, identity, id="decision", class_=f"tone-{word.tone}", aria_labelledby="decision-heading")
    yield notices_part(card_notices(card))
    for title, tables in card_sections(card):
        yield section(_place(title), title, join(*(render_table(one) for one in tables)))
    yield "\n</main>\n" + el("footer", el("p", text("Record "), el("code", text(card.run_sha256))))
    yield "\n</body>\n</html>\n"


def card_lines(card: JudgeCard) -> Iterator[str]:
    """The card in short, for a terminal."""
    yield f"judge {_judge(card)}, held against {card.calibration.n_labelled:,} labelled samples"
    yield _sentence(card)
    for title, tables in card_sections(card):
        if title in ("Gates", "Corrected values", "Agreement"):
            for table in tables:
                yield ""
                yield title
                yield from _columns([tuple(column.name for column in table.columns), *table.rows])
    for notice in card_notices(card):
        yield f"note: {notice}"


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Cells below each other, cut to a width that a terminal has; the whole of them is in Markdown, HTML and JSON."""
    if len(rows) < 2:
        return
    cut = [[shorten(cell, _CELL) for cell in row[:_COLUMNS]] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    for row in cut:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _sentence(card: JudgeCard) -> str:
    """Both decisions, and the rate that the gate is about."""
    found = card.calibration.corrected_decision
    if found is None:
        return "The run's own decision is refused, so there is none to correct."
    frozen = card.calibration.frozen_decision
    own = "refused" if frozen is None else frozen.decision
    percent = numbers.limit("rate", found.confidence)
    return (
        f"As judged the decision is {own}; as people would judge it is {found.decision}, by {percent} intervals "
        f"({found.by_values_alone} if the corrected values are taken as sure)."
    )


def _decision_shown(decision: Decision | None) -> CardDecision:
    word = decision_word(decision)
    return CardDecision(word.headline, word.tone, tuple(reason(one) for one in decision.reasons) if decision else ())


def _identity(card: JudgeCard) -> list[tuple[str, str]]:
    return [
        ("Judge", _judge(card)),
        ("Evaluator", card.spec),
        ("Model", card.model_id),
        ("Eval set", card.dataset_id),
        ("Run", f"{card.run_id}, {card.run_sha256}"),
        ("Labels", card.labels.sha256),
    ]


def _judge(card: JudgeCard) -> str:
    return f"{card.judge_model_id} ({card.judge_model_version or 'version not known'})"


def _as_decision(found: CorrectedDecision | None) -> Decision | None:
    """For its words: headline and colour are those of a decision of that name."""
    if found is None:
        return None
    ready = found.decision == "READY"
    return Decision(decision=found.decision, release_ready=ready, reasons=found.reasons, gates=())


def _code(found: CorrectedDecision | None) -> str:
    return "refused" if found is None else f"{found.decision}, corrected"


def _place(title: str) -> str:
    """An anchor: letters and hyphens."""
    return title.lower().replace(":", "").replace(" ", "-")
