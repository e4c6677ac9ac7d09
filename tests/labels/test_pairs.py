"""Models by verdicts on pairs: how verdicts are read and counted, and what is said of models and judges."""

from __future__ import annotations

import json
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from benchbook.errors import InputError, UsageError
from benchbook.labels.pairs.ranking import PairRanking, rank_by_pairs
from benchbook.labels.pairs.rows import rows_of
from benchbook.labels.pairs.verdicts import PairedAnswers, Showing, Swap, gathered, read_table_of_pairs
from benchbook.statistics import pair_strengths

Rows = list[dict[str, Any]]


def read(tmp_path: Path, rows: Rows, name: str = "pairs.jsonl") -> list[PairedAnswers]:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return gathered(read_table_of_pairs(path))


def row(item: Any, winner: Any, a: str = "x", b: str = "y", **more: Any) -> dict[str, Any]:
    return {"item": item, "model_a": a, "model_b": b, "winner": winner} | more


def both(item: Any, ab: Any, ba: Any, a: str = "x", b: str = "y", **more: Any) -> dict[str, Any]:
    return {"item": item, "model_a": a, "model_b": b, "winner_ab": ab, "winner_ba": ba} | more


def ranked(tmp_path: Path, rows: Rows, **how: Any) -> PairRanking:
    (found,) = rank_by_pairs(read(tmp_path, rows), **how)
    return found


def rates(found: PairRanking) -> dict[str, float | None]:
    return {one.model: one.rate.estimate for one in found.models}


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written", "won", "bad"),
    [
        *((one, 1.0, False) for one in (1, "1", "A", "a", "[[A]]", "model_a", "Answer 1")),
        *((one, 0.0, False) for one in (2, "B", "model_b", "assistant-b")),
        *((one, 0.5, False) for one in (0.5, "tie", "C", "draw", "both good")),
        *((one, 0.5, True) for one in ("both bad", "tie (bothbad)", "Equally bad", "BOTH_BAD")),
        *((one, None, False) for one in (None, "")),
    ],
)
def test_a_winner_is_read_as_it_is_commonly_written(tmp_path: Path, written: Any, won: float, bad: bool) -> None:
    (found,) = read(tmp_path, [row("q", written, first="b")])
    assert found.showings == (Showing(won=won, first="b", both_bad=bad),)


def test_a_table_of_both_orders_and_one_with_answers(tmp_path: Path) -> None:
    (found,) = read(tmp_path, [both(1, "A", "tie", judge="j", answer_a="long one", answer_b=None, chars_b=3)])
    assert (found.judge, found.item, found.model_a, found.chars_a, found.chars_b) == ("j", "1", "x", 8, 3)
    assert found.showings == (Showing(won=1.0, first="a"), Showing(won=0.5, first="b"))


def test_parquet_and_csv_say_the_same(tmp_path: Path) -> None:
    rows = [row("q", "A", judge="j", first="a", chars_a=10, chars_b=20)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "pairs.parquet")
    text = "item,model_a,model_b,winner,judge,first,chars_a,chars_b\nq,x,y,A,j,a,10,20\n"
    (tmp_path / "pairs.csv").write_text(text, encoding="utf-8")
    expected = read(tmp_path, rows)
    for name in ("pairs.parquet", "pairs.csv"):
        assert gathered(read_table_of_pairs(tmp_path / name)) == expected


def test_the_two_orders_may_stand_in_two_rows_and_models_in_either_place(tmp_path: Path) -> None:
    """y won when it was shown second, and when it was shown first; the second row calls it model_a."""
    (found,) = read(tmp_path, [row("q", "B", first="a", chars_a=5, chars_b=9), row("q", "A", "y", "x", first="a")])
    assert (found.model_a, found.chars_a, found.chars_b) == ("x", 5, 9)
    assert found.showings == (Showing(won=0.0, first="a"), Showing(won=0.0, first="b"))


