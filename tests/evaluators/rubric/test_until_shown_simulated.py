"""How often a run that is held against another says what is not so, and what it saves.

Two models answer items that are drawn anew in each of 2,000 pairs of runs. The rule is computed for all pairs at once,
and held against the rule that runs use for some of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from benchbook.evaluators.rubric.early_stop_pairs import OtherRun, PairedStopping
from benchbook.statistics import mcnemar
from benchbook.statistics.sequences import FRACTIONS
from rubric_v1 import V1, outcome_v1
from until_decided_table import SIMULATED_PAIRS

pytestmark = pytest.mark.slow

PAIRS, ERROR = 2000, 0.05
PASSED, FAILED = (
    outcome_v1(accuracy_score=score, faithfulness_score=score, latency_e2e_ms=1000, input_tokens=500, output_tokens=100)
    for score in (2, 0)
)


@dataclass(frozen=True)
class Found:
    """By pair: better 1, worse -1, nothing shown 0; and the items that were asked."""

    verdicts: np.ndarray
    asked: np.ndarray


def drawn(points: float, differ: float, items: int, pairs: int = PAIRS) -> np.ndarray:
    """A row a pair: 1 for an item won, -1 for one lost, 0 for alike."""
    rng = np.random.default_rng([round(10 * points), round(differ), items])
    won, lost = (differ + points) / 200, (differ - points) / 200
    return rng.choice([1, -1, 0], size=(pairs, items), p=[won, lost, 1 - won - lost])


def simulate(differences: np.ndarray) -> Found:
    """`PairedStopping` for all rows at once."""
    n_pairs, n = differences.shape
    verdicts, asked, rows = np.zeros(n_pairs, int), np.full(n_pairs, n), np.arange(n_pairs)
    capital = np.full((n_pairs, 2, len(FRACTIONS)), 1 / len(FRACTIONS))
    for place in range(n - 1):  # what the last item shows is not early
        worth = np.stack([differences[rows, place], -differences[rows, place]], axis=1)
        capital *= 1 + worth[..., None] * np.array(FRACTIONS)
        shown = capital.sum(axis=2) * ERROR / 2 >= 1
        ends = shown.any(axis=1)
        if ends.any():
            verdicts[rows[ends]], asked[rows[ends]] = np.where(shown[ends, 0], 1, -1), place + 1
            rows, capital = rows[~ends], capital[~ends]
        if not rows.size:
            break
    return Found(verdicts, asked)


def figures(points: float, differ: float, items: int) -> tuple[float, float, float, float, float]:
    """Shown early, wrong, wrong by that or by a comparison of all items, items asked (median), saved (mean)."""
    differences = drawn(points, differ, items)
    found = simulate(differences)
    wrong = found.verdicts != 0 if points == 0 else found.verdicts == -1
    at_the_end = by_all_items(differences)
    later = (found.verdicts == 0) & (at_the_end != 0 if points == 0 else at_the_end == -1)
    saved = 1 - found.asked / items
    return (
        100 * (found.verdicts != 0).mean(), 100 * wrong.mean(), 100 * (wrong | later).mean(),
        float(np.median(found.asked)), 100 * saved.mean(),
    )  # fmt: skip


def by_all_items(differences: np.ndarray) -> np.ndarray:
    """What `compare` would say of each pair, by its p: 1, -1, or 0 where it can't tell."""
    won, lost = (differences == 1).sum(axis=1), (differences == -1).sum(axis=1)
    counts, which = np.unique(np.stack([lost, won], axis=1), axis=0, return_inverse=True)
    shown = np.array([(mcnemar(int(a), int(b)).p_mid or 1.0) <= ERROR for a, b in counts])
    return np.sign(won - lost) * shown[which.ravel()]


@pytest.mark.parametrize("row", SIMULATED_PAIRS.strip().split("\n"), ids=lambda row: " ".join(row.split()[:3]))
def test_a_run_until_shown_errs_and_saves_as_the_manual_says(row: str) -> None:
    points, differ, items, *told = row.split()
    found = figures(float(points), float(differ), int(items))
    assert found[1] <= 100 * ERROR
    assert found == pytest.approx([float(figure) for figure in told], abs=0.06)


@pytest.mark.parametrize(("points", "differ"), [(0, 40), (5, 20), (10, 10)])
def test_the_simulated_rule_is_the_one_that_runs_use(points: float, differ: float) -> None:
    items = 300
    differences = drawn(points, differ, items, pairs=40)
    found = simulate(differences)
    for row, verdict, asked in zip(differences.tolist(), found.verdicts, found.asked, strict=True):
        passes = "".join("1" if one < 0 else "0" for one in row)
        other = OtherRun(run_id="other", journal_sha256="", repeats=1, passes=passes)
        rule = PairedStopping(range(items), 1, ERROR, other, V1)
        for item, (one, there) in enumerate(zip(row, passes, strict=True)):
            rule.add(item, PASSED if int(there) + one else FAILED)
        expected = None if verdict == 0 else ("better" if verdict == 1 else "worse", asked)
        assert expected == (rule.decision and (rule.decision.verdict, rule.decision.after_items))
