"""Distribution functions and quantiles: normal, Student's t, beta and binomial.

Functions of many numbers at once (`…s`) take arrays; the others, which most intervals need, take and give one number.
The last three distributions are one function (`beta`): DLMF 8.17.5 has the binomial, Abramowitz and Stegun 26.5.27 t.
NumPy is loaded when one of them is first called.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import exp, inf, log
from statistics import NormalDist

from benchbook.statistics.ground import Floats, Ints, Numbers

_NORMAL = NormalDist()
_LARGEST_EXPONENT = 709.0
_COUNTED = 500  # tosses, whose 2^n outcomes are counted one by one


def normal_quantile(probability: float) -> float:
    return _NORMAL.inv_cdf(probability)


def normal_cdf(z: float) -> float:
    return _NORMAL.cdf(z)


def t_cdf(degrees: float, t: float) -> float:
    """P(T <= t)."""
    return float(t_cdfs(degrees, t))


def t_cdfs(degrees: Numbers, t: Numbers) -> Floats:
    """P(T <= t) for every number of the arrays."""
    import numpy as np

    from benchbook.statistics.beta import log_lowers

    degrees, t = np.broadcast_arrays(np.asarray(degrees, dtype=np.float64), np.asarray(t, dtype=np.float64))
    with np.errstate(over="ignore", invalid="ignore"):  # t may be infinite
        squares = (t / np.sqrt(degrees)) ** 2
        x = 1 / (1 + squares)
        y = np.where(squares > 1, 1 - x, squares * x)
    inside = (x > 0) & (y > 0)
    tails = np.where(y == 0, 1.0, 0.0 * y)  # of NaN, NaN
    a, x, y, squares = degrees[inside] / 2, x[inside], y[inside], squares[inside]
    tails[inside] = np.exp(log_lowers(a, np.full_like(a, 0.5), x, y, (0.5 - a * squares) * x))
    return np.where(t > 0, 1 - tails / 2, tails / 2)


@lru_cache(maxsize=1024)  # most intervals of a run or comparison have the same
def t_quantile(degrees: float, probability: float) -> float:
    """The t up to which Student's distribution has this probability."""
    from benchbook.statistics.beta import log_odds_quantile

    tail = min(probability, 1 - probability)
    if tail == 0.5:
        return 0.0
    t = inf
    if tail > 0:
        log_odds = log_odds_quantile(degrees / 2, 0.5, 2 * tail, 1 - 2 * tail)
        exponent = (log(degrees) - log_odds) / 2
        t = exp(exponent) if exponent < _LARGEST_EXPONENT else inf
    return t if probability > 0.5 else -t


def beta_cdfs(a: Numbers, b: Numbers, x: Numbers) -> Floats:
    """P(X <= x) of a beta variable, for every number of the arrays."""
    import numpy as np

    from benchbook.statistics.beta import excess_of, log_lowers

    a, b, x = np.broadcast_arrays(*(np.asarray(given, dtype=np.float64) for given in (a, b, x)))
    inside = (x > 0) & (x < 1)
    found = np.where(x >= 1, 1.0, 0.0 * x)
    a, b, x = a[inside], b[inside], x[inside]
    found[inside] = np.exp(log_lowers(a, b, x, 1 - x, excess_of(a, b, x)))
    return found


def beta_quantile(a: float, b: float, probability: float) -> float:
    """The x up to which a beta variable has this probability."""
    from benchbook.statistics.beta import log_odds_quantile

    if not 0 < probability < 1:
        return float(probability)
    log_odds = log_odds_quantile(a, b, probability, 1 - probability)
    return 1 / (1 + exp(-log_odds)) if log_odds > -_LARGEST_EXPONENT else 0.0


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k); 0 for a negative k. Of a coin's tosses, to the last digit: p-values of 1/4 read so."""
    from benchbook.statistics.beta import excess_of, log_lower

    if k < 0 or k >= n or not 0 < p < 1:
        return float(k >= n or (k >= 0 and p <= 0))
    if p == 0.5 and n <= _COUNTED:
        ways = sum(accumulate(range(k), lambda ways, i: ways * (n - i) // (i + 1), initial=1))
        return float(ways / 2**n)
    excess = float(excess_of(k + 1, n - k, p))
    return exp(log_lower(n - k, k + 1, 1 - p, p, -excess)[0])


def coin_cdfs(k: Ints, n: Ints) -> Floats:
    """P(X <= k) of `n` tosses of a coin, for every number of the arrays: `binomial_cdf` at a half."""
    import numpy as np

    found = np.where(k >= n, 1.0, 0.0)
    inside = (k >= 0) & (k < n)
    for tosses in np.unique(n[inside & (n <= _COUNTED)]).tolist():
        chosen = inside & (n == tosses)
        steps = range(int(k[chosen].max()))
        ways = accumulate(steps, lambda ways, i, n=tosses: ways * (n - i) // (i + 1), initial=1)  # type: ignore[misc]
        found[chosen] = np.array([all_ways / 2**tosses for all_ways in accumulate(ways)])[k[chosen]]
    many = inside & (n > _COUNTED)
    found[many] = beta_cdfs(n[many] - k[many], k[many] + 1, 0.5)
    return found


def binomial_pmf(k: int, n: int, p: float) -> float:
    """P(X = k), for a `p` between 0 and 1, both excluded."""
    from benchbook.statistics.beta import excess_of, log_power

    if not 0 < k < n:
        return (1 - p) ** n if k == 0 else p**n if k == n else 0.0
    excess = excess_of(k, n - k, p)
    power = log_power(k, n - k, p, excess) if excess <= 0 else log_power(n - k, k, 1 - p, -excess)
    return exp(power) * n / k / (n - k)


def binomial_cdfs_along(k: Ints, n: Ints, p: float) -> Floats:
    """P(X <= k) of one variable after the other: each has a trial more, and its `k` is that before or one more."""
    import numpy as np

    is_more, k, n = np.diff(k) == 1, k[:-1], n[:-1]
    ratios = (n + 1) * np.where(is_more, p / (k + 2), (1 - p) / np.maximum(n - k, 1))
    following = np.cumprod(np.concatenate([[binomial_pmf(int(k[0]) + 1, int(n[0]), p)], ratios[:-1]]))  # P(X = k + 1)
    changes = (1 - p) * following * np.where(is_more, 1, -(k + 1) / np.maximum(n - k, 1))
    return np.cumsum(np.concatenate([[binomial_cdf(int(k[0]), int(n[0]), p)], changes]))


def binomial_quantile(probability: float, n: int, p: float) -> int:
    """The smallest k whose cumulated probability reaches `probability`."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if binomial_cdf(middle, n, p) >= probability:
            high = middle
        else:
            low = middle + 1
    return low
