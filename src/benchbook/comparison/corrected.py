"""The difference of two runs as people would judge: what a judge's errors, which may favour one of them, leave of it.

A judge that is kinder to one run's answers makes a difference that is not there. People labelled some answers, drawn by
chance, and these correct the difference over all items that both runs answered and the judge scored:

Where both gave the same answer, people would give both the same: the difference is 0, whatever the judge said of it.
Over the other items it is estimated. Where people labelled both answers of enough items (`paired`), it is the
prediction-powered mean of the paired differences (Angelopoulos et al. 2023), which takes the items' difficulty out.
Where labels were drawn for the two runs separately (`separate`), it is the difference of the two corrected means, its
interval from theirs with independent variances (MOVER: Zou and Donner 2008). Which of the two follows from the numbers
of labels alone, not from what they say. The share of the items with other answers varies by chance, too, and widens the
interval (`_of_all`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

from benchbook.comparison.compared import Comparison, ComparisonSet
from benchbook.comparison.corrected_results import (
    CorrectedDifference,
    CorrectedScore,
    Design,
    NotWorseForPeople,
    Turn,
)
from benchbook.comparison.difference import Difference, Verdict, item_difference
from benchbook.comparison.leaderboard import Leaderboard
from benchbook.comparison.measures import PASSING, SCORE
from benchbook.comparison.pairing import COMPARED
from benchbook.errors import UsageError
from benchbook.evaluators.exact import NANO
from benchbook.labels.calibration_corrected import JudgedPart, as_people_would, corrected_mean, raised
from benchbook.labels.calibration_results import Drawing
from benchbook.labels.worths import ItemWorth, RunWorths
from benchbook.statistics import Estimate, bounded_difference
from benchbook.statistics.bounded import jeffreys
from benchbook.statistics.distributions import normal_quantile

if TYPE_CHECKING:
    import polars

PAIRS_FOR_PAIRED = 10  # items of which both answers are labelled; t with fewer is of no use


@dataclass(frozen=True, slots=True)
class PairWorth:
    """An item's worth in both runs; `cluster` names what it shares with other items, None where it stands alone."""

    a: ItemWorth
    b: ItemWorth
    cluster: str | None = None
    is_same: bool = False  # both gave the same answer to the same question

    @property
    def has_both(self) -> bool:
        return self.a.people is not None and self.b.people is not None


# ── the estimate ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PeoplesDifference:
    """The corrected difference as an estimate, with how it was made."""

    found: Estimate
    design: Design


def design_of(items: Sequence[PairWorth]) -> Design:
    """`paired` where pairs are enough, and as sharp as all labels by themselves if the two runs' errors correlate by a
    half: where both answers are labelled for half the harmonic mean of the numbers of labels."""
    n_a, n_b, n_both = _labelled(items)
    if items and all(one.is_same for one in items):
        return "same_answers"
    return "paired" if n_both >= PAIRS_FOR_PAIRED and n_both * (n_a + n_b) >= n_a * n_b else "separate"


def _labelled(items: Sequence[PairWorth]) -> tuple[int, int, int]:
    """`(in A, in B, in both)`: items with other answers that are labelled."""
    others = [one for one in items if not one.is_same]
    return (
        sum(one.a.people is not None for one in others),
        sum(one.b.people is not None for one in others),
        sum(one.has_both for one in others),
    )


def peoples_difference(items: Sequence[PairWorth], drawing: Drawing, *, is_rate: bool = False) -> PeoplesDifference:
    """The mean of B - A as people would judge, over all these items. `is_rate`: worths are 0 or 1 but for repeats.

    Null: `no_data` where a run has no label on an item with another answer.
    """
    design, others = design_of(items), [one for one in items if not one.is_same]
    if design == "same_answers":
        known = Estimate(estimate=0.0, low=0.0, high=0.0, confidence=drawing.confidence, method=design, n=len(items))
        return PeoplesDifference(known, design)
    found = _paired(others, drawing) if design == "paired" else _separate(others, drawing, is_rate=is_rate)
    return PeoplesDifference(_of_all(found, len(others), len(items)), design)


