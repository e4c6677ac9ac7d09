"""An analysis of evaluations in words and tables, which the page and `results_analysis.md` share (P4, P6)."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence

from benchbook.evaluators.document import Cell, Columns, Kind, Table, Value, table
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.protocol.rows import (
    Analysis,
    Drift,
    JudgePair,
    JudgeResults,
    LeagueEntry,
    Measured,
    RuleOutcome,
    SelfMinusCross,
    TargetVariant,
)
from benchbook.evaluators.protocol.spec import VERDICTS, Protocol, form
from benchbook.statistics import REASONS
from benchbook.text import shorten
from benchbook.views import numbers

FLAGS: Mapping[str, str] = {
    "INCOMPLETE_COVERAGE": "an identifier is missing, empty, or not in the evaluation set",
    "INTERNAL_INCONSISTENCY": "its parts contradict each other, or what was asked",
    "JUDGE_REFUSAL_OR_EVASION": "the judge declines, or gives no scores",
    "PROTOCOL_VIOLATION": "scores, dimensions or evidence are not as the protocol asks, or a quote was not found",
    "UNPARSABLE_OUTPUT": "not one strict JSON object with every field of its type",
}

LOCATED: Mapping[str, str] = {
    "exact": "found as it stands",
    "normalised": "found but for spacing, case or typography",
    "fragments": "found in fragments",
    "not_found": "not in the judged text",
    "empty": "empty quote",
    "no_quote": "no quote",
}

GAPS: Mapping[str, str] = {
    "no_text": "the output has no text",
    "not_judged": "no judgement of it",
    "unanswered": "unanswered, the judge was not reached",
    "not_asked": "not asked so far",
}

STANDINGS: Mapping[str, str] = {
    "usable": "can be used",
    "not_usable": "can't be used",
    "too_few": "too few evaluations to say",
}

RULES: Mapping[str, tuple[str, Kind]] = {
    "valid_share_at_least": ("evaluations that count, at least", "rate"),
    "found_share_at_least": ("quotes that were found, at least", "rate"),
    "severity_at_most": ("points (of {points}) away from the other judges, at most", "grade"),
    "agreement_at_least": ("agreement with the other judges, at least", "ratio"),
    "failed_probe_share_at_most": ("probes that failed, at most", "rate"),
}


def measured(kind: Kind, found: Measured, confidence: float, units: str = "outputs") -> str:
    """`6.250 (5.100 to 7.400)`; with the reason where there is no value or no interval."""
    if found.value is None:
        return numbers.nothing(_reason(found.reason))
    value = numbers.show(kind, found.value)
    if found.too_few:
        return f"{value} (too few: {found.n_units:,} of {found.at_least:,} {units})"
    if found.low is None and found.high is None:
        return f"{value} (no interval: {_reason(found.reason)})"
    span = Interval(
        low=found.low,
        high=found.high,
        confidence=confidence,
        method=found.method,
        n=found.n,
        reason=found.reason,
        warnings=tuple(found.warnings),
    )
    return f"{value} ({numbers.interval(kind, span, bare=True)})"


SHORT_REASONS = {"no_data": "no data", "no_variance": "all alike", "one_value": "one value alone"}


def _reason(reason: str | None) -> str:
    return SHORT_REASONS.get(reason or "") or REASONS.get(reason or "", reason or "not known")


def signed(words: str) -> str:
    """A difference: what is above 0 gets a plus, so that its direction is read at once."""
    return words if words.startswith(("-", "−", numbers.DASH, "0.000 ")) or words == "0.000" else f"+{words}"


class Points(typing.Protocol):
    """The scale of an experiment's overall score."""

    @property
    def lowest(self) -> int: ...

    @property
    def highest(self) -> int: ...

    @property
    def span(self) -> int: ...


def rule_words(rule: str, limit: float, points: Points) -> str:
    """`evaluations that count, at least 90 %`."""
    words, kind = RULES.get(rule, (rule, "ratio"))
    return f"{words.format(points=points.span)} {numbers.limit(kind, limit)}"


def rule_outcome(outcome: RuleOutcome, points: Points) -> str:
    """`quotes that were found, at least 90 %: 20.3 %`; of severity `2.306 points (of 8) harsher than …, at most 1`."""
    _, kind = RULES.get(outcome.rule, (outcome.rule, "ratio"))
    if outcome.rule == "severity_at_most" and outcome.found:
        size = numbers.show(kind, abs(outcome.found), apart_from=outcome.limit)
        way = "harsher" if outcome.found < 0 else "kinder"
        limit = numbers.limit(kind, outcome.limit)
        return f"{size} points (of {points.span}) {way} than the other judges, at most {limit}"
    found = numbers.show(kind, outcome.found, apart_from=outcome.limit, unknown="not known")
    return f"{rule_words(outcome.rule, outcome.limit, points)}: {found}"


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────