@pytest.mark.parametrize(
    ("rows", "line", "field"),
    [
        pytest.param([{"item": 1, "model_a": "x", "model_b": "y"}], 1, "winner", id="no winner"),
        pytest.param([{"item": 1, "model_a": "x", "winner": 1}], 1, "model_b", id="no model"),
        pytest.param([{"item": 1, "model_a": "x", "model_b": "y", "winner_ab": 1}], 1, "winner_ba", id="one order"),
        pytest.param([both(1, 1, 1, winner=1)], 1, "winner", id="two forms"),
        pytest.param([row(1, "x")], 1, "winner", id="a name"),
        pytest.param([row(1, 1), row(2, 1, first="tie")], 2, "first", id="first is a tie"),
        pytest.param([row(1, 1), row(1, 2)], 2, "item", id="twice, in no order"),
        pytest.param([row(1, 1, first="a"), row(1, 1, "y", "x", first="b")], 2, "item", id="twice, in one order"),
        pytest.param([both(1, 1, 1), both(1, 2, 2, "y", "x")], 2, "item", id="twice, in both orders"),
        pytest.param([row(1, 1, judge="j"), row(2, 1, judge="")], 2, "judge", id="no judge"),
        pytest.param([row(1, 1, chars_a=-1, chars_b=2)], 1, "chars_a", id="length"),
        pytest.param([row(1, 1, answer_a=["t"])], 1, "answer_a", id="answer"),
        pytest.param([row("", 1)], 1, "item", id="no item"),
    ],
)
def test_a_table_that_is_wrong_says_where(tmp_path: Path, rows: Rows, line: int, field: str) -> None:
    with pytest.raises(InputError) as found:
        read(tmp_path, rows)
    assert (found.value.line, found.value.field) == (line, field)


def test_judges_and_pairs_of_models_are_no_repetitions(tmp_path: Path) -> None:
    rows = [row(1, 1, judge="j"), row(1, 1, judge="k"), row(1, 1, "x", "z", judge="j"), row(2, 1, judge="j")]
    assert len(read(tmp_path, rows)) == 4


# ── counting ─────────────────────────────────────────────────────────────────────────────────────────────────

# Winners with x first, and with y first; then what x has won of the verdict, and of its two halves.
SWAPS: list[tuple[Any, Any, float | None, tuple[float, ...]]] = [
    ("A", "A", 1.0, (1, 1)), ("B", "B", 0.0, (0, 0)), ("A", "B", 0.5, (1, 0)), ("B", "A", 0.5, (0, 1)),
    ("A", "tie", 0.5, (1, 0.5)), ("tie", "B", 0.5, (0.5, 0)), ("tie", "tie", 0.5, (0.5, 0.5)),
    ("A", None, None, (1,)), (None, "B", None, (0,)), (None, None, None, ()),
]  # fmt: skip


@pytest.mark.parametrize(("ab", "ba", "survives", "halves"), SWAPS)
def test_what_survives_the_swap(
    tmp_path: Path, ab: Any, ba: Any, survives: float | None, halves: tuple[float, ...]
) -> None:
    found = read(tmp_path, [both("q", ab, ba)])
    assert [(one.won, one.halves, one.first) for one in rows_of(found, "tie")] == (
        [] if survives is None else [(survives, 2, 0)]
    )
    firsts = [first for first, won in ((1, ab), (-1, ba)) if won is not None]
    assert [(one.won, one.halves, one.first) for one in rows_of(found, "half")] == [
        (won, 1, first) for won, first in zip(halves, firsts, strict=True)
    ]


def test_a_verdict_in_one_order_is_a_whole_one_either_way(tmp_path: Path) -> None:
    found = read(tmp_path, [row("q", "A", first="b"), row("r", "tie")])
    for swap in ("tie", "half"):
        assert [(one.won, one.halves, one.first) for one in rows_of(found, swap)] == [(1.0, 2, -1), (0.5, 2, 0)]


