"""The difference of two runs as people would judge: values by hand, how often its interval holds, and what turns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchbook.comparison.compared import ComparisonSet, compare_runs
from benchbook.comparison.corrected import (
    PairWorth,
    corrected_scores_of,
    corrected_set,
    design_of,
    peoples_difference,
)
from benchbook.comparison.corrected_results import CorrectedDifference
from benchbook.comparison.leaderboard import leaderboard
from benchbook.comparison.records import compared_run
from benchbook.errors import UsageError
from benchbook.labels.calibration_results import Drawing
from benchbook.labels.labels import LabelBook, give_labels
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.labels.worths import ItemWorth, worths_of_runs
from benchbook.record.folder import Record
from labelled import Scores, judged_run
from scored import scored

DRAWING = Drawing(0.95, 0, 400)


def worth(judge: float, people: float | None = None) -> ItemWorth:
    return ItemWorth(judge=judge, judge_there=None if people is None else judge, people=people, answers="")


def pairs(*values: tuple[float, float | None, float, float | None]) -> list[PairWorth]:
    """(A as judged, A as people, B as judged, B as people) of each item."""
    return [PairWorth(worth(a, people_a), worth(b, people_b)) for a, people_a, b, people_b in values]


def test_pairs_by_hand() -> None:
    """Ten pairs that both people and judge scored, and ten that the judge alone did. The judge's differences are 0.5
    and 0 by turns in both tens; people's are always 0.25 lower: a rectifier without any spread, so all that varies is
    the judge's mean of the ten others, and the weight is cov / ((1 + n/N) var) = (0.0625) / (2 * 0.0625 * 20/19)."""
    labelled = [(0.5, 0.5, 1.0, 0.75), (0.5, 0.5, 0.5, 0.25)] * 5
    found = peoples_difference(pairs(*labelled, *[(0.5, None, 1.0, None), (0.5, None, 0.5, None)] * 5), DRAWING)
    assert found.design == "paired"
    assert found.found.method == "ppi++_bounded"
    assert found.found.estimate == pytest.approx(0.25 - 0.25)  # the judge's mean difference, less its kindness to B
    low, high = found.found.low, found.found.high
    assert low is not None
    assert high is not None
    # The error is sqrt(w^2 0.0625 / 10 + (1 - w)^2 0.0625 / 10), with w = 0.475.
    assert found.found.standard_error == pytest.approx(0.05597153, abs=1e-8)
    # The wider of Student's t with 9 degrees (2.262157; 8 in place of 10 for the labelled) and of a bounded mean's.
    by_t = 2.262157 * (0.475**2 * 0.0625 / 10 + 0.525**2 * 0.0625 / 8) ** 0.5
    assert -0.2 < low <= -by_t
    assert high == pytest.approx(-low)


def test_separate_means_by_hand() -> None:
    """Zeros and ones. The judge passes half of A and half of B; people, asked of 20 of each at either verdict: all of
    them the same in A, and in B only half of those that the judge passed. So A is 0.5 and B is 0.25."""
    a = [(1.0, 1.0)] * 20 + [(0.0, 0.0)] * 20 + [(1.0, None), (0.0, None)] * 80
    b = [(1.0, None), (0.0, None)] * 80 + [(1.0, 1.0), (1.0, 0.0)] * 10 + [(0.0, 0.0)] * 20
    found = peoples_difference(pairs(*[(*x, *y) for x, y in zip(a, b, strict=True)]), DRAWING, is_rate=True)
    assert found.design == "separate"
    assert found.found.estimate == pytest.approx(-0.25, abs=0.01)
    low, high = found.found.low, found.found.high
    assert low is not None
    assert high is not None
    # Of B alone, a quarter of the variance of 10 in 20: 0.5 sqrt(0.25 / 20) = 0.056, and of A near to nothing.
    assert -0.25 - 1.96 * 0.14 < low < -0.25 - 1.96 * 0.05
    assert -0.25 + 1.96 * 0.05 < high < -0.25 + 1.96 * 0.14