NAME_WIDTH = 80  # characters of an id in a table
MAX_DRIFTS = 200  # rows of the table
MAX_PROBES = 500


def methods_table(found: Analysis) -> Table:
    """How many evaluations there are, and how many count."""
    rows = ((one.method, one.n, one.n_valid, one.n - one.n_valid) for one in found.methods)
    columns: Columns = {"Method": "text", "Evaluations": "count", "Valid": "count", "Invalid": "count"}
    return table("Evaluations by method", columns, rows)


def flags_table(found: Analysis) -> Table:
    """Why evaluations do not count; several flags may apply to one."""
    counts: Columns = {one.method: "count" for one in found.methods}
    rows: list[Sequence[Cell]] = [
        [flag, FLAGS[flag], *(one.flags.get(flag, 0) for one in found.methods)] for flag in form().flags
    ]
    return table("Why evaluations do not count", {"Flag": "text", "Meaning": "text", **counts}, rows)


def targets_table(found: Analysis, protocol: Protocol) -> Table:
    """Each target under each variant."""
    columns: Columns = {
        "Target": "text", "Variant": "text", f"Overall, mean of {protocol.lowest} to {protocol.highest}": "text",
        **dict.fromkeys(VERDICTS, "number"), "Valid": "text",
    }  # fmt: skip
    return table("Targets under each variant", columns, (_target_row(one, found) for one in found.targets), titled=True)


def _target_row(one: TargetVariant, found: Analysis) -> tuple[Cell, ...]:
    shares = [_count_and_share(one.verdicts[verdict], one.verdict_shares[verdict]) for verdict in VERDICTS]
    overall = measured("grade", one.overall, found.confidence)
    return (
        _name(one.target_model),
        _name(one.prompt_variant),
        overall,
        *shares,
        Value("rate", one.valid_share.value, one.n),
    )


def _count_and_share(count: int, share: float | None) -> str:
    return f"{count:,} ({numbers.show('rate', share)})" if count else "0"


def dimensions_table(found: Analysis, protocol: Protocol) -> Table:
    """The dimensions' means."""
    names, scale = protocol.names, protocol.one_scale
    rows = (
        (
            _name(one.target_model),
            _name(one.prompt_variant),
            *(measured("grade", one.dimensions[name], found.confidence) for name in names),
        )
        for one in found.targets
    )
    if scale is None:
        heads = [f"{one.name}, {one.lowest} to {one.highest}" for one in protocol.dimensions]
        return table("Means of the dimensions", dict.fromkeys(("Target", "Variant", *heads), "text"), rows)
    columns: Columns = dict.fromkeys(("Target", "Variant", *names), "text")
    return table(f"Means of the dimensions, {scale[0]} to {scale[-1]}", columns, rows)


def drift_table(found: Analysis) -> Table:
    """Every two variants with a question in common: those with enough questions first, then the widest drift."""
    known = [one for one in found.drifts if one.difference.value is not None]
    widest = sorted(known, key=lambda one: (one.difference.too_few, -abs(one.difference.value or 0.0)))
    left_out = f" (the first {MAX_DRIFTS:,} of {len(known):,})" if len(known) > MAX_DRIFTS else ""
    columns: Columns = {
        "Target": "text", "From variant": "text", "To variant": "text", "Change of overall score": "text",
        "Pairs": "count", "By question": "text",
    }  # fmt: skip
    rows = (_drift_row(one, found) for one in widest[:MAX_DRIFTS])
    return table(f"Drift between variants of one question{left_out}", columns, rows)


def _drift_row(one: Drift, found: Analysis) -> tuple[Cell, ...]:
    by_question = [
        f"{shorten(question.question_id, 20)} {signed(numbers.show('grade', question.difference))}"
        for question in one.questions[:8]
    ]
    more = [f"and {len(one.questions) - 8:,} more"] if len(one.questions) > 8 else []
    change = signed(measured("grade", one.difference, found.confidence, "questions"))
    names = (_name(one.target_model), _name(one.variant_a), _name(one.variant_b))
    return *names, change, one.difference.n, ", ".join([*by_question, *more])


def judges_table(found: Analysis) -> Table:
    """Each judge's card: cross-judging, but for the last column."""
    columns: Columns = {
        "Judge": "text", "Evaluations": "count", "Valid": "text", "Quotes found": "text", "Severity": "text",
        "Agreement": "text", "Probes": "text", "Self-judging": "text",
    }  # fmt: skip
    return table("Cards of the judges", columns, (_judge_row(card, found) for card in found.judges), titled=True)


