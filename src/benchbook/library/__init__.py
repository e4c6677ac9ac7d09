"""library: what `import benchbook as bb` gives. Objects over records; no logic of its own."""

from benchbook.evaluators.scorers.scorer import Scorer, scorer
from benchbook.library.asking import grid, grid_async, judge, judge_async, resume, resume_async, run, run_async
from benchbook.library.auditing import LogAudits, audit, audit_async
from benchbook.library.comparing import RunComparison, compare
from benchbook.library.exchanging import export, import_logs, send
from benchbook.library.experiments import GridRuns, experiment
from benchbook.library.labelling import (
    CalibrationCard,
    Labels,
    calibrate,
    calibrate_async,
    label,
    label_async,
    load_labels,
)
from benchbook.library.objects import ChecksRun, CorrectnessRun, RubricRun, Run, ScorerRun
from benchbook.library.ranking import RunRanking, leaderboard, leaderboard_async
from benchbook.library.records import load, verify
from benchbook.library.scoring import score, score_async
from benchbook.library.verified import Verified

__all__ = [
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
