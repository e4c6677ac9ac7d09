"""What stands beside the score in a comparison goes by the evaluator: criteria by their scales, checks, measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.comparison.compared import Comparison, compare
from benchbook.comparison.pairing import common_metrics
from benchbook.comparison.records import compared_run
from benchbook.evaluators.contract import ComparedColumns, ComparedMetric
from benchbook.evaluators.rubric.evaluator import compared_columns
from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.record.folder import Record
from benchbook.views.comparison_tables import differences_table, metric_word
from own_rubric import TONE, Verdict, own_run
from scored import scored

TWO_CHECKS = """
name = "two"
version = 1
about = "Short, and with the answer."

[[checks]]
name = "short"
kind = "max_words"
limit = 1

[[checks]]
name = "text"
kind = "contains"
"""


def compared(a: Record, b: Record) -> Comparison:
    return compare(compared_run(a), compared_run(b))


def told(found: Comparison) -> list[tuple[Any, ...]]:
    return [
        (one.name, one.difference.n, one.difference.mean_a, one.difference.mean_b, one.difference.n_lost)
        for one in found.metrics
    ]


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, Record]:
    """Tone 5, 2, 4 then 5, 4, 3; safe yes, yes, no then yes throughout."""
    folder = tmp_path_factory.mktemp("tones")
    first: list[Verdict] = [
        {"tone": 5, "safe": "yes"}, {"tone": 2, "safe": "yes"}, {"tone": 4, "safe": "no"},
    ]  # fmt: skip
    second: list[Verdict] = [{"tone": tone, "safe": "yes"} for tone in (5, 4, 3)]
    return own_run(folder, first, run_id="a").record, own_run(folder, second, run_id="b").record


def test_criteria_of_an_own_rubric_are_compared_on_their_scales(tones: tuple[Record, Record]) -> None:
    found = compared(*tones)
    assert told(found)[:2] == [
        ("tone_score", 3, 3.666666667, 4.0, 1), ("safe_score", 3, 0.666666667, 1.0, 0),
    ]  # fmt: skip
    tone = found.metrics[0].difference
    assert tone.low is not None
    assert -4 <= tone.low < tone.difference < (tone.high or 0) <= 4  # type: ignore[operator]
    rows = [str(row[0]) for row in differences_table(found).rows]
    assert rows[2:4] == ["Tone, 1 to 5", "Safe, 0 to 1"]
    assert {"tone_score_a", "tone_score_b", "safe_score_a"} <= set(found.items.columns)


def test_what_has_another_scale_is_not_compared(tones: tuple[Record, Record], tmp_path: Path) -> None:
    other = TONE.replace("[1, 2, 3, 4, 5]", "[1, 2, 3, 4, 5, 6]")
    verdicts: list[Verdict] = [{"tone": 6, "safe": "yes"}] * 3
    found = compared(tones[0], own_run(tmp_path, verdicts, other, run_id="other").record)
    assert found.metrics[0].name == "safe_score"
    assert [(one.name, [leaf.path for leaf in one.leaves]) for one in found.measured] == [("spec", ["spec_sha256"])]


def test_checks_are_compared_one_by_one(tmp_path: Path) -> None:
    """A check may be called as a column of ours is."""
    (tmp_path / "two@v1").mkdir()
    (tmp_path / "two@v1/spec.toml").write_text(TWO_CHECKS, encoding="utf-8")
    spec = str(tmp_path / "two@v1")
    items = [{"id": f"i{n}", "prompt": f"Q{n}?", "expected_answer": "yes"} for n in range(3)]

    def run(name: str, *said: str) -> Record:
        predictions = [{"item_id": f"i{n}", "predicted": text} for n, text in enumerate(said)]
        return scored(tmp_path, predictions, items, spec=spec, run_id=name).record

    found = compared(run("a", "yes", "no", "oh yes"), run("b", "yes", "well, yes", "yes"))
    assert told(found) == [
        ("short_score", 3, 0.666666667, 0.666666667, 1), ("text_score", 3, 0.666666667, 1.0, 0),
    ]  # fmt: skip
    assert [str(row[0]) for row in differences_table(found).rows][-2:] == ["Short, 0 to 1", "Text, 0 to 1"]


@pytest.mark.parametrize(
    ("metric", "word"),
    [
        (ComparedMetric("accuracy_score", "accuracy_score", "grade", 0, 2), "Accuracy, 0 to 2"),
        (ComparedMetric("latency_e2e_ms", "latency_e2e_ms", "ms", higher_is_better=False), "Latency"),
        (ComparedMetric("total_tokens", "total_tokens", "tokens", higher_is_better=False), "Tokens"),
        (ComparedMetric("n_links", "n_links", "count"), "N links"),
    ],
)
def test_a_metric_in_words(metric: ComparedMetric, word: str) -> None:
    assert metric_word(metric) == word


def test_common_metrics_keep_their_order() -> None:
    one, two, other = (ComparedMetric(name, name, "grade", 0, 2) for name in ("one", "two", "other"))
    a = ComparedColumns("score", "passed", "answer", metrics=(one, two))
    b = ComparedColumns("score", "passed", "answer", metrics=(other, two, one))
    assert common_metrics(a, b) == (one, two)


def test_a_run_of_an_own_rubric_that_ended_early_is_told(tmp_path: Path) -> None:
    good: list[Verdict] = [{"tone": 5, "safe": "yes"}] * 60
    record = own_run(tmp_path, good, until_decided=True, order_seed=1).record
    early = compared_run(record).ended_early
    assert early is not None
    assert (early.n_items, early.after_items < 60, early.verdict) == (60, True, None)
    assert early.words.startswith(f"ended early, after {early.after_items} of 60 items, once it was decided")


def test_what_items_own_criteria_come_to_is_compared_as_a_share_of_1() -> None:
    toml = (
        'name = "own"\nversion = 1\nabout = "x"\n[item_criteria]\n[[gates]]\naggregate = "pass_rate"\nat_least = 0.5\n'
    )
    spec = read_rubric({"spec.toml": toml.encode(), "prompt.txt": b"{{criteria}} {{answer}} {{reply}}"})
    assert compared_columns(spec).metrics[0] == ComparedMetric(
        "item_criteria_score", "item_criteria_score", "score", 0, 1
    )
