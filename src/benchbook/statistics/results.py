"""What statistical functions return."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Estimate", "RankInterval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimate with its interval, both in the unit of the values. A bound or estimate is None where nothing can be
    said, and `reason` says why."""

    estimate: float | None
    low: float | None
    high: float | None
    confidence: float
    method: str
    n: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RankInterval:
    """An interval between two order statistics. Ranks count from 1; None where the sample is too small."""

    low_rank: int | None
    high_rank: int | None
    coverage: float | None  # exact, of the closed interval between the two; None where one is missing
    confidence: float
    n: int
    reason: str | None = None
