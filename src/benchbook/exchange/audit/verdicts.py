"""Says of one claimed number whether it follows from the samples, does not follow, or can't be told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, isnan, sqrt

from benchbook.exchange.audit import reducers
from benchbook.exchange.audit.absent import Unknown, possible, unknown_of, why_unknown
from benchbook.exchange.audit.computing import (
    COUNTS,
    TOKENS,
    column_of,
    computed,
    conventions,
    is_computable,
    is_known_who_passed,
    n_without_value,
    taken,
    token_sum,
    way_of,
)
from benchbook.exchange.audit.equality import decimals_of, is_rounding, no_spread, same, shown
from benchbook.exchange.audit.explaining import explained
from benchbook.exchange.audit.formulas import OF_CLUSTERS, OF_PARTS, SPREAD
from benchbook.exchange.audit.kept import KeptSamples
from benchbook.exchange.audit.result import AuditedNumber, ReasonCode, Verdict
from benchbook.exchange.log import Claim, LogHeader
from benchbook.text import plural, quoted, storable

_FEW_DECIMALS = 3  # with fewer, a rounded number is one that somebody shortened
_MANY_LEVELS = 64  # different values: more, and none of them is a threshold that anybody chose


@dataclass(frozen=True, slots=True)
class _Judged:
    verdict: Verdict
    code: ReasonCode = ""
    reason: str = ""
    computed: float | None = None
    n: int | None = None


def audited_number(claim: Claim, header: LogHeader, kept: KeptSamples) -> AuditedNumber:
    """The verdict on a claim."""
    claimed = claim.value if claim.value is not None and isfinite(claim.value) else None
    try:
        found = _judged(claim, claimed, header, kept)
    except (OverflowError, ValueError):
        words = "its values are too large, or too far apart, to compute with"
        found = _Judged("can_not_be_told", "can_not_be_computed", words)
    return AuditedNumber(
        scorer=storable(claim.scorer),
        metric=storable(claim.metric),
        where=storable(claim.where),
        claimed=claimed,
        computed=found.computed,
        verdict=found.verdict,
        reason_code=found.code,
        reason=storable(found.reason),
        formula=claim.formula,
        reducer=claim.reducer,
        n=found.n,
    )


def _judged(claim: Claim, claimed: float | None, header: LogHeader, kept: KeptSamples) -> _Judged:
    why_not = _why_not(claim)
    if why_not is not None:
        return _Judged("can_not_be_told", "no_formula", why_not)
    if claim.formula in TOKENS:
        return _tokens(claim.formula, claimed, header, kept)
    if claim.formula == "share_passed" and not is_known_who_passed(kept, claim):
        return _Judged("can_not_be_told", "scores_absent", "the log does not say of each scored sample if it passed")
    ways = conventions(claim)
    value, n = computed(kept, ways[0])
    if claimed is None:
        return _no_number(value, n)
    unknown = unknown_of(claim, header, kept)
    for way in ways:
        found, _ = computed(kept, way)
        if found is not None and (same(claimed, found, claim.decimals) or _are_alike(claim, claimed, found, kept)):
            return _follows(claim, kept, unknown, (found, n))
    if value is None:
        return _nothing(claim, claimed, unknown, kept, n)
    if unknown.more(n)[1]:
        return _against_what_is_possible(claim, claimed, header, kept, unknown, (value, n))
    return _contradicted(claim, claimed, header, kept, (value, n))


def _are_alike(claim: Claim, claimed: float, value: float, kept: KeptSamples) -> bool:
    """True if a spread is 0 but for rounding, in the tool's way of adding up or in ours."""
    if claim.formula not in SPREAD:
        return False
    largest = max((abs(one) for one in taken(kept, way_of(claim)).values), default=0.0)
    if "var" in claim.formula:
        return no_spread(sqrt(abs(claimed)), sqrt(value), largest)
    return no_spread(claimed, value, largest)


def _why_not(claim: Claim) -> str | None:
    """Why a number can't be computed again; None where it can."""
    if claim.formula is None or not is_computable(claim.formula):
        return claim.why_not or "how it is made is not known here"
    if claim.reducer is not None and not reducers.is_known(claim.reducer):
        return f"its reducer, {claim.reducer}, is not known here"
    return None


def _contradicted(
    claim: Claim, claimed: float, header: LogHeader, kept: KeptSamples, held: tuple[float, int]
) -> _Judged:
    """Of a number that samples which are all there don't give: in what other way it may have come about."""
    value, n = held
    if decimals_of(claimed) >= _FEW_DECIMALS and is_rounding(claimed, value):
        words = f"rounded to {plural(decimals_of(claimed), 'decimal')}: {shown(value)}"
        return _Judged("follows", "rounded", words, value, n)
    other = _other_threshold(claim, claimed, kept)
    if other is not None:
        words = f"it follows if a value counts from {shown(other)} on, which the log does not say"
        return _Judged("can_not_be_told", "unknown_parameter", words, value, n)
    if claim.reducer == "mode" and _is_of_ties(claim, claimed, kept):
        words = "repeats that are as common as one another leave several values possible, and this is one"
        return _Judged("can_not_be_told", "ties", words, value, n)
    code, words = explained(claim, claimed, value, header, kept)
    return _Judged("does_not_follow", code, words, value, n)


def _no_number(value: float | None, n: int) -> _Judged:
    """Of a null, or a NaN."""
    if value is None:
        return _Judged("follows", "none_to_compute", "the log has no number there, and there is none to compute")
    words = f"the log has no number there; its samples give {shown(value)}"
    return _Judged("can_not_be_told", "no_number", words, value, n)


