"""An audit card in words: what the judge may be used for, and what each variant did to its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchbook.evaluators.document import (
    Block,
    Columns,
    Document,
    Fact,
    Kind,
    Listed,
    Notices,
    Opening,
    Paragraph,
    Section,
    Table,
    Tone,
    Value,
    table,
)
from benchbook.judge_audit.card import Allowed, AuditCard, Use
from benchbook.judge_audit.effects import NOTICES, BeforeAfter, EffectVerdict, JudgeEffect
from benchbook.judge_audit.holding import JudgeCardFound
from benchbook.judge_audit.planning import AnswersNeeded
from benchbook.judge_audit.variants import VARIANTS
from benchbook.labels.judge_card import JudgeCard
from benchbook.text import plural
from benchbook.views import numbers
from benchbook.views.judge_card_tables import card_notices, card_sections
from benchbook.views.judges import card_sentences
from benchbook.views.views import named_model
from benchbook.views.words import decision_headline, listed

VERDICTS: Mapping[EffectVerdict, str] = {
    "biased": "biased",
    "slight": "shown, and within the margin",
    "none": "none within the margin",
    "noticed": "noticed",
    "missed": "not noticed",
    "not_told": "can't be told",
}
ALLOWED: Mapping[Allowed, str] = {"yes": "yes", "no": "no", "not_told": "can't be told"}
_OF_PEOPLE = ("Gates", "Corrected values", "Agreement")
_CONTROLS = frozenset({"probe", "reference"})


def audit_document(card: AuditCard, people: JudgeCard | None = None) -> Document:
    """The card as a document; beside it what people's labels say of the same judge, where there are any."""
    headline, tone = audit_headline(card)
    opening = Opening(
        headline,
        tone,
        meaning=tuple(audit_sentences(card)),
        reasons=tuple(_reasons(card)),
        facts=(named_model("Judge", card.judge.judge, _version(card)), *_facts(card)),
    )
    blocks: list[Block] = [
        opening,
        Notices(tuple(audit_notices(card))),
        Section("uses", "What it may be used for", (uses_table(card),)),
        Section("effects", "What should change nothing", (Paragraph(how_effects(card), "quiet"), effects_table(card))),
        Section("controls", "What it must notice", (Paragraph(how_controls(), "quiet"), controls_table(card))),
        Section("headline", "What moves in a run's numbers", (moved_table(card),)),
    ]
    if people is not None:
        said = Listed(tuple(card_sentences(people)))
        blocks.append(Section("people", "Held against people", (said, Notices(tuple(card_notices(people)), "inside"))))
        blocks += [one for one in card_sections(people) if one.title in _OF_PEOPLE]
    return Document(f"Audit of the judge {card.judge.judge}", card.judge.spec, blocks)


def audit_sentences(card: AuditCard) -> list[str]:
    """The card in sentences: each use that it rules out with the effect that does, and what is left open."""
    found = [_ruled_out(card, use) for use in card.uses if use.allowed == "no"]
    allowed = [use.words.partition(":")[0] for use in card.uses if use.allowed == "yes"]
    if allowed:
        found.append(f"It may be used {listed(allowed)}.")
    if any(use.allowed == "not_told" for use in card.uses):
        found.append(_left_open(card))
    return [*found, _noise_words(card)]


def holds_words(card: AuditCard) -> str:
    """The judge, the rubric and the set for which the card holds."""
    return f"It holds for {card.judge.judge} under {card.judge.spec}, on {card.judge.evalset}, as they are."


def found_words(found: JudgeCardFound | None, run: str) -> str:
    """The card of a run's judge in a line: if it holds, and for what; how to have one."""
    audits = f"`benchbook judge audit {run}`"
    if found is None:
        return f"Judge's card: none. {audits} tries what the judge may be used for."
    if not found.holds:
        return (
            f"Judge's card: {found.path} no longer holds, for {listed(found.changed)} changed. {audits} tries it again."
        )
    of = {name: [_ASPECTS[use.aspect] for use in found.uses if use.allowed == name] for name in ALLOWED}
    said = [f"{what} {listed(of[name])}" for name, what in _FOUND.items() if of[name]]
    return f"Judge's card: {found.path} holds; {'; '.join(said)}."