@pytest.mark.parametrize(
    ("n_a", "n_b", "n_both", "design"),
    [(9, 9, 9, "separate"), (10, 10, 10, "paired"), (40, 40, 20, "paired"), (40, 40, 19, "separate"),
     (100, 20, 17, "paired"), (100, 20, 16, "separate"), (0, 0, 0, "separate")],
)  # fmt: skip
def test_the_design_goes_by_the_numbers_of_labels(n_a: int, n_b: int, n_both: int, design: str) -> None:
    both = [PairWorth(worth(1, 1), worth(0, 0))] * n_both
    alone_a = [PairWorth(worth(1, 1), worth(0))] * (n_a - n_both)
    alone_b = [PairWorth(worth(1), worth(0, 0))] * (n_b - n_both)
    same = [PairWorth(worth(1, 1), worth(1, 1), is_same=True)] * 30  # say nothing of where the answers differ
    assert design_of([*both, *alone_a, *alone_b, *same, PairWorth(worth(1), worth(0))]) == design


def test_the_same_answers_are_the_same_to_people() -> None:
    found = peoples_difference([replace(one, is_same=True) for one in pairs((0.2, None, 0.9, None))], DRAWING)
    assert (found.design, found.found.estimate, found.found.low, found.found.high) == ("same_answers", 0.0, 0.0, 0.0)


def test_items_with_the_same_answers_take_their_part() -> None:
    """Half of the items have one answer in both runs: the difference is half of that over the others, and how many do
    varies by chance, too: D sqrt(0.25 / n) more, added by squares."""
    others = pairs(*[(0.5, 0.5, 1.0, 1.0), (0.5, 0.5, 1.0, 0.5)] * 20)
    same = [PairWorth(worth(1), worth(0), is_same=True)] * 40
    alone, found = peoples_difference(others, DRAWING).found, peoples_difference([*others, *same], DRAWING).found
    assert alone.estimate == pytest.approx(0.25)
    assert found.estimate == pytest.approx(0.125)
    assert alone.low is not None
    assert found.low is not None
    off = ((0.25 - alone.low) / 2) ** 2 + (1.959964 * 0.25) ** 2 * 0.25 / 80
    assert found.low == pytest.approx(0.125 - off**0.5)


def test_without_labels_of_a_run_nothing_is_said() -> None:
    found = peoples_difference(pairs(*[(0.5, 0.5, 1.0, None), (1.0, 0.5, 1.0, None)] * 10), DRAWING).found
    assert (found.estimate, found.low, found.reason) == (None, None, "no_data")


@pytest.mark.parametrize("design", ["paired", "separate"])
def test_copies_in_a_cluster_count_once(design: str) -> None:
    """Each of twelve items is there three times, as a group: the estimate stays, and the interval is that of no more
    than the groups. Taken as items of their own, the copies would make it about sqrt(3) narrower."""
    rng = Random(3)
    once = [
        PairWorth(
            worth(quarter(rng.random()), quarter(rng.random())), worth(quarter(rng.random()), quarter(rng.random()))
        )
        for _ in range(24)
    ]
    if design == "separate":
        unlabelled = [
            (one.a if n < 12 else worth(one.a.judge), one.b if n >= 12 else worth(one.b.judge))
            for n, one in enumerate(once)
        ]
        once = [PairWorth(a, b) for a, b in unlabelled]
    copies = [replace(one, cluster=f"group {n}") for n, one in enumerate(once) for _ in range(3)]
    alone, together = peoples_difference(once, DRAWING), peoples_difference(copies, DRAWING)
    as_if_apart = peoples_difference([replace(one, cluster=None) for one in copies], DRAWING).found
    assert alone.design == together.design == design
    assert together.found.estimate == pytest.approx(alone.found.estimate, abs=0.05)
    widths = [(one.high or 0.0) - (one.low or 0.0) for one in (alone.found, together.found, as_if_apart)]
    assert widths[1] > 1.4 * widths[2]
    assert widths[1] == pytest.approx(widths[0], rel=0.25)


