"""How a run stands: one set of codes for it, whoever tells of it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from benchbook.record.folder import Record
from benchbook.record.reading import segment_files

# running: a process works at it. interrupted: its process was gone before its plan's end, by a kill or on purpose, so
# that it can be resumed. later: a later version made it.
RunState: TypeAlias = Literal["running", "complete", "interrupted", "damaged", "later"]


def run_state(in_journal: str, *, at_work: bool) -> RunState:
    """How a whole record's run stands, by the word of its journal (`JournalState.state`), which its manifest has too.

    A journal says nothing of the process that wrote it; `at_work` does (`folder.is_at_work`). One that was interrupted
    runs until its process has finished what was under way, and derived what follows.
    """
    if in_journal == "complete":
        return "complete"
    return "running" if at_work else "interrupted"


def last_sign(record: Record) -> float | None:
    """When the journal grew last, as seconds since 1970; None where there is none."""
    try:
        return segment_files(record.journal)[-1].stat().st_mtime
    except (OSError, IndexError, ValueError):
        return None


def quiet_s(last: float | None, now: float) -> int | None:
    """For how long a run has given no sign of life, in whole seconds; None where nobody knows."""
    return None if last is None else max(int(now - last), 0)


def seconds_of(at: str) -> float:
    """A time of the journal's, as seconds since 1970."""
    return datetime.fromisoformat(at).timestamp()
