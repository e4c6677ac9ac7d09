"""Intervals of every mean, rate and percentile of R4; worst and best case; variance of repeats; records of before."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook import statistics as st
from benchbook.ask.starting import RunResult
from benchbook.cli.summary import rows_of
from benchbook.evaluators.intervals import Interval, rate_interval
from benchbook.evaluators.rubric.rows import Cases, RubricRow, VarianceSplit
from benchbook.evaluators.rubric.tables import derive
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows
from benchbook.statistics.bounded import rescaled
from benchbook.statistics.clusters import mean_of_clusters
from benchbook.views.rubric.report import VIEW
from rubric_v1 import ROW
from running import benchbook_here, run
from scripted_server import GOOD_VERDICT, OK_JUDGE, always_good, running
from views.made_up import html_report, markdown_report

BEFORE = Path(__file__).parent / "record_of_before"
WITHOUT = {  # sums, counts, and a quotient of two sums
    "n_samples", "n_scored", "n_unscored", "n_no_answer", "n_unanswered", "n_timed_out", "total_input_tokens",
    "total_output_tokens", "total_tokens", "tokens_per_correct_answer",
}  # fmt: skip


def mixed(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    if role == "judge":
        scores = {"accuracy_score": (n * 7) % 3, "faithfulness_score": 2 - (n % 5 == 0)}
        return OK_JUDGE | {"content": json.dumps(GOOD_VERDICT | scores) if n % 11 not in (3, 4) else "no JSON"}
    usage = {"prompt_tokens": 20, "completion_tokens": 2 + n % 4}
    return always_good(role, n, request) | {"usage": usage}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[int, RunResult]:
    """By number of repeats."""
    found = {}
    for repeats in (1, 3):
        folder = tmp_path_factory.mktemp(f"repeats-{repeats}")
        with running(mixed) as server:
            found[repeats] = run(folder, server, 30, repeats=repeats, max_connections=1)
    return found


def rows(result: RunResult) -> list[RubricRow]:
    return list(read_rows(result.record.samples, ROW))


def values(result: RunResult, aggregate: str) -> list[tuple[float, int]]:
    """Each sample's value under an aggregate, and its item."""
    of = {
        "aggregate_score": lambda row: row.sample_score,
        "pass_rate": lambda row: float(row.passed),
        "accuracy_mean": lambda row: row.accuracy_score,
        "accuracy_full_credit_rate": lambda row: None if row.accuracy_score is None else row.accuracy_score == 2,
        "faithfulness_mean": lambda row: row.faithfulness_score,
        "faithfulness_failure_rate": lambda row: (
            None if row.faithfulness_score is None else row.faithfulness_score == 0
        ),
        "token_efficiency_ratio_mean": lambda row: row.token_efficiency_ratio,
        "evaluator_error_rate": lambda row: row.evaluator_error is not None,
    }[aggregate]
    return [(float(of(row)), row.sample % 30) for row in rows(result) if of(row) is not None]


@pytest.mark.parametrize("repeats", [1, 3])
def test_every_aggregate_that_can_have_an_interval_has_one(results: dict[int, RunResult], repeats: int) -> None:
    found = results[repeats].derived.aggregates
    assert set(found.intervals) == set(found.aggregates.__struct_fields__) - WITHOUT


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize(
    ("aggregate", "most"), [("aggregate_score", 1), ("accuracy_mean", 2), ("faithfulness_mean", 2)]
)
def test_means_of_scores_are_by_jeffreys(
    results: dict[int, RunResult], aggregate: str, most: int, repeats: int
) -> None:
    numbers, items = zip(*values(results[repeats], aggregate), strict=True)
    expected = st.bounded_mean(numbers, highest=most)
    if repeats > 1:
        of_items = [
            [round(x * 10**9) for x, one in zip(numbers, items, strict=True) if one == item] for item in set(items)
        ]
        expected = mean_of_clusters(
            Counter((len(one), sum(one), sum(x * x for x in one)) for one in of_items), most * 10**9
        )
        expected = rescaled(expected, 0.0, 1e-9)
    found = results[repeats].derived.aggregates.intervals[aggregate]
    assert (found.method, found.n) == ("jeffreys_by_correlation" if repeats > 1 else "jeffreys", len(numbers))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=5e-9)


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_ratio_that_has_no_greatest_value_is_by_student(results: dict[int, RunResult], repeats: int) -> None:
    numbers, items = zip(*values(results[repeats], "token_efficiency_ratio_mean"), strict=True)
    expected = st.mean_interval(numbers, clusters=items if repeats > 1 else None)
    found = results[repeats].derived.aggregates.intervals["token_efficiency_ratio_mean"]
    assert (found.method, found.n) == ("clustered_t" if repeats > 1 else "t", len(numbers))
    assert (found.low, found.high) == pytest.approx((max(expected.low or 0.0, 0.0), expected.high), abs=2e-9)


