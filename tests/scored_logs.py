"""Logs that tests make by hand, as every reader gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchbook.exchange.log import ForeignLog, LogHeader, LogNote, LogSample, LogScore, LogScorer


class MadeLog(ForeignLog):
    """A log whose samples are at hand. Its file holds nothing that matters."""

    def __init__(
        self, folder: Path, samples: Sequence[LogSample], notes: Sequence[LogNote] = (), **header: Any
    ) -> None:
        said = {"tool": "inspect", "tool_version": "0.3", "form": "eval, version 2", "task": "arithmetic"}
        said |= {"model": "openai/gpt-4o-mini", "scorers": (LogScorer(name="match"),), "status": "complete"}
        self.header = LogHeader(**(said | {"n_claimed": len(samples)} | header))
        path = folder / "made.log"
        path.write_bytes(b"a log\n")
        self.files: Mapping[str, Path] = {"made.log": path}
        self._samples = list(samples)
        self._notes = list(notes)

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        del whole
        yield from self._samples

    def notes(self) -> list[LogNote]:
        return self._notes


def sample(name: str, value: float | None = None, **given: Any) -> LogSample:
    """A sample that `match` scored with `value`; without one, it has no score by any scorer that is not given."""
    scores = {} if value is None else {"match": LogScore(value=value, said="C" if value == 1 else "I")}
    said = {"prompt": f"What is {name}?", "answer": f"It is {name}.", "references": ("42",), "scores": scores}
    return LogSample(id=name, **(said | given))
