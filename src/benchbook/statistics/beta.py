"""The beta distribution's tail and quantiles: the regularised incomplete beta function I_x(a, b), and its inverse.

Student's t and the binomial distribution are the same function (`distributions`). All sizes of a and b take the same
path, 1/2 or a billion, near the mean or far out, and a probability of 1e-300 is as exact as one of a half:

    I_x(a, b) = x^a y^b / B(a, b) * J,   J = the integral over u < x of the density at u / the density at x,   y = 1 - x

The factor in front is written by deviances (Loader 2000), so nothing large cancels. J is the integral of a smooth
function that falls from 1, by a quadrature made for such (Takahasi and Mori 1974, with s = exp(t - exp(-t))): its error
shrinks exponentially with the number of nodes. Its scale is that of the density. Where a is small, the density falls
slowly; then the first terms of the power series (DLMF 8.17.8) come before, and I_x(a + 20, b) is left to integrate.

This is done for the side of the mean on which x lies, the smaller tail as a rule; the other one is 1 less that.
"""

from __future__ import annotations

from math import exp, expm1, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from benchbook.statistics.ground import Floats, Numbers

_STEP = 1 / 8
_T = np.arange(-29, 45) * _STEP
_NODES = np.exp(_T - np.exp(-_T))
_WEIGHTS = _STEP * _NODES * (1 + np.exp(-_T))

_TERMS = 20  # of the power series
_SHIFTS = np.arange(float(_TERMS))
_MANY = 1e4  # a + b beyond which terms of the exponent would cancel

_STEPS = 60  # of the inverse, at most; it takes three or four
_NEAR = 1e-6  # what is left of a logarithm before the last step, which takes its cube
_LEAST = -690.0  # log odds; further down they are a power of the tail alone
_BLOCK = 4096  # numbers at a time: each has 74 nodes
_FEW = 64
_SKEWED = 30
_NORMAL = NormalDist()


def log_lower(a: float, b: float, x: float, y: float, excess: float) -> tuple[float, float]:
    """`(log I_x(a, b), log x^a y^b / B(a, b))`, with y = 1 - x and `excess` = b x - a y, each exact in itself."""
    if excess > 0:
        upper, power = log_lower(b, a, y, x, -excess)
        return (log(-expm1(upper)) if upper < 0 else -inf), power
    power = log_power(a, b, x, excess)
    more = _TERMS if a < _TERMS else 0
    excess -= more * y
    scale = 1 / (sqrt((a + b + more) * x * y) - excess)
    integral, nearer = (_by_log, x) if x <= 0.5 else (_by_share, y)
    times = a * scale * float(integral(a + more, b, nearer, excess, scale * _NODES, is_large=a + b > _MANY))
    if more:
        series = np.cumprod((a + b + _SHIFTS) / (a + 1 + _SHIFTS) * x).tolist()
        times = 1 + sum(series[:-1]) + (a + more) / a * series[-1] * times
    return power + log(times / a), power


def log_lowers(a: Floats, b: Floats, x: Floats, y: Floats, excess: Floats) -> Floats:
    """log I_x(a, b) of flat arrays, as `log_lower` has it of one."""
    if x.size > _BLOCK:
        blocks = (slice(start, start + _BLOCK) for start in range(0, x.size, _BLOCK))
        return np.concatenate([log_lowers(a[part], b[part], x[part], y[part], excess[part]) for part in blocks])
    beyond = excess > 0
    a, b, x, y = (np.where(beyond, *two) for two in ((b, a), (a, b), (y, x), (x, y)))
    excess = -np.abs(excess)
    power = _log_powers(a, b, x, excess)
    with np.errstate(divide="ignore"):
        tail = power + np.log(_times(a, b, x, y, excess) / a)
        return np.where(beyond, np.log(-np.expm1(np.minimum(tail, 0.0))), tail)


def _times(a: Floats, b: Floats, x: Floats, y: Floats, excess: Floats) -> Floats:
    """How many times x^a y^b / (a B(a, b)) the lower tail is, for x up to the mean."""
    small = a < _TERMS
    more = np.where(small, _TERMS, 0)
    excess = excess - more * y
    scale = 1 / (np.sqrt((a + b + more) * x * y) - excess)
    times = a * scale
    is_large = bool((a + b > _MANY).any())
    for group, integral, nearer in ((x <= 0.5, _by_log, x), (x > 0.5, _by_share, y)):
        if group.any():
            of_a, of_b, of_nearer, beyond, wide = (of[group, None] for of in (a + more, b, nearer, excess, scale))
            times[group] *= integral(of_a, of_b, of_nearer, beyond, wide * _NODES, is_large=is_large)
    if small.any():
        a, b, x = a[small], b[small], x[small]
        series = np.cumprod((a + b + _SHIFTS[:, None]) / (a + 1 + _SHIFTS[:, None]) * x, axis=0)
        times[small] = 1 + series[:-1].sum(axis=0) + (a + _TERMS) / a * series[-1] * times[small]
    return times


def _by_log(a: Numbers, b: Numbers, x: Numbers, excess: Numbers, s: Floats, *, is_large: bool) -> Floats:
    """J for x up to 1/2, over s where the odds of u are exp(-s) times those of x: no factor is left but the density."""
    n = a + b
    w = x * np.expm1(-s)
    exponent = -a * s - n * np.log1p(w)
    if is_large:
        near = excess * s - n * x * _exp_excess(-s) + n * _log_excesses(w)
        exponent = np.where(s < 0.5, near, exponent)
    return np.asarray(np.exp(exponent) @ _WEIGHTS)


