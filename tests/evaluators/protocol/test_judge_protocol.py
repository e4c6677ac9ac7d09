"""SPEC P2 to P4: which of a judge's evaluations count, and why the others do not."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import ConfigError
from benchbook.evaluators.protocol.findings import (
    FLAG_OF,
    MAX_DETAILS_PER_CODE,
    Code,
    Edition,
    Flag,
    SameModel,
    codes_of,
)
from benchbook.evaluators.protocol.spec import Verdict, form, protocol_v1
from benchbook.evaluators.protocol.validity import Evaluation, EvaluationSet, Options, parse_line, validate
from support import cases

COVERAGE: Flag = "INCOMPLETE_COVERAGE"
CONFLICT: Flag = "INTERNAL_INCONSISTENCY"
REFUSAL: Flag = "JUDGE_REFUSAL_OR_EVASION"
VIOLATION: Flag = "PROTOCOL_VIOLATION"
UNPARSABLE: Flag = "UNPARSABLE_OUTPUT"

D1, D2, D3, D4 = "FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS"
JUDGE, WRITER = "acme/judge-9@2026-03-01", "nimbus/writer-4@2026-02-11"
TEXT = "# Plan\n\n1. Collect the invoices from March.\n2. Check each total against the ledger.\n" + "word " * 70
CELLS = [
    {"question_id": question, "prompt_variant": variant, "target_model": WRITER, "output_id": f"{question}_{variant}"}
    for question in ("Q3", "Q4")
    for variant in "AB"
]
ASKED = {"judge_model": JUDGE, **CELLS[0], "method": "cross_judge"}
QUOTES = ("# Plan", "Collect the invoices", "each total", "the ledger.")

NO_DATES = (
    "", "today", "yesterday", "2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "0000-01-01", "2026-3-14",
    "20260314", "2026-03-14T10:00:00Z", " 2026-03-14", "2026-03-14\n", "14-03-2026", "2026/03/14", "２０２６-03-14",
    "YYYY-MM-DD",
)  # fmt: skip

Reply = dict[str, Any]


def good_reply(scores: tuple[int, ...] = (2, 2, 2, 2), quotes: tuple[str, ...] = QUOTES) -> Reply:
    total = sum(scores)
    return {
        "meta": {**ASKED, "timestamp": "2026-03-14"},
        "scores": {**dict(zip((D1, D2, D3, D4), scores, strict=True)), "overall_score": total},
        "verdict": "FAIL" if total <= 3 else "PASS" if total >= 7 else "PARTIAL",
        "flags": [],
        "evidence": [
            {"dimension": dimension, "quote": quote, "reason": "Shows it."}
            for dimension, quote in zip((D1, D2, D3, D4), quotes, strict=True)
        ],
    }


def judged(reply: Reply | str, **more: Any) -> Evaluation:
    raw = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    return validate(raw, **{"output_text": TEXT, "asked": ASKED, "evaluation_set": CELLS, **more})


def put(*path: str | int, to: Any) -> Callable[[Reply], None]:
    def edit(reply: Any) -> None:
        for key in path[:-1]:
            reply = reply[key]
        reply[path[-1]] = to

    return edit


def drop(*path: str | int) -> Callable[[Reply], None]:
    def edit(reply: Any) -> None:
        for key in path[:-1]:
            reply = reply[key]
        del reply[path[-1]]

    return edit


def both(*edits: Callable[[Reply], None]) -> Callable[[Reply], None]:
    def edit(reply: Reply) -> None:
        for each in edits:
            each(reply)

    return edit


# --- the case file


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("protocol_reply"))
def test_a_reply_is_judged_as_the_case_says(case: dict[str, Any]) -> None:
    expect = case["expect"]
    found = parse_line(case, protocol_v1())
    assert found.keys() == {"id", "valid", "flags", "verdict", "located", "details"}
    assert {detail["flag"] for detail in found["details"]} == set(found["flags"])
    assert found["id"] == case["id"]
    assert found["valid"] is expect["valid"]
    assert found["flags"] == sorted(found["flags"])
    if "flags" in expect:
        assert set(found["flags"]) == set(expect["flags"])
    else:
        include = set(expect["flags_include"])
        assert include <= set(found["flags"]) <= include | set(expect.get("flags_allow", ()))
    if "verdict" in expect:
        assert found["verdict"] == expect["verdict"]
    if "located" in expect:
        assert found["located"] == expect["located"]


# --- P3


def test_all_81_score_vectors_have_the_verdict_of_the_source() -> None:
    """The source's three rules as written, FAIL tried first; how many of each was counted by hand."""
    counts = dict.fromkeys(get_args(Verdict), 0)
    for scores in itertools.product((0, 1, 2), repeat=4):
        overall = scores[0] + scores[1] + scores[2] + scores[3]
        if overall <= 3:
            expected = "FAIL"
        elif overall >= 7 and scores[0] != 0 and scores[1] != 0:
            expected = "PASS"
        else:
            assert 4 <= overall <= 6 or 0 in scores
            expected = "PARTIAL"
        assert protocol_v1().verdict(scores) == expected
        counts[protocol_v1().verdict(scores)] += 1
    assert counts == {"FAIL": 1 + 4 + 10 + 16, "PARTIAL": 19 + 16 + 10, "PASS": 4 + 1}


