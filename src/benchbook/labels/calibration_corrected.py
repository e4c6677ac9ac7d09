"""Aggregates as people would have them: post-stratified rates, and prediction-powered means for the others.

People labelled a part of the judged samples, drawn by chance; the judge scored them all. A rate could be a
prediction-powered mean too; near 0 and 1 that interval, by the normal distribution, is too narrow (by simulation it
holds in 91 % where it says 95 %: 100 labels, a rate of 0.95). Rogan and Gladen's formula, by sensitivity and
specificity, is for labels of other samples than these: here it is up to twice as wide.

Where the labels were drawn more from some strata than from others, each stratum counts by its size (`stratified_mean`),
of rates and of other means: the strata are the judge's verdicts, so within one of them its scores add nothing.

Where samples share clusters, the interval is widened as the estimate's variance is, by the intraclass correlation of
what each sample adds to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from benchbook.evaluators.contract import LabelCriterion
from benchbook.evaluators.correctable import MeanOfScores
from benchbook.labels.calibration_results import Bias, Corrected, Drawing, ScoredAnswer, SliceBias
from benchbook.statistics import (
    Estimate,
    SampledStratum,
    Stratum,
    adjust_p_values,
    bounded_mean,
    cluster_widening,
    paired_difference,
    paired_permutation_test,
    post_stratified_rate,
    prediction_powered_mean,
    rank_correlation,
    stratified_mean,
    wilson,
)
from benchbook.statistics.ground import FEW_CLUSTERS, Basis

GoldScores = Mapping[int, Mapping[str, int]]
"""People's scores by sample and criterion; what nobody labelled, or two people left open, is not in it."""


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """A sample's part in a mean, counted from the mean's lowest: by the judge's scores, and by people's in their place;
    None where people gave none."""

    judge: float
    people: float | None
    cluster: str | None
    stratum: str | None = None


def corrected_aggregates(
    samples: Sequence[ScoredAnswer],
    gold: GoldScores,
    criteria: Sequence[LabelCriterion],
    means: Sequence[MeanOfScores],
    drawing: Drawing,
) -> tuple[Corrected, ...]:
    """Every aggregate that depends on the judge, over the judged samples, corrected."""
    names = [one.name for one in criteria]
    labels = [gold.get(one.sample, {}) for one in samples]
    by_judge = [worth_by(one, {}, names) for one in samples]
    by_people = [
        worth_by(one, said, names) if said else own for one, said, own in zip(samples, labels, by_judge, strict=True)
    ]
    found = []
    for place, mean in enumerate(means):
        values = [
            JudgedPart(own[place], theirs[place] if mean.of.issubset(said) else None, one.cluster, one.stratum)
            for one, said, own, theirs in zip(samples, labels, by_judge, by_people, strict=True)
        ]
        corrected, alone = as_people_would(values, mean.lowest, mean.highest, drawing, is_rate=mean.is_rate)
        found.append(
            Corrected(
                aggregate=mean.name,
                as_judged=mean.lowest + sum(one.judge for one in values) / len(values) if values else None,
                corrected=corrected,
                by_labels_alone=alone,
                n_judged=len(values),
                n_labelled=sum(one.people is not None for one in values),
            )
        )
    return tuple(found)


def worth_by(one: ScoredAnswer, said: Mapping[str, int], names: Sequence[str]) -> Sequence[float]:
    """A sample's part in each mean, with people's scores in place of the judge's."""
    scores = [said.get(name, own) for name, own in zip(names, one.scores, strict=True)]
    if one.worth is None or None in scores:
        raise ValueError(f"sample {one.sample} was not judged")
    return one.worth([score for score in scores if score is not None])


def corrected_scores(
    judge: Sequence[int],
    people: Sequence[int | None],
    scale: Sequence[int],
    *,
    clusters: Sequence[str | None],
    drawing: Drawing,
) -> tuple[Estimate, Estimate]:
    """The mean score on a scale as people would have it, and by their labels alone; on 0 and 1, the rate of ones.

    `people` has None where nobody labelled.
    """
    lowest = min(scale)
    values = [
        JudgedPart(own - lowest, None if theirs is None else theirs - lowest, cluster)
        for own, theirs, cluster in zip(judge, people, clusters, strict=True)
    ]
    return as_people_would(values, lowest, max(scale), drawing, is_rate=tuple(scale) == (0, 1))


def as_people_would(
    values: Sequence[JudgedPart], lowest: int, highest: int, drawing: Drawing, *, is_rate: bool
) -> tuple[Estimate, Estimate]:
    """The mean as people would have it, and by their labels alone, on a scale from `lowest` to `highest`."""
    span = highest - lowest
    if any(one.stratum is not None for one in values):  # without the judge there is no other estimate that is right
        by_strata = raised(_by_strata(values, span, drawing.confidence), lowest)
        return by_strata, by_strata
    corrected = _rate(values, drawing) if is_rate else corrected_mean(values, span, drawing)
    return raised(corrected, lowest), raised(_labels_alone(values, span, drawing.confidence, is_rate=is_rate), lowest)