@pytest.mark.parametrize(
    ("derivation", "method"), [(1, "clustered_t"), (2, "clustered_jeffreys"), (3, "jeffreys_by_correlation")]
)
def test_a_share_of_clusters_is_by_the_method_of_its_derivation(derivation: int, method: str) -> None:
    assert rate_interval(7, 12, [(3, 3), (3, 1), (3, 0), (3, 3)], 0.95, derivation).method == method
    alike = rate_interval(12, 12, [(3, 3)] * 4, 0.95, derivation)
    assert alike == msgspec.structs.replace(rate_interval(4, 4, [], 0.95), method="wilson_over_clusters")


@pytest.mark.parametrize("aggregate", ["accuracy_full_credit_rate", "evaluator_error_rate", "pass_rate"])
def test_rates_are_by_wilson(results: dict[int, RunResult], aggregate: str) -> None:
    numbers = [number for number, _ in values(results[1], aggregate)]
    expected = st.wilson(int(sum(numbers)), len(numbers))
    found = results[1].derived.aggregates.intervals[aggregate]
    assert found == Interval(
        low=round(expected.low or 0.0, 9), high=round(expected.high or 0.0, 9), confidence=0.95, method="wilson",
        n=len(numbers),
    )  # fmt: skip


def test_the_models_own_latency_has_intervals_where_the_provider_tells_it(results: dict[int, RunResult]) -> None:
    found = results[1].derived.aggregates.intervals["latency_model_p95_ms"]
    assert (found.n, found.reason) == (0, "no_data")


def test_worst_and_best_case_take_the_unscored_at_0_and_at_2(results: dict[int, RunResult]) -> None:
    scores = [row.accuracy_score for row in rows(results[1])]
    assert None in scores
    cases = results[1].derived.aggregates.cases
    assert isinstance(cases, dict)
    assert cases["accuracy_mean"] == Cases(
        worst=round(sum(score or 0 for score in scores) / 30, 9),
        best=round(sum(2 if score is None else score for score in scores) / 30, 9),
    )
    assert cases["accuracy_full_credit_rate"].worst == round(scores.count(2) / 30, 9)
    gate = next(one for one in results[1].derived.decision.gates if one.aggregate == "pass_rate")  # type: ignore[union-attr]
    assert cases["pass_rate"] == Cases(worst=gate.worst, best=gate.best)


@pytest.mark.parametrize("aggregate", ["aggregate_score", "pass_rate"])
def test_variance_is_split_into_items_and_repeats(results: dict[int, RunResult], aggregate: str) -> None:
    numbers, items = zip(*values(results[3], aggregate), strict=True)
    expected = st.variance_components(numbers, items)
    splits = results[3].derived.aggregates.variance
    assert isinstance(splits, list)
    (found,) = (one for one in splits if one.aggregate == aggregate)
    assert (found.n, found.n_items, found.warnings) == (expected.n, expected.n_items, expected.warnings)
    assert found.between_items == pytest.approx(expected.between, abs=1e-8)
    assert found.within_item == pytest.approx(expected.within, abs=1e-8)
    assert found.standard_error == pytest.approx(expected.standard_error(expected.n_items, 3), abs=1e-8)
    assert found.with_twice_the_items == pytest.approx(expected.standard_error(2 * expected.n_items, 3), abs=1e-8)
    assert found.with_twice_the_repeats == pytest.approx(expected.standard_error(expected.n_items, 6), abs=1e-8)


def test_one_repeat_has_no_variance_to_split(results: dict[int, RunResult]) -> None:
    assert results[1].derived.aggregates.variance == []


@pytest.mark.parametrize("pieces", [markdown_report, html_report])
def test_reports_say_it_in_words(results: dict[int, RunResult], pieces: Any) -> None:
    for repeats, result in results.items():
        words = "".join(pieces(VIEW.report(result.record, result.derived, rows_of(result.record))))
        assert "no_data" not in words
        assert "there are no values to compute it from" in words
        assert ("With twice the repeats" in words) is (repeats > 1)
        assert "Worst to best case" in words


def test_a_record_of_before_verifies_byte_for_byte_and_keeps_what_it_had(tmp_path: Path) -> None:
    """Made by the commit before intervals of all aggregates, with bounds asked for and three repeats."""
    record = Record(shutil.copytree(BEFORE, tmp_path / "b"))
    assert [str(finding) for finding in verify(record).findings] == []
    (tmp_path / "again").mkdir()
    again = derive(record, tmp_path / "again")
    for name in ("aggregates.json", "decision.json"):
        assert (tmp_path / "again" / name).read_bytes() == (BEFORE / name).read_bytes()
    assert set(again.aggregates.intervals) == {
        "aggregate_score", "pass_rate", "faithfulness_failure_rate", "latency_e2e_p50_ms", "latency_e2e_p95_ms",
    }  # fmt: skip
    assert not isinstance(again.aggregates.variance, list | VarianceSplit)


@pytest.mark.slow
def test_a_record_of_before_is_shown_and_gated(tmp_path: Path) -> None:
    folder = tmp_path / "record"
    shutil.copytree(BEFORE, folder)
    shown = benchbook_here("gate", str(folder), "--confidence", "0.99", "--json")
    assert shown.returncode == 1
    assert all("n_to_settle" in gate for gate in json.loads(shown.stdout)["decision"]["gates"])
    assert benchbook_here("show", str(folder)).returncode == 0
