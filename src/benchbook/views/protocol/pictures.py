"""The judges of an experiment in the sentences that come first, and as data for pictures of each beside the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchbook.evaluators.document import Kind, Tone
from benchbook.evaluators.protocol.rows import Analysis, LeagueEntry, Measured, RuleOutcome, TargetVariant
from benchbook.text import one_line, plural
from benchbook.views import numbers
from benchbook.views.protocol.tables import STANDINGS, Points, measured, rule_outcome
from benchbook.views.spans import SpanLine, Spans, axis_end
from benchbook.views.words import listed

_NAMED = 3  # judges by their names; more are counted
_PAIRS = 12  # that are drawn; the report's table has all
_BARRED = 2  # judges of whom it is said at once what bars them; the league has all
_TONES: dict[str, Tone] = {"usable": "good", "not_usable": "bad", "too_few": "doubt"}


@dataclass(frozen=True, slots=True)
class RuleWords:
    """One rule for judges, and what was found; `tone` is none where that is not known."""

    tone: Tone
    text: str


@dataclass(frozen=True, slots=True)
class JudgePlace:
    """A judge's place in the league, in words."""

    judge: str
    standing: str
    tone: Tone
    n: int  # cross-judging evaluations
    rules: tuple[RuleWords, ...]


@dataclass(frozen=True, slots=True)
class JudgesWords:
    """An experiment's judges in words, and as data of pictures. `sentences` come first."""

    sentences: tuple[str, ...]
    league: tuple[JudgePlace, ...]
    pictures: tuple[Spans, ...]


def judges_words(found: Analysis, points: Points) -> JudgesWords:
    """The analysis in sentences, the league with its rules, and each judge beside the others."""
    return JudgesWords(
        sentences=tuple(judges_sentences(found, points)),
        league=tuple(_place(entry, points) for entry in found.league),
        pictures=tuple(_pictures(found, points)),
    )


# ── in sentences ─────────────────────────────────────────────────────────────────────────────────────────────


def judges_sentences(found: Analysis, points: Points) -> Iterator[str]:
    """Who can be used, what bars the others, and which target did best, as far as that can be told."""
    if found.league:
        yield _standings(found.league)
    barred = [entry for entry in found.league if entry.standing == "not_usable"]
    for entry in barred[:_BARRED]:
        broken = [rule_outcome(one, points) for one in entry.outcomes if one.holds is False]
        yield f"What bars {one_line(entry.judge_model)}: {'; '.join(broken)}."
    sure = [one for one in found.targets if one.overall.low is not None and one.overall.high is not None]
    if sure:
        yield _best(sure, points)


def _standings(league: Sequence[LeagueEntry]) -> str:
    """`a can be used; b can't be used; of c there are too few evaluations to say.`"""
    by_standing = {name: [entry.judge_model for entry in league if entry.standing == name] for name in STANDINGS}
    said = [f"{_names(by_standing[name])} {STANDINGS[name]}" for name in ("usable", "not_usable") if by_standing[name]]
    if few := by_standing["too_few"]:
        said.append(f"{'of' if said else 'Of'} {_names(few)} there are {STANDINGS['too_few']}")
    return f"{'; '.join(said)}."


def _names(judges: Sequence[str]) -> str:
    return plural(len(judges), "judge") if len(judges) > _NAMED else listed([one_line(one) for one in judges])


def _best(sure: Sequence[TargetVariant], points: Points) -> str:
    """The target and variant of the highest mean, and how many others reach into its interval."""
    first = max(sure, key=lambda one: one.overall.value or 0.0)
    low, high, lowest = first.overall.low, first.overall.high, first.overall.low or 0.0
    mean = f"{numbers.show('grade', first.overall.value)} of {points.highest} ({numbers.bounds('grade', low, high)})"
    whose = f"{one_line(first.target_model)} under {one_line(first.prompt_variant)}"
    if len(sure) == 1:
        return f"The mean overall score is {mean}, of {whose}."
    reaching = sum((one.overall.high or 0.0) >= lowest for one in sure if one is not first)
    told = (
        "no other interval reaches into its own"
        if not reaching
        else f"{reaching:,} of {plural(len(sure) - 1, 'other')} can't be told from it by their intervals"
    )
    return f"The highest mean overall score is {mean}, of {whose}; {told}."


# ── the league ───────────────────────────────────────────────────────────────────────────────────────────────


def _place(entry: LeagueEntry, points: Points) -> JudgePlace:
    return JudgePlace(
        judge=entry.judge_model,
        standing=STANDINGS[entry.standing],
        tone=_TONES[entry.standing],
        n=entry.n,
        rules=tuple(RuleWords(_rule_tone(one.holds), rule_outcome(one, points)) for one in entry.outcomes),
    )


