"""Comparing two runs (SPEC A11): classes, differences, slices, diagnosis, what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.comparison.compared import compare
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.pairing import CLASSES
from benchbook.errors import UsageError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.predictions import align_predictions, items_frame, read_predictions
from benchbook.evaluators.correctness.columns import score_columns
from compared import answer, answers, marks, run_of, scores
from support import examples, shared_data


def classes(a: ComparedRun, b: ComparedRun) -> dict[str, str]:
    return dict(compare(a, b).items.select("item_id", "class").iter_rows())


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([answer("i", "yes")], [answer("i", "no")], {"i": "regressed"}),
        ([answer("i", None)], [answer("i", "yes")], {"i": "improved"}),
        ([answer("i", "yes")], [answer("i", "yes")], {"i": "same_correct"}),
        ([answer("i", "no")], [answer("i", None)], {"i": "same_wrong"}),
        ([answer("i", "no")], [], {"i": "only_in_a"}),
        ([], [answer("i", "no")], {"i": "only_in_b"}),
        ([answer("i", "yes")], [answer("i", "yes", expected="no")], {"i": "expected_changed"}),
        # Another prompt under an old id is another item.
        (
            [answer("i", "yes"), answer("j", "yes")],
            [answer("i", "yes", prompt="Other?"), answer("j", "no")],
            {"i": "only_in_b", "j": "regressed"},
        ),
        # The same prompt and expected answer under another id is the same item.
        ([answer("i", "yes", prompt="P?")], [answer("k", "no", prompt="P?")], {"i": "regressed"}),
        # The whole match comes first: what is left over does not take a partner away.
        (
            [answer("i", "yes", prompt="P?"), answer("j", "no", prompt="P?")],
            [answer("k", "no", prompt="P?"), answer("j", "no", prompt="P?")],
            {"i": "regressed", "j": "same_wrong"},
        ),
        # Items that ask the same meet in their order; one too many is left.
        (
            [answer("i", "yes", prompt="P?"), answer("j", "no", prompt="P?")],
            [answer("k", "no", prompt="P?"), answer("l", "yes", prompt="P?"), answer("m", "yes", prompt="P?")],
            {"i": "regressed", "j": "improved", "m": "only_in_b"},
        ),
        ([], [], {}),
    ],
)
def test_each_item_has_its_class(a: list[Any], b: list[Any], expected: dict[str, str]) -> None:
    assert classes(answers("a", *a), answers("b", *b)) == expected


def test_items_under_other_ids_keep_both_ids_and_what_was_expected() -> None:
    found = compare(
        answers("a", answer("i", "yes", prompt="P?"), answer("j", "yes")),
        answers("b", answer("k", "no", prompt="P?"), answer("j", "no", expected="no")),
    ).items
    assert found.select("item_id", "item_id_b", "expected", "expected_b").rows() == [
        ("i", "k", "yes", "yes"),
        ("j", "j", "yes", "no"),
    ]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([("i", 0, 0.7, True)], [("i", 0, 0.699999999, True)], "regressed"),
        ([("i", 0, 0.1, False)], [("i", 0, 0.3, False)], "improved"),
        ([("i", 0, 0.8, True)], [("i", 0, 0.8, True)], "same_correct"),
        ([("i", 0, 0.3, False)], [("i", 0, 0.3, False)], "same_wrong"),
        # Scores alike: whether it passed decides.
        ([("i", 0, 0.5, True)], [("i", 0, 0.5, False)], "regressed"),
        ([("i", 0, 0.5, False)], [("i", 0, 0.5, True)], "improved"),
        # Means over repeats, however many: 2/3 against 666666667 billionths, and 1/2 against 2/4.
        (
            [("i", 0, 1.0, True), ("i", 1, 1.0, True), ("i", 2, 0.0, False)],
            [("i", 0, 0.666666667, True)],
            "improved",
        ),
        (
            [("i", 0, 1.0, True), ("i", 1, 0.0, False)],
            [("i", 0, 1.0, True), ("i", 1, 1.0, True), ("i", 2, 0.0, False), ("i", 3, 0.0, False)],
            "same_wrong",
        ),
        # Unscored is not zero: an item without any score is as if it were not there.
        ([("i", 0, 0.5, True), ("i", 1, None, False)], [("i", 0, 0.5, True)], "same_correct"),
        ([("i", 0, 0.5, True)], [("i", 0, None, False)], "only_in_a"),
        ([("i", 0, None, False)], [("i", 0, 0.5, True)], "only_in_b"),
        ([("i", 0, None, False)], [("i", 0, None, False)], None),
    ],
)
def test_graded_scores_and_repeats(
    a: list[tuple[str, int, float | None, bool]], b: list[tuple[str, int, float | None, bool]], expected: str | None
) -> None:
    assert classes(scores("a", *a), scores("b", *b)).get("i") == expected


def test_an_item_of_a_run_is_summed_up_over_its_repeats() -> None:
    items = scores("a", ("i", 0, 0.5, True), ("j", 0, 0.1, False), ("i", 1, 0.25, False), ("i", 2, 0.25, True)).items
    names = ("item_id", "n_samples", "n_scored", "n_correct", "sum_nano", "score_nano", "correct", "text")
    assert items.select(names).rows() == [
        ("i", 3, 3, 2, 1_000_000_000, 333_333_333, True, "i 0.5"),
        ("j", 1, 1, 0, 100_000_000, 100_000_000, False, "j 0.1"),
    ]


@pytest.mark.parametrize(
    ("total", "expected"),
    [(1, 0), (2, 1), (3, 2), (5, 2), (7, 4)],
    ids=["1/2", "2/2", "3/2", "5/2", "7/2"],
)
def test_means_are_rounded_half_to_even(total: int, expected: int) -> None:
    run = scores("a", ("i", 0, total / 1e9, True), ("i", 1, 0.0, True))
    assert run.items["score_nano"].item() == expected


def test_the_difference_of_passes_and_failures() -> None:
    """4 lost, 11 won of 100: the mid-p McNemar test, whose interval leaves 0 in exactly where p is above 0.05."""
    a = marks("a", "1" * 4 + "0" * 11 + "1" * 40 + "0" * 45)
    b = marks("b", "0" * 4 + "1" * 11 + "1" * 40 + "0" * 45)
    found = compare(a, b).score
    assert (found.n, found.n_lost, found.n_won) == (100, 4, 11)
    assert (found.mean_a, found.mean_b, found.difference) == (0.44, 0.51, 0.07)
    assert found.test == "mcnemar_mid_p"
    # Twice the chance of 3 or fewer of 15, and once that of 4.
    assert found.p == pytest.approx((2 * (1 + 15 + 105 + 455) + 1365) / 2**15)
    assert (found.low, found.high) == (pytest.approx(-0.0074, abs=1e-4), pytest.approx(0.1466, abs=1e-4))
    assert found.verdict == "not_told"


def test_graded_scores_are_tested_by_sign_flips_and_passing_beside_them() -> None:
    a = scores("a", *((f"i{k}", 0, 0.5, k < 2) for k in range(4)))
    b = scores("b", *((f"i{k}", 0, 0.6 + k / 100, True) for k in range(4)))
    found = compare(a, b)
    assert (found.score.test, found.score.p) == ("sign_flip_exact", 2 / 16)
    assert found.score.difference == 0.115
    assert found.passing is not None
    assert (found.passing.mean_a, found.passing.mean_b, found.passing.n_won, found.passing.p) == (0.5, 1.0, 2, 0.25)


def test_items_of_a_group_are_one_cluster() -> None:
    a = answers("a", *(answer(f"i{k}", "no", group=f"g{k // 4}") for k in range(12)), answer("alone", "no"))
    b = answers("b", *(answer(f"i{k}", "yes", group=f"g{k // 4}") for k in range(12)), answer("alone", "no"))
    found = compare(a, b).score
    assert (found.n, found.n_clusters, found.method) == (13, 4, "paired_bounded_clustered")
    assert (found.test, found.p) == ("sign_flip_exact", 2 / 2**3)


def test_p_is_adjusted_over_the_slices_that_could_show_anything() -> None:
    """Tarone-Holm: slice y, in which nothing differs, takes nothing from the three others."""

    def half(run: str, right: str, wrong: str) -> ComparedRun:
        rows = [answer(f"i{k}", right, category="x", section="core", difficulty="easy") for k in range(6)]
        return answers(run, *rows, *(answer(f"j{k}", wrong, category="y", section="core") for k in range(6)))

    found = compare(half("a", "no", "yes"), half("b", "yes", "yes")).slices
    assert [(one.field, one.value, one.difference.n, one.difference.p, one.p_holm) for one in found] == [
        ("section", "core", 12, 1 / 2**6, 3 / 2**6),
        ("category", "x", 6, 1 / 2**6, 3 / 2**6),
        ("category", "y", 6, 1.0, 1.0),
        ("difficulty", "easy", 6, 1 / 2**6, 3 / 2**6),
    ]
    assert [one.difference.verdict for one in found] == ["better", "better", "same", "better"]


def test_a_field_of_free_text_is_not_sliced() -> None:
    run = answers("a", *(answer(f"i{k}", "no", category=f"free text {k}") for k in range(201)))
    assert compare(run, run).slices == ()


@pytest.mark.parametrize(("margin", "holds"), [(0.01, False), (0.2, True)])
def test_not_worse_by_more_than_a_margin(margin: float, holds: bool) -> None:
    a, b = marks("a", "10" * 50), marks("b", "10" * 48 + "0101")
    found = compare(a, b, margin=margin).score.not_worse
    assert found is not None
    assert found.holds is holds


def test_nothing_in_common_is_said_and_not_a_zero() -> None:
    found = compare(marks("a", "11"), marks("b", ""))
    assert (found.n_compared, found.n_left_out) == (0, 2)
    assert (found.score.difference, found.score.p, found.score.reason) == (None, None, "no_data")


def test_the_diagnosis_names_the_answers_that_were_lost_and_won() -> None:
    a = answers("a", answer("i", "It is yes."), answer("j", "no"), answer("k", "yes"), answer("l", "so yes"))
    b = answers("b", answer("i", "It is no."), answer("j", "oh yes"), answer("k", "yes, k"), answer("l", "yes"))
    found = compare(a, b).containment
    assert found is not None
    assert (found.n_a, found.n_b, found.lost, found.won) == (3, 3, ("i",), ("j",))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: compare(marks("a", "1"), scores("b", ("i0", 0, 0.5, True))), "a was scored under answer_correctness"),
        (lambda: compare(marks("a", "1"), marks("b", "1"), confidence=1.0), "confidence 1.0"),
        (lambda: compare(marks("a", "1"), marks("b", "1"), margin=0.0), "margin 0.0"),
        (lambda: run_of("a", pl.DataFrame(), "judge_protocol@v1"), "judge_protocol@v1 can't be compared"),
    ],
)
def test_what_can_not_be_compared_is_refused(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        call()


@st.composite
def runs(draw: st.DrawFn) -> ComparedRun:
    ids = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6))
    rows = []
    for one in ids:
        prompt, group = draw(st.sampled_from([("P?", None), ("Q?", "g"), ("R?", "h")]))
        predicted = draw(st.sampled_from([None, "yes", "no", "oh yes"]))
        rows.append(answer(one, predicted, prompt=prompt, expected=draw(st.sampled_from(["yes", "no"])), group=group))
    return answers("run", *rows)


@examples(40)
@given(runs(), runs())
def test_classes_partition_the_items(a: ComparedRun, b: ComparedRun) -> None:
    found = compare(a, b)
    in_a = found.items.filter(pl.col("sample_a").is_not_null())
    assert in_a["item_id"].to_list() == a.items["item_id"].to_list()
    assert sorted(found.items["item_id_b"].drop_nulls()) == sorted(b.items["item_id"])
    assert sum(found.counts.values()) == len(found.items)
    assert found.n_compared == found.score.n


@examples(40)
@given(runs(), runs())
def test_swapping_the_runs_swaps_the_classes(a: ComparedRun, b: ComparedRun) -> None:
    swap = {"regressed": "improved", "improved": "regressed", "only_in_a": "only_in_b", "only_in_b": "only_in_a"}
    there, back = compare(a, b), compare(b, a)
    assert {swap.get(name, name): there.counts[name] for name in CLASSES} == back.counts
    assert (there.score.n_lost, there.score.n_won, there.score.p) == (back.score.n_won, back.score.n_lost, back.score.p)


@examples(40)
@given(runs())
def test_a_run_does_not_differ_from_itself(run: ComparedRun) -> None:
    found = compare(run, run)
    assert found.counts["same_correct"] + found.counts["same_wrong"] == len(run.items)
    assert (found.n_left_out, found.n_changed == 0, found.score.p in (None, 1.0)) == (0, True, True)


@examples(40)
@given(runs(), runs(), st.randoms())
def test_the_order_of_the_items_does_not_matter(a: ComparedRun, b: ComparedRun, random: Any) -> None:
    """But where several items ask the same: then order is what tells them apart."""
    if a.items.select("prompt", "expected").is_duplicated().any():
        return
    if b.items.select("prompt", "expected").is_duplicated().any():
        return
    places = list(range(len(b.items)))
    random.shuffle(places)
    shuffled = replace(b, items=b.items[places]) if places else b
    assert classes(a, shuffled) == classes(a, b)


def checkpoint(name: str) -> ComparedRun:
    folder = shared_data("tunix-rt")
    with open_evalset(folder / "eval_v2_original.jsonl", needs_expected_answer=True) as evalset:
        items = items_frame(evalset).with_columns(prompt=pl.Series([item.prompt for item in evalset]))
    rows = align_predictions(read_predictions(folder / f"{name}_predictions.jsonl"), items)
    scored = pl.concat([rows, score_columns(rows)], how="horizontal").rename({"reason": "miss_reason"})
    return run_of(name, scored.with_row_index("sample"))


def test_real_checkpoints_m45_base_to_stage_c() -> None:
    """SPEC A7: the frozen score is 0/100 in both, the expected answer stands inside 40 and 67 of the texts."""
    a, b = checkpoint("m45_m44_baseline"), checkpoint("m45_post_stage_c")
    found = compare(a, b)
    assert found.counts["same_wrong"] == found.n_compared == 100
    assert (found.score.mean_a, found.score.mean_b, found.score.p) == (0.0, 0.0, 1.0)
    contained = found.containment
    assert contained is not None
    assert (contained.n_a, contained.n_b) == (40, 67)
    assert len(contained.won) - len(contained.lost) == 27
    by_hand = {"lost": [], "won": []}  # type: dict[str, list[str]]
    for row in found.items.iter_rows(named=True):
        wanted = row["expected"].strip().casefold()
        inside = [wanted in row[text].strip().casefold() for text in ("text_a", "text_b")]
        if inside[0] != inside[1]:
            by_hand["lost" if inside[0] else "won"].append(row["item_id"])
    assert (list(contained.lost), list(contained.won)) == (by_hand["lost"], by_hand["won"])


def test_the_diagnosis_is_of_the_texts_whatever_became_of_the_run() -> None:
    """A run that crashed scores 0.0 in every item, and its texts are what they are (A3, A7)."""
    rows = [answer("i", "yes") | {"correctness": 0.0}, answer("j", "no")]
    crashed = answers("b", *rows, run_status="crashed")
    assert crashed.items.select("item_id", "correct", "contained").rows() == [("i", False, True), ("j", False, False)]
    found = compare(answers("a", answer("i", "yes"), answer("j", "no")), crashed)
    assert found.counts["regressed"] == 1
    assert found.containment is not None
    assert found.containment.lost == ()
