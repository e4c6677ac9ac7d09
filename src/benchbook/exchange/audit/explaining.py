"""Finds out how a number that does not follow may have come about: the first simple way that gives exactly it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from benchbook.exchange.audit import reducers
from benchbook.exchange.audit.computing import COUNTS, Way, computed, counted, taken, way_of
from benchbook.exchange.audit.equality import decimals_of, is_rounding, same
from benchbook.exchange.audit.kept import DOUBLED, FAILED, LIMITED, LONG, SILENT, KeptSamples
from benchbook.exchange.audit.result import ReasonCode
from benchbook.exchange.log import Claim, LogHeader
from benchbook.text import plural


@dataclass(frozen=True, slots=True)
class _Guess:
    code: ReasonCode
    words: str
    way: Way


Explained = tuple[ReasonCode, str]
_NONE: Explained = ("no_simple_reason", "no simple reason reproduces it")
_SPREAD = frozenset({"stderr", "std", "var"})


def explained(claim: Claim, claimed: float, value: float, header: LogHeader, kept: KeptSamples) -> Explained:
    """The code of the reason, and the reason in words."""
    if claim.formula in COUNTS:
        return _of_a_count(claim, claimed, value, kept)
    for guess in _guesses(claim, kept):
        if _gives(guess.way, kept, lambda found: same(claimed, found, claim.decimals)):
            return guess.code, guess.words
    if same(claimed, 100 * value) or is_rounding(claimed, 100 * value):
        return "percent", "it is a percentage, and the samples' values are shares"
    if same(100 * claimed, value):
        return "percent", "it is a share, and the samples' values are percentages"
    if is_rounding(claimed, value):
        return "rounding", f"rounded to {plural(decimals_of(claimed), 'decimal')}"
    return _of_fewer_samples(claim, claimed, header, kept) or _NONE


def _gives(way: Way, kept: KeptSamples, is_it: Callable[[float], bool]) -> bool:
    found, _ = computed(kept, way)
    return found is not None and is_it(found)


def _guesses(claim: Claim, kept: KeptSamples) -> Iterator[_Guess]:
    """Other ways to make the number, the commonest first."""
    own = way_of(claim)
    yield from _of_failures(own, kept)
    yield from _of_repeats(own, kept)
    n_doubled = kept.count(DOUBLED)
    if n_doubled:
        words = f"{plural(n_doubled, 'sample')} that {'is' if n_doubled == 1 else 'are'} there twice counted twice"
        yield _Guess("doubled_counted", words, replace(own, all_doubled=True))
    yield from _of_summaries(own, kept)
    yield from _of_spread(own, kept)


def _of_failures(own: Way, kept: KeptSamples) -> Iterator[_Guess]:
    without, failed = replace(own, as_zero="unscored"), replace(own, as_zero="failed")
    n_failed = kept.count(FAILED)
    if n_failed:
        yield _Guess("failures_as_zero", f"{plural(n_failed, 'failed sample')} counted as 0", failed)
    yield _Guess("failures_as_zero", "samples without a score counted as 0", without)
    for flag, words in (
        (FAILED, "failed samples"),
        (LIMITED, "samples that ran into a limit"),
        (FAILED | LIMITED, "samples that failed or ran into a limit"),
        (SILENT, "samples without an answer"),
    ):
        if n := kept.count(flag):
            yield _Guess("failures_dropped", f"{n:,} {words} left out", replace(own, without=flag))


def _of_repeats(own: Way, kept: KeptSamples) -> Iterator[_Guess]:
    if kept.n_items == kept.n or own.of_repeats:
        return
    if own.reducer is not None:
        yield _Guess("repeats_not_reduced", "repeats are not reduced first", replace(own, reducer=None))
    for name in reducers.others(own.reducer, kept.most_repeats):
        words = f"repeats are reduced by {name}, not by {own.reducer}"
        if own.reducer is None:
            yield _Guess("repeats_reduced", f"repeats are reduced first, by {name}", replace(own, reducer=name))
        else:
            yield _Guess("another_reducer", words, replace(own, reducer=name))


def _of_summaries(own: Way, kept: KeptSamples) -> Iterator[_Guess]:
    if n := kept.count(LONG):
        words = f"{plural(n, 'sample')} with texts that summaries cut"
        yield _Guess("truncated_summaries", f"{words} counted as 0", replace(own, as_zero="long"))
        yield _Guess("truncated_summaries", f"{words} left out", replace(own, without=LONG))


def _of_spread(own: Way, kept: KeptSamples) -> Iterator[_Guess]:
    if own.formula in ("population_std", "population_var"):
        words = "divided by n - 1, not by n"
        yield _Guess("another_formula", words, replace(own, formula=own.formula.removeprefix("population_")))
    if own.formula in _SPREAD:
        yield _Guess("whole_population", "divided by n, not by n - 1", replace(own, spread_over_all=True))
    if own.formula == "stderr_of_clusters":
        words = "clusters are not taken into account"
        yield _Guess("clusters_ignored", words, replace(own, formula="stderr", clusters=None))
    if own.formula in ("stderr", "stderr_of_clusters"):
        yield _Guess("another_formula", "it is the standard deviation, not the error of the mean", _deviation(own))
    if own.formula == "std":
        yield _Guess(
            "another_formula", "it is the error of the mean, not the deviation", replace(own, formula="stderr")
        )
    if own.formula == "stderr":
        for name in kept.fields:
            clustered = replace(own, formula="stderr_of_clusters", clusters=name)
            for way in (clustered, replace(clustered, clusters_corrected=False)):
                yield _Guess("clusters_taken", f"it is clustered by {name}, which the log does not say", way)


def _deviation(own: Way) -> Way:
    return replace(own, formula="std", clusters=None)


def _of_fewer_samples(claim: Claim, claimed: float, header: LogHeader, kept: KeptSamples) -> Explained | None:
    """A mean over more samples than have a score, or one of the first samples alone."""
    own = way_of(claim)
    if claim.formula != "mean":
        return None
    total, n = computed(kept, replace(own, formula="sum"))
    if header.n_claimed and total is not None and same(claimed, total / header.n_claimed):
        return "fewer_samples", f"the sum of {plural(n, 'score')} divided by the {header.n_claimed:,} that are claimed"
    if claim.reducer is not None and kept.n_items < kept.n:
        return None
    found = _first_samples(own, claimed, kept)
    return (
        None if found is None else ("fewer_samples", f"it is the mean of the first {found:,} of {plural(n, 'score')}")
    )


def _first_samples(own: Way, claimed: float, kept: KeptSamples) -> int | None:
    """The largest part of the samples from the first on, half of them at least, whose mean it is."""
    values = taken(kept, replace(own, reducer=None)).values
    total, found = 0.0, None
    for n, value in enumerate(values[:-1], 1):
        total += value
        if 2 * n >= len(values) and same(claimed, total / n):
            found = n
    return found


def _of_a_count(claim: Claim, claimed: float, value: float, kept: KeptSamples) -> Explained:
    own = way_of(claim)
    n_doubled = kept.count(DOUBLED)
    if n_doubled and claimed == counted(kept, replace(own, all_doubled=True)):
        return "doubled_counted", f"{plural(n_doubled, 'sample')} counted twice"
    if claim.reducer is not None and claimed == counted(kept, replace(own, reducer=None)):
        return "repeats_not_reduced", "repeats counted one by one"
    unscored = kept.n_held - counted(kept, replace(own, formula="n_scored", reducer=None))
    if claim.formula in ("n_scored", "n_passed", "n_failed") and unscored and claimed == value + unscored:
        return "failures_as_zero", f"{plural(unscored, 'sample')} without a score counted too"
    if claimed > value:
        return "fewer_samples", f"the file has {value:,.0f}"
    return "no_simple_reason", f"the file has {value:,.0f}"
