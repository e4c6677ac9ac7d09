"""Several runs compared: each against the first, each item's history, and who is best (SPEC A11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchbook.decisions.comparison import Comparison, compare
from benchbook.decisions.comparison_difference import with_p
from benchbook.decisions.comparison_items import ComparedRun
from benchbook.decisions.history import History, history
from benchbook.decisions.leaderboard import Leaderboard, leaderboard, measured_by
from benchbook.errors import UsageError
from benchbook.statistics import adjust_p_values

__all__ = ["ComparisonSet", "compare_runs"]


@dataclass(frozen=True, slots=True)
class ComparisonSet:
    """`pairs` hold the later runs against the first, and `p_holm` each pair's p adjusted for the others, by which the
    verdicts of their scores are given.

    `histories` (three runs or more) are by correctness and, where a scorer says why an item missed, by containment.
    `leaderboard` is None for two runs, and where the runs are not over one eval set.
    """

    runs: tuple[ComparedRun, ...]
    pairs: tuple[Comparison, ...]
    p_holm: tuple[float | None, ...]
    histories: tuple[History, ...]
    leaderboard: Leaderboard | None


def compare_runs(
    runs: Sequence[ComparedRun], *, confidence: float = 0.95, margin: float | None = None, seed: int = 0
) -> ComparisonSet:
    """Compare two runs or more, in the order given: checkpoints of one training from the first to the last.

    Raises: UsageError for fewer than two, for two of one name, and as `compare`.
    """
    if len(runs) < 2:
        raise UsageError(f"{len(runs)} run: a comparison needs two")
    names = [run.name for run in runs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{twice}: named twice; compare runs of different names")
    pairs = tuple(compare(runs[0], run, confidence=confidence, margin=margin, seed=seed) for run in runs[1:])
    histories: tuple[History, ...] = ()
    if len(runs) > 2:
        histories = (history(runs),)
        if all(run.has_reasons for run in runs):
            histories += (history(runs, by="contained"),)
    p_holm = adjust_p_values([pair.score.p for pair in pairs]).holm
    pairs = tuple(replace(pair, score=with_p(pair.score, p)) for pair, p in zip(pairs, p_holm, strict=True))
    is_one_set = len({measured_by(run) for run in runs}) == 1
    return ComparisonSet(
        runs=tuple(runs),
        pairs=pairs,
        p_holm=p_holm,
        histories=histories,
        leaderboard=leaderboard(runs, confidence=confidence) if len(runs) > 2 and is_one_set else None,
    )