def test_a_win_is_strong_where_both_orders_say_so() -> None:
    def of(ab: int, ba: int) -> list[int]:
        showings = (Showing(won=1.0, first="a", weight=ab), Showing(won=1.0, first="b", weight=ba))
        one = PairedAnswers(judge="j", item="q", model_a="x", model_b="y", showings=showings)
        return [row.halves for swap in ("tie", "half") for row in rows_of([one], swap)]  # type: ignore[arg-type]

    assert of(3, 3) == [6, 3, 3]
    assert of(3, 1) == [2, 3, 1]


def test_everything_is_counted(tmp_path: Path) -> None:
    rows = [both(place, ab, ba) for place, (ab, ba, _, _) in enumerate(SWAPS)]
    rows += [both("bad", "both bad", "tie"), both("self", "tie", "tie", "x", "x")]
    found = ranked(tmp_path, rows)
    assert (found.n_pairs, found.n_items, found.n_itself) == (11, 11, 1)
    assert (found.n_missing, found.n_both_orders, found.n_changed) == (3, 8, 4)
    assert (found.n_tied, found.n_both_bad) == (2, 1)
    assert rates(found) == {"x": (1 + 6 / 2) / 8, "y": (1 + 6 / 2) / 8}
    halves = ranked(tmp_path, rows, swap="half")
    assert (halves.n_missing, halves.n_both_orders, halves.n_changed) == (1, 8, 4)
    assert rates(halves)["x"] == pytest.approx((2 + 0 + 1 + 1 + 1.5 + 0.5 + 1 + 1 + 0 + 1) / 18)
    assert found.swap == "tie"


def test_an_empty_table_has_no_ranking_and_one_of_no_verdicts_no_models(tmp_path: Path) -> None:
    assert rank_by_pairs([]) == []
    found = ranked(tmp_path, [row(1, None), row(2, None)])
    assert (found.models, found.reason, found.n_missing) == ((), "no_data", 2)


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────


def cycle(n: int = 8) -> Rows:
    """x beats y in three of four items, y beats z in three of four, x beats z in seven of eight."""
    return [
        one
        for item in range(n)
        for one in (
            row(item, "A" if item % 4 else "B"),
            row(item, "A" if item % 4 != 1 else "B", "y", "z"),
            row(item, "A" if item else "B", "x", "z"),
        )
    ]


def test_models_come_by_strength_with_rates_and_ranks(tmp_path: Path) -> None:
    found = ranked(tmp_path, cycle(16), anchor="z")
    assert [one.model for one in found.models] == ["x", "y", "z"]
    assert [one.n for one in found.models] == [32, 32, 32]
    assert rates(found) == {"x": (12 + 15) / 32, "y": (4 + 12) / 32, "z": (1 + 4) / 32}
    x, _, z = found.models
    assert (z.strength and z.strength.estimate, z.win and z.win.estimate) == (0.0, 0.5)
    assert x.rate.n_clusters == 16
    assert x.rate.method == "jeffreys_by_correlation"
    assert x.strength is not None
    assert x.strength.low is not None
    assert x.strength.low > 0
    assert (x.rank, x.rank_high, z.rank) == (1, 2, 3)
    assert (found.held_equal, found.reason) == ((), None)
    assert len(found.covariance) == 3


@pytest.mark.parametrize("swap", ["tie", "half"])
def test_two_models_without_more_have_their_rate_for_their_chance(tmp_path: Path, swap: Swap) -> None:
    """The likeliest chance is the mean of what was won."""
    rows = [both(place, ab, ba) for place, (ab, ba, _, halves) in enumerate(SWAPS) if halves]
    found = ranked(tmp_path, [*rows, both("more", "A", "A")], swap=swap, anchor="y")
    x = next(one for one in found.models if one.model == "x")
    if swap == "tie":  # no order is left to hold equal
        assert x.win is not None
        assert x.win.estimate == pytest.approx(x.rate.estimate, abs=1e-9)
    assert found.held_equal == (("first",) if swap == "half" else ())


