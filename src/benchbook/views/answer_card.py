"""The card of an evaluator, whose scores are held against people's labels: Markdown, HTML, and terminal lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UnsetType

from benchbook.evaluators.document import (
    Block,
    Cell,
    Columns,
    Document,
    Fact,
    Kind,
    Notices,
    Opening,
    Section,
    Table,
    Value,
    table,
)
from benchbook.labels.answer_card import AnswerCard, Applies, CriterionTrial
from benchbook.labels.calibration import TELLING_LABELS
from benchbook.labels.calibration_results import AgreementName
from benchbook.statistics import Estimate
from benchbook.text import one_line, plural
from benchbook.views import numbers
from benchbook.views.against_people import OnTrial, agreement_sentences, crossed
from benchbook.views.html import html_page
from benchbook.views.judge_card_tables import (
    COEFFICIENTS,
    agreement_table,
    bounded,
    caveats,
    confusion_table,
    inside,
    label_notices,
    made_how,
    why_nothing,
)
from benchbook.views.judges import CardSection, CardWords
from benchbook.views.markdown import markdown_page
from benchbook.views.spans import SpanLine, Spans
from benchbook.views.views import table_json
from benchbook.views.words import criterion_word

_OF_TWO: tuple[AgreementName, ...] = ("cohens_kappa", "gwet_ac1", "krippendorff_alpha_ordinal")


def answer_card_markdown(card: AnswerCard) -> Iterator[str]:
    """The card (CommonMark with GFM tables), in pieces; nothing that others wrote is read as markup."""
    return markdown_page(answer_card_document(card))


def answer_card_html(card: AnswerCard) -> Iterator[str]:
    """The card as a page that needs nothing but itself, without a script."""
    return html_page(answer_card_document(card))


def answer_card_words(card: AnswerCard) -> CardWords:
    """The card for whoever shows it in a way of their own: the same sentences and tables as in the others."""
    sections = (
        CardSection(one.title, tuple(table_json(part) for part in one.blocks if isinstance(part, Table)))
        for one in _sections(card)
    )
    sentences = tuple(answer_card_sentences(card))
    return CardWords(
        says=" ".join(sentences),
        sentences=sentences,
        as_judged=None,
        as_people_judge=None,
        notices=tuple(_notices(card)),
        values=tuple(_twice(one) for one in card.criteria),
        values_about="",
        criteria=tuple(crossed(one, card.confidence) for one in _trials(card)),
        sections=tuple(sections),
    )


def answer_card_sentences(card: AnswerCard) -> list[str]:
    """The card in sentences: how far evaluator and people agree, and what people would have scored."""
    return [*agreement_sentences(_trials(card)), *as_people_sentences(card)]


def as_people_sentences(card: AnswerCard) -> list[str]:
    """Each labelled criterion's value as scored, and as people would score."""
    return [f"{_sentence(one)}." for one in card.criteria if one.n]


def _trials(card: AnswerCard) -> list[OnTrial]:
    who = "evaluator" if isinstance(card.judge, UnsetType) else "judge"
    return [
        OnTrial(criterion_word(one.criterion), who, one.n, one.confusion, one.same, one.bias) for one in card.criteria
    ]


def _twice(one: CriterionTrial) -> Spans:
    """A criterion's value as scored, and below it as people would score."""
    scale = min(one.scores), max(one.scores)
    value, low, high = (
        inside(scale, bound) for bound in (one.corrected.estimate, one.corrected.low, one.corrected.high)
    )
    scored = numbers.show(_kind(one), one.as_scored, unknown="nothing was scored")
    return Spans(
        title=criterion_word(one.criterion),
        about="share of the answers" if one.is_rate else f"mean of {scale[0]} to {scale[1]}",
        kind=_kind(one),
        lowest=float(scale[0]),
        highest=float(scale[1]),
        lines=(
            SpanLine("As scored", one.as_scored, None, None, scored, "none", ""),
            SpanLine("As people would score", value, low, high, _estimate(one, one.corrected), "none", ""),
        ),
    )


def answer_card_lines(card: AnswerCard) -> Iterator[str]:
    """The card in short, for a terminal."""
    yield f"{one_line(_on_trial(card))}, held against {card.n_labelled:,} labelled answers of {card.n_scored:,}"
    yield from agreement_sentences(_trials(card))
    for one in card.criteria:
        yield _sentence(one)
        kappa = one.agreement["cohens_kappa"]
        same = numbers.show("rate", kappa.observed_agreement, unknown=why_nothing(kappa.reason))
        yield f"  the same score: {same}; Cohen's kappa {bounded(kappa)}"
        for people, row in one.confusion.items():
            yield f"  people {people}: " + ", ".join(f"{n:,} scored {score}" for score, n in row.items())
        if (found := one.applies) is not None:
            alone = f"by the evaluator alone to {found.evaluator_alone:,}, by people alone to {found.people_alone:,}"
            yield f"  applies by both to {found.both:,}, {alone}, by neither to {found.neither:,}"
    for notice in _notices(card):
        yield f"note: {notice}"


def answer_card_document(card: AnswerCard) -> Document:
    """The card as a document."""
    facts = (
        Fact("Evaluator", card.spec),
        *([] if isinstance(card.judge, UnsetType) else [Fact("Judge", card.judge)]),
        Fact("Eval set", card.dataset_id),
        Fact("Run", card.run_id, digest=card.run_sha256),
        Fact("Labels", digest=card.labels_sha256),
    )
    headline = f"{plural(card.n_labelled, 'labelled answer')} of {card.n_scored:,}"
    opening = Opening(headline, "none", None, tuple(answer_card_sentences(card)), facts=facts)
    blocks: list[Block] = [opening, Notices(tuple(_notices(card))), *_sections(card)]
    return Document(f"{_on_trial(card)}, held against people", card.spec, blocks, digest=card.run_sha256)


