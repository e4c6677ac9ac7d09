"""The regression gate: is a run no worse, item by item, than its baseline, and good enough in all?"""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

import msgspec

from benchbook.decisions.comparison import Comparison
from benchbook.decisions.comparison_items import ComparedRun
from benchbook.decisions.metadata_difference import Measured
from benchbook.scorers.exact import NANO, as_float, mean

__all__ = ["RegressionCheck", "check_regressions", "check_score", "why_failed"]


class RegressionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the gate holds; `reasons` say why it does not, most important first."""

    holds: bool
    reasons: tuple[str, ...]
    regressed: tuple[str, ...] = ()  # ids of the items, as the baseline names them
    missing: tuple[str, ...] = ()  # ids of the baseline's items that have no score in the run


def check_regressions(
    comparison: Comparison, *, max_regressions: int = 0, allow_different: Collection[Measured] = ()
) -> RegressionCheck:
    """Hold B against its baseline A.

    It fails where more than `max_regressions` items regressed, where the run has no score for an item of the baseline
    (what is missing may have regressed), where what was measured differs and is not allowed to, where the two have no
    item in common, and where the run itself failed (A3): at a baseline's floor nothing can regress. Where another eval
    set is allowed, items that only one of them has are no fault.
    """
    regressed = _ids(comparison, "regressed")
    missing = () if "evalset" in allow_different else _ids(comparison, "only_in_a")
    reasons = list(why_failed(comparison.b))
    reasons += [
        f"what was measured differs: {one.name} ({', '.join(leaf.path for leaf in one.leaves)}); allow it with "
        f"--allow-different {one.name}, or make a new baseline"
        for one in comparison.measured
        if one.name not in allow_different
    ]
    if not comparison.n_compared:
        reasons.append("the run and its baseline have no scored item in common")
    if len(regressed) > max_regressions:
        reasons.append(f"{_items(len(regressed))} regressed; the gate allows {max_regressions}")
    if missing:
        reasons.append(f"{_items(len(missing))} of the baseline {'have' if len(missing) > 1 else 'has'} no score here")
    return RegressionCheck(holds=not reasons, reasons=tuple(reasons), regressed=regressed, missing=missing)


def why_failed(run: ComparedRun) -> tuple[str, ...]:
    """Why the run itself can't pass, whatever its items (A3): it is not at its end, or it failed."""
    state = run.manifest.get("state", "complete")
    if state != "complete":
        return (f"the run is not complete: it is {state}",)
    status = run.manifest.get("run_status", "completed")
    return () if status == "completed" else (f"the run itself failed: {str(status).replace('_', ' ')}",)


def check_score(run: ComparedRun, at_least: Decimal) -> tuple[str, ...]:
    """Why the run does not end with a mean score of `at_least` that much; nothing where it does.

    Exact, in nano-units. It must hold in the worst case too: with every sample that has no score taken at 0 (R6.3).
    """
    limit = at_least * NANO
    total, n = int(run.items["sum_nano"].sum()), int(run.items["n_samples"].sum())
    if failed := why_failed(run):
        return failed
    if run.score_nano is None:
        return ("no sample has a score",)
    wanted = f"the gate asks for at least {at_least}"
    if run.score_nano < limit:
        return (f"the score is {run.score:.9g}; {wanted}",)
    worst = mean(total, n)
    if worst is not None and worst < limit:
        return (f"the score is {as_float(worst):.9g} with unscored samples taken at 0; {wanted}",)
    return ()


def _ids(comparison: Comparison, name: str) -> tuple[str, ...]:
    return tuple(comparison.items.filter(comparison.items["class"] == name)["item_id"].to_list())


def _items(n: int) -> str:
    return f"{n:,} {'item' if n == 1 else 'items'}"
