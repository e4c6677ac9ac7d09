"""Not worse by more than a margin, or as good as equal: "no significant difference" says neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchbook.statistics.paired import PairedMethod, paired_difference
from benchbook.statistics.results import Estimate

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Labels, Values

__all__ = ["Margin", "equivalence", "non_inferiority"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Whether the difference b - a keeps within its margin, at the one-sided `confidence`.

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
