"""What variants do to a judge's scores: values worked out by hand, verdicts, how often planted effects are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchbook.judge_audit.effects import BeforeAfter, EffectVerdict
from benchbook.judge_audit.planning import answers_needed, effect_found
from benchbook.judge_audit.stages import ends_of_stages, look_at
from benchbook.judge_audit.variants import VARIANTS
from benchbook.statistics import sample_size_paired_binary
from judge_audit.made import GRADES, SHARES, answers, effects, judged_anew

SAME = [one.name for one in VARIANTS.values() if one.expected == "same"]


def test_an_effect_by_hand() -> None:
    found = effects(
        {
            "original": answers([1.0, 0.5, 0.5, 0.0]),
            "again": answers([1.0, 0.5, 0.75, None]),
            "longer": answers([1.0, 1.0, 1.0, 0.5]),
        }
    )
    again, longer = found["again"], found["longer"]
    assert (again.score.n, again.n_unscored, again.n_left_out) == (3, 1, 0)
    assert again.score.difference == pytest.approx(0.25 / 3, abs=1e-9)
    # 0, 0.5 and 0.25: mean 0.25; of the eight ways to set signs two are as far from 0 (the first is 0: 4 of 8)
    assert longer.score.difference == 0.25
    assert longer.score.p == 0.5
    assert longer.score.n_won == 2
    assert longer.score.n_lost == 0
    assert longer.passed == BeforeAfter(before=0.5, after=0.75)  # of all four answers
    assert longer.sample_score == BeforeAfter(before=0.75, after=1.0)  # of the three that have a score in both


def test_p_is_adjusted_over_what_should_change_nothing_alone() -> None:
    rng = np.random.default_rng(1)
    base = rng.choice(GRADES, 40, p=SHARES)
    judged = {"original": answers(base), "again": answers(base)}
    judged |= {name: answers(judged_anew(rng, base, 0.1)) for name in ("longer", "markdown")}
    judged["other_answer"] = answers(np.zeros(40))
    found = effects(judged)
    p = [found[name].score.p for name in ("again", "longer", "markdown")]
    adjusted = [found[name].score.p_adjusted for name in ("again", "longer", "markdown")]
    order = np.argsort(p)
    expected = np.empty(3)
    expected[order] = np.maximum.accumulate([min(1.0, (3 - k) * p[one]) for k, one in enumerate(order)])
    assert adjusted == pytest.approx(expected)
    assert found["other_answer"].score.p_adjusted is None


@pytest.mark.parametrize(
    ("moved", "n", "margin", "verdict"),
    [
        (0.0, 400, 0.05, "none"),
        (0.0, 10, 0.05, "not_told"),
        (0.25, 400, 0.05, "biased"),
        (-0.25, 400, 0.05, "biased"),
        (0.25, 400, 0.5, "slight"),
    ],
)
def test_the_verdict_on_what_should_change_nothing(moved: float, n: int, margin: float, verdict: EffectVerdict) -> None:
    base = np.full(n, 0.5)
    found = effects({"original": answers(base), "again": answers(base + moved)}, margin=margin)
    assert found["again"].verdict == verdict


@pytest.mark.parametrize(
    ("fallen", "kept", "lowest_before", "verdict"),
    [
        (100, 0, 20, "noticed"),
        (90, 10, 0, "noticed"),  # 0.9, at least 0.826
        (70, 30, 0, "missed"),  # at most 0.781
        (82, 18, 0, "not_told"),
        (3, 0, 0, "not_told"),
        (0, 0, 10, "not_told"),  # nothing could fall
    ],
)
def test_the_verdict_on_a_control(fallen: int, kept: int, lowest_before: int, verdict: EffectVerdict) -> None:
    before = [1.0] * (fallen + kept) + [0.0] * lowest_before
    after = [0.5] * fallen + [1.0] * kept + [0.0] * lowest_before
    found = effects({"original": answers(before), "again": answers(before), "other_answer": answers(after)})
    control = found["other_answer"]
    assert control.noticed is not None
    assert control.noticed.n == fallen + kept
    assert control.verdict == verdict


def test_answers_that_are_left_out_and_orders_that_differ() -> None:
    before, after = answers([0.0, 0.5, 1.0, 1.0]), answers([0.0, 0.5, 1.0, 1.0])
    after = type(after)(after.rows.reverse().head(3))
    found = effects({"original": before, "again": before, "longer": after})["longer"]
    assert (found.n_left_out, found.score.n, found.score.difference) == (1, 3, 0.0)


def test_groups_widen_the_interval_and_count_as_one() -> None:
    rng = np.random.default_rng(2)
    base, groups = np.full(60, 0.5), [f"g{k // 10}" for k in range(60)]
    moved = base + 0.25 * np.repeat(rng.choice([-1, 1], 6), 10)
    alone = effects({"original": answers(base), "again": answers(moved)})["again"].score
    grouped = effects({"original": answers(base, groups), "again": answers(moved, groups)})["again"].score
    assert grouped.n_clusters == 6
    assert alone.n_clusters is None
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)  # type: ignore[operator]


def test_one_variant_alone_and_none_at_all() -> None:
    assert effects({"original": answers([1.0])}) == {}
    nothing = effects({"original": answers([None, None]), "again": answers([1.0, 1.0])})["again"]
    assert (nothing.verdict, nothing.score.reason, nothing.sample_score) == ("not_told", "no_data", None)


# ── planted effects ──────────────────────────────────────────────────────────────────────────────────────────

_N_AUDITS, _N = 120, 100


@pytest.mark.slow
@pytest.mark.parametrize("bias", [0.1, 0.2, -0.1])
def test_planted_effects_are_found_as_often_as_was_promised(bias: float) -> None:
    """The number of answers by the spread of the differences: found in 90 % of audits, by at least that in `n`."""
    rng = np.random.default_rng(7)
    base = rng.choice(GRADES, 100_000, p=SHARES)
    sd = float((judged_anew(rng, base, bias) - judged_anew(rng, base, 0.0)).std())
    realised = float((judged_anew(rng, base, bias) - judged_anew(rng, base, 0.0)).mean())
    n = answers_needed(realised, sd=sd, n_effects=2).n_answers
    found = 0
    for _ in range(_N_AUDITS):
        base = rng.choice(GRADES, n, p=SHARES)
        again, longer = judged_anew(rng, base, 0.0), judged_anew(rng, base, bias)
        judged = {"original": answers(base), "again": answers(again), "longer": answers(longer)}
        found += effects(judged)["longer"].verdict in ("biased", "slight")
    assert found >= stats.binom.ppf(0.001, _N_AUDITS, 0.9)


def test_what_so_many_answers_find_and_how_many_an_effect_needs_are_one() -> None:
    for effect in (0.03, 0.1, 0.3):
        n = answers_needed(effect).n_answers
        assert effect_found(n) == pytest.approx(effect, rel=0.03)


@pytest.mark.parametrize(
    ("only_a", "only_b"), [(0.1, 0.2), (0.05, 0.3), (0.02, 0.04), (0.3, 0.1), (0.0, 0.15), (0.2, 0.25)]
)
def test_of_passes_the_number_is_that_of_mcnemars_test(only_a: float, only_b: float) -> None:
    """Differences of -1, 0 and 1 are a fourfold table's (Connor 1987)."""
    effect, differing = only_b - only_a, only_a + only_b
    found = answers_needed(effect, sd=(differing - effect**2) ** 0.5, n_effects=1)
    assert found.n_answers == sample_size_paired_binary(only_a, only_b, power=0.9).n


