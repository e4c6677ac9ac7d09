"""An audit card as the page shows it: the words and tables of `audit_card`, and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchbook.comparison.difference import Difference
from benchbook.evaluators.document import Table, Tone
from benchbook.judge_audit.card import AuditCard
from benchbook.judge_audit.effects import NOTICES, EffectVerdict
from benchbook.views import numbers
from benchbook.views.audit_card import (
    VERDICTS,
    audit_headline,
    audit_notices,
    audit_sentences,
    controls_table,
    effects_table,
    how_controls,
    how_effects,
    moved_table,
    uses_table,
)
from benchbook.views.judges import CardSection
from benchbook.views.spans import SpanLine, Spans, axis_end
from benchbook.views.views import TableWords, table_json


@dataclass(frozen=True, slots=True)
class AuditWords:
    """The card in words, and as data of pictures: `changes` of what should change nothing, with the margin as the zone
    that is asked for, and `noticed`, the shares of the bad answers that it noticed."""

    headline: str
    tone: Tone
    sentences: tuple[str, ...]
    notices: tuple[str, ...]
    pictures: tuple[Spans, ...]
    sections: tuple[CardSection, ...]


def audit_words(card: AuditCard) -> AuditWords:
    """The card as the page shows it: with the same sentences and tables as `audit_document`."""
    headline, tone = audit_headline(card)
    sections = (
        ("What it may be used for", uses_table(card), "By what was tried"),
        ("What should change nothing", effects_table(card), how_effects(card)),
        ("What it must notice", controls_table(card), how_controls()),
        ("What moves in a run's numbers", moved_table(card), "The same answers, before and after"),
    )
    pictures = (_changes_picture(card), _noticed_picture(card))
    return AuditWords(
        headline=headline,
        tone=tone,
        sentences=tuple(audit_sentences(card)),
        notices=tuple(audit_notices(card)),
        pictures=tuple(one for one in pictures if one.lines),
        sections=tuple(CardSection(title, (_under(one, about),)) for title, one, about in sections if one),
    )


def _under(one: Table, about: str) -> TableWords:
    """The table below a heading that says what it is of: its caption says how to read it."""
    return replace(table_json(one), caption=about)


_TONES: Mapping[EffectVerdict, Tone] = {
    "biased": "bad", "missed": "bad", "none": "good", "slight": "good", "noticed": "good", "not_told": "doubt",
}  # fmt: skip


def _changes_picture(card: AuditCard) -> Spans:
    effects = [one for one in card.effects if one.noticed is None]
    end = axis_end([value for one in effects for value in (one.score.low, one.score.high, one.margin)], 1.0)
    lines = tuple(
        SpanLine(
            name=one.title,
            value=one.score.difference,
            low=one.score.low,
            high=one.score.high,
            words=_change_words(one.score),
            tone=_TONES[one.verdict],
            state=VERDICTS[one.verdict],
        )
        for one in effects
    )
    return Spans(
        title="How far its score moves",
        about=f"From 0 to 1, of the same answers; a change within {card.margin:g} does not matter.",
        kind="score",
        lowest=-end,
        highest=end,
        lines=lines,
        mark=0.0,
        good_from=-card.margin,
        good_to=card.margin,
        signed=True,
    )


def _change_words(found: Difference) -> str:
    if not found.n:
        return "no answer has a score in both"
    return f"{numbers.signed(found.difference)} ({numbers.difference_interval(found)})"


def _noticed_picture(card: AuditCard) -> Spans:
    lines = tuple(
        SpanLine(
            name=one.title,
            value=noticed.estimate,
            low=noticed.low,
            high=noticed.high,
            words=f"{numbers.show('rate', noticed.estimate)} of {noticed.n:,}",
            tone=_TONES[one.verdict],
            state=VERDICTS[one.verdict],
        )
        for one in card.effects
        if (noticed := one.noticed) is not None
    )
    return Spans(
        title="How many bad answers it scores lower",
        about=how_controls(),
        kind="rate",
        lowest=0.0,
        highest=1.0,
        lines=lines,
        mark=NOTICES,
        good_from=NOTICES,
        good_to=1.0,
    )
