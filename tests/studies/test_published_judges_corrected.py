"""Differences corrected by few labels: by hand, and by simulation where the truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from published_judges import corrected, summary
from published_judges.correction import Interval, corrected_difference, draws, has_room
from published_judges.judgement import Judgement
from published_judges.pairs import Floats, ModelPair, pairs_of, told
from published_judges.sources import read_sources


def made_up_pair(by_judge: Floats, by_people: Floats) -> ModelPair:
    graded = told(by_judge, passes=False), told(by_people, passes=False)
    return ModelPair("triviaqa", "j", "a", "b", by_judge, by_people, *graded, p_holm=graded[0].p)


def biased(n_items: int, agreement: float, bias: float, rng: np.random.Generator) -> ModelPair:
    """People prefer `a` by 0.2; the judge agrees with them in a share of the items, and else prefers `b` by chance."""
    by_people = rng.choice([-1.0, 0.0, 1.0], n_items, p=[0.4, 0.4, 0.2])
    own = rng.choice([-1.0, 0.0, 1.0], n_items, p=[0.3 - bias, 0.4, 0.3 + bias])
    return made_up_pair(np.where(rng.random(n_items) < agreement, by_people, own), by_people)


@pytest.mark.parametrize(
    ("interval", "decides", "covers_0", "width"),
    [
        (Interval(0.2, 0.1, 0.3), 1, False, 0.2),
        (Interval(-0.2, -0.3, -0.1), -1, False, 0.2),
        (Interval(0.2, -0.1, 0.5), 0, True, 0.6),
        (Interval(0.2, 0.0, 0.4), 0, True, 0.4),
        (Interval(0.2, None, None), 0, None, None),
    ],
)
def test_an_interval_decides_where_it_leaves_out_0(
    interval: Interval, decides: int, covers_0: bool | None, width: float | None
) -> None:
    assert interval.decides == decides
    assert interval.covers(0.0) is covers_0
    assert interval.width == (None if width is None else pytest.approx(width))


def test_a_correction_worked_out_by_hand() -> None:
    """Labels 1 and 0, the judge's the same; elsewhere it says 1, 1, 1, 0.

    The covariance is 1/4; all six have a variance of 6 * 2/3 * 1/3 / 5 = 4/15; so its weight is
    1/4 / ((1 + 2/4) * 4/15) = 5/8, and the estimate 1/2 + 5/8 * (3/4 - 1/2).
    """
    found = corrected_difference(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    assert found.estimate == pytest.approx(0.65625)
    assert found.method == "ppi++_bounded"


def test_a_judge_that_says_nothing_leaves_the_labels_mean() -> None:
    found = corrected_difference(np.array([1.0, 0.0, 0.0, -1.0, 1.0]), np.zeros(5), np.zeros(40))
    assert found.estimate == pytest.approx(0.2)


@pytest.mark.parametrize(("n_items", "n_labels", "room"), [(50, 25, True), (49, 25, False), (400, 200, True)])
def test_a_pair_needs_twice_as_many_items_as_labels(n_items: int, n_labels: int, room: bool) -> None:
    assert has_room(made_up_pair(np.ones(n_items), np.zeros(n_items)), n_labels) is room


def test_a_pair_with_an_item_that_nobody_labelled_has_no_room() -> None:
    by_people = np.zeros(60)
    whole = made_up_pair(np.ones(60), by_people)
    by_people[7] = np.nan
    assert has_room(whole, 25) is False


@pytest.mark.slow
@pytest.mark.parametrize(("agreement", "n_labels"), [(0.8, 50), (0.8, 100), (0.2, 50)])
def test_corrected_intervals_hold_however_good_the_judge_is(agreement: float, n_labels: int) -> None:
    """2,000 drawings: 95 % have a standard error of 0.5 %. The judge's own interval all but never holds."""
    truth = biased(400, agreement, 0.25, np.random.default_rng(7))
    found = list(draws([truth], n_labels, 2_000, "like_these", np.random.default_rng(8)))
    holds = np.mean([one.corrected.covers(truth.truth or 0.0) for one in found])
    assert 0.935 <= holds <= 0.97
    if agreement == 0.2:
        assert truth.win == 1  # the judge declares the wrong winner
        assert truth.known == -1
        assert np.mean([one.judge_alone.covers(truth.truth or 0.0) for one in found]) < 0.01
        assert np.mean([one.corrected.decides == 1 for one in found]) < 0.005


