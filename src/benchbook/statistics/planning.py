"""How many items a comparison needs, before it is run: two-sided tests, by closed forms or by the test's own power."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, sqrt

from benchbook.statistics.bounded import Design, bounds_of_mean
from benchbook.statistics.distributions import binomial_cdfs_along, normal_quantile, t_quantile
from benchbook.statistics.ground import Floats, check_confidence, check_counts

_MOST_LISTED = 20_000  # pairs; beyond, the closed form and the test's own power are one
_DENT = 8
SMALLEST = 1e-9  # of a test's spread: a smaller difference would take more than 1e18 items


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize:
    """Items needed: pairs where two runs answer the same items, items a group where they answer different ones.

    None, with a reason, where there is no difference to find. `design_effect` is already in `n`.
    """

    n: int | None
    power: float
    alpha: float
    design_effect: float
    method: str
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def sample_size_two_proportions(
    p1: float, p2: float, *, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0
) -> SampleSize:
    """Items in each group to tell rates `p1` and `p2` apart on different items (Fleiss 1981; R's power.prop.test)."""
    _check(power, alpha, design_effect, p1, p2)
    z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(power)
    middle = (p1 + p2) / 2
    spread = z_alpha * sqrt(2 * middle * (1 - middle)) + z_power * sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    return _size(spread, p2 - p1, power, alpha, design_effect, "two_proportions")


def sample_size_paired_binary(
    only_a: float, only_b: float, *, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0
) -> SampleSize:
    """Pairs to tell two runs apart on the same items, by McNemar's test (Connor 1987).

    `only_a` and `only_b` are the shares of pairs that only one of them wins: their sum is what pairing leaves of noise.
    """
    _check(power, alpha, design_effect, only_a, only_b, only_a + only_b)
    z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(power)
    discordant, difference = only_a + only_b, only_b - only_a
    spread = z_alpha * sqrt(discordant) + z_power * sqrt(max(0.0, discordant - difference**2))
    return _size(spread, difference, power, alpha, design_effect, "connor")


def sample_size_mid_p(
    only_a: float, only_b: float, *, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0
) -> SampleSize:
    """Pairs to tell two runs apart on the same items, by the mid-p McNemar test that a comparison uses.

    The least number of pairs of which the test's power, added up over all tables, is enough, and of each of the next
    few. Shares are as in `sample_size_paired_binary`, whose closed form stands for more than 20,000 pairs.
    """
    closed = sample_size_paired_binary(only_a, only_b, power=power, alpha=alpha)
    n = closed.n
    if n is not None and n <= _MOST_LISTED:
        n = _least_pairs(only_a + only_b, only_b / (only_a + only_b), n, power, alpha)
    n = None if n is None else ceil(n * design_effect - 1e-9 * n)
    _check(power, alpha, design_effect)
    return replace(closed, n=n, design_effect=design_effect, method="mid_p")


def _least_pairs(differing: float, won: float, start: int, power: float, alpha: float) -> int:
    """The least number of pairs; a share `differing` of them differs, and of these `b` wins the share `won`."""
    most = 2 * start + 60
    found = _power_of(differing, won, most, alpha)
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if found(middle) >= power:
            high = middle
        else:
            low = middle
    # Counts are whole, so power goes up in small steps with dents in them.
    while high < most - _DENT and not all(found(high + more) >= power for more in range(_DENT)):
        high += 1
    return high


def _power_of(differing: float, won: float, most: int, alpha: float) -> Callable[[int], float]:
    """The mid-p test's power, as a function of the number of pairs up to `most` + a few."""
    import numpy as np

    m = np.arange(most + _DENT + 1)
    fewest = np.array(_largest_rejected(most + _DENT, alpha))
    rejected = binomial_cdfs_along(fewest, m, won) + binomial_cdfs_along(
        fewest, m, 1 - won
    )  # `b` wins too few, or too many

    def power(n: int) -> float:
        return float(_shares(n, differing) @ rejected[: n + 1])

    return power


def _largest_rejected(most: int, alpha: float) -> list[int]:
    """For 0 to `most` pairs that differ, the largest number won that the test takes for too few; -1 for none.

    One pair more leaves it where it is, or moves it by one. So do the binomial probabilities that go with it, which for
    few pairs are exact.
    """
    found, k = [], -1
    up_to, following = 0.0, 1.0  # the probabilities of at most k, and of k + 1
    for differing in range(most + 1):
        if 2 * up_to + following <= alpha:
            k += 1
            up_to += following
            following = following * (differing - k) / (k + 1)
        found.append(k)
        up_to -= following * (k + 1) / (2 * (differing - k))
        following = following * (differing + 1) / (2 * (differing - k))
    return found


def _shares(n: int, p: float) -> Floats:
    """The binomial probabilities of 0 to `n`, from the ratio of each to the one before."""
    import numpy as np

    if p == 1:
        return np.repeat([0.0, 1.0], [n, 1])
    k = np.arange(1, n + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n + 1 - k) / k * (p / (1 - p))))])
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())


def sample_size_paired_mean(
    difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0
) -> SampleSize:
    """Pairs to see a mean difference, given the standard deviation of the pairs' differences in the same unit.

    By the normal distribution: a pair or two short of what the t distribution asks for.
    """
    _check(power, alpha, design_effect)
    if not 0 < sd < inf or not isfinite(difference):
        raise ValueError(f"sd must be above 0 and the difference a number, not {sd} and {difference}")
    spread = (normal_quantile(1 - alpha / 2) + normal_quantile(power)) * sd
    return _size(spread, difference, power, alpha, design_effect, "paired_mean")