def test_a_model_that_won_everything_is_named_and_keeps_its_rate(tmp_path: Path) -> None:
    rows = [one | {"winner": "A"} if one["model_a"] == "x" else one for one in cycle()]
    found = ranked(tmp_path, rows)
    assert (found.reason, found.parts) == ("separated", (("x",), ("y", "z")))
    assert [one.model for one in found.models] == ["x", "y", "z"]  # by their rates
    assert [(one.strength, one.win, one.rank) for one in found.models] == [(None, None, None)] * 3
    best = found.models[0].rate
    assert best.estimate == 1.0
    assert best.low is not None
    assert 0.5 < best.low < 1


def test_models_that_never_met_are_named(tmp_path: Path) -> None:
    rows = [row(1, "A"), row(2, "B"), row(1, "A", "z", "w"), row(2, "B", "z", "w")]
    found = ranked(tmp_path, rows)
    assert (found.reason, found.parts) == ("not_connected", (("w", "z"), ("x", "y")))


def test_an_anchor_that_nobody_judged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no verdict on 'model-y'; did you mean 'model-x'\?"):
        ranked(tmp_path, [row(1, "A", "model-x", "other")], anchor="model-y")


def test_each_judge_by_itself(tmp_path: Path) -> None:
    rows = [one | {"judge": "b"} for one in cycle()] + [one | {"judge": "a", "winner": "tie"} for one in cycle()]
    found = rank_by_pairs(read(tmp_path, rows), by_judge=True)
    assert [one.judge for one in found] == ["a", "b"]
    assert [one.n_pairs for one in found] == [24, 24]
    assert found[0].n_tied == 24
    assert {one.rank for one in found[0].models} == {1}
    (together,) = rank_by_pairs(read(tmp_path, rows))
    assert (together.judge, together.n_pairs, together.n_items) == (None, 48, 8)
    assert [one.judge for one in together.judges] == ["a", "b"]


# ── what judges lean to ──────────────────────────────────────────────────────────────────────────────────────


