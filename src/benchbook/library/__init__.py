"""library: what `import benchbook as bb` gives. Objects over records; no logic of its own."""

from benchbook.evaluators.scorers.scorer import Scorer, scorer
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
from benchbook.library.auditing import LogAudits, audit
from benchbook.library.comparing import RunComparison, compare
from benchbook.library.exchanging import export, import_logs, send
from benchbook.library.objects import ChecksRun, CorrectnessRun, RubricRun, Run, ScorerRun

__all__ = [
    "ChecksRun",
    "CorrectnessRun",
    "LogAudits",
    "RubricRun",
    "Run",
    "RunComparison",
    "Scorer",
    "ScorerRun",
    "audit",
    "compare",
    "export",
    "grid",
    "import_logs",
    "judge",
    "judge_async",
    "load",
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