# ── how often the interval holds ─────────────────────────────────────────────────────────────────────────────


def world(rng: Random, *, is_rate: bool) -> list[tuple[float, float, float, float, bool]]:
    """(A by people, by the judge, B by people, by the judge, the same answer): the judge is kind to B, which is worse.

    Both runs find the same items hard; in three of ten they give the same answer.
    """
    found = []
    for _ in range(20_000):
        ease, is_same = rng.random(), rng.random() < 0.3
        if is_rate:
            a = float(rng.random() < 0.35 + 0.5 * ease)
            b = a if is_same else float(rng.random() < 0.3 + 0.5 * ease)
            by_judge = [float(rng.random() < (0.8 if one else chance)) for one, chance in ((a, 0.15), (b, 0.4))]
        else:
            a = quarter(0.25 + 0.6 * ease + rng.gauss(0, 0.15))
            b = a if is_same else quarter(0.2 + 0.6 * ease + rng.gauss(0, 0.15))
            by_judge = [quarter(a + rng.gauss(0, 0.15)), quarter(b + rng.gauss(0.2, 0.15))]
        found.append((a, by_judge[0], b, by_judge[1], is_same))
    return found


def quarter(value: float) -> float:
    return round(4 * min(1.0, max(0.0, value))) / 4


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 100])
@pytest.mark.parametrize("draws", ["one", "two"])
@pytest.mark.parametrize("is_rate", [False, True], ids=["scores", "passes"])
def test_the_interval_holds_where_the_judge_favours_a_run(is_rate: bool, draws: str, n: int) -> None:
    """95 of 100 hold, 93 at least and 97.5 at most."""
    rng = Random(n)
    population = world(rng, is_rate=is_rate)
    truth = sum(b - a for a, _, b, _, _ in population) / len(population)
    judged = sum(b - a for _, a, _, b, _ in population) / len(population)
    assert truth < -0.01 < 0.05 < judged  # the judge turns the sign
    held, repeats = 0, 500
    for _ in range(repeats):
        items = rng.choices(population, k=400)
        in_a = set(rng.sample(range(400), n))
        in_b = in_a if draws == "one" else set(rng.sample(range(400), n))
        found = peoples_difference(
            [
                PairWorth(worth(ja, a if i in in_a else None), worth(jb, b if i in in_b else None), is_same=is_same)
                for i, (a, ja, b, jb, is_same) in enumerate(items)
            ],
            DRAWING,
            is_rate=is_rate,
        )
        assert found.design == ("paired" if draws == "one" else "separate")
        low, high = found.found.low, found.found.high
        assert low is not None
        assert high is not None
        held += low <= truth <= high
    assert 0.93 <= held / repeats <= 0.975


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("draws", ["one", "two"])
@pytest.mark.parametrize("is_rate", [False, True], ids=["scores", "passes"])
def test_a_margin_is_seldom_held_by_chance(is_rate: bool, draws: str, n: int) -> None:
    """A run that is worse by just the margin: the gate is to hold in 5 of 100 at most. By 2,000 draws each it does in
    2.8 to 5.4 with 50 and 100 labels of each run, and in 1.6 to 7.2 with 20."""
    rng = Random(n)
    population = world(rng, is_rate=is_rate)
    truth = sum(b - a for a, _, b, _, _ in population) / len(population)
    passed, repeats = 0, 300
    for _ in range(repeats):
        items = rng.choices(population, k=400)
        in_a = set(rng.sample(range(400), n))
        in_b = in_a if draws == "one" else set(rng.sample(range(400), n))
        found = peoples_difference(
            [
                PairWorth(worth(ja, a if i in in_a else None), worth(jb, b if i in in_b else None), is_same=is_same)
                for i, (a, ja, b, jb, is_same) in enumerate(items)
            ],
            Drawing(0.9, 0, 400),
            is_rate=is_rate,
        )
        assert found.found.low is not None
        passed += found.found.low > truth
    assert passed / repeats <= (0.09 if n >= 50 else 0.12)  # what it does, and three standard errors of 300 draws


