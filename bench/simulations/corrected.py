"""Corrected rates: people labelled a part of the samples that a judge judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchbook.statistics import Stratum, post_stratified_rate, prediction_powered_mean, rogan_gladen, wilson
from simulations.ground import COVERS, Bounds, Line, bounds_by, coverage_of

N_RESAMPLES = 2_000


class Case(NamedTuple):
    rate: float
    n: int
    labels: int
    sensitivity: float
    specificity: float


CASES = (
    Case(0.9, 2_000, 100, 0.9, 0.9),
    Case(0.9, 2_000, 50, 0.9, 0.9),
    Case(0.9, 2_000, 200, 0.9, 0.9),
    Case(0.5, 2_000, 100, 0.9, 0.9),
    Case(0.95, 400, 100, 0.9, 0.9),
    Case(0.8, 2_000, 100, 0.8, 0.7),
)


class Labelled(NamedTuple):
    """Labelled samples that are (true or false, flagged or passed by the judge), and how many others it flagged."""

    true_flagged: int
    true_passed: int
    false_flagged: int
    false_passed: int
    others_flagged: int
    n_others: int


def lines(draws: int) -> Iterator[Line]:
    for case in CASES:
        rng = np.random.default_rng([1, case.labels, round(1000 * case.rate)])
        true, false = case.rate, 1 - case.rate
        cells = [
            true * case.sensitivity, true * (1 - case.sensitivity),
            false * (1 - case.specificity), false * case.specificity,
        ]  # fmt: skip
        labelled = rng.multinomial(case.labels, cells, draws)
        n_others = case.n - case.labels
        others = rng.binomial(n_others, cells[0] + cells[2], draws)
        samples = (
            (1.0, Labelled(*one, flagged, n_others))
            for one, flagged in zip(labelled.tolist(), others.tolist(), strict=True)
        )
        today, *rest = coverage_of(samples, case.rate, METHODS)
        judge = "" if case.sensitivity == case.specificity == 0.9 else ", a poor judge"
        yield Line(
            where="corrected rate",
            case=f"rate {case.rate:g}, {case.labels} labels of {case.n:,}{judge}",
            goal=COVERS,
            today=today,
            others=tuple(rest),
            draws=draws,
        )


def post_stratified(one: Labelled) -> Bounds:
    flagged, passed = one.true_flagged + one.false_flagged, one.true_passed + one.false_passed
    strata = {
        True: Stratum(flagged + one.others_flagged, flagged, one.true_flagged),
        False: Stratum(passed + one.n_others - one.others_flagged, passed, one.true_passed),
    }
    return bounds_by(post_stratified_rate(strata, n_resamples=N_RESAMPLES))


def by_sensitivity_and_specificity(one: Labelled) -> Bounds:
    positives, negatives = one.true_flagged + one.true_passed, one.false_flagged + one.false_passed
    flagged = one.true_flagged + one.false_flagged + one.others_flagged
    found = rogan_gladen(
        flagged, positives + negatives + one.n_others, true_positives=one.true_flagged, positives=positives,
        true_negatives=one.false_passed, negatives=negatives, n_resamples=N_RESAMPLES,
    )  # fmt: skip
    return bounds_by(found)


def prediction_powered(one: Labelled) -> Bounds:
    counts = one[:4]
    labels = np.repeat([1.0, 1.0, 0.0, 0.0], counts)
    judged = np.repeat([1.0, 0.0, 1.0, 0.0], counts)
    others = np.repeat([1.0, 0.0], [one.others_flagged, one.n_others - one.others_flagged])
    return bounds_by(prediction_powered_mean(labels, judged, others, scale=(0.0, 1.0)))


def labels_alone(one: Labelled) -> Bounds:
    return bounds_by(wilson(one.true_flagged + one.true_passed, sum(one[:4])))


METHODS = {
    "post-stratified": post_stratified,
    "Rogan-Gladen": by_sensitivity_and_specificity,
    "PPI++, bounded": prediction_powered,
    "labels alone, Wilson": labels_alone,
}
