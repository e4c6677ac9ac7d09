"""Records as plain data for trackers, by tables that were worked out by hand from what the runs' servers said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import benchbook as bb
from benchbook.errors import RecordError, UsageError
from benchbook.integrations.trackers import results
from benchbook.integrations.trackers.results import RecordResults, SampleResult
from benchbook.record.folder import Record
from own_scorers import scored as scored_by
from scored import ITEMS, scored

Golden = Callable[[str], Record]
Seen = tuple[str, str | None, str | None, dict[str, float]]  # item, error, label, scores


def seen(sample: SampleResult) -> Seen:
    return sample.item_id, sample.error, sample.label, {one.name: one.value for one in sample.scores}


def seen_in(record: Record) -> list[Seen]:
    return [seen(one) for one in RecordResults(record).samples()]


def rubric(total: float, accuracy: int, faithfulness: int | None) -> dict[str, float]:
    known = {"sample_score": total, "accuracy_score": accuracy, "faithfulness_score": faithfulness}
    return {name: value for name, value in known.items() if value is not None}


# By SPEC R5.2, latency and tokens at their best: 0.45 accuracy / 2 + 0.30 faithfulness / 2 + 0.25.
FAULTS: list[Seen] = [
    ("i0", None, "pass", rubric(1.0, 2, 2)),
    ("i1", None, "fail", rubric(0.55, 0, 2)),
    ("i2", None, "fail", rubric(0.7, 2, 0)),
    ("i3", "request", None, {}),  # the model's server refused it: unanswered
    ("i4", None, "fail", rubric(0.25, 0, None)),  # no answer makes no claim, so nothing was unfaithful
    ("i5", "parse_error", None, {}),
    ("i6", "provider_error", None, {}),  # the judge's server refused it
    ("i7", None, "pass", rubric(1.0, 2, 2)),
    ("i8", None, "pass", rubric(1.0, 2, 2)),
    ("i9", "parse_error", None, {}),
    ("i10", None, "pass", rubric(0.625, 1, 1)),
    ("i11", "parse_error", None, {}),
]


def test_a_sample_without_a_score_has_a_class_of_error_and_no_number(golden: Golden) -> None:
    assert seen_in(golden("rubric_faults")) == FAULTS


def test_samples_are_read_a_part_at_a_time(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "_BATCH", 5)  # of 12
    assert seen_in(golden("rubric_faults")) == FAULTS


def test_reasons_are_the_evaluators_words(golden: Golden) -> None:
    found = [one.reasons for one in RecordResults(golden("rubric_faults")).samples()]
    assert found[0] == ()
    assert found[2] == ("faithfulness_below_minimum",)
    assert found[5] == ("parse_error", "malformed_json", "accuracy_unscored", "faithfulness_unscored")


def test_a_panel_has_the_panels_score_and_how_many_dissent(golden: Golden) -> None:
    """Judges a and, of odd items, all give accuracy 2; b and c give 0 of even ones. Judge b says nothing of i3."""
    found = list(RecordResults(golden("rubric_panel")).samples())
    assert seen(found[0]) == ("i0", None, "fail", rubric(0.55, 0, 2))
    assert seen(found[1]) == ("i1", None, "pass", rubric(1.0, 2, 2))
    assert seen(found[3]) == ("i3", "parse_error", None, {})
    assert [one.n_dissenting for one in found] == [2, 1, 1, 2, 2, 0, 2, 1]
    assert {one.judges for one in found} == {tuple(f"openai/{name}@2026-01-01" for name in "abc")}


def test_repeats_are_samples_of_their_own_with_what_they_cost(golden: Golden) -> None:
    found = list(RecordResults(golden("rubric_repeats")).samples())
    assert [(one.item_id, one.repeat, one.sample) for one in found[7:10]] == [("i7", 0, 7), ("i0", 1, 8), ("i1", 1, 9)]
    assert len({RecordResults(golden("rubric_repeats")).run.uid(one.sample) for one in found}) == 24
    # Item n: 10 (n + 1) tokens at 1.5 dollars a million, and n + 1 at 6: (n + 1) 0.000021.
    assert [one.cost_usd for one in found[:3]] == pytest.approx([0.000021, 0.000042, 0.000063])


def test_correctness(golden: Golden) -> None:
    assert seen_in(golden("score_asked")) == [
        ("i0", None, "pass", {"correctness": 1.0}),
        ("i1", None, "fail", {"correctness": 0.0}),
        ("i2", None, "pass", {"correctness": 1.0}),
        (
            "i3",
            "request",
            None,
            {},
        ),  # 0.0 in the record once the user ended it as it is (A3); not measured all the same
        ("i4", None, "fail", {"correctness": 0.0}),
        ("i5", None, "fail", {"correctness": 0.0}),
        ("i6", None, "pass", {"correctness": 1.0}),
    ]


def test_an_evaluation_that_is_invalid_has_no_score(golden: Golden) -> None:
    """One whose four scores were read all the same, too: it is in no statistic (P4.2)."""
    found = list(RecordResults(golden("judged_gaps")).samples())
    dimensions = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")
    assert seen(found[0]) == ("q0 / base / j / 1", None, "PASS", {"overall_score": 8} | dict.fromkeys(dimensions, 2))
    assert [(one.lowest, one.highest) for one in found[0].scores] == [(0, 8), (0, 2), (0, 2), (0, 2), (0, 2)]
    assert (found[0].model, found[0].judges, found[0].groups["method"]) == ("j", ("j",), "self_judge")
    invalid = [one for one in found if one.error is not None]
    assert {one.error for one in invalid} == {"JUDGE_REFUSAL_OR_EVASION", "PROTOCOL_VIOLATION"}
    assert all(one.scores == () and one.label is None for one in invalid)


def test_checks_have_each_checks_score(tmp_path: Path) -> None:
    run = bb.score(list(ITEMS), [{"item_id": "a", "predicted": "It is 2."}], spec="contains@v1", runs=tmp_path)
    assert seen_in(run.record)[:2] == [
        ("a", None, "pass", {"score": 1.0}),
        ("b", None, "fail", {"score": 0.0}),  # no prediction is the model's (A3)
    ]


def test_a_function_of_ones_own(tmp_path: Path) -> None:
    """Its numbers are scores beside its own; what it raised may quote an answer, and so counts as a text."""
    run = scored_by(tmp_path)
    assert seen_in(run.record) == [
        ("i0", None, "pass", {"score": 1.0, "values.off": 0.0}),
        ("i1", None, "fail", {"score": 0.5, "values.off": 1.0}),
        ("i2", "unscored", None, {}),  # "three" is no number
        ("i3", "unscored", None, {}),
        ("i4", None, "fail", {"score": 0.0}),
        ("i5", None, "fail", {"score": 0.0}),
    ]
    quiet, told = (list(RecordResults(run.record, texts=texts).samples())[2].reasons for texts in (False, True))
    assert "three" not in str(quiet)
    assert "three" in str(told)


def test_a_run_that_crashed_is_scored_as_its_rule_says(tmp_path: Path) -> None:
    scored(tmp_path, None, run_status="crashed")
    found = RecordResults(Record(tmp_path / "runs" / "run"))
    assert found.run.decision == "fail"
    assert {seen(one)[1:3] for one in found.samples()} == {("crashed", "fail")}


def test_the_run_has_its_identity_its_numbers_and_their_intervals(golden: Golden) -> None:
    run = RecordResults(golden("rubric_faults")).run
    assert (run.evaluator, run.name_and_version) == ("rubric@v1", ("rubric", "v1"))
    assert run.record_sha256 == "bb5856968e8d5b9b16d06873b6296c14b6532b0a2be4673728e71565e8b41faf"
    assert (run.model, run.judges, run.decision) == ("openai/m@2026-01-01", ("openai/j@2026-01-01",), "INCONCLUSIVE")
    rate = next(one for one in run.aggregates if one.name == "pass_rate")
    assert (rate.value, rate.is_shown) == (0.333333333, True)  # 4 of 12 samples
    assert rate.interval is not None
    assert rate.gate is not None
    assert (rate.interval.confidence, rate.gate.limit, rate.gate.holds) == (0.95, 0.85, False)
    counts = {one.name: one.value for one in run.aggregates if not one.is_shown}
    assert (counts["ledger.n_planned"], counts["n_scored"], counts["n_unanswered"]) == (12, 7, 2)


def test_texts_are_there_where_they_are_asked_for(golden: Golden) -> None:
    """Prompts are not in a rubric's table: they come from the record's own eval set."""
    assert all(one.texts is None for one in RecordResults(golden("rubric_faults")).samples())
    first = next(RecordResults(golden("rubric_faults"), texts=True).samples()).texts
    assert first is not None
    assert first == ("What is 0 + 1?", "1", "1", "So it is.")
    judged = next(RecordResults(golden("judged_gaps"), texts=True).samples()).texts
    assert judged is not None
    assert judged.prompt
    assert judged.answer


@pytest.mark.parametrize(
    ("name", "why"),
    [("rubric_stopped", "has not come to its end"), ("score_dry", "makes no predictions")],
)
def test_what_has_no_results_is_refused(golden: Golden, name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        RecordResults(golden(name))


def test_a_table_that_was_changed_is_not_sent_under_the_records_hash(golden: Golden, tmp_path: Path) -> None:
    shutil.copytree(golden("score_a").path, tmp_path / "score_a")
    record = Record(tmp_path / "score_a")
    shutil.copy(golden("score_b").samples, record.samples)
    with pytest.raises(RecordError, match="does not have the hash"):
        RecordResults(record)


def test_the_call_that_was_evaluated_is_named_by_the_predictions_row(tmp_path: Path) -> None:
    rows = [
        {
            "item_id": "a",
            "predicted": "2",
            "trace_id": "4BF92F3577B34DA6A3CE929D0E0E4736",
            "span_id": "00f067aa0ba902b7",
        },
        {"item_id": "b", "predicted": "Paris", "trace_id": "0" * 32, "span_id": 7, "response_id": "chatcmpl-1"},
    ]
    scored(tmp_path, rows)
    found = list(RecordResults(Record(tmp_path / "runs" / "run")).samples())
    assert (found[0].trace_id, found[0].span_id) == ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
    assert (found[1].trace_id, found[1].span_id, found[1].response_id) == (None, None, "chatcmpl-1")
    assert found[2].trace_id is None
