"""What a trainer logged, as facts: one number of one metric at one step."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

__all__ = ["MetricPoint", "Segments"]


class MetricPoint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One value of one metric.

    `tokens`: trained on so far. `time_s`: seconds, since 1970 (UTC) or since the log's own start, as the log has it.
    `value`: None where the trainer logged NaN or an infinity. `segment`: from 0, see `Segments`; within one, a metric's
    steps rise. `line`: in the file, from 1 (of trainer_state.json, the entry of its log); None for event files.
    """

    name: str
    step: int
    value: float | None
    tokens: int | None = None
    time_s: float | None = None
    segment: int = 0
    line: int | None = None


class Segments:
    """Numbers the parts of a metric's log: where its step does not go forward, training was started again."""

    def __init__(self) -> None:
        self._last: dict[Hashable, tuple[int, int]] = {}

    def of(self, metric: Hashable, step: int) -> int:
        """The segment of the metric's next value."""
        segment, last_step = self._last.get(metric, (0, step - 1))
        if step <= last_step:
            segment += 1
        self._last[metric] = (segment, step)
        return segment
