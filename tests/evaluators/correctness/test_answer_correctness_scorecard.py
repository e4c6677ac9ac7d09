"""SPEC A4, A7, C2, C4: the scorecard, and the warning that form keeps a run at the floor."""

from __future__ import annotations

import random
import statistics

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.evaluators.answers.scorecard import GROUPINGS, Scorecard, ScorecardTally, ScoreSlice
from benchbook.evaluators.correctness.columns import score_columns
from benchbook.evaluators.correctness.evaluator import METRIC
from benchbook.evaluators.correctness.scorecard import (
    ItemAnswer,
    floor_warning,
    scorecard,
    tally_columns,
)
from benchbook.evaluators.correctness.scoring import reason

_ANSWERS = st.builds(
    ItemAnswer,
    expected=st.sampled_from(["42", "42.0", "Paris"]),
    predicted=st.sampled_from([None, "", "42", "paris", "It is 42", "Answer: Paris"]),
    answer_format=st.sampled_from([None, "answer_prefix"]),
    section=st.sampled_from([None, "core", "edge_case", "mine"]),
    category=st.sampled_from([None, "geometry"]),
    difficulty=st.sampled_from([None, "hard", "easy"]),
)


def in_columns(answers: list[ItemAnswer]) -> ScorecardTally:
    rows = pl.DataFrame(
        [[getattr(answer, name) for name in ItemAnswer.__struct_fields__] for answer in answers],
        schema=dict.fromkeys(ItemAnswer.__struct_fields__, pl.String),
        orient="row",
    )
    return tally_columns(pl.concat([rows, score_columns(rows)], how="horizontal"))


def misses(n_correct: int, **counts: int) -> Scorecard:
    tally = METRIC.tally()
    tally.add({}, None, n_items=n_correct)
    for name, n_items in counts.items():
        tally.add({}, name, n_items=n_items)  # type: ignore[arg-type]
    return tally.scorecard()


def test_a_scorecard_worked_out_by_hand() -> None:
    answers = [
        ItemAnswer(expected="4", predicted="4", section="core", category="arithmetic", difficulty="easy"),
        ItemAnswer(expected="4", predicted="It is 4", section="core", category="arithmetic", difficulty="hard"),
        ItemAnswer(expected="4", predicted=None, section="edge_case", category="formatting", difficulty="easy"),
        ItemAnswer(expected="4", predicted="", section="edge_case", category="mine", difficulty=None),
    ]
    assert scorecard(answers) == Scorecard(
        n_items=4,
        n_scored=2,
        n_skipped=2,  # as many as have no_prediction: a blank text is none (A7)
        primary_score=0.25,
        stddev=0.5,  # of 1, 0, 0, 0: 3/4 * (1/4)^2 + ... = 0.75 / 3 = 0.25, its root
        metrics={"answer_correctness": 0.25},
        misses={"no_prediction": 2, "expected_inside_longer_text": 1, "numerically_equal": 0, "different": 0},
        section=(
            ScoreSlice(value="core", n_items=2, n_scored=2, mean=0.5),
            ScoreSlice(value="edge_case", n_items=2, n_scored=0, mean=0.0),
        ),
        category=(
            ScoreSlice(value="arithmetic", n_items=2, n_scored=2, mean=0.5),
            ScoreSlice(value="formatting", n_items=1, n_scored=0, mean=0.0),
            ScoreSlice(value="mine", n_items=1, n_scored=0, mean=0.0),
        ),
        difficulty=(
            ScoreSlice(value="easy", n_items=2, n_scored=1, mean=0.5),
            ScoreSlice(value="hard", n_items=1, n_scored=1, mean=0.0),
            ScoreSlice(value=None, n_items=1, n_scored=0, mean=0.0),
        ),
    )


def test_nothing_measured_is_null() -> None:  # C4, C5
    empty = scorecard([])
    assert (empty.n_items, empty.primary_score, empty.stddev, empty.section) == (0, None, None, ())
    one = scorecard([ItemAnswer(expected="x", predicted="x")])
    assert (one.primary_score, one.stddev) == (1.0, None)


@given(st.lists(_ANSWERS), st.randoms(use_true_random=False))
def test_neither_order_nor_form_matters(answers: list[ItemAnswer], rng: random.Random) -> None:  # C2
    card = scorecard(answers)
    assert scorecard(rng.sample(answers, k=len(answers))) == card
    assert in_columns(answers).scorecard() == card


