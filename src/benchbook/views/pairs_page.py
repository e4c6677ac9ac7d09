"""Rankings by verdicts on pairs as the page shows them: the words and tables of `pairs`, and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.labels.pairs.ranking import PairRanking
from benchbook.statistics import Estimate
from benchbook.views.pairs import first_place, leanings_table, models_table, pairs_notes, share
from benchbook.views.spans import SpanLine, Spans
from benchbook.views.views import TableWords, table_json


@dataclass(frozen=True, slots=True)
class RankingWords:
    """One ranking in words, and as data of pictures: the models' chances to win, and what the judges lean to.

    `headline` says who is ahead, as far as that can be told.
    """

    headline: str
    pictures: tuple[Spans, ...]
    tables: tuple[TableWords, ...]
    notes: tuple[str, ...]


def ranking_words(found: Sequence[PairRanking]) -> tuple[RankingWords, ...]:
    """The rankings with the same tables and sentences as `pairs_document`."""
    return tuple(
        RankingWords(
            headline=first_place(ranking) or "Who is ahead can't be told.",
            pictures=tuple(one for one in (_models_picture(ranking), _leanings_picture(ranking)) if one.lines),
            tables=tuple(table_json(one) for one in (models_table(ranking), leanings_table(ranking)) if one.rows),
            notes=tuple(pairs_notes(ranking)),
        )
        for ranking in found
    )


def _models_picture(found: PairRanking) -> Spans:
    """The chances to win against the others, or the anchor; where strengths can't be told, the shares that were won."""
    told = any(one.win is not None and one.win.estimate is not None for one in found.models)
    against = "the others" if found.anchor is None else found.anchor
    return _shares(
        f"How often it wins against {against}" if told else "How often it won",
        "All else the same" if told else "Of its verdicts, whoever it met",
        [(one.model, (one.win if told else one.rate)) for one in found.models if one.model != found.anchor],
    )


def _leanings_picture(found: PairRanking) -> Spans:
    several = len(found.judges) > 1
    lines = [
        (f"{judge.judge}: {what}" if several else what, leaning.win)
        for judge in found.judges
        for what, leaning in (("the answer shown first", judge.first), ("the longer answer", judge.length))
        if leaning is not None and leaning.win.estimate is not None
    ]
    return _shares("What sways the judge", "How often it wins between two answers that are equal in all else", lines)


def _shares(title: str, about: str, lines: Sequence[tuple[str, Estimate | None]]) -> Spans:
    """Chances from 0 to 1, with the line at which neither wins more often."""
    return Spans(
        title=title,
        about=f"{about}.",
        kind="rate",
        lowest=0.0,
        highest=1.0,
        lines=tuple(_line(name, one) for name, one in lines if one is not None),
        mark=0.5,
    )


def _line(name: str, one: Estimate) -> SpanLine:
    return SpanLine(
        name=name, value=one.estimate, low=one.low, high=one.high, words=share(one) or "can't be told", tone="none",
        state="",
    )  # fmt: skip
