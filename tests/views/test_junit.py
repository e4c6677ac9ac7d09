"""JUnit XML, read back by an XML parser."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from benchbook.views.rubric.digest import RunReport
from benchbook.views.rubric.junit import junit_report
from views.made_up import HOSTILE, good, hostile_report, report, shown, silent, unscored


def parsed(made: RunReport) -> ET.Element:
    return ET.fromstring("".join(junit_report(made)).encode("utf-8"))


def suite(root: ET.Element, name: str) -> ET.Element:
    return next(one for one in root if one.get("name") == name)


@pytest.mark.parametrize("kind", ["realistic", "ready", "same", "missing", "empty", "nothing", "hostile"])
def test_the_counts_are_those_of_the_cases(kind: str) -> None:
    root = parsed(shown(kind))
    for one in [root, *root]:
        assert int(one.get("tests", "")) == len(list(one.iter("testcase")))
        assert int(one.get("failures", "")) == len(list(one.iter("failure")))
        assert int(one.get("errors", "")) == len(list(one.iter("error")))
        assert int(one.get("skipped", "")) == len(list(one.iter("skipped")))


def test_a_sample_passes_fails_or_errs() -> None:
    root = parsed(report([good(0), silent(1), unscored(2)]))
    one, two, three = suite(root, "support-assistant-v3")
    assert (one.get("name"), one.get("time"), list(one)) == ("item-00", "0.900", [])
    assert two[0].tag == "failure"
    assert "accuracy below the minimum" in (two[0].get("message") or "")
    assert three[0].tag == "error"
    assert three[0].get("message") == "unscored (parse_error: malformed_json)"
    assert "Sure! The answer is good." in (three[0].text or "")


def test_repeats_are_told_apart() -> None:
    root = parsed(report([good(0), good(1, repeat=1, item_id="item-00")], repeats=2))
    assert [one.get("name") for one in suite(root, "support-assistant-v3")] == [
        "item-00 [repeat 1]",
        "item-00 [repeat 2]",
    ]


def test_each_gate_is_a_case_and_so_is_the_decision() -> None:
    root = parsed(shown("realistic"))
    gates = suite(root, "gates")
    assert [one.get("name") for one in gates] == [
        "aggregate_score",
        "pass_rate",
        "faithfulness_failure_rate",
        "latency_e2e_p95_ms",
    ]
    assert [one[0].tag for one in gates] == ["failure", "failure", "failure", "system-out"]
    assert suite(root, "decision")[0][0].get("type") == "NOT_READY"


def test_a_cap_alone_fails_the_decision() -> None:
    root = parsed(shown("same"))
    assert suite(root, "gates").get("failures") == "0"
    assert suite(root, "decision").get("failures") == "1"


def test_a_refused_decision_is_an_error() -> None:
    (case,) = suite(parsed(shown("missing")), "decision")
    assert case[0].tag == "error"
    assert "model_version, code_version" in (case[0].get("message") or "")


@pytest.mark.parametrize("words", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_stays_in_its_place(words: str) -> None:
    root = parsed(report([unscored(0, candidate_answer=words, item_id=words[:300] or "x")]))
    (case,) = suite(root, "support-assistant-v3")
    assert [one.tag for one in case] == ["error"]
    assert [one.tag for one in case[0]] == []


def test_the_hostile_report_is_xml() -> None:
    assert parsed(hostile_report()).tag == "testsuites"
