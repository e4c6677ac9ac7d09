"""What is said of judges: one's card, a panel's agreement and splits, and whether the place of an answer decides.

A card is Markdown, one HTML page, and lines of a terminal; as JSON it is the structure itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.evaluators import document
from benchbook.evaluators.document import (
    Block,
    Cell,
    Column,
    Columns,
    Document,
    Fact,
    Listed,
    Notices,
    Opening,
    Table,
    Tone,
    table,
)
from benchbook.evaluators.gates import Decision
from benchbook.evaluators.panel_rules import PANEL_RULES
from benchbook.evaluators.panels import JudgeAlone, PanelAnalysis
from benchbook.evaluators.rubric.rows import AggregatesFile
from benchbook.labels.calibration_results import CorrectedDecision
from benchbook.labels.judge_card import JudgeCard
from benchbook.labels.position import PositionTrial
from benchbook.statistics import REASONS, WARNINGS, Agreement, Estimate
from benchbook.text import one_line, shorten
from benchbook.views import numbers
from benchbook.views.html import html_page
from benchbook.views.judge_card_tables import card_notices, card_sections
from benchbook.views.markdown import markdown_page
from benchbook.views.views import TableWords, named_model, table_json
from benchbook.views.words import criterion_word, decision_word, plural, reason

__all__ = [
    "SPLITS_SHOWN",
    "CardDecision",
    "CardSection",
    "CardWords",
    "card_html",
    "card_lines",
    "card_markdown",
    "card_words",
    "judges_agreement_table",
    "judges_table",
    "panel_lines",
    "panel_notices",
    "position_table",
    "splits_table",
]


_CELL, _COLUMNS = 34, 6  # characters of a cell, and columns, on a terminal


@dataclass(frozen=True, slots=True)
class CardDecision:
    """A decision as it is shown: its headline, its colour, and why it is so."""

    headline: str
    tone: Tone
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CardSection:
    """A part of the card. A table without rows says nothing."""

    title: str
    tables: tuple[TableWords, ...]


@dataclass(frozen=True, slots=True)
class CardWords:
    """The card in words. `says` is all in a sentence; `as_judged` and `as_people_judge` are the decision by the judge's
    scores and the corrected one, null where the card is not of one that decides a release."""

    says: str
    as_judged: CardDecision | None
    as_people_judge: CardDecision | None
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
        sections=tuple(
            CardSection(one.title, tuple(table_json(part) for part in one.blocks if isinstance(part, document.Table)))
            for one in card_sections(card)
        ),
    )


def card_document(card: JudgeCard) -> Document:
    """What the card says."""
    decision = card.calibration.corrected_decision
    word = decision_word(_as_decision(decision))
    judge = named_model("Judge", card.judge_model_id, card.judge_model_version)
    opening = Opening(
        word.headline,
        word.tone,
        "refused" if decision is None else f"{decision.decision}, corrected",
        (_sentence(card),),
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
    yield _sentence(card)
    for one in card_sections(card):
        if one.title in ("Gates", "Corrected values", "Agreement"):
            for part in one.blocks:
                yield ""
                yield one.title
                yield from _columns(part) if isinstance(part, document.Table) else ()
    for notice in card_notices(card):
        yield f"note: {notice}"


def _columns(table: document.Table) -> Iterator[str]:
    """Cells below each other, cut to a width that a terminal has; the whole of them is in Markdown, HTML and JSON."""
    if not table:
        return
    rows = [[column.name for column in table.columns], *numbers.cells(table)]
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
        ("Evaluator", card.spec),
        ("Model", card.model_id),
        ("Eval set", card.dataset_id),
        ("Run", f"{card.run_id}, {card.run_sha256}"),
        ("Labels", card.labels.sha256),
    ]


def _who_judged(card: JudgeCard) -> str:
    return f"{card.judge_model_id} ({card.judge_model_version or 'version not known'})"


def _as_decision(found: CorrectedDecision | None) -> Decision | None:
    """For its words: headline and colour are those of a decision of that name."""
    if found is None:
        return None
    ready = found.decision == "READY"
    return Decision(decision=found.decision, release_ready=ready, reasons=found.reasons, gates=())


# ── a panel of judges ────────────────────────────────────────────────────────────────────────────────────────

SPLITS_SHOWN = 20  # `benchbook panel RUN --all` has the others


def panel_lines(panel: PanelAnalysis) -> list[str]:
    """What the panel is, and how often its judges agree, as sentences."""
    split = panel.n_judged - panel.n_unanimous
    judged = f"Of {plural(panel.n_judged, 'sample')} with the scores of two judges or more they split on {split:,}"
    found = [
        f"{plural(len(panel.judges), 'judge')}, {panel.rule}: {PANEL_RULES[panel.rule]}.",
        f"{judged}; on {panel.n_verdicts_differ:,} pass or fail hangs on whom one asks.",
    ]
    if n := panel.n_scored_without_all:
        found.append(f"Scored without some judge, whose score could have changed nothing: {plural(n, 'sample')}.")
    if n := panel.n_left_open:
        found.append(f"Not scored, for the score of a judge who gave none could decide: {plural(n, 'sample')}.")
    return found


def panel_notices(panel: PanelAnalysis) -> list[str]:
    """What must be known before the numbers of agreement are read."""
    coefficients = [*panel.alpha.values(), *(kappa for pair in panel.pairs for kappa in pair.kappa.values())]
    said = {WARNINGS.get(warning, warning) for one in coefficients for warning in one.warnings}
    said |= {f"no interval: {REASONS.get(one.reason, one.reason)}" for one in coefficients if one.reason}
    found = [f"Agreement: {one}." for one in sorted(said)]
    if panel.n_clusters is not None:
        found.append(f"Samples share {panel.n_clusters:,} groups or items: intervals are by whole clusters.")
    return found


def judges_table(panel: PanelAnalysis, file: AggregatesFile) -> Table:
    """The panel, then each judge: the run as it would be with that judge alone."""
    one = file.aggregates
    names = [name for name in _names(panel) if hasattr(one, f"{name}_mean")]
    means = (*_means(one, names), one.aggregate_score, one.pass_rate)
    scored = numbers.count(one.n_scored - one.n_no_answer)
    panel_row = (f"the panel ({panel.rule})", scored, numbers.nothing(), *means, None)
    columns: Columns = {
        "Judge": "text", "Scored": "number", "As the panel": "rate",
        **{criterion_word(name): "grade" for name in names},
        "Score": "score", "Passed": "rate", "Alone": "text",
    }  # fmt: skip
    rows = (panel_row, *(_judge(judge, names) for judge in panel.judges))
    return table("The run as each judge alone would have it", columns, rows)


def _names(panel: PanelAnalysis) -> list[str]:
    """Of the criteria, in the rubric's order."""
    return [field.removesuffix("_score") for field in panel.alpha]


