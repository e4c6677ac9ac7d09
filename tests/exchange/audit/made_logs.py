"""Logs made by hand, for audits: a header, and samples in a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchbook.exchange.audit.auditing import audited
from benchbook.exchange.audit.result import AuditedNumber, LogAudit
from benchbook.exchange.log import (
    Claim,
    ForeignLog,
    Formula,
    LogFailure,
    LogHeader,
    LogNote,
    LogSample,
    LogScore,
    LogScorer,
)


class MadeLog(ForeignLog):
    def __init__(self, header: LogHeader, samples: Sequence[LogSample], notes: Sequence[LogNote] = ()) -> None:
        self.header = header
        self.files: Mapping[str, Path] = {"made.json": Path("made.json")}
        self._samples = samples
        self._notes = list(notes)

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        del whole
        yield from self._samples

    def notes(self) -> list[LogNote]:
        return self._notes


MATCH = LogScorer(name="match", lowest=0, highest=1, passes_at=1)


def header(*claims: Claim, **fields: Any) -> LogHeader:
    fields = {"tool": "made", "tool_version": None, "form": "by hand", "task": "task", "model": "m/1"} | fields
    return LogHeader(**({"scorers": (MATCH,), "status": "complete"} | fields), claims=claims)


def claim(value: float | None, formula: Formula | None = "mean", **fields: Any) -> Claim:
    return Claim(
        **({"scorer": "match", "metric": formula or "own", "where": "results"} | fields), value=value, formula=formula
    )


def scored(value: float | None, **fields: Any) -> LogScore:
    return LogScore(value=value, unscored=None if value is not None else "NaN", **fields)


def sample(name: str, value: float | str | None = None, repeat: int = 0, **fields: Any) -> LogSample:
    """A sample with this value by `match`; `"failed"` for one that failed, `"absent"` for one without an entry."""
    if value == "failed":
        fields = {"failure": LogFailure(message="no services"), "answer": None} | fields
    elif value != "absent" and not isinstance(value, str):
        fields = {"scores": {"match": scored(value)}} | fields
    return LogSample(**({"prompt": f"ask {name}", "answer": "so"} | fields), id=name, repeat=repeat)


def samples(*values: float | str | None) -> list[LogSample]:
    """Samples with these values, one an item."""
    return [sample(f"s{at}", value) for at, value in enumerate(values)]


def epochs(*items: Sequence[float | str | None]) -> list[LogSample]:
    """Items, each with the values of its repeats; all of the first repeat come first."""
    most = max(map(len, items))
    return [
        sample(f"s{at}", values[repeat], repeat)
        for repeat in range(most)
        for at, values in enumerate(items)
        if repeat < len(values)
    ]


def audit(held: Sequence[LogSample], *claims: Claim, notes: Sequence[LogNote] = (), **fields: Any) -> LogAudit:
    return audited(MadeLog(header(*claims, **fields), held, notes))


def judged(held: Sequence[LogSample], one: Claim, **fields: Any) -> AuditedNumber:
    """The verdict on a single claim."""
    (number,) = audit(held, one, **fields).numbers
    return number