_FOUND: Mapping[Allowed, str] = {"yes": "nothing found by", "no": "not sound by", "not_told": "can't be told by"}


def needed_words(found: AnswersNeeded) -> str:
    """How many answers an audit needs, and of what that was reckoned."""
    return (
        f"{found.n_answers:,} answers find a change of the judge's score by {found.effect:g} of its scale in "
        f"{numbers.limit('rate', found.power)} of audits, if the differences of single answers have a standard "
        f"deviation of {found.sd:g}; {found.n_effects} variants are adjusted for one another."
    )


def audit_headline(card: AuditCard) -> tuple[str, Tone]:
    """The card in a few words, and their colour."""
    by_allowed = {name: [use for use in card.uses if use.allowed == name] for name in ALLOWED}
    if any(use.aspect in _CONTROLS for use in by_allowed["no"]):
        return "It does not notice bad answers", "bad"
    if by_allowed["no"]:
        return f"Biased, by {listed([_ASPECTS[use.aspect] for use in by_allowed['no']])}", "bad"
    if by_allowed["not_told"]:
        return "No bias is shown, and not all can be told", "doubt"
    return f"No bias above {card.margin:g} in what was tried", "good"


_ASPECTS = {"retest": "time", "order": "the order", "length": "length", "style": "form or tone", "name": "names",
            "reference": "references", "probe": "bad answers"}  # fmt: skip


def _ruled_out(card: AuditCard, use: Use) -> str:
    effects = {one.variant: one for one in card.effects}
    first = next(effects[name] for name, verdict in use.by.items() if verdict in ("biased", "missed"))
    return f"It may not be used {use.words.partition(':')[0]}: {effect_words(first)}."


def _left_open(card: AuditCard) -> str:
    """The variants that so few answers do not tell, and how many would."""
    open_ = [one for use in card.uses for one, verdict in use.by.items() if verdict == "not_told"]
    said = f"Not told by so few answers: {listed([_title(one) for one in open_])}"
    if not card.n_for_margin:
        return f"{said}."
    return f"{said}; {max(card.n_for_margin.values()):,} answers would tell a change of {card.margin:g}."


def effect_words(one: JudgeEffect) -> str:
    """`longer answers score 0.12 more (0.10 to 0.16)`, or of a control how many it noticed."""
    if one.noticed is not None:
        share = numbers.show("rate", one.noticed.estimate)
        return f"{one.title}: {share} of {plural(one.noticed.n, 'answer')} were scored lower"
    found = one.score
    size = numbers.signed(found.difference)
    return f"{one.title}, an answer's score moves by {size} ({numbers.difference_interval(found)})"


def _noise_words(card: AuditCard) -> str:
    noise = card.noise
    if noise.same_score.estimate is None or noise.sd is None:
        return "How often it repeats itself can't be told."
    share = numbers.show("rate", noise.same_score.estimate)
    sentence = f"Asked again, it gave {share} of {plural(noise.n, 'answer')} the same score"
    return f"{sentence}; the standard deviation of the differences is {noise.sd:.2f} of the scale."


def _reasons(card: AuditCard) -> Iterator[Listed]:
    untried = [_title(one) for one in card.not_tried]
    if untried:
        yield Listed((f"Not tried, for the rule fits none of the answers: {listed(untried)}.",))


def _facts(card: AuditCard) -> Iterator[Fact]:
    yield Fact("Eval set", card.judge.evalset, digest=card.judge.evalset_sha256)
    whose = "judged by it, too" if card.run_judged else "judged anew"
    yield Fact("Answers", card.model, f"{card.n_answers:,} drawn of {card.n_eligible:,}, {whose}")
    yield Fact("Run", card.run_id, digest=card.run_sha256)
    if card.ended_utc is not None:
        yield Fact("Ended", card.ended_utc, plain=True)
    cost = "" if card.cost_usd is None else f", {numbers.money(card.cost_usd)}"
    yield Fact("Asked", f"{plural(card.n_verdicts, 'verdict')}{cost}", plain=True)