@pytest.mark.parametrize("stated", get_args(Verdict))
@pytest.mark.parametrize("scores", [*itertools.product((0, 1, 2), repeat=4)], ids=lambda s: "".join(map(str, s)))
def test_a_stated_verdict_counts_only_if_it_follows(scores: tuple[int, ...], stated: str) -> None:
    reply = good_reply(scores)
    follows = {0: "FAIL", 1: "FAIL", 2: "FAIL", 3: "FAIL", 7: "PASS", 8: "PASS"}.get(sum(scores), "PARTIAL")
    reply["verdict"] = stated
    found = judged(reply)
    assert found.verdict == follows
    assert found.flags == (() if stated == follows else (CONFLICT,))
    assert found.scores == dict(zip((D1, D2, D3, D4), scores, strict=True))
    assert found.overall_score == sum(scores)


@pytest.mark.parametrize("scores", [(2, 2, 2), (2, 2, 2, 3), (-1, 0, 0, 0), (2, 2, 2, 2, 0)])
def test_no_verdict_follows_from_other_scores(scores: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected 4 scores"):
        protocol_v1().verdict(scores)


# --- P4: one edit, its flags


@pytest.mark.parametrize(
    ("edit", "flags"),
    [
        # allowed
        pytest.param(put("extra", to={"a": 1}), (), id="a-further-key"),
        pytest.param(put("meta", "run", to=7), (), id="a-further-key-in-meta"),
        pytest.param(put("evidence", 0, "line", to=7), (), id="a-further-key-in-evidence"),
        pytest.param(put("notes", to=""), (), id="empty-notes"),
        pytest.param(put("meta", "timestamp", to="2024-02-29"), (), id="a-leap-day"),
        pytest.param(put("notes", to='It says "I cannot evaluate this text."'), (), id="a-quoted-refusal"),
        pytest.param(put("notes", to="I cannot evaluate the accuracy of its dates."), (), id="a-limit-named"),
        pytest.param(put("evidence", 0, "quote", to="I cannot evaluate this."), (VIOLATION,), id="a-refusal-quoted"),
        # types
        pytest.param(drop("scores"), (REFUSAL, UNPARSABLE), id="no-scores"),
        pytest.param(put("scores", to=None), (REFUSAL, UNPARSABLE), id="scores-null"),
        pytest.param(put("scores", to={}), (REFUSAL, VIOLATION, UNPARSABLE), id="scores-empty"),
        pytest.param(put("scores", to=[2, 2, 2, 2]), (UNPARSABLE,), id="scores-a-list"),
        pytest.param(put("scores", D4, to=None), (REFUSAL, UNPARSABLE), id="one-score-null"),
        pytest.param(put("scores", D4, to=2.0), (UNPARSABLE,), id="a-fraction"),
        pytest.param(put("scores", D4, to=[2]), (UNPARSABLE,), id="a-score-in-a-list"),
        pytest.param(drop("scores", "overall_score"), (UNPARSABLE,), id="no-overall"),
        pytest.param(put("scores", "overall_score", to=8.0), (UNPARSABLE,), id="overall-a-fraction"),
        pytest.param(put("scores", "overall_score", to=None), (UNPARSABLE,), id="overall-null"),
        pytest.param(put("verdict", to=None), (UNPARSABLE,), id="verdict-null"),
        pytest.param(put("verdict", to=["PASS"]), (UNPARSABLE,), id="verdict-a-list"),
        pytest.param(put("verdict", to=True), (UNPARSABLE,), id="verdict-a-boolean"),
        pytest.param(put("flags", to="PROTOCOL_VIOLATION"), (UNPARSABLE,), id="flags-a-string"),
        pytest.param(put("flags", to={}), (UNPARSABLE,), id="flags-an-object"),
        pytest.param(put("flags", to=[None]), (UNPARSABLE,), id="a-flag-null"),
        pytest.param(put("notes", to=None), (UNPARSABLE,), id="notes-null"),
        pytest.param(put("notes", to=["n"]), (UNPARSABLE,), id="notes-a-list"),
        pytest.param(drop("evidence"), (UNPARSABLE,), id="no-evidence-field"),
        pytest.param(put("evidence", to=None), (UNPARSABLE,), id="evidence-null"),
        pytest.param(put("evidence", to={D1: "# Plan"}), (UNPARSABLE,), id="evidence-an-object"),
        pytest.param(put("evidence", 0, "quote", to=5), (UNPARSABLE,), id="a-quote-a-number"),
        pytest.param(put("evidence", 0, "quote", to=None), (UNPARSABLE,), id="a-quote-null"),
        pytest.param(put("evidence", 0, "quote", to=["# Plan"]), (UNPARSABLE,), id="a-quote-a-list"),
        pytest.param(drop("evidence", 0, "quote"), (UNPARSABLE,), id="no-quote"),
        pytest.param(drop("evidence", 0, "reason"), (UNPARSABLE,), id="no-reason"),
        pytest.param(drop("evidence", 0, "dimension"), (VIOLATION, UNPARSABLE), id="no-dimension-in-evidence"),
        pytest.param(put("evidence", 0, to="# Plan"), (VIOLATION, UNPARSABLE), id="evidence-item-a-string"),
        pytest.param(drop("meta"), (COVERAGE, UNPARSABLE), id="no-meta"),
        pytest.param(put("meta", to=None), (COVERAGE, UNPARSABLE), id="meta-null"),
        pytest.param(put("meta", to="Q3"), (UNPARSABLE,), id="meta-a-string"),
        pytest.param(drop("meta", "timestamp"), (UNPARSABLE,), id="no-timestamp"),
        pytest.param(put("meta", "timestamp", to=20260314), (UNPARSABLE,), id="timestamp-a-number"),
        pytest.param(drop("meta", "method"), (UNPARSABLE,), id="no-method"),
        pytest.param(put("meta", "method", to=None), (UNPARSABLE,), id="method-null"),
        pytest.param(drop("meta", "judge_model"), (UNPARSABLE,), id="no-judge"),
        pytest.param(drop("meta", "output_id"), (COVERAGE, UNPARSABLE), id="no-output-id"),
        pytest.param(put("meta", "output_id", to=None), (COVERAGE, UNPARSABLE), id="output-id-null"),
        pytest.param(put("meta", "question_id", to=3), (UNPARSABLE,), id="question-id-a-number"),
        # the protocol
        pytest.param(both(put("scores", D4, to=-1), put("scores", "overall_score", to=5), put("verdict", to="PARTIAL")),
                     (VIOLATION,), id="a-negative-score"),
        pytest.param(put("scores", D4, to=3), (CONFLICT, VIOLATION), id="score-3-and-the-sum-left"),
        pytest.param(put("scores", D4, to=10**4000), (CONFLICT, VIOLATION), id="a-score-of-4001-digits"),
        pytest.param(both(drop("scores", D4), put("scores", "COVERAGE", to=2)), (REFUSAL, VIOLATION),
                     id="a-renamed-dimension"),
        pytest.param(drop("scores", D4), (REFUSAL, VIOLATION), id="a-dimension-left-out"),
        pytest.param(put("scores", "format_compliance", to=2), (VIOLATION,), id="another-case"),
        pytest.param(put("evidence", 3, "dimension", to="COVERAGE"), (VIOLATION,), id="evidence-for-no-dimension"),
        pytest.param(put("evidence", 3, "dimension", to=D1), (VIOLATION,), id="two-for-one-and-none-for-another"),
        pytest.param(put("meta", "method", to="peer_review"), (VIOLATION,), id="unknown-method"),
        pytest.param(put("meta", "method", to="Cross_Judge"), (VIOLATION,), id="method-in-another-case"),
        pytest.param(put("verdict", to=""), (VIOLATION,), id="empty-verdict"),
        pytest.param(put("flags", to=[""]), (VIOLATION,), id="empty-flag"),
        pytest.param(put("flags", to=["LOW_EFFORT", VIOLATION]), (CONFLICT, VIOLATION), id="unknown-flag-and-known"),
        pytest.param(put("evidence", 0, "quote", to=" \u200b\n"), (VIOLATION,), id="a-blank-quote"),
        pytest.param(put("evidence", 0, "quote", to="word " * 61), (VIOLATION,), id="61-words"),
        pytest.param(put("evidence", 0, "quote", to="Plan ... from April"), (VIOLATION,), id="half-of-it-found"),
        *(pytest.param(put("meta", "timestamp", to=day), (VIOLATION,), id=f"no-date-{day!r}") for day in NO_DATES),
        pytest.param(put("evidence", 0, "reason", to=""), (VIOLATION,), id="an-empty-reason"),
        pytest.param(put("evidence", 0, "reason", to=" \n\u3000"), (VIOLATION,), id="a-blank-reason"),
        # coverage and conflict
        pytest.param(put("meta", "question_id", to=""), (COVERAGE, CONFLICT), id="empty-question-id"),
        pytest.param(put("meta", "output_id", to=" "), (COVERAGE, CONFLICT), id="blank-output-id"),
        pytest.param(put("meta", "target_model", to="nimbus/writer-4"), (COVERAGE, CONFLICT), id="an-undeclared-alias"),
        pytest.param(put("meta", "prompt_variant", to="B"), (COVERAGE, CONFLICT), id="a-mixed-cell"),
        pytest.param(put("meta", "prompt_variant", to="A "), (COVERAGE, CONFLICT), id="a-space-more"),
        pytest.param(put("meta", "judge_model", to="acme/judge-8"), (CONFLICT,), id="another-judge"),
        pytest.param(put("meta", "judge_model", to=""), (CONFLICT,), id="empty-judge"),
        pytest.param(put("meta", "judge_model", to=WRITER), (CONFLICT,), id="cross-but-the-same"),
        pytest.param(put("meta", "method", to="self_judge"), (CONFLICT,), id="self-but-another"),
        pytest.param(put("scores", "overall_score", to=9), (CONFLICT,), id="overall-9"),
        pytest.param(put("scores", "overall_score", to=-8), (CONFLICT,), id="overall-negative"),
        pytest.param(put("verdict", to="FAIL"), (CONFLICT,), id="verdict-does-not-follow"),
        pytest.param(put("flags", to=[REFUSAL]), (CONFLICT,), id="self-flagged"),
        # refusal
        pytest.param(put("notes", to="I’m unable to evaluate this text."), (REFUSAL,), id="notes-decline"),
        pytest.param(put("notes", to="我无法评估这段文字"), (REFUSAL,), id="notes-decline-in-chinese"),
    ],
)  # fmt: skip
def test_an_edited_reply_has_the_flags_of_its_edit(edit: Callable[[Reply], None], flags: tuple[Flag, ...]) -> None:
    reply = good_reply()
    edit(reply)
    found = judged(reply)
    assert found.flags == flags
    assert found.valid is (not flags)
    assert {detail.flag for detail in found.details} == set(flags)
    assert all(detail.message for detail in found.details)


@pytest.mark.parametrize(
    ("raw", "flags"),
    [
        pytest.param("", (REFUSAL, UNPARSABLE), id="nothing"),
        pytest.param(" \n", (REFUSAL, UNPARSABLE), id="white-space"),
        pytest.param("null", (REFUSAL, UNPARSABLE), id="null"),
        pytest.param('"I cannot evaluate this text."', (REFUSAL, UNPARSABLE), id="a-json-string"),
        pytest.param("{}", (COVERAGE, REFUSAL, UNPARSABLE), id="an-empty-object"),
        pytest.param('{"error": "I cannot evaluate this."}', (COVERAGE, REFUSAL, UNPARSABLE), id="a-refusal-in-json"),
        pytest.param("A fine text, thank you.", (REFUSAL, UNPARSABLE), id="prose-without-scores"),
        pytest.param('{"meta": {"judge_model": "acme', (UNPARSABLE,), id="cut-before-its-scores"),
        pytest.param('{"error": "I can\'t judge this text."', (REFUSAL, UNPARSABLE), id="a-refusal-in-broken-json"),
        pytest.param(f"[{json.dumps(good_reply())}]", (UNPARSABLE,), id="in-a-list"),
        pytest.param(json.dumps(good_reply())[:-30], (UNPARSABLE,), id="cut"),
        pytest.param(json.dumps(good_reply()).replace('"', "'"), (UNPARSABLE,), id="single-quotes"),
        pytest.param(f"Here it is: {json.dumps(good_reply())}", (UNPARSABLE,), id="prose-before"),
        pytest.param(json.dumps(good_reply()).replace(": 8", ": NaN"), (UNPARSABLE,), id="nan"),
        pytest.param("<think>Hm.</think>" + json.dumps(good_reply()), (UNPARSABLE,), id="undeclared-thoughts"),
    ],
)
def test_what_is_no_object_has_its_flags(raw: str, flags: tuple[Flag, ...]) -> None:
    found = judged(raw)
    assert found.flags == flags
    assert (found.scores, found.verdict, found.located) == (None, None, ())


def test_a_quote_that_can_not_be_read_keeps_its_place() -> None:
    reply = good_reply()
    reply["evidence"][1]["quote"] = None
    assert judged(reply).located == ("exact", None, "exact", "exact")


def test_scores_out_of_range_give_no_verdict() -> None:
    reply = good_reply()
    reply["scores"][D1] = 3
    found = judged(reply)
    assert (found.scores, found.verdict, found.overall_score) == (None, None, None)


# --- options


def test_declared_thoughts_are_moved_away() -> None:  # R3.7
    raw = "<think>Hm.</think>" + json.dumps(good_reply())
    found = judged(raw, options=Options(reasoning_tags=("think",)))
    assert (found.flags, found.reasoning) == ((), "Hm.")


@pytest.mark.parametrize(
    ("quote", "flags"),
    [
        pytest.param("never written", (), id="not-found-is-reported"),
        pytest.param("", (VIOLATION,), id="empty-is-not-looked-for"),
        pytest.param("never " * 61, (VIOLATION,), id="too-long-all-the-same"),
    ],
)
def test_evidence_may_be_reported_alone(quote: str, flags: tuple[Flag, ...]) -> None:  # P4.1
    reply = good_reply(quotes=(quote, *QUOTES[1:]))
    found = judged(reply, options=Options(evidence="report"))
    assert found.flags == flags
    assert found.located[0] in ("not_found", "empty")


@pytest.mark.parametrize(
    ("judge", "method", "flags"),
    [
        pytest.param("nimbus/writer-latest", "self_judge", (), id="an-alias-is-the-model"),
        pytest.param("nimbus/writer-latest", "cross_judge", (CONFLICT,), id="so-it-is-not-crossed"),
        pytest.param("nimbus/writer", "self_judge", (), id="an-alias-of-an-alias"),
        pytest.param("nimbus/writer-3", "self_judge", (CONFLICT,), id="what-is-not-declared-is-not-the-same"),
    ],
)
def test_a_declared_alias_is_the_same_model(judge: str, method: str, flags: tuple[Flag, ...]) -> None:
    same = SameModel({"nimbus/writer-latest": WRITER, "nimbus/writer": "nimbus/writer-latest"})
    reply = good_reply()
    reply["meta"] |= {"judge_model": judge, "target_model": "nimbus/writer", "method": method}
    asked = {**ASKED, "judge_model": judge, "method": method}
    assert judged(reply, asked=asked, options=Options(same_model=same)).flags == flags


def test_a_table_of_aliases_must_end() -> None:
    with pytest.raises(ConfigError, match="circle"):
        SameModel({"a": "b", "b": "a"})


@pytest.mark.parametrize(
    "options",
    [
        {"evidense": "report"}, {"evidence": "Report"}, {"reasoning_tags": "think"}, {"same_model": {"a": "a"}},
        {"edition": 3}, {"edition": True},
    ],
    ids=repr,
)  # fmt: skip
def test_an_option_with_a_typing_error_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Options.read(options, protocol_v1())


# --- P4.1: how short and how long a quote may be


def quoted(quote: str, text: str, **options: Any) -> set[str]:
    """The codes of what is wrong with one quote in a text that it stands in."""
    reply = good_reply(quotes=(quote, *QUOTES[1:]))
    found = judged(reply, output_text=f"{text}\n{TEXT}", options=Options(**options))
    return {detail.code for detail in found.details}


@pytest.mark.parametrize(
    ("quote", "codes"),
    [
        pytest.param("Plan", set(), id="4-letters"),
        pytest.param("Pla", {"quote_too_short"}, id="3-letters"),
        pytest.param("F", {"quote_too_short"}, id="a-letter"),
        pytest.param(".", {"quote_too_short"}, id="a-full-stop"),
        pytest.param("1. A", {"quote_too_short"}, id="white-space-is-no-character"),
        pytest.param("F\u200b\u200b\u200b", {"quote_too_short"}, id="nor-what-has-no-width"),
        pytest.param("计划", set(), id="2-of-han"),
        pytest.param("计", {"quote_too_short"}, id="1-of-han"),
        pytest.param("한글", set(), id="2-of-hangul"),
        pytest.param("计x", {"quote_too_short"}, id="1-of-han-and-a-letter"),
        pytest.param("计xy", set(), id="1-of-han-and-two-letters"),
        pytest.param("w " * 60, set(), id="60-words"),
        pytest.param("w " * 61, {"quote_too_long"}, id="61-words"),
        pytest.param("x" * 120, set(), id="120-letters"),
        pytest.param("x" * 121, {"quote_too_long"}, id="121-letters"),
        pytest.param("计" * 120, set(), id="120-of-han"),
        pytest.param("计" * 121, {"quote_too_long"}, id="121-of-han"),
        pytest.param("计" * 2500, {"quote_too_long"}, id="a-whole-text-of-han"),
        pytest.param("计" * 60 + "\n" + "计" * 60, set(), id="120-of-han-on-two-lines"),
        pytest.param("计" * 60 + "\n" + "计" * 61, {"quote_too_long"}, id="a-line-end-makes-no-two-words"),
        pytest.param(" ".join(["计，划。"] * 30), set(), id="120-in-30-pieces"),
        pytest.param(" ".join(["计，划。"] * 31), {"quote_too_long"}, id="124-in-31-pieces"),
        pytest.param("ก" * 60 + " " + "ก" * 61, {"quote_too_long"}, id="thai"),
        pytest.param("한국어는 " * 60, set(), id="korean-has-spaces"),
        pytest.param("see https://example.org/" + "a" * 150, set(), id="an-address-in-a-sentence"),
    ],
)
def test_a_quote_is_neither_too_short_nor_too_long(quote: str, codes: set[str]) -> None:
    assert quoted(quote, quote) == codes
    assert quoted(quote, quote, evidence="report") == codes  # the option is about what was looked for and not found


def test_the_rules_before_derivation_3_are_kept_for_old_records() -> None:
    """Edition 1: any timestamp and reason, any quote up to 60 words, and a missing score is a violation alone."""
    reply = good_reply(quotes=("F", "计" * 2500, *QUOTES[2:]))
    reply["meta"]["timestamp"] = "yesterday"
    reply["evidence"][0]["reason"] = ""
    text = f"{TEXT} F {'计' * 2500}"
    assert judged(reply, output_text=text, options=Options(edition=1)).flags == ()
    codes = {detail.code for detail in judged(reply, output_text=text).details}
    assert codes == {"timestamp_no_date", "reason_empty", "quote_too_short", "quote_too_long"}
    del reply["scores"][D4]
    assert judged(reply, output_text=text, options=Options(edition=1)).flags == (VIOLATION,)


@pytest.mark.parametrize("edition", get_args(Edition))
def test_each_code_belongs_to_one_flag_of_an_edition(edition: Edition) -> None:
    codes = [code for flag in get_args(Flag) for code in codes_of(flag, edition)]
    assert len(codes) == len(set(codes)) == len(FLAG_OF) - (4 if edition == 1 else 0)


# --- without a set, without a question


def test_names_that_nobody_gave_are_not_compared() -> None:
    reply = good_reply()
    reply["meta"]["question_id"] = "Q9"
    assert judged(reply, asked=None, evaluation_set=None).flags == ()
    assert judged(reply, asked=None).flags == (COVERAGE,)
    assert judged(reply, evaluation_set=None).flags == (CONFLICT,)
    assert judged(good_reply(), evaluation_set=[]).flags == (COVERAGE,)


def test_a_judge_that_nobody_names_is_missing() -> None:
    reply = good_reply()
    reply["meta"]["judge_model"] = " "
    assert judged(reply, asked=None).flags == (COVERAGE,)


def test_a_set_has_each_cell_once() -> None:
    cells = EvaluationSet([*CELLS, CELLS[0]])
    assert len(cells.cells) == 4


def test_a_row_of_the_set_must_have_its_identifiers() -> None:
    with pytest.raises(ConfigError, match=r"evaluation_set\[1\]\.output_id"):
        EvaluationSet([CELLS[0], {**CELLS[0], "output_id": None}])


def test_an_unreadable_identifier_does_not_hide_an_unknown_one() -> None:
    reply = good_reply()
    reply["meta"] |= {"question_id": 3, "output_id": "other"}
    assert judged(reply).flags == (COVERAGE, CONFLICT, UNPARSABLE)


# --- bounds


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(put("flags", to=["LOW_EFFORT"] * 10_000), id="10000-flags"),
        pytest.param(put("flags", to=[f"F{n}" * 1000 for n in range(1000)]), id="long-flags"),
        pytest.param(put("notes", to="n " * 500_000), id="1-mb-of-notes"),
        pytest.param(put("scores", to={f"D{n}": n for n in range(10_000)}), id="10000-dimensions"),
        pytest.param(put("evidence", to=[{"dimension": "D", "quote": f"q{n}"} for n in range(9_000)]), id="9000-items"),
        pytest.param(put("evidence", 0, "quote", to="x" * 1_000_000), id="a-quote-of-1-mb"),
        pytest.param(put("meta", "question_id", to="\u202e" * 100_000), id="a-long-name"),
        pytest.param(put("verdict", to="\x1b[2J" * 100_000), id="a-long-verdict"),
    ],
)  # fmt: skip
def test_a_huge_reply_has_bounded_details(edit: Callable[[Reply], None]) -> None:
    reply = good_reply()
    edit(reply)
    found = judged(reply)
    assert len(found.details) <= MAX_DETAILS_PER_CODE * len(FLAG_OF)
    assert found.n_faults >= len(found.details)
    assert max((len(detail.field) + len(detail.message) for detail in found.details), default=0) <= 330
    assert len(found.evidence) <= protocol_v1().max_evidence_items
    assert all(detail.message.isprintable() for detail in found.details)