def alike(rng: Random) -> list[tuple[float, float, float, float, bool]]:
    """As `world`, with passes: two in five items are hard, for both runs."""
    found = []
    for _ in range(20_000):
        is_hard, is_same = rng.random() < 0.4, rng.random() < 0.3
        a = float(rng.random() < (0.2 if is_hard else 0.9))
        b = a if is_same else float(rng.random() < (0.15 if is_hard else 0.85))
        by_judge = [float(rng.random() < (0.85 if one else chance)) for one, chance in ((a, 0.15), (b, 0.4))]
        found.append((a, by_judge[0], b, by_judge[1], is_same))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("is_rate", [False, True], ids=["scores", "passes"])
def test_labels_of_the_same_items_tell_more(is_rate: bool) -> None:
    """100 labels a run, of the same items or drawn apart: over 300 draws 17 and 21 % narrower (the how-to says so)."""
    rng = Random(100)
    population = alike(rng) if is_rate else world(rng, is_rate=False)
    widths = {"same": 0.0, "apart": 0.0}
    for _ in range(100):
        items = rng.choices(population, k=400)
        in_a, others = (set(rng.sample(range(400), 100)) for _ in range(2))
        for draws, in_b in (("same", in_a), ("apart", others)):
            pair = [
                PairWorth(worth(ja, a if i in in_a else None), worth(jb, b if i in in_b else None), is_same=is_same)
                for i, (a, ja, b, jb, is_same) in enumerate(items)
            ]
            found = peoples_difference(pair, DRAWING, is_rate=is_rate).found
            widths[draws] += (found.high or 0.0) - (found.low or 0.0)
    assert widths["same"] / widths["apart"] == pytest.approx(0.79 if is_rate else 0.83, abs=0.03)


# ── over records ─────────────────────────────────────────────────────────────────────────────────────────────

N = 24


def two_runs(folder: Path, judged_b: Scores = (2, 2)) -> tuple[Record, Record]:
    """A's answers get (1, 2) from the judge, and B's, which are others, (2, 2) or what is given."""
    a = judged_run(folder / "a", [(1, 2)] * (N - 1) + [(2, 2)], run_id="a")
    items = [{"answer": f"Other {number:03d}."} for number in range(N)]
    return a, judged_run(folder / "b", [judged_b] * (N - 1) + [(1, 2)], items=items, run_id="b")


def labelled(record: Record, out: Path, scores: tuple[int, int], n: int = N) -> LabelBook:
    book = sample_labels(record, out, n=n, stratify=[], seed=0)
    return give_labels(
        book,
        [Given(sample, "ann", f, s) for sample in book.started.samples for f, s in zip(FIELDS, scores, strict=True)],
    )


def corrected(records: tuple[Record, ...], books: list[LabelBook]) -> ComparisonSet:
    return corrected_set(compare_runs([compared_run(one) for one in records]), worths_of_runs(records, books))


def score_of(found: ComparisonSet) -> CorrectedDifference:
    score = found.pairs[0].corrected[0]
    assert score.metric == "score"
    return score


@pytest.mark.slow
def test_a_sign_that_people_turn(tmp_path: Path) -> None:
    """The judge has 23 of B's answers above A's; people find all of A's right, and none of B's."""
    a, b = two_runs(tmp_path)
    found = corrected((a, b), [labelled(a, tmp_path / "la", (2, 2)), labelled(b, tmp_path / "lb", (0, 0))])
    score = score_of(found)
    assert (score.judged.verdict, score.verdict, score.turned) == ("better", "worse", "reversed")
    assert score.judged == found.pairs[0].score
    assert (score.n, score.n_same, score.n_labelled_a, score.n_labelled_b, score.n_both) == (N, 0, N, N, N)
    assert score.design == "paired"
    assert (score.difference or 0.0) < -0.5
    passing = found.pairs[0].corrected[1]
    assert passing.metric == "passing"
    assert passing.difference == -1.0  # rubric@v1 passes none with a failed criterion


