"""Who wins by a judge and who by people, and how many wins are wrong, by values worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from published_judges.elsewhere import against_elo, contested, verdicts
from published_judges.judgement import RIGHT, WRONG, Judgement
from published_judges.pairs import ModelPair, Told, pairs_of, told
from published_judges.wins import readings, wins_of


def judged(judge: str, model: str, scores: Sequence[float | None], people: Sequence[float | None]) -> list[Judgement]:
    return [
        Judgement(source="s", judge=judge, model=model, item=f"i{number}", score=score, people=label)
        for number, (score, label) in enumerate(zip(scores, people, strict=True))
    ]


def pair(
    by_judge: int, by_people: int = 0, *, judge: str = "j", a: str = "a", b: str = "b", p: float = 0.01
) -> ModelPair:
    """A pair with a declared winner (1: b, -1: a, 0: none) and one by people; both lean that way, or towards b."""
    none = np.zeros(20)
    own, theirs = (Told(n=20, mean=0.1 * (sign or 1), p=p, sign=sign) for sign in (by_judge, by_people))
    return ModelPair("s", judge, a, b, none, none, own, theirs, p_holm=p, p_holm_of_people=p)


# ── one pair ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("won", "lost", "p", "sign"),
    [
        (4, 0, 2 * 0.5**4 - 0.5**4, 0),  # mid-p: twice the tail, less what lies at its end
        (5, 0, 0.5**5, 1),
        (0, 6, 0.5**6, -1),
        (7, 1, 2 * 9 / 256 - 8 / 256, 1),
        (6, 1, 2 * 8 / 128 - 7 / 128, 0),
    ],
)
def test_passes_are_told_apart_by_mid_p(won: int, lost: int, p: float, sign: int) -> None:
    differences = np.array([1.0] * won + [-1.0] * lost + [0.0] * (40 - won - lost))
    found = told(differences, passes=True)
    assert (found.n, found.sign) == (40, sign)
    assert found.p == pytest.approx(p)
    assert found.mean == pytest.approx((won - lost) / 40)


@pytest.mark.parametrize(("better", "p", "sign"), [(5, 2 / 2**5, 0), (12, 2 / 2**12, 1)])
def test_grades_are_told_apart_by_flipped_signs(better: int, p: float, sign: int) -> None:
    found = told(np.array([0.5] * better + [0.0] * (20 - better)), passes=False)
    assert found.p == pytest.approx(p)
    assert found.sign == sign


def test_the_interval_must_leave_out_0_as_well() -> None:
    """Ten items better by a hair: the signs say so, and one lost item that has not come up would undo it."""
    found = told(np.array([0.01] * 20), passes=False)
    assert found.p < 0.001
    assert found.sign == 0


def test_models_are_compared_over_the_items_that_both_answered() -> None:
    people = [1.0] * 30
    a = judged("j", "a", [0.0] * 25 + [None] * 5, people)
    b = judged("j", "b", [None] * 3 + [1.0] * 27, [0.0] * 30)
    (found,) = pairs_of([*a, *b])
    assert (found.a, found.b, found.told.n) == ("a", "b", 22)
    assert (found.told.mean, found.win) == (1.0, 1)
    assert (found.truth, found.known, found.is_wrong) == (-1.0, -1, True)


def test_few_items_rank_nothing() -> None:
    labels = [1.0] * 19
    assert pairs_of([*judged("j", "a", labels, labels), *judged("j", "b", labels, labels)]) == []


def test_people_that_were_asked_of_few_know_nothing() -> None:
    few = [1.0] * 10 + [None] * 20
    (found,) = pairs_of([*judged("j", "a", [0.0] * 30, few), *judged("j", "b", [1.0] * 30, few)])
    assert (found.win, found.known, found.truth, found.is_wrong) == (1, 0, None, False)


def test_preferences_in_both_orders_are_one_difference() -> None:
    def said(item: int, score: float, *, swapped: bool) -> Judgement:
        return Judgement(
            source="s", judge="j", model="b", against="a", item=f"i{item}", score=score, people=0.5, swapped=swapped
        )

    replies = [
        said(item, score, swapped=swapped) for item in range(20) for score, swapped in ((1.0, False), (0.5, True))
    ]
    (found,) = pairs_of(replies)
    assert found.by_judge.tolist() == [0.5] * 20  # preferred once, and a tie
    assert found.by_people.tolist() == [0.0] * 20


def test_the_side_that_a_preference_is_told_from_does_not_matter() -> None:
    first = [Judgement("s", "j", "b", f"i{n}", 1.0, 0.75, against="a") for n in range(10)]
    second = [Judgement("s", "j", "a", f"i{n}", 0.0, 0.25, against="b") for n in range(10, 20)]
    (found,) = pairs_of([*first, *second])
    assert found.by_judge.tolist() == [1.0] * 20
    assert found.by_people.tolist() == [0.5] * 20


def test_answers_known_to_be_right_rank_no_models() -> None:
    assert pairs_of([Judgement("s", "j", RIGHT, f"i{n}", 1.0, 1.0, against=WRONG) for n in range(30)]) == []


def test_holm_is_over_the_pairs_of_one_judge() -> None:
    """Of three pairs of judge `j` two have p = 1/32, so Holm makes 3/32 of them; judge `k` has one pair alone."""
    labels = [1.0] * 20
    a, b = [0.0] * 20, [1.0] * 5 + [0.0] * 15
    models = {"a": a, "b": b, "c": a}
    scored = [one for model, scores in models.items() for one in judged("j", model, scores, labels)]
    alone = [one for model in ("a", "b") for one in judged("k", model, models[model], labels)]
    found = {(one.judge, one.a, one.b): one for one in pairs_of([*scored, *alone])}
    assert [found["j", *names].p_holm for names in (("a", "b"), ("a", "c"), ("b", "c"))] == [3 / 32, 1.0, 3 / 32]
    assert (found["j", "a", "b"].win, found["j", "a", "b"].win_by_holm) == (1, 0)
    assert (found["k", "a", "b"].win, found["k", "a", "b"].win_by_holm) == (1, 1)


# ── many pairs ───────────────────────────────────────────────────────────────────────────────────────────────


def counts(found: dict[str, Any]) -> tuple[int, int]:
    return found["k"], found["n"]


def test_wins_are_counted_by_what_is_known_of_them() -> None:
    pairs = [
        pair(1, 1),
        pair(-1, -1, judge="k"),
        pair(1, -1),  # wrong
        pair(-1, 0, judge="k"),  # a win that people can't tell, against their mean
        pair(0, 1),  # no win
        pair(1, 1, p=0.2),  # no win after Holm
    ]
    found = wins_of(pairs)
    assert (found["pairs"], found["known"]) == (6, 5)
    raw, holm = found["raw"], found["holm"]
    assert (raw["wins"], raw["unknown"], counts(raw["wrong"]), counts(raw["against_mean"])) == (5, 1, (1, 4), (2, 5))
    assert counts(raw["not_told_by_people"]) == (1, 5)
    assert counts(raw["wrong_by_holm"]) == (1, 3)
    assert (holm["wins"], counts(holm["wrong"])) == (4, (1, 3))
    assert counts(found["reversed"]) == (1, 5)


def test_replies_are_counted_by_how_they_were_read() -> None:
    def replies(judge: str, **counts: int) -> list[Judgement]:
        kinds: Any = [kind for kind, count in counts.items() for _ in range(count)]
        return [Judgement("s", judge, "m", f"i{n}", None, None, kind) for n, kind in enumerate(kinds)]

    found = readings([*replies("texts", strict=6, guess=3, none=1), *replies("verdicts", given=4, none=2)])
    assert counts(found["s", "texts"]["guess"]) == (3, 10)
    assert found["s", "verdicts"] == {"judgements": 6, "unread": 2, "as_text": 0, "guess": None}


# ── without people ───────────────────────────────────────────────────────────────────────────────────────────


def test_verdicts_that_follow_the_place_are_right_once() -> None:
    scores = {
        "both": (1.0, 1.0),
        "by place": (1.0, 0.0),
        "neither": (0.0, 0.0),
        "tie": (0.5, 1.0),
        "unread": (None, 1.0),
    }
    said = [
        Judgement("s", "j", RIGHT, item, score, 1.0, against=WRONG, swapped=swapped)
        for item, both in scores.items()
        for swapped, score in zip((False, True), both, strict=True)
    ]
    (found,) = verdicts(said)
    assert found["items"] == 5
    shares = {name: counts(found[name]) for name in ("right", "ties", "unread", "right_in_both", "by_place")}
    assert shares == {"right": (5, 10), "ties": (1, 10), "unread": (1, 10), "right_in_both": (1, 5), "by_place": (1, 4)}


def test_judges_contradict_each_other_where_both_declare_a_win() -> None:
    names = [("a", "b"), ("a", "c"), ("b", "c")]
    by_j = [pair(sign, judge="j", a=a, b=b) for (a, b), sign in zip(names, (1, 1, 0), strict=True)]
    by_k = [pair(sign, judge="k", a=a, b=b) for (a, b), sign in zip(names, (1, -1, 1), strict=True)]
    (found,) = contested([*by_j, *by_k])
    assert (found["source"], found["judges"], found["pairs"], counts(found["opposite"])) == ("s", ["j", "k"], 3, (1, 2))


def test_wins_are_held_against_an_order_only_of_models_that_are_far_apart_in_it() -> None:
    pairs = [pair(1), pair(1, a="a", b="c"), pair(-1, a="a", b="d"), pair(1, a="a", b="unknown")]
    found = against_elo(pairs, {"a": 1000.0, "b": 900.0, "c": 1010.0, "d": 900.0})
    assert (found["models"], found["pairs"], counts(found["raw"])) == (3, 2, (1, 2))