def test_details_stay_in_the_order_of_the_reply() -> None:
    reply = good_reply()
    reply["scores"] |= {f"D{n}": 1 for n in range(9)}
    fields = [detail.field for detail in judged(reply).details]
    assert fields == [f"scores.D{n}" for n in range(9)]


def test_every_code_belongs_to_a_flag_of_the_spec() -> None:
    assert FLAG_OF.keys() == set(get_args(Code))
    assert set(FLAG_OF.values()) == set(get_args(Flag)) == set(form().flags)


# --- properties

SCORES = st.tuples(*[st.integers(0, 2)] * 4)


@st.composite
def good_replies(draw: st.DrawFn) -> Reply:
    def quote() -> str:
        start = draw(st.integers(0, 60))
        return TEXT[start : start + draw(st.integers(9, 20))]

    reply = good_reply(draw(SCORES), (quote(), quote(), quote(), quote()))
    if draw(st.booleans()):
        reply["notes"] = draw(st.text("abc é", max_size=9))
    draw(st.randoms()).shuffle(reply["evidence"])
    return reply


def _wrong_values(*kinds: type) -> st.SearchStrategy[Any]:
    """JSON values of a type that is none of `kinds`; no null, which has rules of its own."""
    values: list[tuple[type, st.SearchStrategy[Any]]] = [
        (bool, st.booleans()), (int, st.integers(-3, 9)), (float, st.sampled_from([0.5, 1.5, 2.5])),
        (str, st.text(max_size=4)), (list, st.just([])), (dict, st.just({})),
    ]  # fmt: skip
    return st.one_of(*[strategy for kind, strategy in values if kind not in kinds])