def _rule_tone(holds: bool | None) -> Tone:
    return "none" if holds is None else "good" if holds else "bad"


# ── as pictures ──────────────────────────────────────────────────────────────────────────────────────────────


def _pictures(found: Analysis, points: Points) -> Iterator[Spans]:
    """A picture for each thing that was measured of judges; none of what has no value at all."""
    outcomes = {(entry.judge_model, one.rule): one for entry in found.league for one in entry.outcomes}
    judges, rules = found.judges, found.rules

    def lines(of: Sequence[tuple[str, Measured]], rule: str, kind: Kind, *, signed: bool = False) -> list[SpanLine]:
        return [
            _line(name, one, _words(one, kind, found.confidence, signed=signed), outcomes.get((name, rule)))
            for name, one in of
        ]

    valid = [(one.judge_model, one.cross_judge.valid_share) for one in judges]
    quotes = [(one.judge_model, one.cross_judge.found_share) for one in judges]
    severity = [(one.judge_model, one.severity) for one in judges]
    yield from _shares(
        "Evaluations that count", lines(valid, "valid_share_at_least", "rate"), rules.valid_share_at_least
    )
    yield from _shares(
        "Quotes that were found", lines(quotes, "found_share_at_least", "rate"), rules.found_share_at_least
    )
    about = f"points of {points.span}, on the same outputs; right of 0 kinder, left of it harsher"
    yield from _differences(
        "Severity: minus the other judges", about, lines(severity, "severity_at_most", "grade", signed=True), points,
        rules.severity_at_most,
    )  # fmt: skip
    itself = [(one.model, one.overall) for one in found.self_minus_cross]
    about = f"points of {points.span}, on the same outputs; right of 0 it is kinder to itself than others are to it"
    yield from _differences(
        "Judging itself: minus the others", about, lines(itself, "", "grade", signed=True), points, None
    )
    least = sorted(found.pairs, key=lambda one: one.verdict_ac.value if one.verdict_ac.value is not None else 2.0)
    pairs = [(f"{one.judge_a} and {one.judge_b}", one.verdict_ac) for one in least[:_PAIRS]]
    yield from _agreement(lines(pairs, "", "ratio"), len(least))


def _line(name: str, one: Measured, words: str, outcome: RuleOutcome | None) -> SpanLine:
    holds = None if outcome is None else outcome.holds
    state = "" if holds is None else "as asked" if holds else "not as asked"
    return SpanLine(name, one.value, one.low, one.high, words, _rule_tone(holds), state)


def _words(one: Measured, kind: Kind, confidence: float, *, signed: bool) -> str:
    shown = measured(kind, one, confidence)
    if signed and one.value is not None and one.low is not None and one.high is not None:
        value, low, high = (numbers.signed(number, kind) for number in (one.value, one.low, one.high))
        shown = f"{value} ({low} to {high})"
    return f"{shown}, n = {one.n:,}"


def _known(lines: Sequence[SpanLine]) -> bool:
    return any(line.value is not None for line in lines)


def _shares(title: str, lines: Sequence[SpanLine], at_least: float | None) -> Iterator[Spans]:
    if _known(lines):
        about = "" if at_least is None else f"asked for: at least {numbers.limit('rate', at_least)}"
        good_to = None if at_least is None else 1.0
        yield Spans(title, about, "rate", 0.0, 1.0, tuple(lines), at_least, at_least, good_to)


def _differences(
    title: str, about: str, lines: Sequence[SpanLine], points: Points, at_most: float | None
) -> Iterator[Spans]:
    """Differences of the overall score, on an axis with 0 in its middle."""
    if not _known(lines):
        return
    end = axis_end([*(bound for line in lines for bound in (line.value, line.low, line.high)), at_most], points.span)
    asked = "" if at_most is None else f"; asked for: at most {numbers.limit('grade', at_most)} either way"
    good_from = None if at_most is None else -at_most
    yield Spans(title, f"{about}{asked}", "grade", -end, end, tuple(lines), 0.0, good_from, at_most, signed=True)


def _agreement(lines: Sequence[SpanLine], n_pairs: int) -> Iterator[Spans]:
    """Every two judges, of many those that agree least."""
    if _known(lines):
        least = min((line.low if line.low is not None else line.value or 0.0 for line in lines), default=0.0)
        about = "verdicts, beyond chance: Gwet's AC2; 1 is always, 0 as by chance"
        if n_pairs > len(lines):
            about += f"; the {len(lines)} of {n_pairs:,} pairs that agree least"
        yield Spans("Agreement of judges", about, "ratio", -1.0 if least < 0 else 0.0, 1.0, tuple(lines), 0.0)
