"""Logs of another tool, made of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.exchange.log import ForeignLog, LogHeader, LogSample, LogScorer


class Made(ForeignLog):
    """A log of these samples."""

    def __init__(self, samples: list[LogSample], **said: Any) -> None:
        names = sorted({name for one in samples for name in one.scores})
        known: dict[str, Any] = {
            "tool": "made", "tool_version": "1", "form": "made", "task": "sums", "model": "acme/m",
            "status": "complete",
            "created_at": "2026-11-29T18:00:00Z", "dataset": "sums", "n_claimed": len(samples),
            "scorers": tuple(LogScorer(name=name) for name in names),
        }  # fmt: skip
        self.header = LogHeader(**(known | said))
        self.files = {}
        self._samples = samples

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        del whole
        yield from self._samples


def sample(**fields: Any) -> LogSample:
    return LogSample(**({"id": "a", "prompt": "1 + 1?", "answer": "2"} | fields))
