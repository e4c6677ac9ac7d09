"""The smoothing that TensorBoard draws: an exponential mean, corrected for its start."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.errors import ConfigError

__all__ = ["smooth"]


def smooth(values: Sequence[float | None], weight: float) -> list[float | None]:
    """Each value's weighted mean with those before it; `weight` (0 to below 1) is what the past keeps at each step.

    Without the correction a curve would start near zero. A None stays one and weighs nothing.

    Raises: ConfigError.
    """
    if not 0 <= weight < 1:
        raise ConfigError("smoothing", repr(weight), "0 (none) or more, and less than 1")
    smoothed: list[float | None] = []
    mean, known = 0.0, 0.0  # `known`: how much of the mean is values and not the zero that it began with
    for value in values:
        if value is None:
            smoothed.append(None)
            continue
        mean = weight * mean + (1 - weight) * value
        known = weight * known + (1 - weight)
        smoothed.append(mean / known)
    return smoothed