@given(st.lists(_ANSWERS, min_size=2))
def test_the_parts_add_up(answers: list[ItemAnswer]) -> None:
    card = scorecard(answers)
    assert card.n_scored + card.n_skipped == card.n_items == len(answers)
    assert card.n_skipped == card.misses["no_prediction"]  # one rule for both
    for name in GROUPINGS:
        assert sum(part.n_items for part in getattr(card, name)) == card.n_items
        assert sum(part.n_scored for part in getattr(card, name)) == card.n_scored
    n_correct = card.n_items - sum(card.misses.values())
    assert card.primary_score == pytest.approx(n_correct / card.n_items, abs=5e-10)
    spread = statistics.stdev([1.0] * n_correct + [0.0] * (card.n_items - n_correct))
    assert card.stddev == pytest.approx(spread, abs=1e-9)


_UNANSWERED = st.tuples(st.sampled_from([None, "core"]), st.booleans())


@given(st.lists(_ANSWERS), st.lists(_UNANSWERED))
def test_what_is_unanswered_is_of_no_mean_until_its_run_was_ended(
    answers: list[ItemAnswer], unanswered: list[tuple[str | None, bool]]
) -> None:  # R1.3b
    tally = METRIC.tally(asked=True)
    for answer in answers:
        why = reason(answer.expected, answer.predicted, answer.answer_format)
        tally.add({name: getattr(answer, name) for name in GROUPINGS}, why)
    for section, counts_zero in unanswered:
        tally.add_unanswered({"section": section}, counts_zero=counts_zero)
    card, alone = tally.scorecard(), scorecard(answers)
    n_zero = sum(counts_zero for _, counts_zero in unanswered)
    assert (card.n_unanswered, card.n_items) == (len(unanswered), len(answers) + len(unanswered))
    assert (card.n_scored, card.n_skipped) == (alone.n_scored, alone.n_skipped)
    assert sum(card.misses.values()) == sum(alone.misses.values()) + n_zero
    n_correct = len(answers) - sum(alone.misses.values())
    if counted := len(answers) + n_zero:
        assert card.primary_score == pytest.approx(n_correct / counted, abs=5e-10)
    else:
        assert card.primary_score is None
    for name in GROUPINGS:
        parts = getattr(card, name)
        assert sum(part.n_unanswered for part in parts) == len(unanswered)
        assert sum(part.n_items for part in parts) == card.n_items


def test_form_is_held_against_what_is_answered() -> None:
    tally = METRIC.tally(asked=True)
    tally.add({}, "expected_inside_longer_text", n_items=4)
    for _ in range(96):
        tally.add_unanswered({}, counts_zero=False)
    said = floor_warning(tally.scorecard())
    assert said is not None
    assert "0 of 4 items are correct" in said


def test_columns_may_lack_the_groupings() -> None:
    rows = pl.DataFrame({"expected": ["a", "b"], "predicted": ["a", None]})
    card = tally_columns(pl.concat([rows, score_columns(rows)], how="horizontal")).scorecard()
    assert card.section == (ScoreSlice(value=None, n_items=2, n_scored=1, mean=0.5),)


@pytest.mark.parametrize(
    ("card", "warns"),
    [
        pytest.param(misses(0, expected_inside_longer_text=40, different=60), True, id="the-real-base-model"),
        pytest.param(misses(5, numerically_equal=10, different=85), True, id="at-the-thresholds"),
        pytest.param(misses(6, numerically_equal=10, different=84), False, id="off-the-floor"),
        pytest.param(misses(5, expected_inside_longer_text=9, different=86), False, id="not-because-of-form"),
        pytest.param(misses(0, no_prediction=100), False, id="no-predictions"),
        pytest.param(misses(0), False, id="no-items"),
    ],
)
def test_a_run_at_the_floor_because_of_form_is_warned_of(card: Scorecard, warns: bool) -> None:  # A7
    assert (floor_warning(card) is not None) is warns


def test_the_warning_says_what_and_what_to_do() -> None:
    said = floor_warning(misses(1, expected_inside_longer_text=40, numerically_equal=2, different=57))
    assert said is not None
    for words in ("1 of 100 items", "in 40 items", "in 2 the number", "Ask for the answer alone"):
        assert words in said


def test_a_missing_expected_answer_stops_the_scorecard() -> None:  # A3
    with pytest.raises(UsageError):
        scorecard([ItemAnswer(expected=" ", predicted=None)])
