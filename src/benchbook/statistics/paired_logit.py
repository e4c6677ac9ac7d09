"""Logistic regression without an intercept on differences of models, by Newton's method.

A row has 1 for its first model, -1 for its second, and its covariates. That table is never built: a product with it is
a sum by model, so 200 models over 100,000 verdicts take no more memory than the verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchbook.statistics.ground import Floats, Ints

_MOST_STEPS = 200
_STILL = 1e-9  # of a step, in log odds of any verdict: the next one is smaller than rounding
_NO_MAXIMUM = 30.0  # log odds that no number of verdicts shows: 1 in 10^13
_NO_WORSE = 1e-9  # of the likelihood: rounding, and no step too far
_MOST_HALVED = 30


class PairedLogit:
    """The rows of a fit. Coefficients are the strengths of all models but the first, then those of the covariates."""

    def __init__(self, codes: tuple[Ints, Ints], weights: Floats, covariates: Sequence[Floats], n_models: int) -> None:
        self.first, self.second = codes
        self.weights = weights
        self.covariates = np.vstack([np.empty((0, weights.size)), *covariates])
        self.n_models = n_models
        self.n_coefficients = max(n_models - 1, 0) + len(covariates)

    def log_odds(self, coefficients: Floats) -> Floats:
        """The log odds of each row."""
        strengths = np.concatenate([[0.0], coefficients[: self.n_models - 1]])
        return np.asarray(
            strengths[self.first] - strengths[self.second] + coefficients[self.n_models - 1 :] @ self.covariates
        )

    def totals(self, values: Floats) -> Floats:
        """The sum over rows of each column times `values`."""
        by_model = np.bincount(self.first, values, self.n_models) - np.bincount(self.second, values, self.n_models)
        return np.concatenate([by_model[1:], self.covariates @ values])

    def information(self, values: Floats) -> Floats:
        """The products of every two columns, weighted by `values`."""
        n, table = self.n_models, np.zeros((self.n_coefficients, self.n_coefficients))
        shared = np.bincount(self.first * n + self.second, values, n * n).reshape(n, n)
        shared = shared + shared.T
        table[: n - 1, : n - 1] = (np.diag(shared.sum(axis=1)) - shared)[1:, 1:]
        for place, column in enumerate(self.covariates, start=n - 1):
            table[place] = table[:, place] = self.totals(values * column)
        return table

    def covariance(self, coefficients: Floats, shares: Floats, clusters: Ints, n_clusters: int) -> Floats:
        """The sandwich by clusters, G / (G - 1) times; zeros of a single cluster, which shows no spread."""
        if n_clusters < 2:
            return np.zeros((self.n_coefficients, self.n_coefficients))
        chances = _chances(self.log_odds(coefficients))
        scores = self._sums(self.weights * (shares - chances), clusters, n_clusters)
        bread = np.linalg.inv(self.information(self.weights * chances * (1 - chances)))
        return np.asarray(n_clusters / (n_clusters - 1) * bread @ (scores.T @ scores) @ bread)

    def _sums(self, values: Floats, clusters: Ints, n_clusters: int) -> Floats:
        """`totals` of each cluster, a row for each."""
        n, size = self.n_models, n_clusters * self.n_models
        by_model = np.bincount(clusters * n + self.first, values, size)
        by_model -= np.bincount(clusters * n + self.second, values, size)
        others = [np.bincount(clusters, values * column, n_clusters) for column in self.covariates]
        return np.column_stack([by_model.reshape(n_clusters, n)[:, 1:], *others])


def fitted(design: PairedLogit, shares: Floats) -> Floats | None:
    """The coefficients under which verdicts with these shares won are the likeliest; None if there is no maximum."""
    found = np.zeros(design.n_coefficients)
    odds = design.log_odds(found)
    likelihood = _likelihood(odds, shares, design.weights)
    for _ in range(_MOST_STEPS):
        step = _step(design, odds, shares)
        if step is None:
            return None
        along = design.log_odds(step)
        if np.abs(along).max(initial=0.0) < _STILL:
            return np.asarray(found + step)
        length, reached = 1.0, -np.inf
        for _ in range(_MOST_HALVED):
            reached = _likelihood(odds + length * along, shares, design.weights)
            if reached >= likelihood - _NO_WORSE * abs(likelihood):
                break
            length /= 2
        found, odds, likelihood = found + length * step, odds + length * along, reached
        if np.abs(odds).max() > _NO_MAXIMUM:
            return None
    return None


def _step(design: PairedLogit, odds: Floats, shares: Floats) -> Floats | None:
    """Newton's step; None where the likelihood is flat."""
    chances = _chances(odds)
    try:
        information = design.information(design.weights * chances * (1 - chances))
        return np.asarray(np.linalg.solve(information, design.totals(design.weights * (shares - chances))))
    except np.linalg.LinAlgError:
        return None


def _chances(odds: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0.0, -odds)))


def _likelihood(odds: Floats, shares: Floats, weights: Floats) -> float:
    """The logarithm of the likelihood, stable for the largest odds."""
    return -float(weights @ (shares * np.logaddexp(0.0, -odds) + (1 - shares) * np.logaddexp(0.0, odds)))
