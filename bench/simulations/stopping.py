"""`run --against --until-decided`: a comparison that may end at every item, by bets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchbook.evaluators.rubric.early_stop_pairs import OtherRun, PairedStopping
from benchbook.evaluators.rubric.scoring import SampleOutcome
from benchbook.evaluators.rubric.spec import rubric_v1
from benchbook.statistics import mcnemar
from simulations.ground import Line, Measured, at_most

ERROR, LOOKS = 0.05, 10
V1 = rubric_v1()
PASSED, FAILED = (
    SampleOutcome(scores=(score, score), latency_e2e_ms=1000, input_tokens=500, output_tokens=100) for score in (2, 0)
)
Ended = tuple[int, int]  # better 1, worse -1, nothing shown 0; and after how many items


def lines(draws: int) -> Iterator[Line]:
    """Wrong claims between two models that are alike, and the items that are saved where one is better."""
    draws = max(20, draws // 8)
    for points, differ, items in ((0, 20, 300), (3, 10, 3000), (5, 10, 1000), (10, 20, 1000)):
        rng = np.random.default_rng([12, points, differ, items])
        won, lost = (differ + points) / 200, (differ - points) / 200
        drawn = rng.choice([1, -1, 0], size=(draws, items), p=[won, lost, 1 - won - lost])
        methods = METHODS if points else METHODS | IN_ERROR
        today, *rest = (_measured(name, method, drawn, points) for name, method in methods.items())
        what = "two models alike" if not points else f"better by {points} points"
        yield Line(
            where="early stop, paired", case=f"{what}, {differ} % differ, {items:,} items: shown wrongly",
            goal=at_most(5), today=today, others=tuple(rest), cost="saved, %", less_is_better=False, draws=draws,
        )  # fmt: skip


def _measured(name: str, method: Callable[[np.ndarray], Ended], drawn: np.ndarray, points: float) -> Measured:
    ended = [method(row) for row in drawn]
    wrong = [verdict != 0 if points == 0 else verdict < 0 for verdict, _ in ended]
    return Measured(
        name, 100 * float(np.mean(wrong)), 100 * (1 - float(np.mean([n for _, n in ended])) / drawn.shape[1])
    )


def by_bets(differences: np.ndarray) -> Ended:
    there = "".join("1" if one < 0 else "0" for one in differences)
    other = OtherRun(run_id="other", journal_sha256="", repeats=1, passes=there)
    rule = PairedStopping(range(len(there)), 1, ERROR, other, V1)
    for item, one in enumerate(differences.tolist()):
        rule.add(item, PASSED if int(there[item]) + one else FAILED)
        if rule.decision is not None:
            return (1 if rule.decision.verdict == "better" else -1), rule.decision.after_items
    return 0, len(there)


def ten_looks(differences: np.ndarray, level: float = ERROR / LOOKS) -> Ended:
    """The mid-p test after each tenth of the items; by default at a tenth of the error (Bonferroni)."""
    n = len(differences)
    for look in range(1, LOOKS):
        part = differences[: look * n // LOOKS]
        won, lost = int((part == 1).sum()), int((part == -1).sum())
        if mcnemar(lost, won).p_mid <= level:
            return (1 if won > lost else -1), len(part)
    return 0, n


METHODS: dict[str, Callable[[np.ndarray], Ended]] = {
    "paired bets": by_bets,
    "ten looks, Bonferroni": ten_looks,
}
IN_ERROR: dict[str, Callable[[np.ndarray], Ended]] = {
    "ten looks at 5 % each": lambda differences: ten_looks(differences, ERROR)
}