def _by_share(a: Numbers, b: Numbers, y: Numbers, excess: Numbers, v: Floats, *, is_large: bool) -> Floats:
    """J for x beyond 1/2, over v where the odds of 1 - u are 1 + v times those of y."""
    n = a + b
    exponent = (b - 1) * np.log1p(v) - n * np.log1p(y * v)
    if is_large:
        near = (excess - 1) * v - (b - 1) * _log_excesses(v) + n * _log_excesses(y * v)
        exponent = np.where(v < 0.5, near, exponent)
    return np.asarray(np.exp(exponent) @ _WEIGHTS)


def log_power(a: float, b: float, x: float, excess: float) -> float:
    """log x^a y^b / B(a, b), for x up to the mean (Loader 2000): by how far x and y are from their means."""
    n, share = a + b, excess / a
    of_a = a * _log_excess(share) if share > -0.5 else excess - a * log(n * x / a)
    corrections = _stirling(n) - _stirling(a) - _stirling(b)
    return 0.5 * log(a / n * b / (2 * pi)) - of_a - b * _log_excess(-excess / b) + corrections


def _log_powers(a: Floats, b: Floats, x: Floats, excess: Floats) -> Floats:
    """`log_power` of flat arrays: few are taken one by one, to the digits that one alone has."""
    if x.size <= _FEW:
        return np.array([log_power(*one) for one in zip(*(of.tolist() for of in (a, b, x, excess)), strict=True)])
    n, share = a + b, excess / a
    with np.errstate(divide="ignore", invalid="ignore"):
        of_a = a * np.where(share > -0.5, _log_excesses(share), share - np.log(n * x / a))
    corrections = _stirlings(n) - _stirlings(a) - _stirlings(b)
    return np.asarray(0.5 * np.log(a / n * b / (2 * pi)) - of_a - b * _log_excesses(-excess / b) + corrections)


def _stirlings(z: Floats) -> Floats:
    distinct, places = np.unique(z, return_inverse=True)  # of a test of many pairs they are all alike, or nearly
    return np.array([_stirling(one) for one in distinct.tolist()])[places]


def _stirling(z: float) -> float:
    """log Gamma(z), less Stirling's formula for it (DLMF 5.11.1)."""
    if z < 10:
        return lgamma(z) - ((z - 0.5) * log(z) - z + 0.5 * log(2 * pi))
    q = 1 / (z * z)
    series = 1 / 1680 - q * (1 / 1188 - q * (691 / 360360 - q / 156))
    return (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * series))) / z


def _log_excess(w: float) -> float:
    """w - log(1 + w), as exact near 0 as elsewhere: by the series of the inverse hyperbolic tangent."""
    return float(_by_atanh(w)) if -0.25 < w < 0.25 else w - log1p(w)


def _log_excesses(w: Floats) -> Floats:
    return np.where(np.abs(w) < 0.25, _by_atanh(w), w - np.log1p(w))


def _by_atanh(w: Numbers) -> Numbers:
    r = w / (2 + w)
    q = r * r
    series = 1 / 21 + q / 23
    for odd in (19, 17, 15, 13, 11, 9, 7, 5, 3):
        series = series * q + 1 / odd
    return r * (w - 2 * q * series)


def _exp_excess(s: Floats) -> Floats:
    """exp(s) - 1 - s, likewise: by its power series."""
    series = np.ones_like(s)
    for k in range(13, 2, -1):
        series = 1 + s / k * series
    return np.where(np.abs(s) < 0.5, s * s / 2 * series, np.expm1(s) - s)


def log_odds_quantile(a: float, b: float, lower: float, upper: float) -> float:
    """log x / y where I_x(a, b) is `lower`, between 0 and 1; `upper` is 1 - lower, exact where that is small.

    By Halley's method on the logarithm of the smaller tail. As a function of the log odds that is concave, so a step
    may fall short, and never leads astray.
    """
    if lower > upper:
        return -log_odds_quantile(b, a, upper, lower)
    wanted = log(lower)
    found = _first_guess(a, b, lower)
    for _ in range(_STEPS):
        at = max(found, _LEAST)
        x, y = 1 / (1 + exp(-at)), 1 / (1 + exp(at))
        excess = b * x - a * y
        log_tail, power = log_lower(a, b, x, y, excess)
        left, slope = log_tail - wanted, exp(power - log_tail)
        newton = left / slope
        before, found = found, at - newton / min(max(1 + newton * (excess + slope) / 2, 0.5), 2.0)
        if abs(left) < _NEAR or abs(found - before) <= 1e-15 * (1 + abs(found)):
            break
    return found


def _first_guess(a: float, b: float, tail: float) -> float:
    """By the normal distribution; where b is small, the tail is that of a gamma distribution, and far shorter."""
    normal = log(a / b) + _NORMAL.inv_cdf(tail) * sqrt(1 / a + 1 / b)
    return max(normal, log(a / (b - log(tail)))) if b < _SKEWED else normal


def excess_of(a: Numbers, b: Numbers, x: Numbers) -> Any:
    """(a + b) x - a, to the last digit: how far x lies beyond the mean.

    Far out, what is lost of it counts a hundred thousandfold. Products keep what rounding takes (Dekker 1971).
    """
    of_a, of_b = a * x, b * x
    both = of_a + of_b
    back = both - of_a
    lost = (of_a - (both - back)) + (of_b - back) + _lost(a, x, of_a) + _lost(b, x, of_b)
    return (both - a) + lost


def _lost(p: Numbers, q: Numbers, product: Numbers) -> Any:
    """The rest of p * q beyond `product`, its rounded value."""
    (high_p, low_p), (high_q, low_q) = _halves(p), _halves(q)
    return ((high_p * high_q - product) + high_p * low_q + low_p * high_q) + low_p * low_q


def _halves(p: Numbers) -> tuple[Any, Any]:
    wide = p * 134217729.0  # 2^27 + 1
    high = wide - (wide - p)
    return high, p - high
