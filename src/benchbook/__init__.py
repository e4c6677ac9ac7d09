"""Benchbook evaluates language models and says what the evidence allows.

import benchbook as bb

run = bb.run(evalset="items.jsonl", model="openai/gpt-4.1@2025-04-14", judge="openai/o4-mini@2025-04-16")
print(run)             # the decision, why, and the gates
run.samples            # a Polars frame, a row a sample
bb.verify(run.path)    # re-derives every number from the record, offline
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchbook.errors import BenchbookError

if TYPE_CHECKING:
    from benchbook.evaluators.scorers.scorer import Scorer, scorer
    from benchbook.library.asking import grid, grid_async, judge, judge_async, resume, resume_async, run, run_async
    from benchbook.library.auditing import LogAudits, audit, audit_async
    from benchbook.library.batches import (
        BatchedRun,
        batch_cancel,
        batch_cancel_async,
        batch_collect,
        batch_collect_async,
        batch_status,
        batch_status_async,
        batch_submit,
        batch_submit_async,
    )
    from benchbook.library.comparing import RunComparison, compare
    from benchbook.library.exchanging import export, import_logs, send
    from benchbook.library.experiments import GridRuns, experiment
    from benchbook.library.judge_audits import (
        JudgeAudit,
        audit_judge,
        audit_judge_async,
        load_audit,
        resume_audit,
        resume_audit_async,
    )
    from benchbook.library.judging_pairs import (
        JudgedPairs,
        judge_pairs,
        judge_pairs_async,
        resume_pairs,
        resume_pairs_async,
    )
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
    from benchbook.library.pairs import PairRankings, rank_pairs, rank_pairs_async
    from benchbook.library.ranking import RunRanking, leaderboard, leaderboard_async
    from benchbook.library.records import load, verify
    from benchbook.library.scoring import score, score_async
    from benchbook.library.sharding import join, join_async, run_shard, run_shard_async, run_shards, run_shards_async
    from benchbook.library.stores import pull, pull_async, push, push_async
    from benchbook.library.verified import Verified

__all__ = [
    "BatchedRun",
    "BenchbookError",
    "CalibrationCard",
    "ChecksRun",
    "CorrectnessRun",
    "GridRuns",
    "JudgeAudit",
    "JudgedPairs",
    "Labels",
    "LogAudits",
    "PairRankings",
    "RubricRun",
    "Run",
    "RunComparison",
    "RunRanking",
    "Scorer",
    "ScorerRun",
    "Verified",
    "audit",
    "audit_async",
    "audit_judge",
    "audit_judge_async",
    "batch_cancel",
    "batch_cancel_async",
    "batch_collect",
    "batch_collect_async",
    "batch_status",
    "batch_status_async",
    "batch_submit",
    "batch_submit_async",
    "calibrate",
    "calibrate_async",
    "compare",
    "experiment",
    "export",
    "grid",
    "grid_async",
    "import_logs",
    "join",
    "join_async",
    "judge",
    "judge_async",
    "judge_pairs",
    "judge_pairs_async",
    "label",
    "label_async",
    "leaderboard",
    "leaderboard_async",
    "load",
    "load_audit",
    "load_labels",
    "pull",
    "pull_async",
    "push",
    "push_async",
    "rank_pairs",
    "rank_pairs_async",
    "resume",
    "resume_async",
    "resume_audit",
    "resume_audit_async",
    "resume_pairs",
    "resume_pairs_async",
    "run",
    "run_async",
    "run_shard",
    "run_shard_async",
    "run_shards",
    "run_shards_async",
    "score",
    "score_async",
    "scorer",
    "send",
    "verify",
]

# The names of each module: one is imported when a name of it is used, so that the command line starts without any.
_HOMES = {
    "evaluators.scorers.scorer": ("Scorer", "scorer"),
    "library.asking": ("grid", "grid_async", "judge", "judge_async", "resume", "resume_async", "run", "run_async"),
    "library.auditing": ("LogAudits", "audit", "audit_async"),
    "library.batches": (
        "BatchedRun",
        "batch_cancel",
        "batch_cancel_async",
        "batch_collect",
        "batch_collect_async",
        "batch_status",
        "batch_status_async",
        "batch_submit",
        "batch_submit_async",
    ),
    "library.comparing": ("RunComparison", "compare"),
    "library.exchanging": ("export", "import_logs", "send"),
    "library.experiments": ("GridRuns", "experiment"),
    "library.judge_audits": (
        "JudgeAudit",
        "audit_judge",
        "audit_judge_async",
        "load_audit",
        "resume_audit",
        "resume_audit_async",
    ),
    "library.judging_pairs": (
        "JudgedPairs",
        "judge_pairs",
        "judge_pairs_async",
        "resume_pairs",
        "resume_pairs_async",
    ),
    "library.labelling": (
        "CalibrationCard",
        "Labels",
        "calibrate",
        "calibrate_async",
        "label",
        "label_async",
        "load_labels",
    ),
    "library.objects": ("ChecksRun", "CorrectnessRun", "RubricRun", "Run", "ScorerRun"),
    "library.pairs": ("PairRankings", "rank_pairs", "rank_pairs_async"),
    "library.ranking": ("RunRanking", "leaderboard", "leaderboard_async"),
    "library.records": ("load", "verify"),
    "library.scoring": ("score", "score_async"),
    "library.sharding": ("join", "join_async", "run_shard", "run_shard_async", "run_shards", "run_shards_async"),
    "library.stores": ("pull", "pull_async", "push", "push_async"),
    "library.verified": ("Verified",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"benchbook.{module}"), name)
    raise AttributeError(f"module 'benchbook' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that are for users."""
    return sorted(__all__)