FIELDS: list[tuple[tuple[str | int, ...], type]] = [
    (("meta",), dict), (("scores",), dict), (("verdict",), str), (("flags",), list), (("evidence",), list),
    *[(("meta", name), str) for name in (*ASKED, "timestamp")],
    *[(("scores", name), int) for name in (D1, D2, D3, D4, "overall_score")],
    *[(("evidence", at, name), str) for at in range(4) for name in ("dimension", "quote", "reason")],
]  # fmt: skip


@st.composite
def breaking_edits(draw: st.DrawFn) -> tuple[Callable[[Reply], None], Flag]:
    """One edit that breaks one rule of P4 whatever the reply holds, and the flag of that rule."""
    path, kind = draw(st.sampled_from(FIELDS))
    dimension = draw(st.sampled_from((D1, D2, D3, D4)))
    at = draw(st.integers(0, 3))
    identifier = draw(st.sampled_from(("question_id", "prompt_variant", "target_model", "output_id")))
    unknown = draw(st.text("xyzÄ", min_size=1, max_size=5))
    edits: list[tuple[Callable[[Reply], None], Flag]] = [
        (put(*path, to=draw(_wrong_values(kind))), UNPARSABLE),
        (put(*path, to=None), UNPARSABLE),
        (put("scores", dimension, to=None), REFUSAL),
        (put("scores", to=None), REFUSAL),
        (put("scores", dimension, to=draw(st.integers(3) | st.integers(max_value=-1))), VIOLATION),
        (drop("scores", dimension), VIOLATION),
        (put("scores", unknown, to=1), VIOLATION),
        (put("evidence", at, "dimension", to=unknown), VIOLATION),
        (drop("evidence", at), VIOLATION),
        (put("evidence", at, "quote", to=draw(st.text(" \n\u200b", max_size=3))), VIOLATION),
        (put("evidence", at, "quote", to=f"{unknown} was never said"), VIOLATION),
        (put("verdict", to=unknown), VIOLATION),
        (put("meta", "method", to=unknown), VIOLATION),
        (put("flags", to=[unknown]), VIOLATION),
        (put("flags", to=[draw(st.sampled_from(get_args(Flag)))]), CONFLICT),
        (put("meta", identifier, to=draw(st.sampled_from(("", unknown)))), COVERAGE),
        (drop("meta", identifier), COVERAGE),
        (put("meta", draw(st.sampled_from((*CELLS[0], "judge_model"))), to=unknown), CONFLICT),
        (put("meta", "method", to="self_judge"), CONFLICT),
        (put("scores", "overall_score", to=draw(st.integers(9) | st.integers(max_value=-1))), CONFLICT),
    ]
    missing = path if path[0] != "scores" or path[-1] in ("scores", "overall_score") else ("verdict",)
    edits.append((drop(*missing), UNPARSABLE))
    return draw(st.sampled_from(edits))


