"""Strengths of models whose answers were compared in pairs (Bradley and Terry 1952), by maximum likelihood.

The log odds that one model's answer is preferred to another's are the difference of their strengths, plus effects of
what else differs between the two answers: which was shown first, how much longer it is (Dubois et al. 2024,
"Length-controlled AlpacaEval"). So it is a logistic regression without an intercept, and a tie is half a win for both.

Verdicts on one item rise and fall together, so the covariance is the sandwich by clusters, G / (G - 1) times, and
intervals are Student's t with G - 1 degrees of freedom (Cameron and Miller 2015).

Nothing is said where the likelihood has no maximum: where models, taken apart into two sets, were never compared across
them, or one set won every time (Ford 1957). Those sets are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from benchbook.statistics.all_pairs import AllPairs, holm_of_pairs, ranks_of, ranks_shown
from benchbook.statistics.comparison_graph import connected_parts, unbeaten_parts
from benchbook.statistics.distributions import t_cdf, t_cdfs, t_quantile
from benchbook.statistics.ground import (
    Basis,
    Estimate,
    Floats,
    Ints,
    Labels,
    Values,
    as_values,
    check_confidence,
    cluster_codes,
)
from benchbook.statistics.paired_logit import PairedLogit, fitted

MOST_MODELS = 1_000  # a table of all pairs, and of all items: half a gigabyte
_METHOD = "bradley_terry_clustered_t"
_NO_SPREAD = 1e-18  # a variance that rounding makes of nothing
# The least share of a covariate, squared, that models and the covariates before it may leave open: below a tenth (a
# variance inflated tenfold, Marquardt 1970) its effect is read off the few verdicts that differ, and to hold it equal
# would be to say how models do where they were hardly seen.
_LEFT_OPEN = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStrength:
    """A model's strength, in log odds: against the anchor, or against the mean of all.

    `win` is its chance to be preferred to the anchor, or else to each of the others in turn (the mean of these), with
    all covariates 0. The rank counts from 1, and the true one lies from `rank_low` to `rank_high`.
    """

    name: str
    strength: Estimate
    win: Estimate
    rank: int
    rank_low: int | None
    rank_high: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CovariateEffect:
    """The log odds that a unit of a covariate adds, and the p of no effect; null, with a reason, where the models (or
    the covariates before it) explain nearly all of it."""

    name: str
    effect: Estimate
    p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BradleyTerry:
    """Models from the strongest to the weakest; empty, with a reason, where strengths can't be told.

    `covariance` is that of the strengths, in the order of `models`. `parts` has the sets of models that the reason is
    about: `not_connected`, none of which was compared with another; `separated`, each of which won every verdict
    against the sets after it.
    """

    models: tuple[PairStrength, ...]
    covariance: tuple[tuple[float, ...], ...]
    effects: tuple[CovariateEffect, ...]
    anchor: str | None
    confidence: float
    n: int
    n_clusters: int
    reason: str | None = None
    parts: tuple[tuple[str, ...], ...] = ()
    method: str = _METHOD


def pair_strengths(
    first: Labels,
    second: Labels,
    won: Values,
    *,
    clusters: Labels,
    weights: Values | None = None,
    covariates: Mapping[str, Values] | None = None,
    anchor: str | None = None,
    confidence: float = 0.95,
) -> BradleyTerry:
    """Fit strengths to verdicts on pairs of models: `won[i]` is the share, 0 to 1, that `first[i]` won.

    `clusters` are the items. A covariate is the first model's answer less the second's: 1 and -1 for which was shown
    first. A verdict counts as often as its weight says, 1 if none is given.

    Raises: ValueError for lengths that differ, a model against itself, a share outside 0 to 1, a weight of 0 or less,
        and an anchor that is in no verdict.
    """
    check_confidence(confidence)
    shares, counts = as_values(won, "won"), None if weights is None else as_values(weights, "weights")
    counts = np.ones(shares.size) if counts is None else counts
    columns = {name: as_values(values, name) for name, values in (covariates or {}).items()}
    codes, names = _coded(first, second, shares, counts, columns)
    items, n_items = cluster_codes(clusters, int(shares.size))
    if anchor is not None and anchor not in names:
        raise ValueError(f"the anchor {anchor!r} is in no verdict")
    reason, parts = _why_not(codes, shares, names)
    kept = [] if reason else _kept(PairedLogit(codes, counts, list(columns.values()), len(names)), list(columns))
    design = PairedLogit(codes, counts, [columns[name] for name in kept], len(names))
    found = None if reason else fitted(design, shares)
    if found is None:
        reason = reason or "separated_by_covariates"
        return BradleyTerry(
            models=(),
            covariance=(),
            effects=(),
            anchor=anchor,
            confidence=confidence,
            n=int(shares.size),
            n_clusters=n_items,
            reason=reason,
            parts=parts,
        )
    covariance = design.covariance(found, shares, items, n_items)
    basis = Basis(int(shares.size), confidence, _METHOD, n_items)
    too_few = "one_cluster" if n_items == 1 else "too_few_clusters" if n_items <= found.size else None
    frame = _Frame(names, anchor, basis, too_few)
    order, models, of_models = frame.models(found[: len(names) - 1], covariance[: len(names) - 1, : len(names) - 1])
    at = dict(zip(kept, range(len(names) - 1, found.size), strict=True))
    effects = (frame.effect(name, at.get(name), found, covariance) for name in columns)
    return BradleyTerry(
        models=models,
        covariance=() if too_few else tuple(tuple(row) for row in of_models[np.ix_(order, order)].tolist()),
        effects=tuple(effects),
        anchor=anchor,
        confidence=confidence,
        n=basis.n,
        n_clusters=n_items,
        reason=too_few,
    )


def _coded(
    first: Labels, second: Labels, shares: Floats, counts: Floats, columns: Mapping[str, Floats]
) -> tuple[tuple[Ints, Ints], list[str]]:
    """Each verdict's models as numbers, in the order of their names, and the names."""
    n = int(shares.size)
    lengths = {"first": len(first), "second": len(second), "weights": int(counts.size)}
    lengths |= {name: int(values.size) for name, values in columns.items()}
    for name, length in lengths.items():
        if length != n:
            raise ValueError(f"{n} verdicts, but {length} values of {name}")
    if n and not (shares.min() >= 0 and shares.max() <= 1):
        raise ValueError("won must lie between 0 and 1")
    if n and not counts.min() > 0:
        raise ValueError("weights must be above 0")
    names = sorted({str(name) for names in (first, second) for name in names})
    places = {name: place for place, name in enumerate(names)}
    a, b = (np.array([places[str(name)] for name in given], dtype=np.intp) for given in (first, second))
    if bool((a == b).any()):
        raise ValueError(f"{names[int(a[a == b][0])]!r} is compared with itself")
    return (a, b), names


