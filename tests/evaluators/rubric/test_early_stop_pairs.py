"""Better or worse than another run on a part of the items: by hand, and in the drawn order whatever finishes first."""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.rubric.early_stop_pairs import (
    EarlyDifference,
    OtherRun,
    PairedStopping,
    pair_values,
    pass_mark,
)
from benchbook.evaluators.rubric.scoring import NO_ANSWER, SampleOutcome
from rubric_v1 import V1, outcome_v1
from support import examples

SCALE = V1
_answer = partial(outcome_v1, latency_e2e_ms=1000, input_tokens=500, output_tokens=100)
GOOD = _answer(accuracy_score=2, faithfulness_score=2)
WRONG = _answer(accuracy_score=0, faithfulness_score=1)
UNSCORED = _answer(evaluator_error="parse_error")
OUTCOMES = {"1": GOOD, "0": WRONG, "?": UNSCORED}


def other(passes: str, repeats: int = 1) -> OtherRun:
    return OtherRun(run_id="BASE", journal_sha256="ab" * 32, repeats=repeats, passes=passes)


def held(here: str, there: str, *, error: float = 0.05, repeats: int = 1, seed: int = 0) -> EarlyDifference | None:
    """Both as marks, asked in that order; they finish in another. `here` has an item's repeats together."""
    n_items = len(here) // repeats
    rule = PairedStopping(range(n_items), repeats, error, other(there, len(there) // n_items), SCALE)
    for place in random.Random(seed).sample(range(len(here)), len(here)):
        item, repeat = divmod(place, repeats)
        rule.add(repeat * n_items + item, OUTCOMES[here[place]])
    return rule.decision


@pytest.mark.parametrize(
    ("outcome", "mark"),
    [
        pytest.param(GOOD, "1", id="passed"),
        pytest.param(WRONG, "0", id="wrong"),
        pytest.param(UNSCORED, "?", id="unscored"),
        pytest.param(outcome_v1(unanswered=True), "?", id="unanswered"),
        pytest.param(outcome_v1(accuracy_score=0, score_origin=NO_ANSWER, timed_out=True), "0", id="timed-out"),
        pytest.param(outcome_v1(evaluator_error="parse_error", latency_e2e_ms=8001), "0", id="unscored-and-too-slow"),
    ],
)
def test_a_sample_passed_or_did_not_or_nobody_knows(outcome: SampleOutcome, mark: str) -> None:
    assert pass_mark(outcome, SCALE) == mark


@pytest.mark.parametrize(
    ("here", "there", "worst", "best", "most"),
    [
        pytest.param("1", "0", 2, 2, 2, id="won"),
        pytest.param("0", "1", 0, 0, 2, id="lost"),
        pytest.param("1", "1", 1, 1, 2, id="alike"),
        pytest.param("?", "1", 0, 1, 2, id="here-open"),
        pytest.param("1", "?", 1, 2, 2, id="there-open"),
        pytest.param("?", "?", 0, 2, 2, id="both-open"),
        # 2/3 less 1/2 is 1/6: 6 for no difference, and 1 more of 12.
        pytest.param("110", "10", 7, 7, 12, id="of-three-and-two-repeats"),
        # 1/3 to 2/3, less 1/2 to 1: from 2/3 lost to 1/6 won.
        pytest.param("1?0", "1?", 2, 7, 12, id="of-repeats-with-open-ones"),
    ],
)
def test_what_a_pair_is_worth(here: str, there: str, worst: int, best: int, most: int) -> None:
    found = pair_values(here, there)
    assert (found.worst, found.best, found.most) == (worst, best, most)


def test_a_clear_difference_is_shown_and_counted() -> None:
    found = held("1" * 300, "1100" * 75)
    assert found is not None
    assert (found.verdict, found.against, found.n_items, found.error) == ("better", "BASE", 300, 0.05)
    assert found.after_items < 40
    assert (found.n_won + found.n_same, found.n_lost, found.n_open) == (found.after_items, 0, 0)
    assert abs(found.n_won - found.n_same) <= 2
    assert found.words == f"decided after {found.after_items} of 300 items: better than BASE"


def test_a_won_item_each_time_takes_as_many_as_the_bets_say() -> None:
    """Bets of 5 to 99 % on a sure thing: after n items 1 is the mean of (1 + part)^n, and 40 is asked for."""
    parts = [*(place / 20 for place in range(1, 20)), 0.99]
    least = next(n for n in range(1, 99) if sum((1 + part) ** n for part in parts) / 20 >= 40)
    found = held("1" * 50, "0" * 50)
    assert found is not None
    assert (found.after_items, found.n_won) == (least, least)


def test_the_other_way_round_it_is_worse_after_as_many() -> None:
    here, there = "1101" * 100, "1100" * 50 + "0110" * 50
    better, worse = held(here, there), held(there, here)
    assert better is not None
    assert worse is not None
    assert (better.verdict, worse.verdict) == ("better", "worse")
    assert (better.after_items, better.n_won, better.n_lost) == (worse.after_items, worse.n_lost, worse.n_won)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        pytest.param("1" * 200, "1" * 200, id="alike"),
        pytest.param("10" * 100, "01" * 100, id="as-many-won-as-lost"),
        pytest.param("?" * 200, "1" * 200, id="unanswered-here"),
        pytest.param("1" * 200, "?" * 200, id="unanswered-there"),
        pytest.param("1?" * 100, "0?" * 20 + "1?" * 80, id="more-open-than-won"),
        pytest.param("1" * 5, "0" * 5, id="too-few"),
        pytest.param("1", "0", id="one"),
    ],
)
def test_nothing_is_said_where_nothing_is_shown(here: str, there: str) -> None:
    assert held(here, there) is None
    assert held(there, here) is None


@examples(50)
@given(st.data(), st.integers(1, 2), st.integers(1, 3), st.integers(1, 5))
def test_what_finishes_first_changes_nothing(data: st.DataObject, repeats: int, others: int, seed: int) -> None:
    n_items = 40
    here = data.draw(st.text("1110?", min_size=n_items * repeats, max_size=n_items * repeats))
    there = data.draw(st.text("1000?", min_size=n_items * others, max_size=n_items * others))
    found = held(here, there, error=0.3, repeats=repeats)
    assert found == held(here, there, error=0.3, repeats=repeats, seed=seed)
    if found is not None:
        assert found.n_won + found.n_lost + found.n_same + found.n_open == found.after_items < n_items


@given(st.text("10?", min_size=60, max_size=60), st.text("10?", min_size=60, max_size=60))
def test_what_is_open_never_speaks_for_anybody(here: str, there: str) -> None:
    """Whatever is shown with samples open is shown, no later, where they are filled in for it."""
    found = held(here, there, error=0.3)
    if found is None:
        return
    mine, others = ("1", "0") if found.verdict == "better" else ("0", "1")
    filled = held(here.replace("?", mine), there.replace("?", others), error=0.3)
    assert filled is not None
    assert (filled.verdict, filled.n_open) == (found.verdict, 0)
    assert filled.after_items <= found.after_items


@pytest.mark.parametrize("passes", ["1" * 9, "1" * 11, "1" * 9 + "x"])
def test_the_other_run_has_a_mark_for_every_sample(passes: str) -> None:
    with pytest.raises(ValueError, match="against BASE: not one of 1, 0 and"):
        PairedStopping(range(10), 1, 0.05, other(passes), SCALE)