def _on_trial(card: AnswerCard) -> str:
    """The evaluator; of an experiment the judge, by its protocol."""
    return card.spec if isinstance(card.judge, UnsetType) else f"{card.judge} by {card.spec}"


def _sentence(one: CriterionTrial) -> str:
    """A criterion's value as scored, and as people would score, in a sentence."""
    name, over = criterion_word(one.criterion), " of the answers" if one.is_rate else " on average"
    value = numbers.show(_kind(one), one.as_scored, unknown="nothing was scored")
    as_scored = f"{name}: {value}{over} as scored"
    if one.corrected.estimate is None:
        return f"{as_scored}; as people would score {_estimate(one, one.corrected)}"
    return f"{as_scored}, {_estimate(one, one.corrected)} as people would score"


def _notices(card: AnswerCard) -> list[str]:
    """The notices that come before the numbers: few labels, disputes, weak agreement, clusters."""
    found = [
        f"{criterion_word(one.criterion)}: {plural(one.n, 'label')}; most intervals will say little"
        for one in card.criteria
        if one.n < TELLING_LABELS
    ]
    found += label_notices(card.carried, as_drawn=card.as_drawn)
    for one in card.criteria:
        name = criterion_word(one.criterion)
        if one.n_disputed:
            found.append(
                f"{name}: on {plural(one.n_disputed, 'answer')} two people differ and nobody has settled it; left out"
            )
        found += [f"{name}, agreement: {words}" for words in caveats(one.agreement.values())]
    if card.n_clusters is not None:
        found.append(f"Answers share {card.n_clusters:,} groups or items: intervals are by whole clusters")
    return found


def _sections(card: AnswerCard) -> Iterator[Section]:
    yield Section("corrected-values", "Corrected values", (_corrected(card),))
    yield Section("agreement", "Agreement", (_agreement(card),))
    for one in card.criteria:
        name = criterion_word(one.criterion)
        place = f"{name.lower().replace(' ', '-')}-where-they-differ"
        tables = (
            confusion_table(one.confusion, "evaluator", "scored"),
            *(() if one.applies is None else (_applies(one.applies),)),
            _bias(one),
        )
        yield Section(place, f"{name}: where evaluator and people differ", tables)


def _corrected(card: AnswerCard) -> Table:
    columns: Columns = {
        "Criterion": "text", "As scored": "number", "Corrected": "number", "By labels alone": "number",
        "Labelled of scored": "number", "How it was made": "text",
    }  # fmt: skip
    rows: list[Sequence[Cell]] = [
        (
            criterion_word(one.criterion),
            Value(_kind(one), one.as_scored, unknown="nothing was scored"),
            _estimate(one, one.corrected),
            _estimate(one, one.by_labels_alone),
            f"{one.n:,} of {one.n_scored:,}",
            made_how(one.corrected),
        )
        for one in card.criteria
    ]
    percent = numbers.limit("rate", card.confidence)
    return table(f"Over the scored answers, with {percent} intervals", columns, rows)


def _agreement(card: AnswerCard) -> Table:
    sides = [(f"{criterion_word(one.criterion)} (n = {one.n:,})", one.agreement) for one in card.criteria]
    sides += [
        (f"{criterion_word(one.criterion)}, two people (n = {one.n_twice:,})", one.between_people)
        for one in card.criteria
        if one.n_twice
    ]
    # Of two scores all weights are alike.
    of_two = all(len(one.scores) == 2 for one in card.criteria)
    return agreement_table(sides, _OF_TWO if of_two else COEFFICIENTS)


def _applies(found: Applies) -> Table:
    columns: Columns = {"People": "text", "evaluator: applies": "count", "evaluator: does not": "count"}
    rows = (("applies", found.both, found.people_alone), ("does not apply", found.evaluator_alone, found.neither))
    return table("Labelled answers by whether the criterion applies to them", columns, rows)


def _bias(one: CriterionTrial) -> Table:
    columns: Columns = {"Answers": "text", "n": "count", "Evaluator minus people": "number", "p, Holm": "number"}
    rows: list[Sequence[Cell]] = [("all", one.bias.overall.n, bounded(one.bias.overall), None)]
    for part in one.bias.slices:
        p = None if part.p_holm is None else f"{part.p_holm:.3f}"
        rows.append((f"{part.slice}: {part.value}", part.difference.n, bounded(part.difference), p))
    found = one.bias.with_length
    rows.append(("rank correlation with length", found.n, bounded(found), None))
    return table("Bias, in points of the scale: above 0 the evaluator is kinder than people", columns, rows)


# ── numbers in words ─────────────────────────────────────────────────────────────────────────────────────────


def _kind(one: CriterionTrial) -> Kind:
    return "rate" if one.is_rate else "grade"


def _estimate(one: CriterionTrial, found: Estimate) -> str:
    """An estimate with its interval, kept within the scale: an approximation may leave it."""
    if found.estimate is None:
        return numbers.nothing(why_nothing(found.reason))
    scale = min(one.scores), max(one.scores)
    shown, low, high = (
        numbers.show(_kind(one), inside(scale, bound)) for bound in (found.estimate, found.low, found.high)
    )
    return f"{shown} (no interval)" if found.low is None or found.high is None else f"{shown} ({low} to {high})"