def test_numbers_that_can_not_be() -> None:
    for effect, sd in ((0.0, 0.2), (1.5, 0.2), (0.1, 0.0)):
        with pytest.raises(ValueError, match="an effect must lie between 0 and 1, and sd above 0"):
            answers_needed(effect, sd=sd)
    with pytest.raises(ValueError, match="0 answers find nothing"):
        effect_found(0)
    assert effect_found(1) == pytest.approx(1.0)


# ── stages ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("n", "ends"), [(200, (50, 100, 200)), (100, (50, 100)), (60, (60,)), (20, (20,)), (1_001, (251, 501, 1_001))]
)
def test_stages_end_where_there_is_enough_to_see(n: int, ends: tuple[int, ...]) -> None:
    assert ends_of_stages(n, until_decided=True) == ends
    assert ends_of_stages(n, until_decided=False) == (n,)


def test_the_errors_of_all_looks_add_up() -> None:
    for ends in ((50, 100, 200), (100,), (30, 100)):
        for confidence in (0.9, 0.95, 0.99):
            errors = [1 - look_at(stage, ends, confidence).confidence for stage in range(len(ends))]
            assert sum(errors) == pytest.approx(1 - confidence)
            assert errors == sorted(errors)
    # Lan and DeMets' spending at a quarter, a half and all (R's gsDesign: 0.00009, 0.00557, 0.05)
    first, second, _ = (1 - look_at(stage, (50, 100, 200), 0.95).confidence for stage in range(3))
    assert first == pytest.approx(0.0000886, abs=1e-6)
    assert first + second == pytest.approx(0.0055747, abs=1e-6)
