"""Samples that belong together: few clusters, and uneven ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from benchbook import statistics as st
from benchbook.evaluators.intervals import bounded_mean, rate_interval
from benchbook.labels.calibration_corrected import corrected_scores
from benchbook.labels.calibration_results import Drawing
from benchbook.statistics.distributions import normal_quantile, t_quantile
from simulations.ground import COVERS, Bounds, Floats, Line, bounds_by, coverage_of

UNEVEN = (40, *[3] * 14)
SIZES = {"1 of 40 and 14 of 3": UNEVEN, "12 of 10": (10,) * 12, "20 of 5": (5,) * 20, "4 of 12": (12,) * 4}
N_RESAMPLES = 400


class Clustered(NamedTuple):
    """Values, and the number of each one's cluster."""

    values: Floats
    codes: np.ndarray


def lines(draws: int) -> Iterator[Line]:
    for name, rate, alike in (
        ("1 of 40 and 14 of 3", 0.8, 0.0), ("1 of 40 and 14 of 3", 0.8, 0.3),
        ("12 of 10", 0.9, 0.3), ("20 of 5", 0.8, 0.3),
    ):  # fmt: skip
        yield _line("rate", name, alike, draws, lambda rng, n, r=rate, a=alike: _passes(rng, n, r, a), rate, OF_RATES)
    for name, alike in (("1 of 40 and 14 of 3", 0.3), ("12 of 10", 0.3), ("20 of 5", 0.1)):
        yield _line("mean", name, alike, draws, lambda rng, n, a=alike: _grades(rng, n, 0.8, a), 1.6, OF_MEANS)
    for name, alike in (("1 of 40 and 14 of 3", 0.1), ("1 of 40 and 14 of 3", 0.7), ("4 of 12", 0.3), ("20 of 5", 0.3)):
        yield _line("paired difference", name, alike, draws, lambda rng, n, a=alike: _signs(rng, n, a), 0.0, OF_PAIRS)
    for n_clusters in (12, 20):
        yield _corrected(n_clusters, max(20, draws // 4))


def _line(
    what: str,
    name: str,
    alike: float,
    draws: int,
    draw: Callable[[np.random.Generator, Sequence[int]], Floats],
    truth: float,
    methods: dict[str, Callable[[Clustered], Bounds]],
) -> Line:
    sizes = SIZES[name]
    rng = np.random.default_rng([3, len(sizes), round(100 * alike)])
    codes = np.repeat(np.arange(len(sizes)), sizes)
    samples = ((1.0, Clustered(draw(rng, sizes), codes)) for _ in range(draws))
    today, *rest = coverage_of(samples, truth, methods)
    of = f" of {truth:g}" if what == "rate" else ""
    return Line(
        where="clusters", case=f"{what}{of}, {name}, correlation {alike:g}", goal=COVERS, today=today,
        others=tuple(rest), draws=draws,
    )  # fmt: skip


def _rates(rng: np.random.Generator, sizes: Sequence[int], mean: float, alike: float) -> Floats:
    """Each value's chance, by its cluster: a beta distribution with this correlation within."""
    if not alike:
        return np.full(sum(sizes), mean)
    strength = (1 - alike) / alike
    return np.asarray(rng.beta(strength * mean, strength * (1 - mean), len(sizes)).repeat(sizes))


def _passes(rng: np.random.Generator, sizes: Sequence[int], mean: float, alike: float) -> Floats:
    chance = _rates(rng, sizes, mean, alike)
    return np.asarray((rng.random(chance.size) < chance) * 1.0)


def _grades(rng: np.random.Generator, sizes: Sequence[int], mean: float, alike: float) -> Floats:
    """Grades of 0, 1 or 2; the correlation is that of their chance."""
    return rng.binomial(2, _rates(rng, sizes, mean, alike)).astype(float)


def _signs(rng: np.random.Generator, sizes: Sequence[int], alike: float) -> Floats:
    """-1, 0 or 1, a sixth of them each way."""
    shared = rng.normal(0, sqrt(alike), len(sizes)).repeat(sizes)
    latent = shared + rng.normal(0, sqrt(1 - alike), shared.size)
    limit = normal_quantile(5 / 6)
    return np.asarray((latent > limit) * 1.0 - (latent < -limit) * 1.0)


def _by_cluster(one: Clustered) -> list[tuple[int, int, int]]:
    sums = (np.bincount(one.codes), np.bincount(one.codes, one.values), np.bincount(one.codes, one.values**2))
    return [(int(size), round(total), round(squares)) for size, total, squares in zip(*sums, strict=True)]


def _rate_by_correlation(one: Clustered) -> Bounds:
    counts = [cluster[:2] for cluster in _by_cluster(one)]
    return bounds_by(rate_interval(int(one.values.sum()), one.values.size, counts, 0.95))


def _mean_by_correlation(one: Clustered) -> Bounds:
    return bounds_by(bounded_mean((0, 0, 0), _by_cluster(one), 2, 0.95))


def _kish(highest: float) -> Callable[[Clustered], Bounds]:
    return lambda one: bounds_by(st.bounded_mean(one.values, highest=highest, clusters=one.codes.tolist()))


def clustered_t(one: Clustered) -> Bounds:
    return bounds_by(st.clustered_mean(one.values, one.codes.tolist()))


def bias_reduced(one: Clustered) -> Bounds:
    """Bias-reduced sandwich errors, CR2, with Satterthwaite's degrees of freedom (Bell and McCaffrey 2002)."""
    x, n = one.values, one.values.size
    sizes = np.bincount(one.codes).astype(float)
    weights = 1 / (n * np.sqrt(1 - sizes / n))
    sums = np.bincount(one.codes, x - x.mean())
    error = sqrt(float(((weights * sums) ** 2).sum()))
    if not error:
        return None, None
    spread = weights[:, None] * (np.diag(sizes) - np.outer(sizes, sizes) / n) * weights
    degrees = np.trace(spread) ** 2 / (spread**2).sum()
    half = t_quantile(float(degrees), 0.975) * error
    return float(x.mean()) - half, float(x.mean()) + half


def _by_pairs(one: Clustered) -> Bounds:
    return bounds_by(st.bounded_difference(one.values, clusters=one.codes.tolist()))


OF_RATES = {
    "Jeffreys by correlation": _rate_by_correlation,
    "design effect (Kish)": _kish(1),
    "clustered t": clustered_t,
    "CR2": bias_reduced,
}
OF_MEANS = {
    "Jeffreys by correlation": _mean_by_correlation,
    "design effect (Kish)": _kish(2),
    "clustered t": clustered_t,
    "CR2": bias_reduced,
}
OF_PAIRS = {"bounded by correlation": _by_pairs, "clustered t": clustered_t, "CR2": bias_reduced}


class Judged(NamedTuple):
    """Samples as people would have them and as the judge has them, their clusters, and which are labelled."""

    truth: np.ndarray
    flags: np.ndarray
    codes: np.ndarray
    labelled: np.ndarray


def _corrected(n_clusters: int, draws: int) -> Line:
    """Ten samples a cluster, a third of them labelled, correlation 0.3; the judge is right in 90 %."""
    rng = np.random.default_rng([4, n_clusters])
    sizes = (10,) * n_clusters
    codes = np.arange(n_clusters).repeat(10)

    def sample() -> Judged:
        truth = _passes(rng, sizes, 0.2, 0.3) > 0
        flags = np.where(rng.random(truth.size) < 0.9, truth, ~truth)
        return Judged(truth, flags, codes, rng.permutation(truth.size) < truth.size // 3)

    today, *rest = coverage_of(((1.0, sample()) for _ in range(draws)), 0.2, CORRECTED)
    return Line(
        where="clusters", case=f"corrected rate of 0.2, {n_clusters} of 10, correlation 0.3", goal=COVERS, today=today,
        others=tuple(rest), draws=draws,
    )  # fmt: skip


def _corrected_by_correlation(one: Judged) -> Bounds:
    people = [int(true) if known else None for true, known in zip(one.truth, one.labelled, strict=True)]
    clusters = [str(code) for code in one.codes]
    found, _ = corrected_scores(
        one.flags.astype(int).tolist(), people, (0, 1), clusters=clusters, drawing=Drawing(n_resamples=1_000)
    )
    return bounds_by(found)


def _as_independent(one: Judged) -> Bounds:
    strata = {
        flagged: st.Stratum(
            int(chosen.sum()), int((chosen & one.labelled).sum()), int((chosen & one.labelled & one.truth).sum())
        )
        for flagged, chosen in ((True, one.flags), (False, ~one.flags))
    }
    return bounds_by(st.post_stratified_rate(strata, n_resamples=1_000))


def _by_resampling_clusters(one: Judged) -> Bounds:
    """Percentiles of the post-stratified rate over redrawn clusters."""
    n_clusters = int(one.codes.max()) + 1
    parts = []
    for chosen in (one.flags, ~one.flags):
        known = chosen & one.labelled
        parts += [np.bincount(one.codes, which, n_clusters) for which in (chosen, known, known & one.truth)]
    rng = np.random.default_rng(5)
    times = rng.multinomial(n_clusters, [1 / n_clusters] * n_clusters, N_RESAMPLES)
    n_true, known_true, positive_true, n_false, known_false, positive_false = (times @ part for part in parts)
    with np.errstate(invalid="ignore"):
        flagged = np.where(known_true > 0, positive_true / known_true, 0.5)
        passed = np.where(known_false > 0, positive_false / known_false, 0.5)
    rates = (n_true * flagged + n_false * passed) / (n_true + n_false)
    low, high = np.quantile(rates, [0.025, 0.975])
    return float(low), float(high)


CORRECTED = {
    "post-stratified, widened by correlation": _corrected_by_correlation,
    "post-stratified, as independent": _as_independent,
    "post-stratified, clusters resampled": _by_resampling_clusters,
}
