"""Distribution functions by `scipy.special`, which loads in a fraction of the time that `scipy.stats` takes."""

from __future__ import annotations

from statistics import NormalDist

__all__ = ["beta_quantile", "binomial_cdf", "binomial_quantile", "normal_cdf", "normal_quantile", "t_cdf", "t_quantile"]


_NORMAL = NormalDist()


def normal_quantile(probability: float) -> float:
    return _NORMAL.inv_cdf(probability)


def normal_cdf(z: float) -> float:
    return _NORMAL.cdf(z)


def t_quantile(degrees: float, probability: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def t_cdf(degrees: int, t: float) -> float:
    from scipy.special import stdtr

    return float(stdtr(degrees, t))


def beta_quantile(a: float, b: float, probability: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(a, b, probability))


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k); 0 for a negative k."""
    from scipy.special import bdtr

    return float(bdtr(k, n, p)) if k >= 0 else 0.0


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
