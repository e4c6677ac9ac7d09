"""All runs of a comparison by one metric: their own numbers, their differences from the baseline, their ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from benchbook.comparison.by_metric import NO_UPPER_END, OF_WHOLE_RUNS, SEVERAL_SETS, by_metric, choices
from benchbook.comparison.compared import compare, compare_runs
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.measures import metric_named, own_number
from benchbook.comparison.whole_runs import RunNumber, WholeRun
from benchbook.errors import UsageError
from benchbook.statistics import wilson
from compared import answer, answers, marks, run_of


def judged(name: str, rows: list[tuple[int, float]], section: str = "core", **manifest: Any) -> ComparedRun:
    """A `rubric@v1` run: accuracy from 0 to 2, and latency in ms, of each item."""
    frame = pl.DataFrame(
        [
            {
                "sample": place, "item_id": f"i{place}", "repeat": 0, "prompt": f"Prompt {place}?", "expected": "yes",
                "section": section, "candidate_answer": "yes", "sample_score": accuracy / 2, "passed": accuracy == 2,
                "accuracy_score": accuracy, "latency_e2e_ms": latency,
            }
            for place, (accuracy, latency) in enumerate(rows)
        ]
    )  # fmt: skip
    return run_of(name, frame, "rubric@v1", manifest)


# Ten items: B has full accuracy where A has half, and takes 100 ms more on each, give or take one.
A = judged("a", [(1, 200 + n) for n in range(10)])
B = judged("b", [(2, 300 + n + n % 2) for n in range(10)])
C = judged("c", [(1, 200 + n) for n in range(10)])


def test_a_metric_that_runs_lack_is_refused_with_those_they_have() -> None:
    expected = "metric accuracy: these runs have none of that name.*expected score, passing, accuracy_score, latency"
    with pytest.raises(UsageError, match=expected):
        compare_runs([A, B], by="accuracy")


def test_criteria_have_means_on_their_scale_differences_and_ranks() -> None:
    found = by_metric(compare_runs([A, B, C], by="accuracy_score"))
    assert [(row.run, row.value, row.n) for row in found.rows] == [("a", 1.0, 10), ("b", 2.0, 10), ("c", 1.0, 10)]
    assert [row.verdict for row in found.rows] == [None, "better", "same"]
    assert [row.rank for row in found.rows] == [2, 1, 2]
    assert [(row.rank_low, row.rank_high) for row in found.rows] == [(2, 3), (1, 1), (2, 3)]
    assert (found.n_ranked, found.unranked) == (10, None)
    assert all(0 <= row.low < row.high <= 2 for row in found.rows)  # type: ignore[operator]


def test_where_lower_is_better_the_slower_run_is_worse() -> None:
    found = by_metric(compare_runs([A, B, C], by="latency_e2e_ms"))
    assert [row.verdict for row in found.rows] == [None, "worse", "same"]
    assert found.rows[1].difference is not None
    assert found.rows[1].difference.difference == 100.5
    assert found.unranked == NO_UPPER_END


def test_slices_are_by_the_metric_and_their_verdicts_too() -> None:
    slices = compare(A, B, by="latency_e2e_ms").slices
    assert [(one.field, one.value, one.difference.mean_b, one.difference.verdict) for one in slices] == [
        ("section", "core", 305.0, "worse")
    ]


def test_a_difference_has_one_p_wherever_it_is_shown() -> None:
    """The p of what stands beside the score is adjusted over all of that and all runs; the score's over runs alone."""
    found = compare_runs([A, B, C], by="latency_e2e_ms")
    rows = by_metric(found).rows
    for pair, row in zip(found.pairs, rows[1:], strict=True):
        beside = {one.name: one for one in pair.metrics}
        assert (row.p_holm, row.difference) == (
            beside["latency_e2e_ms"].p_holm,
            beside["latency_e2e_ms"].difference,
        )
    # Exact sign flips of ten that differ alike: 2 / 2^10 each. Of passing, accuracy and latency in two pairs the first
    # has the least p, 2^-10 by McNemar's mid-p; accuracy is the second of six.
    first = found.pairs[0]
    assert (first.score.p_adjusted, first.metrics[0].p_holm) == (2 * 2**-9, 5 * 2**-9)
    assert first.passing is not None
    assert first.passing.p_adjusted == 6 * 2**-10
    assert found.pairs[0].metrics == compare_runs([A, B, C]).pairs[0].metrics


def test_passing_and_containment_are_shares_with_wilsons_interval() -> None:
    runs = [
        answers("a", *(answer(f"i{n}", "yes" if n < 3 else "yes, it is") for n in range(10))),
        answers("b", *(answer(f"i{n}", "yes" if n < 5 else "no") for n in range(10))),
    ]
    found = by_metric(compare_runs(runs, by="contained"))
    assert [row.value for row in found.rows] == [1.0, 0.5]
    expected = wilson(5, 10)
    assert (found.rows[1].low, found.rows[1].high) == (round(expected.low or 0, 9), round(expected.high or 0, 9))
    assert [row.rank for row in found.rows] == [1, 2]


def test_items_of_one_group_vary_together() -> None:
    alone = own_number(marks("a", "1100"), metric_named("contained", [marks("a", "1100")]))
    grouped = marks("a", "1100", group="g")
    together = own_number(grouped, metric_named("contained", [grouped]))
    assert together.value == alone.value == 0.5
    assert (together.low, together.high) != (alone.low, alone.high)


def test_an_aggregate_of_whole_runs_is_shown_and_not_tested() -> None:
    whole = WholeRun(
        primary="aggregate_score",
        score=RunNumber(0.5, 0.4, 0.6),
        aggregates={"aggregate_score": RunNumber(0.5), "latency_e2e_p95_ms": RunNumber(210.0, 205.0, None)},
    )
    found = compare_runs([replace(A, whole=whole), B], by="latency_e2e_p95_ms")
    rows = by_metric(found)
    assert [(row.value, row.low, row.difference, row.rank) for row in rows.rows] == [
        (210.0, 205.0, None, None), (None, None, None, None),
    ]  # fmt: skip
    assert rows.unranked == OF_WHOLE_RUNS
    names = [one.name for one in choices(found.runs)]
    assert "aggregate_score" not in names  # that is the score
    assert found.pairs[0].slices == compare(A, B).slices


def test_runs_over_several_eval_sets_have_no_ranks() -> None:
    other = replace(B, manifest={"dataset_version_or_hash": "sha256:other"})
    found = by_metric(compare_runs([A, other], by="accuracy_score"))
    assert (found.unranked, found.rows[0].rank) == (SEVERAL_SETS, None)


def test_a_run_that_failed_has_no_rank_and_says_why() -> None:
    failed = replace(B, manifest={"run_status": "crashed"})
    rows = by_metric(compare_runs([A, failed])).rows
    assert (rows[1].rank, rows[1].note) == (None, "the run itself failed: crashed")