def _paired(items: Sequence[PairWorth], drawing: Drawing) -> Estimate:
    """Differences are counted from -1, their lowest."""
    parts = [
        JudgedPart(
            1 + (_difference(one.b.judge_there, one.a.judge_there) if one.has_both else one.b.judge - one.a.judge),
            1 + _difference(one.b.people, one.a.people) if one.has_both else None,
            one.cluster,
        )
        for one in items
    ]
    found = raised(corrected_mean(parts, 2, drawing), -1)
    if found.low is not None:
        return found
    alone = [_difference(one.b.people, one.a.people) for one in items if one.has_both]
    clusters = [one.cluster for one in items if one.has_both]
    own = None if all(one is None for one in clusters) else clusters
    return bounded_difference(alone, clusters=own, confidence=drawing.confidence)


def _difference(b: float | None, a: float | None) -> float:
    """Raises: ValueError where one is not there."""
    if a is None or b is None:
        raise ValueError("a pair without a label in both runs")
    return b - a


def _separate(items: Sequence[PairWorth], drawing: Drawing, *, is_rate: bool) -> Estimate:
    """The difference of two means. Each side of its interval adds the squares of what the two may be off that way."""
    a, b = (
        _mean_of([(getattr(one, run), one.cluster) for one in items], drawing, is_rate=is_rate) for run in ("a", "b")
    )
    n, warnings = min(a.n, b.n), tuple(dict.fromkeys((*a.warnings, *b.warnings)))
    nothing = Estimate(
        estimate=None, low=None, high=None, confidence=drawing.confidence, method="separate", n=n,
        reason="no_data" if not (a.n and b.n) else a.reason or b.reason, warnings=warnings,
    )  # fmt: skip
    if a.estimate is None or b.estimate is None:
        return nothing
    value = b.estimate - a.estimate
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return replace(nothing, estimate=value)
    low = value - sqrt((b.estimate - b.low) ** 2 + (a.high - a.estimate) ** 2)
    high = value + sqrt((b.high - b.estimate) ** 2 + (a.estimate - a.low) ** 2)
    return Estimate(
        estimate=value, low=low, high=high, confidence=drawing.confidence, method=f"mover_{a.method}", n=n,
        warnings=warnings,
    )  # fmt: skip


def _mean_of(worths: Sequence[tuple[ItemWorth, str | None]], drawing: Drawing, *, is_rate: bool) -> Estimate:
    """A run's corrected mean; where the correction gives no interval, by the labels alone, and where these are all
    alike, with an interval by what may not have been seen."""
    parts = [
        JudgedPart(one.judge if one.judge_there is None else one.judge_there, one.people, cluster)
        for one, cluster in worths
    ]
    # A rate under repeats is a mean of shares.
    is_binary = is_rate and all({one.judge, one.people} <= {0.0, 1.0, None} for one in parts)
    corrected, alone = as_people_would(parts, 0, 1, drawing, is_rate=is_binary)
    if corrected.low is not None or alone.estimate is None:
        return corrected
    if alone.low is not None:
        return alone
    labelled = [
        (place if one.cluster is None else one.cluster) for place, one in enumerate(parts) if one.people is not None
    ]
    return jeffreys(len(set(labelled)), min(1.0, max(0.0, alone.estimate)), 0.0, drawing.confidence, unseen=True)


def _of_all(found: Estimate, n_others: int, n: int) -> Estimate:
    """The difference over all items, from that over those with other answers, whose share varies by chance, too."""
    share = n_others / n if n else 0.0
    if found.estimate is None or share == 1.0:
        return found
    value = share * found.estimate
    if found.low is None or found.high is None:
        return replace(found, estimate=value)
    by_share = (normal_quantile((1 + found.confidence) / 2) * found.estimate) ** 2 * share * (1 - share) / n
    low = value - sqrt((share * (found.estimate - found.low)) ** 2 + by_share)
    high = value + sqrt((share * (found.high - found.estimate)) ** 2 + by_share)
    return replace(found, estimate=value, low=low, high=high)


# ── two runs ─────────────────────────────────────────────────────────────────────────────────────────────────


