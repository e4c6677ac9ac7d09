"""Two runs on the same items: pairing takes the items' difficulty out of the comparison. Differences are b - a."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

from benchbook.statistics.distributions import beta_cdfs, beta_quantile, binomial_cdf, normal_quantile
from benchbook.statistics.ground import (
    ROUNDING,
    Basis,
    Estimate,
    Floats,
    Labels,
    Values,
    all_alike,
    as_pairs,
    check_confidence,
    refuse_nan,
)
from benchbook.statistics.means import MeanMethod, mean_interval

PairedMethod = Literal["t", "bca", "bonett_price"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """McNemar's test: are the pairs that only `a` won as many as those that only `b` won? p is two-sided."""

    p_exact: float
    p_mid: float  # less conservative than the exact one, and still close to its level
    only_a: int
    only_b: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedBinary:
    """The fourfold table of two runs with its difference and test. Rates are of all `n` pairs."""

    n: int
    both: int
    only_a: int
    only_b: int
    neither: int
    difference: Estimate
    test: McNemar


def paired_difference(
    a: Values,
    b: Values,
    *,
    clusters: Labels | None = None,
    method: PairedMethod = "t",
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Estimate:
    """The mean of b - a over pairs, with its paired interval (Miller 2024, section 4.2).

    `bonett_price` is for values of 0 and 1 without clusters, and gives an interval even where no pair differs.
    Null bounds: `no_discordant_pairs` where no pair differs, `no_variance` where all differ alike; see `means`.
    """
    x, y = as_pairs(a, b)
    if method == "bonett_price":
        if clusters is not None:
            raise ValueError("bonett_price takes pairs as independent: it has no form with clusters")
        table = _fourfold(x, y)
        return bonett_price(table["only_a"], table["only_b"], int(x.size), confidence)
    mean_method: MeanMethod = method
    differences = _differences(x, y)
    found = mean_interval(
        differences, clusters=clusters, method=mean_method, confidence=confidence, seed=seed, n_resamples=n_resamples
    )
    reason = "no_discordant_pairs" if found.reason == "no_variance" and not differences.any() else found.reason
    return replace(found, method=f"paired_{found.method}", reason=reason)


def paired_binary(a: Values, b: Values, *, clusters: Labels | None = None, confidence: float = 0.95) -> PairedBinary:
    """Everything about two runs of passes (1) and failures (0) on the same items.

    Raises: ValueError for any other value.
    """
    x, y = as_pairs(a, b)
    table = _fourfold(x, y)
    test = mcnemar(table["only_a"], table["only_b"])
    if clusters is not None:
        test = replace(test, warnings=("clusters_ignored",))
    difference = paired_difference(x, y, clusters=clusters, confidence=confidence)
    return PairedBinary(n=int(x.size), difference=difference, test=test, **table)


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """Exact and mid-p McNemar test of the discordant pairs (Fagerland, Lydersen and Laake 2013)."""
    if only_a < 0 or only_b < 0:
        raise ValueError(f"counts can't be negative: {only_a}, {only_b}")
    n, fewer = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return McNemar(p_exact=1.0, p_mid=1.0, only_a=0, only_b=0, reason="no_discordant_pairs")
    up_to, below = binomial_cdf(fewer, n, 0.5), binomial_cdf(fewer - 1, n, 0.5)
    result = McNemar(p_exact=min(1.0, 2 * up_to), p_mid=min(1.0, up_to + below), only_a=only_a, only_b=only_b)
    refuse_nan(result)
    return result


def bonett_price(only_a: int, only_b: int, n: int, confidence: float = 0.95) -> Estimate:
    """Interval of the difference of paired rates, with one pair added to each discordant count.

    Bonett and Price 2012; recommended by Fagerland, Lydersen and Laake 2014 for its coverage in small samples.
    """
    check_confidence(confidence)
    if only_a < 0 or only_b < 0 or only_a + only_b > n:
        raise ValueError(f"{only_a} and {only_b} discordant pairs of {n}")
    basis = Basis(n, confidence, "bonett_price")
    if n == 0:
        return basis.nothing("no_data")
    p_a, p_b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    error = sqrt((p_a + p_b - (p_b - p_a) ** 2) / (n + 2))
    half = normal_quantile((1 + confidence) / 2) * error
    return basis.interval((only_b - only_a) / n, max(-1.0, p_b - p_a - half), min(1.0, p_b - p_a + half))


def _differences(x: Floats, y: Floats) -> Floats:
    """b - a; where they differ by rounding alone, what they round."""
    import numpy as np

    differences = y - x
    size = float(np.abs(np.concatenate([x, y])).max(initial=0.0))
    if not x.size or not all_alike(differences, size):
        return differences
    middle = float(differences.mean())
    return np.full_like(differences, middle if abs(middle) > ROUNDING * size else 0.0)


def _fourfold(x: Values, y: Values) -> dict[str, int]:
    import numpy as np

    if not (np.isin(x, (0, 1)).all() and np.isin(y, (0, 1)).all()):
        raise ValueError("a and b must be 0 or 1")
    won_a, won_b = np.asarray(x, dtype=bool), np.asarray(y, dtype=bool)
    return {
        "both": int((won_a & won_b).sum()),
        "only_a": int((won_a & ~won_b).sum()),
        "only_b": int((won_b & ~won_a).sum()),
        "neither": int((~won_a & ~won_b).sum()),
    }


_NODES = 32  # of the quadrature over the share of pairs that differ
_STEPS = 40  # of a bisection, from bounds that are 2 apart
_CLOSE = 2.0**-_STEPS


def paired_rates(only_a: int, only_b: int, n: int, confidence: float = 0.95) -> Estimate:
    """The difference (b - a) of two rates over the same `n` items, `only_a` of which `a` alone passes.

    It leaves 0 out exactly where `mcnemar(...).p_mid` is at most 1 - confidence. Null without items alone.
    """
    check_confidence(confidence)
    if only_a < 0 or only_b < 0 or only_a + only_b > n:
        raise ValueError(f"{only_a} and {only_b} discordant pairs of {n}")
    basis = Basis(n, confidence, "paired_mid_p")
    if n == 0:
        return basis.nothing("no_data")
    table = _Table(only_a, only_b, n)
    tail, estimate = (1 - confidence) / 2, (only_b - only_a) / n
    low, high = table.quantile(tail), table.quantile(1 - tail)
    if mcnemar(only_a, only_b).p_mid > 1 - confidence:  # as the bounds have it, but for what bisection leaves
        low, high = min(low, 0.0), max(high, 0.0)
    return basis.interval(estimate, max(-1.0, min(low, estimate)), min(1.0, max(high, estimate)))


class _Table:
    """The distribution of the difference, given the counts of a fourfold table."""

    def __init__(self, only_a: int, only_b: int, n: int) -> None:
        import numpy as np

        self._won = (only_b, only_a + 1), (only_b + 1, only_a)  # the two of the share won, of the pairs that differ
        differing = only_a + only_b
        self._differ = (differing, n - differing + 1), (differing + 1, n - differing)
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        self._shares = np.concatenate([_at(*one, (nodes + 1) / 2) for one in self._differ])
        self._weights = np.concatenate([weights, weights]) / 4  # of 2 each; a half for each of the two

    def quantile(self, level: float) -> float:
        """By the ITP method (Oliveira and Takahashi 2021): a secant's steps, kept where bisection would end in time.

        On the normal scale, on which the distribution is nearly straight.
        """
        low, high, below, above = -1.0, 1.0, *(_normal(end) - _normal(level) for end in (0.0, 1.0))
        for left in reversed(range(_STEPS + 1)):
            middle, half = (low + high) / 2, (high - low) / 2
            if half <= _CLOSE:
                break
            secant = (above * low - below * high) / (above - below)
            inwards = min(max(0.2 * half * half, _CLOSE), abs(middle - secant))
            moved = secant + (inwards if secant < middle else -inwards)
            room = _CLOSE * 2.0 ** (left + 1) - half
            tried = max(middle - room, min(middle + room, moved))
            found = self._up_to(tried)
            if found >= level:
                high, above = tried, _normal(found) - _normal(level)
            else:
                low, below = tried, _normal(found) - _normal(level)
        return (low + high) / 2

    def _up_to(self, difference: float) -> float:
        """The probability that the difference is at most this much."""
        least, most = self._won
        # Where a run won none or all of the pairs that differ, one of the two is a point: then the other factor tells.
        of_least = self._by_won(*least, difference) if least[0] else 1 - self._differ_up_to(-difference)
        of_most = self._by_won(*most, difference) if most[1] else self._differ_up_to(difference)
        return (of_least + of_most) / 2

    def _by_won(self, a: float, b: float, difference: float) -> float:
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            won = np.where(self._shares > 0, (1 + difference / self._shares) / 2, np.sign(difference))
        return float(self._weights @ beta_cdfs(a, b, np.clip(won, 0.0, 1.0)))

    def _differ_up_to(self, share: float) -> float:
        if share < 0:
            return 0.0
        least, most = self._differ
        of_least = float(beta_cdfs(*least, min(share, 1.0))) if least[0] else 1.0
        of_most = float(beta_cdfs(*most, min(share, 1.0))) if most[1] else float(share >= 1)
        return (of_least + of_most) / 2


def _normal(probability: float) -> float:
    return normal_quantile(max(1e-16, min(probability, 1 - 1e-16)))


def _at(a: float, b: float, levels: Floats) -> Floats:
    """Quantiles of a beta distribution, or of the point at 0 or 1 that it becomes without one of its parameters."""
    import numpy as np

    if not a:
        return np.zeros(_NODES)
    return np.array([beta_quantile(a, b, level) for level in levels.tolist()]) if b else np.ones(_NODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """The test that the difference b - a keeps within its margin, at the one-sided `confidence`.

    `difference` holds the interval at 2 * confidence - 1: each of its bounds is a one-sided bound at `confidence`.
    `holds` is None where there are no bounds, for the difference's reason.
    """

    holds: bool | None
    margin: float
    difference: Estimate
    confidence: float
    method: str
    n: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def non_inferiority(
    a: Values,
    b: Values,
    margin: float,
    *,
    higher_is_better: bool = True,
    clusters: Labels | None = None,
    method: PairedMethod = "t",
    confidence: float = 0.95,
) -> Margin:
    """Is `b` worse than `a` by less than `margin`? The one-sided bound of b - a against -margin.

    Where lower is better: the upper bound against +margin.

    Raises: ValueError unless margin > 0 and confidence > 0.5.
    """
    found = _difference(a, b, margin, clusters, method, confidence)
    bound = found.low if higher_is_better else found.high
    holds = None if bound is None else bound > -margin if higher_is_better else bound < margin
    return _margin(holds, margin, found, confidence, "non_inferiority")


def equivalence(
    a: Values,
    b: Values,
    margin: float,
    *,
    clusters: Labels | None = None,
    method: PairedMethod = "t",
    confidence: float = 0.95,
) -> Margin:
    """Do `a` and `b` differ by less than `margin` either way? Two one-sided tests (TOST; Schuirmann 1987).

    Raises: ValueError unless margin > 0 and confidence > 0.5.
    """
    found = _difference(a, b, margin, clusters, method, confidence)
    holds = None if found.low is None or found.high is None else -margin < found.low and found.high < margin
    return _margin(holds, margin, found, confidence, "tost")


def _difference(
    a: Values, b: Values, margin: float, clusters: Labels | None, method: PairedMethod, confidence: float
) -> Estimate:
    if not margin > 0:
        raise ValueError(f"a margin must be above 0, not {margin}")
    if not 0.5 < confidence < 1:
        raise ValueError(f"a one-sided confidence must lie between 0.5 and 1, not {confidence}")
    return paired_difference(a, b, clusters=clusters, method=method, confidence=2 * confidence - 1)


def _margin(holds: bool | None, margin: float, found: Estimate, confidence: float, name: str) -> Margin:
    return Margin(
        holds=holds,
        margin=margin,
        difference=found,
        confidence=confidence,
        method=f"{name}_{found.method}",
        n=found.n,
        reason=found.reason,
        warnings=found.warnings,
    )
