"""SPEC R3: strict reading of a judge's reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask.requests import split_reasoning
from benchbook.canonical import StrictJsonError, parse_strict
from benchbook.evaluators.rubric.reply import Parsed, Rejected, parse_reply
from rubric_v1 import V1
from support import cases, shared_data


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("judge_reply"))
def test_a_reply_is_read_as_the_case_says(case: dict[str, Any]) -> None:
    expect = case["expect"]
    found = parse_reply(case["reply"], V1, case.get("options", {}).get("reasoning_tags", ()))
    if expect["ok"]:
        assert isinstance(found, Parsed)
        read = dict(zip(V1.reply_keys, (*found.scores, found.rationale), strict=True)) | {"reasoning": found.reasoning}
        assert {key: read[key] for key in expect if key != "ok"} == {key: expect[key] for key in expect if key != "ok"}
    else:
        assert isinstance(found, Rejected)
        allowed = expect.get("parse_error_reason_one_of", [expect.get("parse_error_reason")])
        assert found.reason in allowed


def test_strict_json_agrees_with_the_json_test_suite() -> None:  # R3.1
    files = sorted(shared_data("json-test-suite").glob("*.json"))
    assert len(files) == 318
    wrong = []
    for path in files:
        try:
            parse_strict(path.read_bytes().decode("utf-8", "surrogateescape"))
            accepted = True
        except StrictJsonError:
            accepted = False
        must_accept = path.name.startswith("y_") and "duplicated_key" not in path.name
        must_reject = path.name.startswith("n_") or "duplicated_key" in path.name
        if (must_accept and not accepted) or (must_reject and accepted):
            wrong.append(path.name)
    assert wrong == []


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param("  \n", "empty_reply", id="white-space-alone"),
        pytest.param('{"a":1,"a":2,}', "malformed_json", id="duplicate-in-broken-json"),
        pytest.param('{"a":{"b":1,"b":1}}', "duplicate_key", id="duplicate-below-the-top"),
        pytest.param("[" * 100_000, "malformed_json", id="100000-brackets"),
        pytest.param('{"accuracy_score":' + "9" * 400 + ',"faithfulness_score":1,"rationale":"r"}',
                     "score_out_of_range", id="400-digits"),
        pytest.param("tru", "malformed_json", id="a-word-is-not-a-cut-text"),
        pytest.param('{"accuracy_score": 2', "truncated", id="cut"),
        pytest.param("\ud835", "malformed_json", id="raw-lone-surrogate"),
    ],
)  # fmt: skip
def test_further_replies_are_rejected_with_their_reason(reply: str, reason: str) -> None:
    assert isinstance(found := parse_reply(reply, V1), Rejected)
    assert found.reason == reason
    assert found.detail


@given(st.text())
def test_no_text_makes_the_parser_raise(text: str) -> None:
    assert isinstance(parse_reply(text, V1, ["think"]), Parsed | Rejected)


@given(
    st.integers(0, 2), st.integers(0, 2), st.lists(st.text("abcdefé", min_size=1), min_size=1, max_size=80),
    st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5), max_size=3),
)  # fmt: skip
def test_a_reply_that_keeps_the_rules_is_read(
    accuracy: int, faithfulness: int, words: list[str], more: dict[str, Any]
) -> None:
    rationale = " ".join(words)
    value = {"accuracy_score": accuracy, "faithfulness_score": faithfulness, "rationale": rationale}
    assert parse_reply(json.dumps(more | value), V1) == Parsed((accuracy, faithfulness), rationale)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        pytest.param("hm</think>7", ("hm", "7"), id="closing-alone"),
        pytest.param(" \nhm\n</think>\n\n7", ("hm\n", "\n\n7"), id="white-space"),
        pytest.param("<think>hm</think>7", ("hm", "7"), id="both"),
        pytest.param("7", (None, "7"), id="none"),
        pytest.param("<think>hm", (None, "<think>hm"), id="never-closed"),
        pytest.param("Write <think>x</think>.", (None, "Write <think>x</think>."), id="a-pair-inside"),
        pytest.param("hm</think>7</think>8", ("hm", "7</think>8"), id="the-first"),
        pytest.param("hm</thought>7", (None, "hm</thought>7"), id="another-tag"),
        pytest.param('{"rationale": "</think> alone"}', (None, '{"rationale": "</think> alone"}'), id="in-json"),
        pytest.param('hm</think>{"a": 1}', ("hm", '{"a": 1}'), id="before-json"),
    ],
)
def test_thoughts_without_an_opening_tag(text: str, split: tuple[str | None, str]) -> None:  # R3.7
    assert split_reasoning(text, ["think"], lone_closing=True) == split


def test_thoughts_without_an_opening_tag_stay_where_that_is_not_asked_for() -> None:
    assert split_reasoning("hm</think>7", ["think"]) == (None, "hm</think>7")


def test_a_judges_thoughts_without_an_opening_tag() -> None:
    verdict = '{"accuracy_score": 2, "faithfulness_score": 2, "rationale": "Right."}'
    found = parse_reply(f"hm</think>{verdict}", V1, ["think"], lone_closing=True)
    assert found == Parsed((2, 2), "Right.", "hm")
    assert isinstance(parse_reply(f"hm</think>{verdict}", V1, ["think"]), Rejected)