def _judge_row(card: JudgeResults, found: Analysis) -> tuple[Cell, ...]:
    cross, own = card.cross_judge, card.self_judge
    told = card.n_probes_passed + card.n_probes_failed
    return (
        _name(card.judge_model),
        cross.n,
        measured("rate", cross.valid_share, found.confidence),
        measured("rate", cross.found_share, found.confidence),
        signed(measured("grade", card.severity, found.confidence)),
        Value("ratio", card.agreement, unknown="no other judge on enough of the same outputs"),
        f"{card.n_probes_passed:,} of {told:,} passed" if told else numbers.nothing("not probed"),
        f"{own.n_valid:,} of {own.n:,} valid" if own.n else numbers.nothing("none"),
    )


def evidence_table(found: Analysis) -> Table:
    """Where each judge's quotes were found, by method."""
    rows: list[Sequence[Cell]] = [
        [_name(card.judge_model), method, *(validity.evidence[kind] for kind in LOCATED)]
        for card in found.judges
        for method, validity in (("cross_judge", card.cross_judge), ("self_judge", card.self_judge))
        if validity.n
    ]
    columns: Columns = {"Judge": "text", "Method": "text", **dict.fromkeys(LOCATED.values(), "count")}
    return table("Quotes, by how they were found in the judged text", columns, rows)


def pairs_table(found: Analysis) -> Table:
    """Every two judges on the outputs that both validly judged."""
    columns: Columns = {
        "Judge": "text", "Other judge": "text", "Outputs": "count", "Same verdict": "rate",
        "Verdict, Cohen's kappa (linear)": "text", "Verdict, Gwet's AC2 (linear)": "text",
        "Overall, Cohen's kappa (quadratic)": "text",
    }  # fmt: skip
    return table("Agreement of judges", columns, (_pair_row(one, found) for one in found.pairs))


def _pair_row(one: JudgePair, found: Analysis) -> tuple[Cell, ...]:
    coefficients = (one.verdict_kappa, one.verdict_ac, one.overall_kappa)
    shown = (measured("ratio", coefficient, found.confidence) for coefficient in coefficients)
    return _name(one.judge_a), _name(one.judge_b), one.n_outputs, one.same_verdict, *shown


def self_table(found: Analysis, protocol: Protocol) -> Table:
    """A diagnostic (P6): how models score their own outputs, minus how others do."""
    names: Columns = dict.fromkeys(protocol.names, "text")
    columns: Columns = {"Model": "text", "Outputs": "count", "Overall": "text", **names}
    rows = (_self_row(one, found, protocol.names) for one in found.self_minus_cross)
    return table("Self-judging minus cross-judging, on the same outputs", columns, rows)


def _self_row(one: SelfMinusCross, found: Analysis, names: Sequence[str]) -> tuple[Cell, ...]:
    differences = (one.overall, *(one.dimensions[name] for name in names))
    shown = (signed(measured("grade", difference, found.confidence)) for difference in differences)
    return _name(one.model), one.n_outputs, *shown


def league_table(found: Analysis, protocol: Protocol) -> Table:
    """Which judges can be used, and why not."""
    columns: Columns = {
        "Judge": "text", "Standing": "text", "Evaluations": "count", "Not met": "text", "Not known": "text",
    }  # fmt: skip
    return table("League of judges", columns, (_league_row(one, protocol) for one in found.league))


def _league_row(entry: LeagueEntry, protocol: Protocol) -> tuple[Cell, ...]:
    broken = "; ".join(rule_outcome(one, protocol) for one in entry.outcomes if one.holds is False)
    open_ones = "; ".join(rule_words(one.rule, one.limit, protocol) for one in entry.outcomes if one.holds is None)
    return _name(entry.judge_model), STANDINGS[entry.standing], entry.n, broken or None, open_ones or None


def league_notes(found: Analysis, protocol: Protocol) -> Iterator[str]:
    """The rules that the league holds judges against."""
    limits = {name: getattr(found.rules, name) for name in found.rules.__struct_fields__}
    yield from (rule_words(rule, limit, protocol) for rule, limit in limits.items() if limit is not None)
    yield f"a judge with fewer than {found.minimums.evaluations:,} cross-judging evaluations has no place yet"


def probes_table(found: Analysis) -> Table:
    """Failed probes first."""
    order = {False: 0, None: 1, True: 2}
    shown = sorted(found.probes, key=lambda one: order[one.passed])[:MAX_PROBES]
    left_out = f" (the first {MAX_PROBES:,} of {len(found.probes):,})" if len(found.probes) > MAX_PROBES else ""
    outcomes = {True: "passed", False: "failed", None: "tells nothing"}
    rows = (
        (
            _name(one.judge_model),
            one.probe,
            _name(f"{one.question_id} / {one.prompt_variant} / {one.target_model} / {one.output_id}"),
            outcomes[one.passed],
            one.expected,
            shorten(one.found, 200),
        )
        for one in shown
    )
    names = ("Judge", "Probe", "Output", "Outcome", "A sound judge says", "It said")
    return table(f"Probes of judges{left_out}", dict.fromkeys(names, "text"), rows, titled=True)


def _name(words: str) -> str:
    return shorten(words, NAME_WIDTH)
