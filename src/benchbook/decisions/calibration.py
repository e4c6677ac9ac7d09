"""A judge on trial: its scores held against people's, its aggregates corrected, its decision made again. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from benchbook.decisions.calibration_bias import Pair, bias_of, clusters_of
from benchbook.decisions.calibration_corrected import GoldScores, corrected_aggregates
from benchbook.decisions.calibration_decision import Counted, corrected_decision
from benchbook.decisions.calibration_results import AgreementName, Calibration, FieldTrial, JudgedSample
from benchbook.decisions.release import Decision
from benchbook.errors import UsageError
from benchbook.records.facts import LabelField
from benchbook.records.labels_state import FIELDS, SCORES
from benchbook.scorers.rubric import RubricScale
from benchbook.statistics import Agreement, Weights, cohens_kappa, gwet_ac, krippendorff_alpha

__all__ = ["agreements", "calibrate"]

FEW_LABELS = 30


def calibrate(
    samples: Sequence[JudgedSample],
    gold: GoldScores,
    scale: RubricScale,
    *,
    frozen: Decision | None,
    counted: Counted,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Calibration:
    """Hold the judge against people's labels of a part of the samples, drawn by chance.

    Raises: UsageError for a label of a sample that the judge did not score, or of a score that there is not.
    """
    by_number = {one.sample: one for one in samples}
    _check(gold, by_number.keys())
    fields = tuple(_field_trial(field, by_number, gold, confidence, seed, n_resamples) for field in FIELDS)
    corrected = corrected_aggregates(samples, gold, scale, confidence=confidence, seed=seed, n_resamples=n_resamples)
    clusters = {one.cluster for one in samples if one.cluster is not None}
    return Calibration(
        n_judged=len(samples),
        n_labelled=sum(bool(labels) for labels in gold.values()),
        n_clusters=len(clusters) or None,
        confidence=confidence,
        seed=seed,
        fields=fields,
        corrected=corrected,
        frozen_decision=frozen,
        corrected_decision=None if frozen is None else corrected_decision(frozen, corrected, counted, confidence),
        warnings=_warnings(fields),
    )


def _check(gold: GoldScores, known: Container[int]) -> None:
    for sample, labels in gold.items():
        if sample not in known:
            raise UsageError(f"labels: sample {sample} is labelled, and the judge of this run did not score it")
        for field, score in labels.items():
            if score not in SCORES:
                raise UsageError(f"labels: sample {sample} {field}: found {score}; expected 0, 1 or 2")


def _field_trial(
    field: LabelField,
    samples: dict[int, JudgedSample],
    gold: GoldScores,
    confidence: float,
    seed: int,
    n_resamples: int,
) -> FieldTrial:
    pairs = [
        Pair(
            people=labels[field],
            judge=samples[number].score(field),
            answer_chars=samples[number].answer_chars,
            slices=tuple(samples[number].slices.items()),
            cluster=samples[number].cluster,
        )
        for number, labels in sorted(gold.items())
        if field in labels
    ]
    confusion = {str(people): {str(judge): 0 for judge in SCORES} for people in SCORES}
    for pair in pairs:
        confusion[str(pair.people)][str(pair.judge)] += 1
    return FieldTrial(
        field=field,
        n=len(pairs),
        confusion=confusion,
        agreement=agreements(
            [pair.people for pair in pairs],
            [pair.judge for pair in pairs],
            clusters=clusters_of(pairs),
            confidence=confidence,
            seed=seed,
            n_resamples=n_resamples,
        ),
        bias=bias_of(pairs, confidence, seed),
    )


def agreements(
    a: Sequence[int],
    b: Sequence[int],
    *,
    clusters: Sequence[str | None] | None,
    confidence: float,
    seed: int,
    n_resamples: int,
) -> dict[AgreementName, Agreement]:
    """Every coefficient of two raters' scores on the scale 0, 1, 2."""

    def kappa(weights: Weights) -> Agreement:
        return cohens_kappa(
            a, b, SCORES, weights=weights, clusters=clusters, confidence=confidence, seed=seed, n_resamples=n_resamples
        )

    def ac(weights: Weights) -> Agreement:
        return gwet_ac(
            a, b, SCORES, weights=weights, clusters=clusters, confidence=confidence, seed=seed, n_resamples=n_resamples
        )

    alpha = krippendorff_alpha([a, b], confidence=confidence, seed=seed, n_resamples=n_resamples)
    if clusters is not None:
        alpha = replace(alpha, warnings=(*alpha.warnings, "clusters_ignored"))
    return {
        "cohens_kappa": kappa("unweighted"),
        "cohens_kappa_linear": kappa("linear"),
        "cohens_kappa_quadratic": kappa("quadratic"),
        "gwet_ac1": ac("unweighted"),
        "gwet_ac2_quadratic": ac("quadratic"),
        "krippendorff_alpha_ordinal": alpha,
    }


def _warnings(fields: Sequence[FieldTrial]) -> tuple[str, ...]:
    found = []
    for one in fields:
        if one.n < FEW_LABELS:
            found.append(f"{one.field}: {one.n} labels are few; most intervals will say little")
        scores = {people for people, row in one.confusion.items() if sum(row.values())}
        if one.n and len(scores) == 1:
            found.append(
                f"{one.field}: people gave every sample {scores.pop()}, so agreement beyond chance can't be told"
            )
    return tuple(found)