def audit_notices(card: AuditCard) -> Iterator[str]:
    """The notices that come before the numbers: for whom it holds, groups, answers without a score."""
    yield holds_words(card)
    if (groups := next((one.score.n_clusters for one in card.effects if one.score.n_clusters), None)) is not None:
        yield f"Answers share {plural(groups, 'group')} of items: intervals and p are by whole groups."
    if lost := [one for one in card.effects if one.n_unscored * 20 > one.score.n]:
        which = listed([f"{one.n_unscored:,} {one.title}" for one in lost])
        yield f"Answers without a score, which are left out: {which}. A judge that fails on them is not tried by them."


def _title(variant: str) -> str:
    return VARIANTS[variant].title


def _version(card: AuditCard) -> str | None:
    version = card.judge.measured.get("evaluator_model_version")
    return None if version is None else str(version)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────


def uses_table(card: AuditCard) -> Table:
    """A row for each use of the judge."""
    rows = [(use.words, ALLOWED[use.allowed]) for use in card.uses]
    return table("Uses", {"Use": "text", "May it be used so": "text"}, rows, titled=True)


_MEAN_OF_CRITERIA = "the mean of its criteria as shares of their scales"


def how_effects(card: AuditCard) -> str:
    """How the changes of what should change nothing are told."""
    percent = numbers.limit("rate", card.confidence)
    of_pairs = any(one.aspect == "order" for one in card.effects)
    score = "the share of the win that is the first answer's" if of_pairs else _MEAN_OF_CRITERIA
    return (
        f"The judge's score is {score}, from 0 to 1. Changes are paired, answer by answer, against the same answers "
        "asked again; those signed by the judge against those signed by another. "
        f"Intervals are {percent}; p is adjusted over all of these (Holm). A change within {card.margin:g}, "
        "by an interval of its own, does not matter."
    )


def effects_table(card: AuditCard) -> Table:
    """A row for each variant that should change nothing."""
    columns: Columns = {
        "Answers": "text", "n": "count", "Before": "score", "After": "score", "Change": "number", "Interval": "number",
        "p": "p", "It is": "text",
    }  # fmt: skip
    rows = [
        (
            one.title, one.score.n, one.score.mean_a, one.score.mean_b,
            Value("score", one.score.difference, signed=True), numbers.difference_interval(one.score),
            one.score.p_adjusted, VERDICTS[one.verdict],
        )
        for one in card.effects if one.noticed is None
    ]  # fmt: skip
    return table("Variants that should change nothing", columns, rows, titled=True)


def how_controls() -> str:
    """How many bad answers a judge must notice."""
    least = numbers.limit("rate", NOTICES)
    return f"Of the answers that had any score, a sound judge scores at least {least} lower once they are bad."


def controls_table(card: AuditCard) -> Table:
    """A row for each variant that a judge must notice."""
    columns: Columns = {
        "Answers": "text", "n": "count", "Before": "score", "After": "score", "Scored lower": "rate",
        "Interval": "number", "It is": "text",
    }  # fmt: skip
    rows = [
        (
            one.title, noticed.n, one.score.mean_a, one.score.mean_b, noticed.estimate,
            numbers.bounds("rate", noticed.low, noticed.high), VERDICTS[one.verdict],
        )
        for one in card.effects if (noticed := one.noticed) is not None
    ]  # fmt: skip
    return table("Variants that a judge must notice", columns, rows, titled=True)


def moved_table(card: AuditCard) -> Table:
    """A row for each variant: the same answers' numbers, before and after."""
    columns: Columns = {"Answers": "text", "Pass rate": "number", "Mean sample score": "number", "Decision": "text"}
    rows = [
        (
            one.title,
            _before_after("rate", one.passed),
            _before_after("score", one.sample_score),
            _decision(card, one),
        )
        for one in card.effects if one.passed is not None
    ]  # fmt: skip
    return table("The same answers' numbers, before and after", columns, rows, titled=True)


def _decision(card: AuditCard, one: JudgeEffect) -> str:
    before, after = (card.decisions.get(name) for name in (one.against, one.variant))
    if before is None or after is None:
        return numbers.nothing()
    return _from_to(decision_headline(before), decision_headline(after))


def _before_after(kind: Kind, found: BeforeAfter | None) -> str:
    if found is None:
        return numbers.nothing()
    return _from_to(numbers.show(kind, found.before), numbers.show(kind, found.after))


def _from_to(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"