def _follows(claim: Claim, kept: KeptSamples, unknown: Unknown, held: tuple[float, int]) -> _Judged:
    """Of a number that the samples give: unless others, which are absent, had a part in it."""
    value, n = held
    if unknown.samples and claim.formula not in ("n_scored", "n_passed") and unknown.scored != n:
        code, words = why_unknown(unknown, kept)
        return _Judged("can_not_be_told", code, f"{words}; those that are held give the same number", value, n)
    if claim.formula in COUNTS:
        return _Judged("follows", "", "", value, n)
    n_unscored = n_without_value(kept, way_of(claim))
    if n_unscored:
        noun = "item" if claim.reducer is not None and kept.n_items < kept.n else "sample"
        have = "has" if n_unscored == 1 else "have"
        words = f"of {plural(n, noun)} that {'was' if n == 1 else 'were'} scored; {n_unscored:,} {have} no score"
        return _Judged("follows", "some_unscored", words, value, n)
    return _Judged("follows", "", "", value, n)


def _nothing(claim: Claim, claimed: float, unknown: Unknown, kept: KeptSamples, n: int) -> _Judged:
    """Of a number where there is nothing to compute."""
    is_spread = claim.formula in SPREAD
    if is_spread and n == 1 and claimed == 0 and not unknown.samples:
        words = "one value has no spread, for which the log writes 0"
        return _Judged("follows", "one_value_as_zero", words, 0.0, n)
    missing = _missing_field(claim, kept, n)
    if missing is not None:
        return _Judged("can_not_be_told", "scores_absent", missing)
    if unknown.n or kept.n_held == 0:
        return _Judged("can_not_be_told", *why_unknown(unknown, kept))
    if n == 0 or (is_spread and n == 1):
        words = "one value has no spread" if n else "no sample has a score: there is nothing that it could follow from"
        return _Judged("does_not_follow", "nothing_scored", words, None, n)
    return _Judged(
        "can_not_be_told", "can_not_be_computed", "its samples are too few, or too much alike, for it", None, n
    )


def _missing_field(claim: Claim, kept: KeptSamples, n: int) -> str | None:
    if claim.only is not None:
        field, label = claim.only
        if kept.fields[field].code_of(label) is None:
            return f"no sample in the file has {quoted(label)} as its {field}"
    if claim.formula in OF_CLUSTERS and n > 1 and not (claim.clusters and kept.fields[claim.clusters].n):
        return f"no sample in the file has the field {claim.clusters or 'that is meant'}, by which it is clustered"
    if claim.formula in OF_PARTS and n:
        return "the samples in the file don't have the two numbers that it is made of"
    return None


def _against_what_is_possible(
    claim: Claim, claimed: float, header: LogHeader, kept: KeptSamples, unknown: Unknown, held: tuple[float, int]
) -> _Judged:
    """Of a number that the held samples alone don't give: whatever the absent ones were, can it be?"""
    low, high = possible(claim, header, kept, unknown, held)
    slack = 1e-9 * max(1.0, abs(claimed)) + (0.0 if claim.decimals is None else 10.0**-claim.decimals)
    code, words = why_unknown(unknown, kept)
    if (low is not None and claimed < low - slack) or (high is not None and claimed > high + slack):
        words = f"{words}, but whatever they were, it is {_reach(low, high)}"
        return _Judged("does_not_follow", "outside_of_what_is_possible", words, *held)
    return _Judged("can_not_be_told", code, words, *held)


def _reach(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{shown(high)} at most" if low is None else f"{shown(low)} at least"
    return f"from {shown(low)} to {shown(high)}"


# ── numbers that nearly follow ───────────────────────────────────────────────────────────────────────────────


def _other_threshold(claim: Claim, claimed: float, kept: KeptSamples) -> float | None:
    """The threshold of a counting reducer by which the number follows; logs don't name it."""
    column = column_of(kept, claim)
    if column is None or not reducers.has_threshold(claim.reducer):
        return None
    levels = {one for one in column.values if not isnan(one)}
    for level in sorted(levels) if len(levels) <= _MANY_LEVELS else ():
        found, _ = computed(kept, replace(way_of(claim), threshold=level))
        if found is not None and same(claimed, found, claim.decimals):
            return level
    return None


def _is_of_ties(claim: Claim, claimed: float, kept: KeptSamples) -> bool:
    """True if a mean of modes lies between those that take the least, and the greatest, of what is equally common."""
    if claim.formula != "mean":
        return False
    low, _ = computed(kept, replace(way_of(claim), reducer=reducers.LEAST_MODE))
    high, _ = computed(kept, replace(way_of(claim), reducer=reducers.GREATEST_MODE))
    return low is not None and high is not None and low < high and low <= claimed <= high


def _tokens(formula: str, claimed: float | None, header: LogHeader, kept: KeptSamples) -> _Judged:
    total, unknown = token_sum(kept, formula)
    n, absent = kept.n_held - unknown, max(0, (header.n_claimed or 0) - kept.n_held)
    value = float(total) if n else None
    if claimed is None:
        return _no_number(value, n)
    if same(claimed, total) and n and not absent:
        return _Judged("follows", "", "", value, n)
    if not absent and not unknown and n:
        return _Judged("does_not_follow", "no_simple_reason", "no simple reason reproduces it", value, n)
    if claimed < total:
        words = f"those that are in the file have {total:,}"
        return _Judged("does_not_follow", "outside_of_what_is_possible", words, value, n)
    if absent:
        return _Judged("can_not_be_told", *why_unknown(Unknown(absent, 0), kept), value, n)
    words = f"{unknown:,} of {plural(kept.n_held, 'sample')} don't say how many they took"
    return _Judged("can_not_be_told", "tokens_unknown", words, value, n)
