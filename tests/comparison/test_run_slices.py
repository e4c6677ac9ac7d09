"""A run's slices: the numbers that its record has, what each is of, and an interval where the data allow one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbook.comparison.run_slices import RunSlice, run_slices
from benchbook.evaluators.registry import score_predictions
from benchbook.evaluators.settings import ScoreConfig
from benchbook.record.folder import Record
from benchbook.statistics import wilson
from labelled import judged_run


def scored(folder: Path, items: Sequence[dict[str, Any]], right: Sequence[bool], **more: Any) -> Record:
    rows = [{"id": f"i{n}", "prompt": f"{n}?", "expected_answer": "yes", **one} for n, one in enumerate(items)]
    answers = [{"item_id": f"i{n}", "predicted": "yes" if one else "no"} for n, one in enumerate(right)]
    for name, lines in (("set.jsonl", rows), ("answers.jsonl", answers)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    config = ScoreConfig(
        evalset=str(folder / "set.jsonl"), predictions=str(folder / "answers.jsonl"), runs=str(folder / "runs"),
        run_id="a", model="lab/m@1", **more,
    )  # fmt: skip
    return score_predictions(config).record


def by_value(found: Sequence[RunSlice]) -> dict[str | None, RunSlice]:
    return {one.value: one for one in found}


def test_the_numbers_are_the_records_and_the_interval_is_wilsons(tmp_path: Path) -> None:
    record = scored(tmp_path, [{"category": "xyz"[n % 3]} for n in range(12)], [n % 3 == 0 or n < 3 for n in range(12)])
    found = run_slices(record)
    own = {one["value"]: one for one in json.loads(record.aggregates.read_bytes())["category"]}
    assert (found.is_graded, [one.field for one in found.slices]) == (False, ["category"] * 3)
    for one in found.slices:
        assert (one.score, one.n_samples) == (own[one.value]["mean"], own[one.value]["n_items"])
        right = wilson(4 if one.value == "x" else 1, 4)
        assert (one.score_interval.low, one.score_interval.high) == pytest.approx((right.low, right.high))


def test_items_of_a_group_are_not_told_apart_from_one_another(tmp_path: Path) -> None:
    """Ten items of two groups, all of a kind in each, are worth about two: the interval is far wider than of ten."""
    items = [{"category": "xy"[n % 2], "group": f"g{n // 10}"} for n in range(20)]
    one = by_value(run_slices(scored(tmp_path, items, [n < 10 for n in range(20)])).slices)["x"]
    alone = wilson(5, 10)
    assert one.score == 0.5
    assert one.score_interval.low is not None
    assert alone.low is not None
    assert one.score_interval.low < alone.low - 0.1


def test_a_field_with_one_value_is_not_sliced_and_items_that_name_none_are_a_slice(tmp_path: Path) -> None:
    items = [{"section": "core", **({"category": "x"} if n else {})} for n in range(4)]
    found = run_slices(scored(tmp_path, items, [True] * 4)).slices
    assert [(one.field, one.value, one.n_samples) for one in found] == [("category", "x", 3), ("category", None, 1)]


def test_a_crashed_run_scores_nothing_in_any_slice(tmp_path: Path) -> None:
    items = [{"category": "xy"[n % 2]} for n in range(6)]
    found = run_slices(scored(tmp_path, items, [True] * 6, run_status="crashed")).slices
    assert [(one.score, one.n_samples) for one in found] == [(0.0, 3), (0.0, 3)]


def test_a_judged_slice_says_what_its_pass_rate_is_a_share_of(tmp_path: Path) -> None:
    """Of six samples one has no score: the mean is of five, and the pass rate of all six (R4)."""
    grades = [(2, 2), (2, 1), (0, 0), (1, 2), None, (2, 2)]
    items = [{"section": "core"}] * 6 + [{"section": "edge_case"}] * 6
    run = judged_run(tmp_path, grades + grades, items=items)
    own = {one["value"]: one for one in json.loads(run.aggregates.read_bytes())["slices"]}
    found = [one for one in run_slices(run).slices if one.field == "section"]
    assert [one.value for one in found] == ["core", "edge_case"]
    for one in found:
        assert (one.n_scored, one.n_passed, one.n_samples) == (5, 4, 6)
        assert (one.score, one.pass_rate) == (own[one.value]["aggregate_score"], own[one.value]["pass_rate"])
        right = wilson(4, 6)
        assert one.pass_interval is not None
        assert (one.pass_interval.low, one.pass_interval.high) == pytest.approx((right.low, right.high))
        assert one.score_interval.low is not None
        assert one.score_interval.high is not None
        assert 0 <= one.score_interval.low < one.score < one.score_interval.high <= 1