def raised(found: Estimate, by: int) -> Estimate:
    """An estimate on a scale from 0, moved to one from `by`."""
    if found.estimate is None or not by:
        return found
    low, high = (None if bound is None else bound + by for bound in (found.low, found.high))
    return replace(found, estimate=found.estimate + by, low=low, high=high)


def corrected_mean(samples: Sequence[JudgedPart], highest: int, drawing: Drawing) -> Estimate:
    """The prediction-powered mean of parts from 0 to `highest`, of which people scored some, drawn by chance."""
    labelled = [one for one in samples if one.people is not None]
    unlabelled = [one.judge for one in samples if one.people is None]
    people = [one.people for one in labelled if one.people is not None]
    judge = [one.judge for one in labelled]
    found = prediction_powered_mean(people, judge, unlabelled, scale=(0.0, highest), confidence=drawing.confidence)
    if not _clustered(samples) or found.estimate is None:
        return found
    weight = found.judge_weight or 0.0
    corrected = sum(a - weight * b for a, b in zip(people, judge, strict=True)) / len(people)
    rest = sum(unlabelled) / len(unlabelled) if unlabelled else 0.0
    parts = [
        (one.people - weight * one.judge - corrected) / len(people)
        if one.people is not None
        else weight * (one.judge - rest) / len(unlabelled)
        for one in samples
    ]
    return _by_clusters(samples, parts, found, (0.0, float(highest)))


def _rate(samples: Sequence[JudgedPart], drawing: Drawing) -> Estimate:
    """The corrected rate, over all judged samples, labelled ones included."""
    strata = {flagged: [one for one in samples if (one.judge > 0) is flagged] for flagged in (True, False)}
    counted = {
        flagged: Stratum(
            n=len(members),
            n_labelled=sum(one.people is not None for one in members),
            positives=sum(bool(one.people) for one in members),
        )
        for flagged, members in strata.items()
    }
    found = post_stratified_rate(
        counted, confidence=drawing.confidence, seed=drawing.seed, n_resamples=drawing.n_resamples
    )
    if not _clustered(samples) or found.estimate is None:
        return found
    parts = []
    for one in samples:
        stratum = counted[one.judge > 0]
        part = (stratum.share - found.estimate) / len(samples)
        if one.people is not None:
            part += stratum.n / len(samples) * (one.people - stratum.share) / stratum.n_labelled
        parts.append(part)
    return _by_clusters(samples, parts, found, (0.0, 1.0))


def _by_strata(samples: Sequence[JudgedPart], highest: int, confidence: float) -> Estimate:
    """The mean over all judged samples, of labels that were not drawn in proportion."""
    members: dict[str, list[JudgedPart]] = {}
    for one in samples:
        members.setdefault(one.stratum or "", []).append(one)
    labels = {name: [one.people for one in own if one.people is not None] for name, own in members.items()}
    strata = [SampledStratum(len(own), labels[name]) for name, own in members.items()]
    found = stratified_mean(strata, lowest=0.0, highest=highest, confidence=confidence)
    if not _clustered(samples) or found.estimate is None:
        return found
    means = {name: sum(said) / len(said) if said else found.estimate for name, said in labels.items()}
    parts = []
    for one in samples:
        name = one.stratum or ""
        part = means[name] - found.estimate
        if one.people is not None:
            part += len(members[name]) * (one.people - means[name]) / len(labels[name])
        parts.append(part / len(samples))
    return _by_clusters(samples, parts, found, (0.0, float(highest)))


def _labels_alone(samples: Sequence[JudgedPart], highest: int, confidence: float, *, is_rate: bool) -> Estimate:
    """The mean of people's labels, drawn by chance: a share, or a mean of scores by Jeffreys; by clusters."""
    labelled = [(one.people, one.cluster) for one in samples if one.people is not None]
    values = [value for value, _ in labelled]
    clusters = [cluster for _, cluster in labelled] if _clustered(samples) else None
    if is_rate:
        return share_of(values, clusters, confidence)
    return bounded_mean(values, highest=highest, clusters=clusters, confidence=confidence)


def share_of(values: Sequence[float], clusters: Sequence[str | None] | None, confidence: float) -> Estimate:
    """The share of ones among zeros and ones: Wilson's interval, or by clusters."""
    if clusters is None:
        return wilson(round(sum(values)), len(values), confidence)
    found = bounded_mean(values, highest=1, clusters=clusters, confidence=confidence)
    if found.reason == "no_variance" and len(set(values)) == 1:
        n_clusters = len(set(clusters))
        alike = wilson(n_clusters if values[0] else 0, n_clusters, confidence)
        return replace(alike, method="wilson_over_clusters", n=len(values), n_clusters=n_clusters)
    return found


def _clustered(samples: Sequence[JudgedPart]) -> bool:
    return any(one.cluster is not None for one in samples)