@given(good_replies())
def test_a_reply_that_keeps_the_rules_is_valid(reply: Reply) -> None:
    found = judged(reply)
    assert (found.valid, found.flags, found.details, found.n_faults) == (True, (), (), 0)
    assert set(found.located) == {"exact"}


@given(good_replies(), breaking_edits())
def test_one_edit_that_breaks_a_rule_is_flagged_with_its_flag(
    reply: Reply, broken: tuple[Callable[[Reply], None], Flag]
) -> None:
    edit, flag = broken
    before = copy.deepcopy(reply)
    edit(reply)
    found = judged(reply)
    assert flag in found.flags, (before, reply)
    assert not found.valid
    assert any(detail.flag == flag for detail in found.details)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(good_replies(), st.sampled_from(FIELDS), JSON)
def test_no_value_anywhere_makes_it_raise(reply: Reply, field: tuple[tuple[str | int, ...], type], value: Any) -> None:
    put(*field[0], to=value)(reply)
    assert isinstance(judged(reply), Evaluation)


@given(st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    assert UNPARSABLE in judged(text).flags


# --- the command line's line


def _case(**more: Any) -> Mapping[str, Any]:
    return {"id": "c", "reply": json.dumps(good_reply()), "output_text": TEXT, **more}


def test_a_line_needs_its_reply_and_its_text_alone() -> None:
    assert parse_line(_case(asked=None, options=None), protocol_v1()) == {
        "id": "c", "valid": True, "flags": [], "verdict": "PASS", "located": ["exact"] * 4, "details": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param({"reply": None}, "reply: found nothing", id="no-reply"),
        pytest.param({"output_text": 5}, "output_text: found integer", id="text-a-number"),
        pytest.param({"options": []}, "options: found array", id="options-a-list"),
        pytest.param({"evaluation_set": {}}, "evaluation_set: found object", id="set-an-object"),
    ],
)
def test_a_line_that_can_not_be_read_says_why(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_line(_case(**more), protocol_v1())