def design_effect(cluster_size: float, intraclass_correlation: float) -> float:
    """How many times more items are needed when they come in clusters: 1 + (m - 1) * rho (Kish 1965)."""
    if not 1 <= cluster_size < inf or not 0 <= intraclass_correlation <= 1:
        raise ValueError("a cluster has at least one item, and the correlation within it lies in 0..1")
    return 1 + (cluster_size - 1) * intraclass_correlation


def _size(spread: float, difference: float, power: float, alpha: float, effect: float, method: str) -> SampleSize:
    n: int | None = None
    if abs(difference) > spread * SMALLEST:
        needed = (spread / difference) ** 2 * effect
        n = max(1, ceil(needed - 1e-9 * needed))  # a whole number that rounding lifted stays whole
    reason = "no_difference" if n is None else None
    return SampleSize(n=n, power=power, alpha=alpha, design_effect=effect, method=method, reason=reason)


def _check(power: float, alpha: float, effect: float, *shares: float) -> None:
    if not 0 < alpha < 1 or not 0 < power < 1:
        raise ValueError(f"power and alpha must lie between 0 and 1, not {power} and {alpha}")
    if not 0 < effect < inf:
        raise ValueError(f"a design effect must be above 0, not {effect}")
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"shares must lie in 0..1, not {shares}")


MOST_VALUES = 1_000_000  # numbers of values are looked at one by one for a percentile, up to here
_BLOCK = 1 << 14
_ROUNDING = 1e-9


def n_to_settle_rate(successes: int, n: int, limit: float, confidence: float = 0.95) -> int | None:
    """The number of values from which on Wilson's interval of this rate lies on one side of `limit`.

    By the score test that the interval inverts: (rate - limit)^2 >= z^2 limit (1 - limit) / n (Wilson 1927). None where
    the rate is the limit.
    """
    check_counts(successes, n)
    check_confidence(confidence)
    if n == 0 or successes == limit * n:
        return None
    z = normal_quantile((1 + confidence) / 2)
    return _whole(z * z * limit * (1 - limit) / (successes / n - limit) ** 2)


def n_to_settle_mean(distance: float, sd: float, confidence: float = 0.95) -> int | None:
    """The number of values from which on Student's t interval, half as wide as `distance`, leaves a limit that far
    away; None where the distance is 0.

    With clusters, whose standard error falls with the root of their number g: `sd` is that error times the root of g,
    and what comes back are clusters.
    """
    check_confidence(confidence)
    if not (0 <= sd < inf and isfinite(distance)):
        raise ValueError(f"sd must be 0 or more and the distance a number, not {sd} and {distance}")
    distance = abs(distance)
    if distance <= sd * 1e-8:  # beyond 1e16 values
        return None

    def settles(n: int) -> bool:
        return t_quantile(n - 1, (1 + confidence) / 2) * sd <= distance * sqrt(n) * (1 + _ROUNDING)

    return _first(settles)


def n_to_settle_bounded_mean(
    mean: float,
    spread: float,
    limit: float,
    confidence: float = 0.95,
    *,
    size: float = 1.0,
    effect: float = 1.0,
    evenness: float = 1.0,
) -> int | None:
    """The number of values from which on `bounded_mean` of values from 0 to 1 lies on one side of `limit`; None where
    the mean is the limit. `spread` is their mean squared deviation, above 0.

    With clusters, what comes back are clusters: of `size` values each on the average, with a design `effect`, and as
    good as `evenness` times as many equal ones.
    """
    check_confidence(confidence)
    if not (spread > 0 and isfinite(mean) and isfinite(limit)):
        raise ValueError(f"the spread must be above 0, the mean and limit numbers, not {spread}, {mean} and {limit}")
    if abs(mean - limit) <= 1e-8 * sqrt(spread):  # beyond 1e16 values
        return None

    def settles(n: int) -> bool:
        design = Design(effect, max(1.0, evenness * n - 1))
        low, high = bounds_of_mean(size * n, mean, spread, confidence, design)
        return low >= limit - _ROUNDING if limit < mean else high <= limit + _ROUNDING

    return _first(settles)


def n_to_settle_percentile(
    within: int, n: int, q: float, confidence: float = 0.95, *, above: bool = False, at_least: int = 1
) -> int | None:
    """The least number of values, from `at_least` on, whose upper bound of the `q` quantile keeps a limit that `within`
    of `n` values keep; with `above`, whose lower bound is beyond it. By the order statistics of `percentile_ranks`.

    None where no number up to MOST_VALUES does.
    """
    import numpy as np

    check_counts(within, n)
    check_confidence(confidence)
    if n == 0:
        return None
    tail = (1 - confidence) / 2
    for start in range(max(at_least, 1), MOST_VALUES + 1, _BLOCK):
        sizes = np.arange(start, min(start + _BLOCK, MOST_VALUES + 1))
        kept = sizes * within // n  # as large a share keeps the limit
        # Above: the lower rank is beyond them, for fewer than `tail` of samples have so few values below the quantile.
        # Else the upper rank is among them.
        ranks = kept if above else kept - 1
        below = binomial_cdfs_along(ranks, sizes, q)
        found = below < tail if above else below >= 1 - tail
        if found.any():
            return int(sizes[found.argmax()])
    return None


def _first(settles: Callable[[int], bool]) -> int:
    """The least number, from two on, that settles it; all larger ones do."""
    low, high = 1, 2  # one value has no interval
    while not settles(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high


def _whole(needed: float) -> int:
    return max(1, ceil(needed - _ROUNDING * needed))
