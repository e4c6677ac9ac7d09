"""Computes a number from what is kept of the samples, in the way that the log names, or in another."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal

from benchbook.exchange.audit.formulas import FORMULAS, OF_PARTS, Taken, mean
from benchbook.exchange.audit.kept import (
    DOUBLED,
    ENTRY,
    FAILED,
    LONG,
    PASS_KNOWN,
    PASSED,
    SCORED,
    KeptSamples,
    LabelColumn,
    ScoreColumn,
)
from benchbook.exchange.audit.reducers import reduced
from benchbook.exchange.log import Claim

COUNTS = frozenset({"n_samples", "n_scored", "n_unscored", "n_passed", "n_failed", "n_errors", "n_completed"})
TOKENS = frozenset({"sum_of_input_tokens", "sum_of_output_tokens", "sum_of_tokens"})


@dataclass(frozen=True, slots=True)
class Way:
    """How a number is made: of which samples and values, by which reducer and formula.

    `as_zero` counts what has no value (all of it, that of failed samples), or what has a long text, as 0; `without`
    leaves out samples with these marks; `first` takes so many of the log's order; `all_doubled` counts doubled samples
    as often as they are there; `spread_over_all` divides by n, not by n - 1;
    `scored_is_completed` counts a failed sample that was scored all the same among the completed.
    """

    scorer: str
    formula: str
    field: str | None = None
    reducer: str | None = None
    of_repeats: bool = False
    threshold: float = 1.0
    clusters: str | None = None
    only: tuple[str, str] | None = None
    as_zero: Literal["unscored", "failed", "long"] | None = None
    without: int = 0
    first: int | None = None
    all_doubled: bool = False
    spread_over_all: bool = False
    clusters_corrected: bool = True
    scored_is_completed: bool = False


def way_of(claim: Claim) -> Way:
    """The way that a claim names."""
    return Way(
        claim.scorer,
        claim.formula or "",
        claim.field,
        claim.reducer,
        claim.of_repeats,
        clusters=claim.clusters,
        only=claim.only,
    )


def column_of(kept: KeptSamples, of: Claim | Way) -> ScoreColumn | None:
    """The values of a scorer, or of a field of the metadata; for a number of the samples themselves, those of the only
    scorer there is."""
    if of.field is not None:
        return kept.numbers.get(of.field)
    if of.scorer or of.scorer in kept.scores:
        return kept.scores.get(of.scorer)
    return next(iter(kept.scores.values())) if len(kept.scores) == 1 else None


def taken(kept: KeptSamples, way: Way) -> Taken:
    """The values, in the log's order, or by items where repeats are reduced, or by repeats.

    Numbers of the same values stand together in a log: the last values are remembered.
    """
    formula = way.formula if way.formula in OF_PARTS or way.formula == "share_passed" else ""
    same = replace(way, formula=formula, spread_over_all=False, clusters_corrected=True)
    found = kept.remembered.get(same)
    if found is None:
        found = _taken(kept, way)
        kept.remembered.clear()
        kept.remembered[same] = found
    return found


def _taken(kept: KeptSamples, way: Way) -> Taken:
    column = column_of(kept, way)
    if column is None:
        return Taken(())
    labels = None if way.clusters is None else _field(kept, way.clusters)
    values, seconds, clusters, n_unscored = array("d"), array("d"), array("I"), 0
    for places in _places(kept, way):
        found = [value for at in places if not isnan(value := _value(kept, column, way, at))]
        one = _as_one(found, way, len(places))
        if one is None:
            n_unscored += 1
            continue
        values.append(one)
        if labels is not None:
            clusters.append(labels.codes[places[0]])
        if way.formula in OF_PARTS:
            seconds.append(column.second(places[0]))
    return Taken(
        values,
        None if labels is None else clusters,
        seconds if way.formula in OF_PARTS and column.has_parts else None,
        n_unscored,
    )


def _as_one(values: list[float], way: Way, n: int) -> float | None:
    if way.of_repeats:
        return mean(values)
    if way.reducer is None:
        return values[0] if values else None
    return reduced(values, way.reducer, n, way.threshold)


def _field(kept: KeptSamples, name: str) -> LabelColumn | None:
    """The values of a field; None where no sample has it."""
    found = kept.fields.get(name)
    return found if found is not None and found.n else None


def _places(kept: KeptSamples, way: Way) -> Iterator[Sequence[int]]:
    """The samples that make one value each: one, or all of an item."""
    n = kept.n if way.first is None else min(way.first, kept.n)
    without = way.without | (0 if way.all_doubled else DOUBLED)
    flags = kept.flags
    codes, wanted = None, None
    if way.only is not None:
        labels = kept.fields.get(way.only[0])
        wanted = None if labels is None else labels.code_of(way.only[1])
        if labels is None or wanted is None:
            return
        codes = labels.codes
    if not way.of_repeats and (way.reducer is None or kept.n_items == kept.n):
        for at in range(n):
            if not flags[at] & without and (codes is None or codes[at] == wanted):
                yield (at,)
        return
    for places in kept.by_repeat if way.of_repeats else kept.by_item:
        chosen = [at for at in places if at < n and not flags[at] & without and (codes is None or codes[at] == wanted)]
        if chosen:
            yield chosen


def _value(kept: KeptSamples, column: ScoreColumn, way: Way, at: int) -> float:
    value = column.values[at]
    if way.formula == "share_passed" and not isnan(value):
        passed = _passed_by(column, at)
        value = nan if passed is None else float(passed)
    if way.as_zero is None:
        return value
    flag = kept.flags[at]
    if way.as_zero == "long":
        return 0.0 if flag & LONG else value
    return 0.0 if isnan(value) and (way.as_zero == "unscored" or flag & FAILED) else value


def computed(kept: KeptSamples, way: Way) -> tuple[float | None, int]:
    """The number, and of how many values it is; None where there is none to compute.

    Raises: OverflowError, ValueError for values that no number can be made of.
    """
    if way.formula in COUNTS:
        return float(counted(kept, way)), kept.n_held
    found = taken(kept, way)
    return FORMULAS[way.formula](found, way), len(found.values)


def is_computable(formula: str) -> bool:
    return formula in FORMULAS or formula in COUNTS or formula in TOKENS


def counted(kept: KeptSamples, way: Way) -> int:
    """A count of samples; of items where repeats are reduced first."""
    match way.formula:
        case "n_samples":
            return sum(len(places) for places in _places(kept, way))
        case "n_errors":
            return sum(kept.flags[at] & FAILED != 0 for places in _places(kept, way) for at in places)
        case "n_completed":
            return sum(_completed(kept, way, at) for places in _places(kept, way) for at in places)
        case "n_scored":
            return len(taken(kept, way).values)
        case "n_unscored":  # an entry without a value: what was never scored has none
            return _n_entries(kept, way) - len(taken(kept, way).values)
        case "n_passed":
            return sum(_passed(kept, way, at) is True for places in _places(kept, way) for at in places)
        case _:
            return sum(_passed(kept, way, at) is False for places in _places(kept, way) for at in places)


def _completed(kept: KeptSamples, way: Way, at: int) -> bool:
    if not kept.flags[at] & FAILED:
        return True
    return way.scored_is_completed and any(column.states[at] & ENTRY for column in kept.scores.values())


def n_without_value(kept: KeptSamples, way: Way) -> int:
    """Samples without a value, those without an entry too."""
    return taken(kept, way).n_unscored


def _n_entries(kept: KeptSamples, way: Way) -> int:
    """Samples with an entry; where repeats are reduced, items of which one has."""
    column = column_of(kept, way)
    if column is None:
        return 0
    return sum(any(column.states[at] & ENTRY for at in places) for places in _places(kept, way))


def _passed(kept: KeptSamples, way: Way, at: int) -> bool | None:
    """True where a sample passed; without a scorer, where it passed by all that scored it. None: nobody knows."""
    if way.scorer:
        column = kept.scores.get(way.scorer)
        return None if column is None else _passed_by(column, at)
    found = [_passed_by(column, at) for column in kept.scores.values() if column.states[at] & SCORED]
    if not found or None in found:
        return False if False in found else None
    return all(found)


def is_known_who_passed(kept: KeptSamples, of: Claim | Way) -> bool:
    """True if of each scored sample it is known whether it passed."""
    column = column_of(kept, of)
    return column is None or all(state & PASS_KNOWN for state in column.states if state & SCORED)


def _passed_by(column: ScoreColumn, at: int) -> bool | None:
    state = column.states[at]
    return bool(state & PASSED) if state & PASS_KNOWN else None


def token_sum(kept: KeptSamples, formula: str) -> tuple[int, int]:
    """`(sum, samples of which it is not known)`."""
    both = {
        "sum_of_input_tokens": (kept.input_tokens,),
        "sum_of_output_tokens": (kept.output_tokens,),
        "sum_of_tokens": (kept.input_tokens, kept.output_tokens),
    }[formula]
    sums = [one.total(kept.flags) for one in both]
    return sum(total for total, _ in sums), max(unknown for _, unknown in sums)


def conventions(claim: Claim) -> list[Way]:
    """The ways that tools have of making a number of this name: the log's own, then what older versions did."""
    own = way_of(claim)
    if claim.formula == "stderr_of_clusters":
        return [own, replace(own, clusters_corrected=False)]
    if claim.formula == "n_completed":
        return [own, replace(own, scored_is_completed=True)]
    return [own]