def _means(found: Any, names: Sequence[str]) -> list[float | None]:
    return [getattr(found, f"{name}_mean") for name in names]


def _judge(judge: JudgeAlone, names: Sequence[str]) -> tuple[Cell, ...]:
    why = ", ".join(f"{one_line(reason)} {n:,}" for reason, n in judge.unscored_by_reason.items())
    scored = f"{judge.n_scored:,} of {judge.n_asked:,}" + (f" ({why})" if why else "")
    means = (*_means(judge, names), judge.aggregate_score, judge.pass_rate)
    return judge.name, scored, judge.same_as_panel, *means, judge.decision or None


def judges_agreement_table(panel: PanelAnalysis) -> Table:
    """All judges together, then two by two."""
    together = ("all (Krippendorff's alpha)", panel.n_judged, numbers.nothing(), *_of_fields(panel.alpha))
    pairs = (
        (f"{pair.judge_a} and {pair.judge_b} (kappa)", pair.n, pair.same_scores, *_of_fields(pair.kappa))
        for pair in panel.pairs
    )
    caption = "How the judges agree: 1 is always, 0 as by chance (quadratic weights; 95 % intervals by resampling)"
    fields: Columns = {criterion_word(field): "number" for field in panel.alpha}
    columns: Columns = {"Judges": "text", "Samples": "count", "Same scores": "rate", **fields}
    return table(caption, columns, (together, *pairs))


def _of_fields(found: Mapping[str, Agreement]) -> list[str | None]:
    return [_coefficient(one) for one in found.values()]


def _coefficient(found: Agreement) -> str | None:
    if found.estimate is None:
        return None  # why stands among the notices
    if found.low is None or found.high is None:
        return f"{found.estimate:.2f}"
    return f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]"


def splits_table(panel: PanelAnalysis, shown: int | None = SPLITS_SHOWN) -> Table:
    """What the judges split on, ranked; `shown` is None for all of it."""
    names = _names(panel)
    rows = (
        (
            f"#{split.sample}",
            split.item_id,
            "differs" if split.verdicts_differ else "same",
            *(_scores(getattr(split, f"{name}_scores")) for name in names),
            split.n_dissenting,
        )
        for split in panel.splits[:shown]
    )
    by_judge: Columns = {f"{criterion_word(name)}, judge by judge": "text" for name in names}
    columns: Columns = {
        "Sample": "text", "Item": "text", "Pass or fail": "text", **by_judge, "Other than the panel's": "count",
    }  # fmt: skip
    judges = ", ".join(one_line(judge.name) for judge in panel.judges)
    return table(f"What to look at first: samples that the judges ({judges}) split on", columns, rows)


def _scores(scores: Sequence[int | None]) -> str:
    return " ".join(numbers.DASH if score is None else str(score) for score in scores)


# ── the place of an answer ───────────────────────────────────────────────────────────────────────────────────


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