@pytest.mark.slow
def test_intervals_of_these_very_items_hold_more_often() -> None:
    truth = biased(100, 0.5, 0.0, np.random.default_rng(9))
    like_these, these = (
        np.mean([one.corrected.covers(truth.truth or 0.0) for one in draws([truth], 50, 1_000, way, rng)])
        for way, rng in (("like_these", np.random.default_rng(10)), ("these", np.random.default_rng(11)))
    )
    assert these > like_these + 0.01


@pytest.mark.slow
def test_a_good_judge_makes_the_interval_narrower() -> None:
    good, bad = (
        corrected.summary(list(draws([one], 50, 300, "like_these", np.random.default_rng(12))))["width_to_labels_alone"]
        for one in (
            biased(400, 0.95, 0.0, np.random.default_rng(13)),
            biased(400, 0.3, 0.25, np.random.default_rng(14)),
        )
    )
    assert good["mean"] < 0.7 < 0.9 < bad["mean"]


def test_a_summary_counts_what_becomes_of_wrong_wins() -> None:
    wrong = biased(400, 0.2, 0.25, np.random.default_rng(7))
    found = corrected.summary(list(draws([wrong], 100, 200, "like_these", np.random.default_rng(15))))
    assert (found["wins"], found["draws"], found["of_wrong"]["wins"]) == (1, 200, 1)
    outcomes = [found["of_wrong"][name]["k"] for name in ("turned", "open", "still_wrong")]
    assert sum(outcomes) == 200
    assert found["corrected"]["decided"]["k"] == outcomes[0] + outcomes[2]
    assert found["judge_alone"]["wrong"]["share"] > 0.99
    assert found["reversed"]["judge_alone"]["share"] > 0.99


@pytest.mark.slow
def test_the_whole_study_of_a_few_answers_that_are_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two judges of three models: one says as people do, the other the opposite of everything."""
    monkeypatch.setattr(corrected, "LEAST_DRAWS", 60)
    rng = np.random.default_rng(16)
    passes = {model: (rng.random(100) < rate).astype(float) for model, rate in (("a", 0.2), ("b", 0.5), ("c", 0.9))}
    said = [
        Judgement("triviaqa", judge, model, f"i{item}", abs(turned - label), label)
        for judge, turned in (("alike", 0.0), ("opposite", 1.0))
        for model, labels in passes.items()
        for item, label in enumerate(labels)
    ]
    assert [one.known for one in pairs_of(said)] == [1] * 6
    progress: list[str] = []
    differ = [True, False, False, False], ["article 1", "article 1", "article 2", "article 3"]
    found: Any = summary.results(read_sources(), {"triviaqa": said}, elo={}, experts_differ=differ, say=progress.append)
    assert (found["experts_differ"]["k"], found["experts_differ"]["n"]) == (1, 4)
    assert found["judgements"] == 600
    assert (found["wins"]["raw"]["wins"], found["wins"]["raw"]["wrong"]["k"]) == (6, 3)
    assert [(one["judge"], one["raw"]["wrong"]["k"]) for one in found["judges"]] == [("alike", 0), ("opposite", 3)]
    assert list(found["corrected"]) == ["25", "50"]
    at_50 = found["corrected"]["50"]["like_these"]
    assert (at_50["wins"], at_50["draws"]) == (6, 60)
    assert at_50["corrected"]["wrong"]["k"] == 0
    assert at_50["of_wrong"]["turned"]["share"] > 0.5
    assert progress == ["comparing the models of triviaqa", "drawing labels"]
