"""SPEC P1 to P4: the row of one evaluation, and the gaps of a set."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.evaluators.protocol.evaluation_rows import (
    CellId,
    EvaluationRow,
    EvidenceRow,
    FlagDetail,
    JudgedText,
    SpanRow,
    asked_about,
    coverage_gaps,
    evaluation_row,
    row_kind,
    sha256_of,
    sorted_rows,
)
from benchbook.evaluators.protocol.findings import SameModel
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.protocol.validity import EvaluationSet
from benchbook.record.tables import table_schema
from evaluators.protocol.made_evaluations import JUDGED, TEXT, made_row, reply_text

CELL = CellId("Q1", "A", "t", "o")


def test_a_valid_row_holds_what_was_asked_and_what_was_found() -> None:
    row = made_row((2, 1, 2, 0))
    assert (row.cell, row.judge_model, row.method, row.repeat) == (CELL, "j", "cross_judge", 0)
    assert (row.valid, row.flags, row.details) == (True, [], [])
    assert (row.FORMAT_COMPLIANCE, row.INSTRUCTION_COMPLIANCE, row.SEMANTIC_FIDELITY, row.COMPLETENESS) == (2, 1, 2, 0)
    assert (row.overall_score, row.verdict) == (5, "PARTIAL")
    assert [item.located for item in row.evidence] == ["exact", "normalised", "fragments", "exact"]
    assert row.evidence[0] == EvidenceRow(
        dimension="FORMAT_COMPLIANCE", quote="# Plan", reason="It shows.", located="exact", spans=[SpanRow(0, 6)]
    )
    assert [TEXT[span.start : span.end] for span in row.evidence[2].spans] == ["Collect", "the ledger"]
    assert row.text_sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert row.fact_seq == 7


def test_an_invalid_row_says_why_and_keeps_the_reply() -> None:
    row = made_row(8, quotes=("# Plan", "never written", "", "each total"), verdict="FAIL")
    assert not row.valid
    assert row.flags == ["INTERNAL_INCONSISTENCY", "PROTOCOL_VIOLATION"]
    assert row.details[0] == FlagDetail(
        flag="INTERNAL_INCONSISTENCY",
        code="verdict_wrong",
        field="verdict",
        message="found FAIL; a sum of 8 is PASS",
    )
    assert [one.code for one in row.details] == ["verdict_wrong", "quote_not_found", "quote_empty"]
    assert row.verdict == "PASS"  # the one that follows from the scores
    assert [item.located for item in row.evidence] == ["exact", "not_found", "empty", "exact"]
    assert [item.spans for item in row.evidence[1:3]] == [[], []]


def test_what_is_no_json_has_no_scores() -> None:
    row = made_row(8, reply="As a judge I give it 8 of 8.")
    assert (row.valid, row.verdict, row.overall_score, row.FORMAT_COMPLIANCE, row.evidence) == (
        False,
        None,
        None,
        None,
        [],
    )
    assert row.raw_reply == "As a judge I give it 8 of 8."


def test_the_identifiers_are_those_asked_about_not_those_claimed() -> None:
    asked = asked_about(CELL, "j", SameModel())
    row = evaluation_row(asked, reply_text({**asked.meta(), "output_id": "../../elsewhere"}, (2, 2, 2, 2)), JUDGED)
    assert row.output_id == "o"
    assert row.flags == ["INTERNAL_INCONSISTENCY"]


def test_a_cell_that_is_not_in_the_set_is_incomplete_coverage() -> None:
    asked = asked_about(CELL, "j", SameModel())
    others = EvaluationSet([{**asked.meta(), "output_id": "another"}])
    row = evaluation_row(asked, reply_text(asked.meta(), (2, 2, 2, 2)), JUDGED, evaluation_set=others)
    assert row.flags == ["INCOMPLETE_COVERAGE"]


@pytest.mark.parametrize(
    ("judge", "method"),
    [pytest.param("t", "self_judge"), pytest.param("t-alias", "self_judge"), pytest.param("j", "cross_judge")],
)
def test_the_method_follows_from_the_models(judge: str, method: str) -> None:
    assert asked_about(CELL, judge, SameModel({"t-alias": "t"})).method == method


def test_rows_fit_a_table() -> None:
    assert table_schema(row_kind(EvaluationRow, protocol_v1())).names()[:4] == [
        "question_id",
        "prompt_variant",
        "target_model",
        "output_id",
    ]


@given(st.text(st.characters(codec=None), max_size=200), st.text(st.characters(codec=None), max_size=200))
def test_any_reply_about_any_text_has_a_row(reply: str, text: str) -> None:
    row = evaluation_row(asked_about(CELL, "j", SameModel()), reply, JudgedText(text))
    assert not row.valid
    assert row.flags
    assert row.raw_reply == reply


def test_rows_have_one_order_and_none_is_there_twice() -> None:
    rows = [
        made_row(8, question=question, judge=judge, repeat=repeat)
        for question in "ba"
        for judge in "ji"
        for repeat in (1, 0)
    ]
    keys = [(row.question_id, row.judge_model, row.repeat) for row in sorted_rows(rows)]
    assert keys == sorted(keys)
    with pytest.raises(UsageError, match=r"two evaluations of one output: .*question_id 'a'.* repeat 0; expected one"):
        sorted_rows([*rows, rows[-1]])


def test_gaps_are_the_cells_that_a_judge_left_out() -> None:
    cells = [CellId(question, "A", "t", "o") for question in ("Q3", "Q1", "Q2")]
    rows = [made_row(8, question="Q1"), made_row(8, question="Q2", judge="k")]
    found = [(gap.question_id, gap.judge_model, gap.flag) for gap in coverage_gaps(cells, rows, ["k", "j"])]
    flag = "INCOMPLETE_COVERAGE"
    assert found == [("Q1", "k", flag), ("Q2", "j", flag), ("Q3", "j", flag), ("Q3", "k", flag)]
    assert [(gap.question_id, gap.judge_model) for gap in coverage_gaps(cells, rows)] == [("Q3", None)]


def test_a_text_with_half_a_character_has_a_hash() -> None:
    assert sha256_of("\ud835") == hashlib.sha256(b"\xed\xa0\xb5").hexdigest()
