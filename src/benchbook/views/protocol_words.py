"""Words and numbers of `judge_protocol@v1` for people: flags, rules, what was measured and how surely (SPEC P4, P6)."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.protocol.analysis_results import Measured, RuleOutcome
from benchbook.statistics import REASONS
from benchbook.views import numbers
from benchbook.views.numbers import Kind

__all__ = ["FLAGS", "GAPS", "LOCATED", "STANDINGS", "measured", "rule_outcome", "rule_words", "signed"]


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
    "not_usable": "can not be used",
    "too_few": "too few evaluations to say",
}

_RULES: Mapping[str, tuple[str, Kind]] = {
    "valid_share_at_least": ("evaluations that count, at least", "rate"),
    "found_share_at_least": ("quotes that were found, at least", "rate"),
    "severity_at_most": ("points (of 8) away from the other judges, at most", "grade"),
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


_SHORT = {"no_data": "no data", "no_variance": "all alike", "one_value": "one value alone"}


def _reason(reason: str | None) -> str:
    return _SHORT.get(reason or "") or REASONS.get(reason or "", reason or "not known")


def signed(words: str) -> str:
    """A difference: what is above 0 gets a plus, so that its direction is read at once."""
    return words if words.startswith(("-", "−", numbers.DASH, "0.000 ")) or words == "0.000" else f"+{words}"


def rule_words(rule: str, limit: float) -> str:
    """`evaluations that count, at least 90 %`."""
    words, kind = _RULES.get(rule, (rule, "ratio"))
    return f"{words} {numbers.limit(kind, limit)}"


def rule_outcome(outcome: RuleOutcome) -> str:
    """`quotes that were found, at least 90 %: 20.3 %`."""
    _, kind = _RULES.get(outcome.rule, (outcome.rule, "ratio"))
    found = numbers.show(kind, outcome.found, apart_from=outcome.limit, unknown="not known")
    return f"{rule_words(outcome.rule, outcome.limit)}: {found}"
