"""SPEC A8 to A10: what the validator finds."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.evalsets.findings import CODES, Finding, as_json, as_line, as_sarif
from benchbook.evalsets.lines import MAX_LINE_BYTES
from benchbook.evalsets.validate import exit_code, main, validate
from support import cases, shared_data

GOOD = {
    "id": "i1",
    "prompt": "What is 1 plus 1? Reply with the number only.",
    "expected_answer": "2",
    "section": "core",
    "category": "arithmetic",
    "difficulty": "easy",
}
Brief = tuple[int | None, str, str | None]


def line(**changes: Any) -> bytes:
    """A good item with fields changed, or left out where the value is `...`; its line without an end."""
    item = {name: value for name, value in (GOOD | changes).items() if value is not ...}
    return json.dumps(item).encode()


def found(path: Path, data: bytes, profile: str | None = None) -> list[Finding]:
    path.write_bytes(data)
    return list(validate(path, profile))


def brief(findings: list[Finding]) -> list[Brief]:
    return [(finding.line, finding.code, finding.field) for finding in findings]


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("evalset_lines"))
def test_the_findings_are_those_of_the_case(case: dict[str, Any], tmp_path: Path) -> None:
    findings = found(tmp_path / "set.jsonl", base64.b64decode(case["base64"]))
    expected = case["expect"]["findings"]
    said = [{name: getattr(finding, name) for name in ("line", "code", "field", "severity")} for finding in findings]
    # The lines' findings in their order; what concerns the whole file has no place among them.
    assert [one for one in said if one["line"]] == [one for one in expected if one["line"]]
    assert sorted(str(one) for one in said if not one["line"]) == sorted(
        str(one) for one in expected if not one["line"]
    )
    assert exit_code(findings) == case["expect"]["exit"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"[1]", [(1, "not_an_object", None)], id="array"),
        pytest.param(b"7", [(1, "not_an_object", None)], id="number"),
        pytest.param(b"null", [(1, "not_an_object", None)], id="null"),
        pytest.param(b'"text"', [(1, "not_an_object", None)], id="string"),
        pytest.param(line()[:-1] + b",}", [(1, "malformed_json", None)], id="trailing-comma"),
        pytest.param(line() + b"// no", [(1, "malformed_json", None)], id="comment"),
        pytest.param(line() + b" " + line(), [(1, "malformed_json", None)], id="two-objects-on-a-line"),
        pytest.param(line().replace(b"i1", b"i\x001"), [(1, "malformed_json", None)], id="nul-in-a-string"),
        pytest.param(line(prompt="P\u2028Q? "), [], id="escaped-line-separator"),
        pytest.param(line().replace(b"What", "W\u2028\u2029\x85hat".encode()), [], id="raw-line-separators"),
        pytest.param(line().replace(b"What", b"\\ud800hat"), [(1, "malformed_json", None)], id="lone-surrogate"),
        pytest.param(line() + b"\n\xef\xbb\xbf" + line(id="i2"), [(2, "malformed_json", None)], id="bom-on-line-2"),
        pytest.param(b"\xef\xbb\xbf", [(1, "byte_order_mark", None), (None, "no_items", None)], id="bom-alone"),
        pytest.param(b"\xef\xbb\xbf\n" + line(), [(1, "byte_order_mark", None)], id="bom-on-a-line-of-its-own"),
        pytest.param(b"\n \t\n", [(1, "blank_line", None), (2, "blank_line", None), (None, "no_items", None)],
                     id="blank-lines-alone"),
        pytest.param(line() + b"\r" + line(id="i2") + b"\r", [(1, "malformed_json", None)], id="cr-line-ends"),
        pytest.param(line().decode().encode("utf-16"), [(1, "bad_utf8", None)], id="utf-16"),
        pytest.param(line().decode().encode("utf-16-le"), [(1, "bad_utf8", None)], id="utf-16-without-a-mark"),
        pytest.param(line().decode().encode("utf-32"), [(1, "bad_utf8", None)], id="utf-32"),
        pytest.param(b"[" * 100_000, [(1, "malformed_json", None)], id="deep"),
        pytest.param(line(weight=1)[:-2] + b"9" * 5000 + b"}", [(1, "malformed_json", None)], id="5000-digits"),
        pytest.param(line(id=7, prompt=None, expected_answer=[], section=True, category={}, difficulty=1.5),
                     [(1, "wrong_type", name) for name in GOOD], id="wrong-types"),
        pytest.param(b"{}", [(1, "missing_field", name) for name in GOOD], id="nothing-there"),
        pytest.param(line(id="", prompt=" ", expected_answer="\u3000"),
                     [(1, "empty_field", name) for name in ("id", "prompt", "expected_answer")], id="empty"),
        pytest.param(line(answer_format="answer_prefix"), [], id="answer-format"),
        pytest.param(line(answer_format=None), [], id="no-answer-format"),
        pytest.param(line(answer_format="json"), [(1, "unknown_value", "answer_format")], id="other-answer-format"),
        pytest.param(line(answer_format=3), [(1, "wrong_type", "answer_format")], id="answer-format-number"),
        pytest.param(line(tags=["a"], notes="n"), [], id="further-fields"),
        pytest.param(line(answer_fromat="answer_prefix"), [(1, "unknown_field", "answer_fromat")], id="misspelt"),
        pytest.param(line(id=..., item_id="i1"), [(1, "missing_field", "id")], id="another-name"),
        pytest.param(line(item_id="i1"), [(1, "two_names", "id")], id="two-names"),
        pytest.param(b'{"prompt":"a","prompt":"b","id":1,"id":2}',
                     [(1, "duplicate_key", "id"), (1, "duplicate_key", "prompt")]
                     + [(1, "missing_field", name) for name in list(GOOD)[2:]], id="two-keys-twice"),
        pytest.param(line(context={"a": 1}).replace(b'{"a": 1}', b'{"a": 1, "a": 2}'),
                     [(1, "duplicate_key", "context.a")], id="a-key-twice-further-down"),
        pytest.param(line()[:-1] + b', "id": "i2",}', [(1, "malformed_json", None)], id="twice-and-malformed"),
        pytest.param(line() + b"\n" + line(id="i2", prompt="WHAT  is 1 plus 1 - Reply with the number only!"),
                     [], id="another-mark-is-kept"),
        pytest.param(line() + b"\n" + line(id="i2", prompt="what is 1 plus 1?\nReply with the number only"),
                     [(2, "near_duplicate_prompt", "prompt")], id="near"),
        pytest.param(line() + b"\n" + line(id="i2", section="x"),
                     [(2, "duplicate_prompt", "prompt"), (2, "unknown_value", "section")], id="order-of-the-fields"),
        pytest.param(line(context="a") + b"\n" + line(id="i2", context="b"), [], id="another-context"),
        pytest.param(line(context="a") + b"\n" + line(id="i2", context="a"), [(2, "duplicate_prompt", "prompt")],
                     id="the-same-context"),
        pytest.param(b"\n".join([line(), line(id="i2", difficulty="x"), line(id="i2", prompt="Q?")]),
                     [(2, "duplicate_prompt", "prompt"), (2, "unknown_value", "difficulty"), (3, "duplicate_id", "id")],
                     id="a-faulty-line-counts-as-earlier"),
        pytest.param(line(id="i0") + b"\r\n\r\n" + line(id="i2", prompt="Q?") + b"\n",
                     [(2, "blank_line", None), (None, "line_ends", None)], id="mixed-line-ends"),
    ],
)  # fmt: skip
def test_further_files_have_their_findings(data: bytes, expected: list[Brief], tmp_path: Path) -> None:
    assert brief(found(tmp_path / "set.jsonl", data)) == expected


@pytest.mark.slow
def test_a_line_over_the_limit_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    fits = line(prompt="a" * (MAX_LINE_BYTES - len(line(prompt="")) - 1))
    data = b"\n".join([fits, fits.replace(b"i1", b"i02"), b"x" * 50_000_000, line(id="i3", section="x")])
    assert brief(found(tmp_path / "set.jsonl", data)) == [
        (2, "line_too_long", None),
        (3, "line_too_long", None),
        (4, "unknown_value", "section"),
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param({"section": "Core"}, "'Core'; expected core, trace_sensitive, edge_case (did you mean core?)",
                     id="case"),
        pytest.param({"category": "Unit conversion"}, "(did you mean unit_conversion?)", id="a-space"),
        pytest.param({"id": ..., "item_id": "i"}, "there is no id (item_id is there: rename it)", id="alias"),
        pytest.param({"difficulty": ..., "dificulty": "easy"}, "(dificulty is there: rename it)", id="misspelt"),
        pytest.param({"expected_answer": 4}, "found a number; expected a string", id="type"),
    ],
)  # fmt: skip
def test_a_reason_says_what_would_be_right(name: dict[str, Any], reason: str, tmp_path: Path) -> None:
    [finding] = found(tmp_path / "set.jsonl", line(**name))
    assert reason in finding.reason


def test_a_duplicate_names_the_line_that_was_first(tmp_path: Path) -> None:
    findings = found(tmp_path / "set.jsonl", b"\n".join([line(), line(prompt="Q?"), line(prompt="q")]))
    assert [finding.reason for finding in findings] == [
        "the id of line 1 again",
        "the id of line 1 again",
        "the prompt of line 2 but for case, white space or punctuation",
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b'{"id":"a","prompt":"P?"}', [], id="little-is-needed"),
        pytest.param(b'{"id":"a","task":"P?","reference_answer":"x","section":"mine"}', [], id="other-names"),
        pytest.param(b'{"item_id":"a","task":"P?","question":"Q?"}', [(1, "two_names", "prompt")], id="two-names"),
        pytest.param(b'{"id":"a","prompt":"P?","expected_answer":""}', [(1, "empty_field", "expected_answer")],
                     id="an-empty-answer"),
        pytest.param(b'{"id":"a","prompt":"P?","category":4}', [(1, "wrong_type", "category")], id="free-text-is-text"),
        pytest.param(b'{"id":"a","prompt":"P?"}\n{"item_id":"a","task":"P?"}',
                     [(2, "duplicate_id", "id"), (2, "duplicate_prompt", "prompt")], id="duplicates"),
        pytest.param(b'{"prompt":"P?"}', [(1, "missing_field", "id")], id="no-id"),
    ],
)  # fmt: skip
def test_a_rubric_set_may_say_less(data: bytes, expected: list[Brief], tmp_path: Path) -> None:
    findings = found(tmp_path / "set.jsonl", data, "rubric")
    assert brief([one for one in findings if one.code != "unseen_by_judge"]) == expected


def test_a_prompt_that_comes_again_is_a_warning_where_runs_take_it(tmp_path: Path) -> None:
    data = line(id="a") + b"\n" + line(id="b")
    for profile, severity in ((None, "error"), ("rubric", "warning")):
        findings = found(tmp_path / "set.jsonl", data, profile)
        assert [one.severity for one in findings if one.code == "duplicate_prompt"] == [severity]


def test_composition_is_checked_with_a_profile_alone(tmp_path: Path) -> None:  # A9
    path = tmp_path / "set.jsonl"
    assert found(path, line()) == []
    assert [finding.reason for finding in found(path, line(), "eval_v1")] == [
        "1 item; eval_v1 has 50",
        "no item with 'medium'; eval_v1 has every difficulty",
        "no item with 'hard'; eval_v1 has every difficulty",
    ]
    golden = found(path, line(answer_format="answer_prefix"), "golden-v1")
    assert brief(golden) == [(1, "composition", "answer_format"), (None, "composition", None)]
    with pytest.raises(UsageError, match="no profile 'v3'; there are golden-v1, eval_v1, eval_v2, rubric"):
        validate(path, "v3")


def test_what_is_wrong_with_the_original_set_is_said_precisely() -> None:  # A9
    findings = list(validate(shared_data("tunix-rt") / "eval_v2_original.jsonl", "eval_v2"))
    assert {finding.reason for finding in findings if finding.line is None} == {
        "52 items with 'easy'; eval_v2 has 34 (18 too many)",
        "37 items with 'medium'; eval_v2 has 41 (4 missing)",
        "11 items with 'hard'; eval_v2 has 25 (14 missing)",
        *(f"no item with {name!r}; eval_v2 has every category"
          for name in ("unit_conversion", "general_knowledge", "multi_step_word_problem", "algebraic_reasoning",
                       "sequence_reasoning", "numeric_precision", "edge_case")),
    }  # fmt: skip
    unknown = [finding for finding in findings if finding.code == "unknown_value"]
    assert len(unknown) == 100 - 35 - 15 - 12  # all but arithmetic, geometry and formatting
    assert {finding.field for finding in unknown} == {"category"}


def test_files_that_can_not_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        validate(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="there is no such file"):
        validate(tmp_path)


@given(
    st.binary(max_size=200)
    | st.lists(
        st.sampled_from([line(), b"\n", b"\r", b"\xef\xbb\xbf", b'"', b"\x00", b"}", b"\xff", b"{", b",", b"[1]"]),
        max_size=8,
    ).map(b"".join)
)
def test_no_bytes_make_the_validator_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:  # fmt: skip
    findings = found(tmp_path_factory.mktemp("set") / "set.jsonl", data)
    lines = [finding.line for finding in findings]
    assert lines == sorted(lines, key=lambda number: number or 10**9)
    for finding in findings:
        assert finding.severity == CODES[finding.code].severity
        assert as_line(finding).isprintable()


def test_formats(tmp_path: Path) -> None:
    findings = found(tmp_path / "my set.jsonl", line(section="\x1b[31m") + b"\r\n")
    assert as_line(findings[0]) == (
        f"{tmp_path}/my set.jsonl:1: error: section: found '\\u001b[31m'; "
        "expected core, trace_sensitive, edge_case [unknown_value]"
    )
    read = json.loads(as_json(findings))
    assert (read["n_errors"], read["n_warnings"]) == (1, 1)
    assert read["findings"][0]["line"] == 1
    [run] = as_sarif(findings, version="1.0")["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(CODES)
    first, second = run["results"]
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "unknown_value"
    assert first["level"] == "error"
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"].endswith("/my%20set.jsonl")
    assert where["region"] == {"startLine": 1}
    assert "region" not in second["locations"][0]["physicalLocation"]


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(line())
    bad.write_bytes(line(section="x"))
    assert main([str(good)]) == 0
    assert capsys.readouterr().out == ""
    assert main([str(good), str(bad)]) == 1
    assert "bad.jsonl:1: error: section" in capsys.readouterr().out
    assert main(["--sarif", str(bad)]) == 1
    assert json.loads(capsys.readouterr().out)["version"] == "2.1.0"
    assert main(["--json", str(good)]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []
    assert main([str(tmp_path / "none.jsonl")]) == 2
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "benchbook.evalsets.validate", bad], capture_output=True, check=False
    )
    assert (run.returncode, run.stderr) == (1, b"")