def corrected_set(found: ComparisonSet, worths: Sequence[RunWorths], *, seed: int = 0) -> ComparisonSet:
    """The comparison, each pair with its differences as people would judge; `worths` are the runs', in order."""
    pairs = tuple(
        replace(pair, corrected=corrected_differences(pair, worths[0], of_b, n_tests=len(found.pairs), seed=seed))
        for pair, of_b in zip(found.pairs, worths[1:], strict=True)
    )
    return replace(found, pairs=pairs)


def corrected_differences(
    pair: Comparison, a: RunWorths, b: RunWorths, *, n_tests: int = 1, seed: int = 0
) -> tuple[CorrectedDifference, ...]:
    """The differences of a pair as people would judge, by each metric that labels correct: the score, and passing."""
    shown = {SCORE.name: pair.score, PASSING.name: pair.passing}
    return tuple(
        _corrected(pair, shown[name], (a, b), name, Drawing(pair.score.confidence, seed), n_tests)
        for name in (SCORE.name, PASSING.name)
        if name in a.by_metric and name in b.by_metric and shown[name] is not None
    )


def not_worse_for_people(pair: Comparison, a: RunWorths, b: RunWorths, *, seed: int = 0) -> NotWorseForPeople:
    """The margin that the comparison was asked about, held against the corrected difference of the score.

    Its bound is that of the interval which leaves out 1 - confidence at either side, as for the difference as judged.

    Raises: ValueError for a comparison without a margin; UsageError where labels correct no score of these runs.
    """
    asked = pair.score.not_worse
    if asked is None:
        raise ValueError("a comparison that was not asked about a margin")
    known = a.by_metric.keys() & b.by_metric.keys()
    if SCORE.name not in known:
        raise UsageError(f"a margin is of the score; labels correct {' and '.join(sorted(known))} of these runs")
    shown = _corrected(pair, pair.score, (a, b), SCORE.name, Drawing(pair.score.confidence, seed), 1)
    items = _pair_worths(pair, a.by_metric[SCORE.name], b.by_metric[SCORE.name])
    bound = peoples_difference(items, Drawing(2 * asked.confidence - 1, seed), is_rate=a.is_rate[SCORE.name]).found
    low = None if bound.estimate is None else bound.low
    return NotWorseForPeople(
        margin=asked.margin,
        low=_shown(low),
        holds=None if low is None else low > -asked.margin,
        confidence=asked.confidence,
        difference=shown,
    )


def _corrected(
    pair: Comparison,
    shown: Difference | None,
    runs: tuple[RunWorths, RunWorths],
    metric: str,
    drawing: Drawing,
    n_tests: int,
) -> CorrectedDifference:
    a, b = runs
    items = _pair_worths(pair, a.by_metric[metric], b.by_metric[metric])
    judged = _as_judged(items, shown, drawing)
    n_a, n_b, n_both = _labelled(items)
    people = peoples_difference(items, drawing, is_rate=a.is_rate[metric])
    strict, found = people.found, people.found
    if n_tests > 1:
        surer = replace(drawing, confidence=1 - (1 - drawing.confidence) / n_tests)
        strict = peoples_difference(items, surer, is_rate=a.is_rate[metric]).found
    verdict, value = _verdict(people.design, strict), _shown(found.estimate)
    return CorrectedDifference(
        metric=metric,
        n=len(items),
        n_same=sum(one.is_same for one in items),
        n_labelled_a=n_a,
        n_labelled_b=n_b,
        n_both=n_both,
        judged=judged,
        difference=value,
        low=_shown(found.low),
        high=_shown(found.high),
        confidence=drawing.confidence,
        design=people.design,
        method=found.method,
        verdict=verdict,
        turned=_turned(judged, value, verdict),
        is_drawn=(a.is_drawn or not n_a) and (b.is_drawn or not n_b),
        n_tests=n_tests,
        reason=found.reason,
        warnings=found.warnings,
    )


def _shown(value: float | None) -> float | None:
    """Nine decimals, within the scale: by whole clusters, an interval may leave it."""
    return None if value is None else round(min(1.0, max(-1.0, value)), 9)