def _why_not(
    codes: tuple[Ints, Ints], shares: Floats, names: list[str]
) -> tuple[str | None, tuple[tuple[str, ...], ...]]:
    """Why strengths have no maximum of the likelihood, whatever the covariates are, and the sets it is about."""
    if not names:
        return "no_data", ()
    if len(names) > MOST_MODELS:
        return "too_many_models", ()
    parts = connected_parts(*codes, len(names))
    if len(parts) > 1:
        return "not_connected", _named(parts, names)
    parts = unbeaten_parts(*codes, shares, len(names))
    return ("separated", _named(parts, names)) if len(parts) > 1 else (None, ())


def _named(parts: list[list[int]], names: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(names[one] for one in part) for part in parts)


def _kept(design: PairedLogit, names: list[str]) -> list[str]:
    """The covariates that can be told apart from the models, and from those before them (`_LEFT_OPEN`)."""
    if not names:
        return []
    n_models = design.n_models - 1
    table = design.information(design.weights)
    own = np.diag(table).copy()
    left = table[n_models:, n_models:].copy()
    left -= table[n_models:, :n_models] @ np.linalg.pinv(table[:n_models, :n_models]) @ table[:n_models, n_models:]
    kept: list[int] = []
    for one in range(len(names)):
        rest = left[one, one]
        if kept:
            rest -= left[one, kept] @ np.linalg.solve(left[np.ix_(kept, kept)], left[kept, one])
        if rest > _LEFT_OPEN * own[n_models + one]:
            kept.append(one)
    return [names[one] for one in kept]


