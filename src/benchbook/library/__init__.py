"""library: what `import benchbook as bb` gives. Objects over records; no logic of its own."""

from benchbook.library.api import (
    grid,
    judge,
    judge_async,
    load,
    resume,
    resume_async,
    run,
    run_async,
    score,
    score_async,
    verify,
)
from benchbook.library.comparing import RunComparison, compare
from benchbook.library.objects import ChecksRun, CorrectnessRun, RubricRun, Run

__all__ = [
    "ChecksRun",
    "CorrectnessRun",
    "RubricRun",
    "Run",
    "RunComparison",
    "compare",
    "grid",
    "judge",
    "judge_async",
    "load",
    "resume",
    "resume_async",
    "run",
    "run_async",
    "score",
    "score_async",
    "verify",
]