@pytest.mark.slow
def test_a_claim_that_people_take_away(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    score = score_of(corrected((a, b), [labelled(r, tmp_path / f"labels-{r.run_id}", (2, 2)) for r in (a, b)]))
    assert (score.judged.verdict, score.verdict, score.turned) == ("better", "not_told", "not_shown")


@pytest.mark.slow
def test_labels_that_agree_turn_nothing(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    score = score_of(corrected((a, b), [labelled(a, tmp_path / "la", (0, 0)), labelled(b, tmp_path / "lb", (2, 2))]))
    assert (score.verdict, score.turned) == ("better", None)


@pytest.mark.slow
def test_two_judges_of_the_same_answers_differ_in_nothing_for_people(tmp_path: Path) -> None:
    """The labels of one answer in one run are enough: where answers are the same, none is needed."""
    a = judged_run(tmp_path / "a", [(1, 2)] * N, run_id="a")
    b = judged_run(tmp_path / "b", [(2, 2)] * N, run_id="b", judge="scripted/kind@1")
    score = score_of(corrected((a, b), [labelled(a, tmp_path / "la", (2, 2), n=1)]))
    assert (score.n_same, score.design, score.difference) == (N, "same_answers", 0.0)
    assert (score.judged.verdict, score.verdict, score.turned) == ("better", "same", "not_shown")


@pytest.mark.slow
def test_labels_of_one_run_say_nothing_of_another_ones_answers(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    score = score_of(corrected((a, b), [labelled(a, tmp_path / "la", (2, 2))]))
    assert (score.n_labelled_a, score.n_labelled_b, score.difference, score.reason) == (N, 0, None, "no_data")
    assert (score.verdict, score.turned) == ("no_data", None)


@pytest.mark.slow
def test_answers_without_a_score_are_left_out_of_both(tmp_path: Path) -> None:
    a = judged_run(tmp_path / "a", [(1, 2)] * 12, run_id="a")
    items = [{"answer": f"Other {number:03d}."} for number in range(12)]
    b = judged_run(tmp_path / "b", [None, *[(2, 2)] * 11], items=items, run_id="b")  # a reply that can't be read
    found = corrected((a, b), [labelled(a, tmp_path / "la", (2, 2), n=12), labelled(b, tmp_path / "lb", (2, 2), n=11)])
    assert (score_of(found).n, score_of(found).judged.n, score_of(found).n_both) == (11, 11, 11)


@pytest.mark.slow
def test_repeats_are_one_item(tmp_path: Path) -> None:
    a = judged_run(tmp_path / "a", [(1, 2)] * 12, run_id="a", repeats=2)
    items = [{"answer": f"Other {number:03d}."} for number in range(12)]
    b = judged_run(tmp_path / "b", [(2, 2)] * 12, items=items, run_id="b", repeats=2)
    score = score_of(corrected((a, b), [labelled(a, tmp_path / "la", (2, 2)), labelled(b, tmp_path / "lb", (0, 0))]))
    assert (score.n, score.n_labelled_a, score.n_both, score.verdict) == (12, 12, 12, "worse")


@pytest.mark.slow
def test_what_two_folders_say_differently_is_left_out(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    books = [
        labelled(a, tmp_path / "l1", (2, 2)),
        labelled(a, tmp_path / "l2", (2, 1)),
        labelled(b, tmp_path / "l3", (0, 0)),
    ]
    score = score_of(corrected((a, b), books))
    assert (score.n_labelled_a, score.n_labelled_b) == (0, N)  # faithfulness is in doubt, and the score is of both


@pytest.mark.slow
def test_labels_of_shared_answers_are_no_draw_of_the_others(tmp_path: Path) -> None:
    """Half of B's answers are A's, so A's labels hold for them; no more is made of that than that they are the same."""
    a = judged_run(tmp_path / "a", [(1, 2)] * N, run_id="a")
    items = [{} if number % 2 else {"answer": f"Other {number:03d}."} for number in range(N)]
    b = judged_run(tmp_path / "b", [(2, 2)] * N, items=items, run_id="b")
    book_a, book_b = labelled(a, tmp_path / "la", (2, 2)), labelled(b, tmp_path / "lb", (0, 0), n=20)
    alone = score_of(corrected((a, b), [book_a]))
    assert (alone.n_same, alone.n_labelled_a, alone.n_labelled_b, alone.difference) == (12, 12, 0, None)
    assert alone.is_drawn  # nothing of the shared ones was used
    of_b = worths_of_runs([a, b], [book_a, book_b])[1]
    assert (of_b.is_drawn, of_b.n_labelled) == (True, 20)  # its own alone: not the twelve of A's
    assert score_of(corrected((a, b), [book_a, book_b])).is_drawn


@pytest.mark.slow
def test_labels_of_a_third_run_are_said_to_be_no_draw(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    items = [{"answer": f"Other {number:03d}."} if number % 2 else {"answer": "So."} for number in range(N)]
    third = judged_run(tmp_path / "c", [(2, 2)] * N, items=items, run_id="c")
    books = [labelled(a, tmp_path / "la", (2, 2)), labelled(third, tmp_path / "lc", (0, 0))]
    score = score_of(corrected((a, b), books))
    assert (score.n_labelled_b, score.is_drawn) == (12, False)


@pytest.mark.slow
def test_labels_of_neither_run_are_refused(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    items = [{"answer": f"Third {number:03d}."} for number in range(N)]
    third = judged_run(tmp_path / "c", [(2, 2)] * N, items=items, run_id="c")
    with pytest.raises(UsageError, match=r"none of its 24 labelled answers is there"):
        worths_of_runs([a, b], [labelled(third, tmp_path / "lc", (2, 2))])


def test_labels_that_nobody_gave_are_refused(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    with pytest.raises(UsageError, match="nobody labelled an answer"):
        worths_of_runs([a, b], [sample_labels(a, tmp_path / "la", n=3, stratify=[], seed=0)])


def test_answers_that_are_right_or_wrong(tmp_path: Path) -> None:
    """Without a judge there is one thing to say of an answer: whether it is right. The other words of B are a miss."""
    items = [{"id": f"i{n:02d}", "prompt": f"Question {n}?", "expected_answer": "yes"} for n in range(20)]
    records, books = [], []
    for name, texts in (("a", ["yes", "no"] * 10), ("b", ["Yes, so it is.", "no"] * 10)):
        (tmp_path / name).mkdir()
        said = [{"item_id": item["id"], "predicted": text} for item, text in zip(items, texts, strict=True)]
        records.append(scored(tmp_path / name, said, items, run_id=name).record)
        book = sample_labels(records[-1], tmp_path / f"labels-{name}", n=20, stratify=[], seed=0)
        right = [Given(one, "ann", "passed", 0 if texts[one] == "no" else 1) for one in book.started.samples]
        books.append(give_labels(book, right))
    score = score_of(corrected(tuple(records), books))
    assert (score.judged.verdict, score.judged.difference) == ("worse", -0.5)
    assert (score.n, score.n_same, score.n_both, score.turned) == (20, 10, 10, "not_shown")
    assert score.difference == pytest.approx(0.0)


# ── a ranking ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_ranked_run_as_people_would_judge(tmp_path: Path) -> None:
    a, b = two_runs(tmp_path)
    (of_a,) = worths_of_runs([a], [labelled(a, tmp_path / "la", (2, 2), n=12)])
    board = leaderboard([compared_run(a), compared_run(b)])
    (found,) = corrected_scores_of(board, {"a": of_a})
    place = next(one for one in board.places if one.run == "a")
    assert (found.run, found.n, found.n_labelled) == ("a", N, 12)
    # All labels are alike. Jeffreys' interval of 12 in 12 begins at 0.8147 (scipy: beta.ppf(0.025, 12.5, 0.5)); that
    # their spread is not known makes it wider.
    assert (place.score, found.value, found.high) == (0.784375, 1.0, 1.0)
    assert found.low is not None
    assert 0.75 < found.low < 0.8147