@dataclass(frozen=True, slots=True)
class _Frame:
    """That against which strengths are told: the anchor, or the mean of all."""

    names: list[str]
    anchor: str | None
    basis: Basis
    too_few: str | None  # why clusters show no spread; None where they do

    def models(self, found: Floats, covariance: Floats) -> tuple[Ints, tuple[PairStrength, ...], Floats]:
        """The order from the strongest to the weakest, the models in it, and the covariance in the names' order.

        `found` are strengths against the first name.
        """
        n = len(self.names)
        against_first = np.vstack([np.zeros(n - 1), np.eye(n - 1)])
        base = against_first.mean(axis=0) if self.anchor is None else against_first[self.names.index(self.anchor)]
        turn = against_first - base
        strengths, spread = turn @ found, turn @ covariance @ turn.T
        ranks, low, high = self._ranks(strengths, spread)
        order = np.argsort(ranks, kind="stable")
        models = (
            PairStrength(
                name=self.names[i],
                strength=self.interval(float(strengths[i]), float(spread[i, i]), fixed=self.names[i] == self.anchor),
                win=self._win(i, strengths, spread),
                rank=int(ranks[i]),
                rank_low=None if low is None else int(low[i]),
                rank_high=None if high is None else int(high[i]),
            )
            for i in order.tolist()
        )
        return order, tuple(models), spread

    def _ranks(self, strengths: Floats, spread: Floats) -> tuple[Ints, Ints | None, Ints | None]:
        """Ranks, and the first and last that each may have: none where no spread is known."""
        ranks = ranks_of(strengths)
        if self.too_few:
            return ranks, None, None
        pairs = AllPairs(len(self.names))
        own = np.diag(spread)
        variance = np.maximum(own[pairs.first] + own[pairs.second] - 2 * pairs.of(spread), 0.0)
        difference = np.abs(strengths[pairs.first] - strengths[pairs.second])
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(variance > _NO_SPREAD, difference / np.sqrt(variance), 0.0)
        p = holm_of_pairs(np.minimum(1.0, 2 * t_cdfs(self.degrees, -t)))
        return ranks, *ranks_shown(strengths, pairs, p, 1 - self.basis.confidence)

    def _win(self, i: int, strengths: Floats, spread: Floats) -> Estimate:
        """The chance to be preferred, with its interval on the scale of log odds (by the delta method)."""
        others = np.delete(np.arange(len(self.names)), i)
        if self.anchor is not None:
            others = np.array([self.names.index(self.anchor)])
        chances = 1 / (1 + np.exp(strengths[others] - strengths[i]))
        win = float(chances.mean())
        slopes = np.zeros(len(self.names))
        np.add.at(slopes, others, -chances * (1 - chances) / others.size)
        slopes[i] += float((chances * (1 - chances)).mean())
        variance = float(slopes @ spread @ slopes) / (win * (1 - win)) ** 2
        odds = self.interval(log(win / (1 - win)), variance, fixed=self.names[i] == self.anchor)
        if odds.low is None or odds.high is None:
            return self.basis.nothing(odds.reason or "no_variance", win)
        error = (odds.standard_error or 0.0) * win * (1 - win)
        return self.basis.interval(win, chance_of(odds.low), chance_of(odds.high), error)

    def effect(self, name: str, at: int | None, found: Floats, covariance: Floats) -> CovariateEffect:
        """The effect of a covariate, whose coefficient is the one `at`; None if it is in no fit."""
        if at is None:
            return CovariateEffect(name=name, effect=self.basis.nothing("not_told_apart"), p=None)
        effect = self.interval(float(found[at]), float(covariance[at, at]))
        p = None
        if effect.estimate is not None and effect.standard_error:
            p = min(1.0, 2 * t_cdf(self.degrees, -abs(effect.estimate / effect.standard_error)))
        return CovariateEffect(name=name, effect=effect, p=p)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of every standard error."""
        return float((self.basis.n_clusters or 0) - 1)

    def interval(self, value: float, variance: float, *, fixed: bool = False) -> Estimate:
        """Student's t interval; of a value that is `fixed`, such as the anchor's own, the value itself."""
        if fixed:
            return self.basis.interval(value, value, value, 0.0)
        reason = self.too_few or ("no_variance" if variance <= _NO_SPREAD else None)
        if reason is not None:
            return self.basis.nothing(reason, value)
        error = sqrt(variance)
        half = t_quantile(self.degrees, (1 + self.basis.confidence) / 2) * error
        return self.basis.interval(value, value - half, value + half, error)


def chance_of(log_odds: float) -> float:
    """The probability with these log odds, however large they are."""
    return 1 / (1 + exp(-log_odds)) if log_odds > 0 else exp(log_odds) / (1 + exp(log_odds))
