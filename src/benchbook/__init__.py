"""Benchbook evaluates language models and says what the evidence allows.

import benchbook as bb

run = bb.run(evalset="items.jsonl", model="openai/gpt-4.1@2025-04-14", judge="openai/o4-mini@2025-04-16")
print(run)             # the decision, why, and the gates
run.samples            # a Polars frame, a row a sample
bb.verify(run.path)    # re-derives every number from the record, offline
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchbook.errors import BenchbookError

if TYPE_CHECKING:
    from benchbook.library import (
        CalibrationCard,
        ChecksRun,
        CorrectnessRun,
        GridRuns,
        Labels,
        LogAudits,
        RubricRun,
        Run,
        RunComparison,
        RunRanking,
        Scorer,
        ScorerRun,
        Verified,
        audit,
        audit_async,
        calibrate,
        calibrate_async,
        compare,
        experiment,
        export,
        grid,
        grid_async,
        import_logs,
        judge,
        judge_async,
        label,
        label_async,
        leaderboard,
        leaderboard_async,
        load,
        load_labels,
        resume,
        resume_async,
        run,
        run_async,
        score,
        score_async,
        scorer,
        send,
        verify,
    )

__all__ = [
    "BenchbookError",
    "CalibrationCard",
    "ChecksRun",
    "CorrectnessRun",
    "GridRuns",
    "Labels",
    "LogAudits",
    "RubricRun",
    "Run",
    "RunComparison",
    "RunRanking",
    "Scorer",
    "ScorerRun",
    "Verified",
    "audit",
    "audit_async",
    "calibrate",
    "calibrate_async",
    "compare",
    "experiment",
    "export",
    "grid",
    "grid_async",
    "import_logs",
    "judge",
    "judge_async",
    "label",
    "label_async",
    "leaderboard",
    "leaderboard_async",
    "load",
    "load_labels",
    "resume",
    "resume_async",
    "run",
    "run_async",
    "score",
    "score_async",
    "scorer",
    "send",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Names of the library are imported when they are used: the command line starts without them."""
    if name not in __all__:
        raise AttributeError(f"module 'benchbook' has no attribute {name!r}")
    from benchbook import library

    return getattr(library, name)


def __dir__() -> list[str]:
    """The names that are for users."""
    return sorted(__all__)