def leaning(seed: int, *, first: float, length: float, n: int = 400) -> Rows:
    """A judge of three equal models in both orders, that adds so much to the log odds of first and longer answers."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(n):
        a, b = rng.choice(["x", "y", "z"], 2, replace=False).tolist()
        chars_a, chars_b = (int(one) for one in np.exp(rng.normal(6, 0.5, 2)))
        longer = length * (log(1 + chars_a) - log(1 + chars_b))
        winners = ["A" if rng.random() < 1 / (1 + np.exp(-longer - sign * first)) else "B" for sign in (1, -1)]
        rows.append(both(item, *winners, a, b, chars_a=chars_a, chars_b=chars_b))
    return rows


def test_leanings_of_a_judge_are_found_in_either_way_of_counting(tmp_path: Path) -> None:
    rows = leaning(3, first=0.6, length=0.8)
    found = ranked(tmp_path, rows)
    halves = ranked(tmp_path, rows, swap="half")
    assert found.judges == halves.judges  # by verdicts as they were given
    (judge,) = found.judges
    assert judge.n == 800
    assert judge.first is not None
    assert judge.length is not None
    assert judge.first.effect.low is not None
    assert judge.first.effect.high is not None
    assert judge.first.effect.low < 0.6 < judge.first.effect.high
    assert judge.first.p is not None
    assert judge.first.p < 0.001
    assert found.longer is not None
    steps = log(found.longer)
    assert steps == pytest.approx(sqrt(2) * 0.5, rel=0.1)
    assert judge.length.effect.low is not None
    assert judge.length.effect.high is not None
    assert judge.length.effect.low < 0.8 * steps < judge.length.effect.high
    win = judge.length.win.estimate
    assert win == pytest.approx(1 / (1 + np.exp(-(judge.length.effect.estimate or 0.0))))
    assert (found.held_equal, halves.held_equal) == (("length",), ("first", "length"))


@pytest.mark.slow
def test_an_unbiased_judge_is_said_to_be_biased_in_5_of_100() -> None:
    p_first, p_length = [], []
    for seed in range(200):
        verdicts = [
            PairedAnswers(
                judge="j", item=str(one["item"]), model_a=one["model_a"], model_b=one["model_b"],
                showings=(
                    Showing(won=float(one["winner_ab"] == "A"), first="a"),
                    Showing(won=float(one["winner_ba"] == "A"), first="b"),
                ),
                chars_a=one["chars_a"], chars_b=one["chars_b"],
            )
            for one in leaning(seed, first=0, length=0, n=60)
        ]  # fmt: skip
        (judge,) = rank_by_pairs(verdicts)[0].judges
        assert judge.first is not None
        assert judge.length is not None
        p_first.append(judge.first.p or 0.0)
        p_length.append(judge.length.p or 0.0)
    assert np.mean(np.array(p_first) <= 0.05) == pytest.approx(0.05, abs=0.045)
    assert np.mean(np.array(p_length) <= 0.05) == pytest.approx(0.05, abs=0.045)


def test_the_fit_is_that_of_the_rows_with_lengths_in_steps(tmp_path: Path) -> None:
    rows = leaning(5, first=0.3, length=0.4, n=120)
    found = ranked(tmp_path, rows, swap="half")
    verdicts = read(tmp_path, rows)
    ratio = np.repeat([log(1 + (one.chars_a or 0)) - log(1 + (one.chars_b or 0)) for one in verdicts], 2)
    fit = pair_strengths(
        np.repeat([one.model_a for one in verdicts], 2),
        np.repeat([one.model_b for one in verdicts], 2),
        [showing.won or 0.0 for one in verdicts for showing in one.showings],
        clusters=np.repeat([one.item for one in verdicts], 2),
        covariates={
            "first": [1.0 if showing.first == "a" else -1.0 for one in verdicts for showing in one.showings],
            "length": ratio / np.sqrt((ratio**2).mean()),
        },
    )
    for ours, theirs in zip(found.models, fit.models, strict=True):
        assert ours.model == theirs.name
        assert ours.strength is not None
        assert ours.strength.low == pytest.approx(theirs.strength.low, rel=1e-9)  # a weight of a half changes nothing
    assert found.judges[0].length is not None
    assert found.judges[0].length.p == pytest.approx(fit.effects[1].p, rel=1e-9)


def test_with_a_length_missing_none_is_held_equal(tmp_path: Path) -> None:
    rows = leaning(7, first=0, length=1)
    rows[3]["chars_a"] = None
    found = ranked(tmp_path, rows)
    assert (found.held_equal, found.longer, found.n_without_length) == ((), None, 1)
    assert found.judges[0].length is None
    off = ranked(tmp_path, leaning(7, first=0, length=1), length=False)
    assert (off.held_equal, off.longer, off.n_without_length) == ((), None, 0)


def test_a_place_that_always_wins_is_left_out_of_the_fit_and_said_so(tmp_path: Path) -> None:
    """Both models win and lose, each always by its place."""
    rows = [row(place, "A" if place % 2 else "B", first="a" if place % 2 else "b") for place in range(12)]
    found = ranked(tmp_path, rows)
    assert (found.reason, found.held_equal) == (None, ())
    assert [one.strength and one.strength.estimate for one in found.models] == pytest.approx([0, 0], abs=1e-9)
    assert found.judges[0].first is not None
    assert found.judges[0].first.effect.reason == "separated_by_covariates"


def test_a_place_that_goes_along_with_the_model_says_nothing(tmp_path: Path) -> None:
    found = ranked(tmp_path, [row(place, "A" if place % 3 else "B", first="a") for place in range(12)])
    assert found.judges[0].first is not None
    assert found.judges[0].first.effect.reason == "not_told_apart"
    assert found.held_equal == ()