def _by_clusters(
    samples: Sequence[JudgedPart], parts: Sequence[float], found: Estimate, scale: tuple[float, float]
) -> Estimate:
    """The interval, widened for clusters; `parts` has what each sample adds to the estimate's error."""
    n_clusters = len({one.cluster for one in samples})
    if n_clusters == 1:
        basis = Basis(found.n, found.confidence, f"{found.method}_clustered", n_clusters=1)
        return basis.nothing("one_cluster", found.estimate)
    widening = cluster_widening(parts, [one.cluster for one in samples], found.confidence)
    low, high = found.low, found.high
    if found.estimate is not None and low is not None and high is not None:
        low = max(scale[0], found.estimate - widening.factor * (found.estimate - low))
        high = min(scale[1], found.estimate + widening.factor * (high - found.estimate))
    few = ("few_clusters",) if n_clusters < FEW_CLUSTERS else ()
    return Estimate(
        estimate=found.estimate,
        low=low,
        high=high,
        confidence=found.confidence,
        method=f"{found.method}_clustered",
        n=found.n,
        reason=found.reason,
        warnings=tuple(dict.fromkeys((*found.warnings, *few))),
        standard_error=None if found.standard_error is None else widening.of_error * found.standard_error,
        n_clusters=n_clusters,
        seed=found.seed,
    )


MAX_VALUES = 20  # of one slice; more is free text
LENGTH = "length of the answer"


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """People's score and the judge's of one sample's field."""

    people: int
    judge: int
    answer_chars: int
    slices: tuple[tuple[str, str], ...]
    cluster: str | None


def bias_of(pairs: Sequence[LabelledPair], drawing: Drawing) -> Bias:
    """Judge minus people: over all, by slice, and by length. Holm's correction is over all slices shown."""
    found = [_slice_bias(name, value, members, drawing) for name, value, members in _slices(pairs)]
    adjusted = adjust_p_values([one.p for one in found]).holm
    errors = [float(pair.judge - pair.people) for pair in pairs]
    lengths = [float(pair.answer_chars) for pair in pairs]
    return Bias(
        overall=_difference(pairs, drawing.confidence),
        slices=tuple(
            SliceBias(slice=one.slice, value=one.value, difference=one.difference, p=one.p, p_holm=p)
            for one, p in zip(found, adjusted, strict=True)
        ),
        with_length=rank_correlation(lengths, errors, drawing.confidence).spearman,
    )


def _slice_bias(name: str, value: str, pairs: Sequence[LabelledPair], drawing: Drawing) -> SliceBias:
    test = paired_permutation_test(
        [pair.judge - pair.people for pair in pairs], clusters=clusters_of(pairs), seed=drawing.seed, n_draws=20_000
    )
    difference = _difference(pairs, drawing.confidence)
    return SliceBias(slice=name, value=value, difference=difference, p=test.p, p_holm=None)


def _difference(pairs: Sequence[LabelledPair], confidence: float) -> Estimate:
    return paired_difference(
        [pair.people for pair in pairs],
        [pair.judge for pair in pairs],
        clusters=clusters_of(pairs),
        confidence=confidence,
    )


def same_score(pairs: Sequence[LabelledPair], confidence: float) -> Estimate:
    """The share of the samples that the judge gave people's own score."""
    return share_of([float(pair.judge == pair.people) for pair in pairs], clusters_of(pairs), confidence)


def clusters_of(pairs: Sequence[LabelledPair]) -> list[str | None] | None:
    """Labels of clusters, or None where every sample stands alone."""
    return [pair.cluster for pair in pairs] if any(pair.cluster is not None for pair in pairs) else None


def _slices(pairs: Sequence[LabelledPair]) -> Iterator[tuple[str, str, list[LabelledPair]]]:
    names = sorted({name for pair in pairs for name, _ in pair.slices})
    for name in names:
        by_value: dict[str, list[LabelledPair]] = {}
        for pair in pairs:
            for given, value in pair.slices:
                if given == name:
                    by_value.setdefault(value, []).append(pair)
        if 1 < len(by_value) <= MAX_VALUES:
            yield from ((name, value, by_value[value]) for value in sorted(by_value))
    yield from ((LENGTH, words, members) for words, members in _by_length(pairs))


def _by_length(pairs: Sequence[LabelledPair]) -> Iterator[tuple[str, list[LabelledPair]]]:
    """Three groups of about the same size, by length; fewer where lengths are alike."""
    lengths = sorted(pair.answer_chars for pair in pairs)
    if not lengths or lengths[0] == lengths[-1]:
        return
    cuts = sorted({lengths[(len(lengths) - 1) * part // 3] for part in (1, 2)} - {lengths[-1]})
    edges = [-1, *cuts, lengths[-1]]
    for low, high in pairwise(edges):
        words = f"up to {high} characters" if low < 0 else f"{low + 1} to {high} characters"
        yield words, [pair for pair in pairs if low < pair.answer_chars <= high]
