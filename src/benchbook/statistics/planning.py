"""How many items a comparison needs, before it is run. Closed forms; two-sided tests."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isfinite, sqrt

from benchbook.statistics._distributions import normal_quantile

__all__ = [
    "SampleSize",
    "design_effect",
    "sample_size_paired_binary",
    "sample_size_paired_mean",
    "sample_size_two_proportions",
]

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