def _pair_worths(pair: Comparison, a: Mapping[str, ItemWorth], b: Mapping[str, ItemWorth]) -> list[PairWorth]:
    """The compared items that the judge scored in both runs."""
    rows = pair.items.filter(pair.items["class"].is_in(COMPARED))
    other = rows["prompt_b"] if "prompt_b" in rows.columns else [None] * len(rows)
    is_clustered = rows["group"].null_count() < len(rows)
    found = []
    for item_a, item_b, group, prompt_b in zip(rows["item_id"], rows["item_id_b"], rows["group"], other, strict=True):
        one, two = a.get(item_a), b.get(item_b)
        if one is None or two is None:
            continue
        own = f"item {item_a}" if group is None else f"group {group}"
        is_same = prompt_b is None and one.answers == two.answers
        found.append(PairWorth(one, two, own if is_clustered else None, is_same))
    return found


def _as_judged(items: Sequence[PairWorth], shown: Difference | None, drawing: Drawing) -> Difference:
    """The judged difference over these items; where they are all that the comparison has, the one that it shows."""
    found = item_difference(_frame(items), confidence=drawing.confidence, seed=drawing.seed)
    if shown is None or shown.n != found.n or found.difference is None or shown.difference is None:
        return found
    return shown if abs(shown.difference - found.difference) < 1e-6 else found


def _frame(items: Sequence[PairWorth]) -> polars.DataFrame:
    import polars as pl

    numbers: dict[str, int] = {}
    clusters = [None if one.cluster is None else numbers.setdefault(one.cluster, len(numbers)) for one in items]
    nano = {run: [round(getattr(one, run).judge * NANO) for one in items] for run in ("a", "b")}
    return pl.DataFrame({**nano, "cluster": clusters}, dict.fromkeys((*nano, "cluster"), pl.Int64))


def _verdict(design: Design, found: Estimate) -> Verdict:
    if found.estimate is None:
        return "no_data"
    if design == "same_answers":
        return "same"
    if found.low is not None and found.low > 0:
        return "better"
    return "worse" if found.high is not None and found.high < 0 else "not_told"


def _turned(judged: Difference, difference: float | None, verdict: Verdict) -> Turn | None:
    """The fate of a difference that is shown as judged; None where nothing is shown, or people's is unknown."""
    if judged.verdict not in ("better", "worse") or difference is None or verdict == judged.verdict:
        return None
    if verdict in ("better", "worse"):
        return "reversed"
    is_other_way = difference < 0 if judged.verdict == "better" else difference > 0
    return "other_way" if is_other_way else "not_shown"


# ── a ranking ────────────────────────────────────────────────────────────────────────────────────────────────


def corrected_scores_of(
    found: Leaderboard, worths: Mapping[str, RunWorths], *, seed: int = 0
) -> tuple[CorrectedScore, ...]:
    """The score of each ranked run that has labels as people would judge, in the order of places.

    An item that the judge did not score stays as it is. `worths` are by the run's name.
    """
    drawing = Drawing(found.confidence, seed)
    known = ((one, worths[one.run]) for one in found.places if one.run in worths)
    return tuple(
        _corrected_score(place.run, place.score, found.n_items, found.metric, of_run, drawing)
        for place, of_run in known
        if found.metric in of_run.by_metric and of_run.n_labelled
    )


def _corrected_score(
    run: str, score: float | None, n_items: int, metric: str, worths: RunWorths, drawing: Drawing
) -> CorrectedScore:
    items = worths.by_metric[metric]
    found = _mean_of(
        list(zip(items.values(), worths.clusters(items), strict=True)), drawing, is_rate=worths.is_rate[metric]
    )
    as_judged = sum(one.judge for one in items.values()) / len(items) if items else 0.0
    share = min(1.0, len(items) / n_items) if n_items else 0.0

    def moved(bound: float | None) -> float | None:
        if bound is None or score is None:
            return None
        return round(min(1.0, max(0.0, score + share * (bound - as_judged))), 9)

    return CorrectedScore(
        run=run,
        n=len(items),
        n_labelled=sum(one.people is not None for one in items.values()),
        value=moved(found.estimate),
        low=moved(found.low),
        high=moved(found.high),
        confidence=drawing.confidence,
        is_drawn=worths.is_drawn,
        reason=found.reason,
    )
