"""The files that promptfoo writes: how each is recognised and read, and which are refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError, UsageError
from benchbook.exchange.log import LogFailure
from benchbook.exchange.promptfoo.reading import recognises
from benchbook.exchange.tools import recognised, seen_at
from promptfoo_files import check, document, failed, logs_of, result, samples_of, written

_LINES = "".join(json.dumps(one) + "\n" for one in (result(0), result(1, 1), failed(1)))

# ── JSONL ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_lines_have_columns_and_no_claims(tmp_path: Path) -> None:
    first, second = logs_of(written(tmp_path, _LINES, "x.jsonl"))
    assert [(one.id, one.where) for one in first.samples()] == [("0", "line 1"), ("1", "line 3")]
    assert [(one.id, one.where) for one in second.samples()] == [("1", "line 2")]
    assert (first.header.form, first.header.status, first.header.claims) == ("JSONL", "not_known", ())
    assert (first.header.task, first.header.model, first.header.n_claimed) == ("x", "openai:gpt-x", None)


def test_a_last_line_that_is_cut_off_is_left_out_and_told_of(tmp_path: Path) -> None:
    (log,) = logs_of(written(tmp_path, _LINES.replace('"promptIdx": 1', '"promptIdx": 0')[:-30], "x.jsonl"))
    assert [one.id for one in log.samples()] == ["0", "1"]
    assert log.header.status == "being_written"
    (note,) = log.notes()
    assert (note.code, note.words) == ("cut_line", "line 3, the last, is cut off: it is left out")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            _LINES.replace('"testIdx": 1', '"testIdx": 1,,', 1), "x.jsonl:2: no whole JSON", id="in the middle"
        ),
        pytest.param(_LINES + '{"promptIdx": 0, \n', "x.jsonl:4: no whole JSON", id="a whole line"),
        pytest.param(_LINES + '{"promptIdx": 0}', "x.jsonl:4: another form than it should have", id="another form"),
    ],
)
def test_any_other_broken_line_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        logs_of(written(tmp_path, text, "x.jsonl"))
    assert said in str(raised.value)


# ── CSV ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_TODAY = """Description,country,[gpt] Capital of {{country}}?,Status,Score,Named Scores,Metric: a,Grader Reason,\
Comment,[mini] Capital of {{country}}?,Status,Score,Named Scores,Grader Reason,Comment
easy,France,Paris,PASS,0.75,"{""a"":0.5,""b"":0}",0.50,All assertions passed,,"a ""city"", and
a river",FAIL,0.00,,no Par in it,
,Spain,,ERROR,0.00,,,,,,,,,,
"""
_PAGE = """country,[gpt] plain,Grader Reason,Comment,Latency (ms),[mini] plain,Grader Reason,Comment,Latency (ms)
France,[PASS] Paris,All assertions passed,,150,[FAIL] Rome,no Par in it,,12
Spain,[ERROR] HTTP 500,,,3,[PASS] ,,,
"""
_SHEET = """country,[gpt] plain
France,"[PASS] (0.75, a: 0.50, b: 0.00)

Paris

Pass Reason: All assertions passed"
Spain,"[FAIL] (0.00)

no Mad in it
---
Rome

Lazio

Fail Reason: no Mad in it"
Malta,"[FAIL] (0.00)

HTTP 500
---
HTTP 500"
"""


def test_the_csv_of_today(tmp_path: Path) -> None:
    first, second = logs_of(written(tmp_path, _TODAY, "x.csv"))
    one, two = first.samples()
    assert (one.id, one.prompt, one.answer) == ("0", "Capital of {{country}}?\n\ncountry: France", "Paris")
    assert {name: score.value for name, score in one.scores.items()} == {
        "score": 0.75,
        "namedScores.a": 0.5,
        "namedScores.b": 0,
    }
    assert one.metadata["description"] == "easy"
    assert (two.failure, two.scores["score"].value) == (LogFailure(message="an error without a message"), None)
    (one,) = second.samples()
    assert (one.answer, one.scores["score"].value, one.scores["score"].passed) == ('a "city", and\na river', 0, False)
    assert one.scores["score"].explanation == "no Par in it"
    assert (first.header.model, second.header.model, first.header.claims) == ("gpt", "mini", ())


def test_the_csv_of_older_pages(tmp_path: Path) -> None:
    first, second = logs_of(written(tmp_path, _PAGE, "x.csv"))
    one, two = first.samples()
    assert (one.answer, one.scores["score"].value, one.latency_ms) == ("Paris", 1, 150)
    assert two.failure == LogFailure(message="HTTP 500")
    assert [(one.answer, one.scores["score"].value) for one in second.samples()] == [("Rome", 0), ("", 1)]


def test_the_csv_of_a_sheet(tmp_path: Path) -> None:
    (log,) = logs_of(written(tmp_path, _SHEET, "x.csv"))
    one, two, three = log.samples()
    assert (three.failure, three.answer) == (LogFailure(message="HTTP 500"), None)  # nothing was graded
    assert (one.answer, {name: score.value for name, score in one.scores.items()}) == (
        "Paris",
        {"score": 0.75, "namedScores.a": 0.5, "namedScores.b": 0},
    )
    assert (two.answer, two.scores["score"].explanation) == ("Rome\n\nLazio", "no Mad in it")


@pytest.mark.parametrize(
    ("cell", "answer"),
    [
        ("'=1+1", "=1+1"),
        ("'  @x", "  @x"),
        ("'-x", "-x"),
        ("'-1", "'-1"),
        ("-1", "-1"),
        ("'quoted'", "'quoted'"),
        ("\x1b[31m", "\x1b[31m"),
    ],
)
def test_what_a_spreadsheet_would_carry_out_is_as_it_was(tmp_path: Path, cell: str, answer: str) -> None:
    header = "q,[gpt] plain,Status,Score,Named Scores,Grader Reason,Comment\n"
    (log,) = logs_of(written(tmp_path, header + f"x,{cell},PASS,1.00,,,\n", "y.csv"))
    assert [one.answer for one in log.samples()] == [answer]
    assert ("marked_cells" in {note.code for note in log.notes()}) == (cell != answer)


def test_rows_of_a_csv_that_are_the_same_are_repeats(tmp_path: Path) -> None:
    header = "q,[gpt] plain,Status,Score,Named Scores,Grader Reason,Comment\n"
    path = written(tmp_path, header + "x,a,PASS,1.00,,,\ny,b,PASS,1.00,,,\nx,c,FAIL,0.00,,no,\n", "y.csv")
    assert [(one.id, one.repeat, one.answer) for one in samples_of(path)] == [
        ("0", 0, "a"),
        ("1", 0, "b"),
        ("0", 1, "c"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(_TODAY.replace(",Spain", "Spain"), "another number of cells than in the header (14)", id="cells"),
        pytest.param(_TODAY + ',"open', "x.csv:5: found no CSV", id="an open quote"),
        pytest.param(_TODAY.encode() + b"\xff", "no UTF-8", id="no UTF-8"),
    ],
)
def test_a_csv_that_makes_no_sense(tmp_path: Path, text: Any, said: str) -> None:
    with pytest.raises(InputError) as raised:
        logs_of(written(tmp_path, text, "x.csv"))
    assert said in str(raised.value)


# ── YAML ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_YAML = """evalId: eval-abc
results:
  version: 3
  timestamp: '2026-01-02T03:04:05.678Z'
  prompts:
    - raw: Say {{answer}}
      label: Say {{answer}}
      provider: gpt
      metrics: {score: 1.5, testPassCount: 1, testFailCount: 1, testErrorCount: 0}
  results:
    - promptIdx: 0
      testIdx: 0
      success: true
      score: 1
      failureReason: 0
      vars: &ref_0
        answer: yes
        when: 2026-01-02
        how: 1:30
        n: 0x10
      testCase:
        vars: *ref_0
      prompt: {raw: Say yes, label: "Say {{answer}}"}
      response:
        output: |-
          yes
          it is
      gradingResult: {pass: true, score: 1, reason: null}
    - promptIdx: 0
      testIdx: 1
      success: false
      score: 5.e-1
      failureReason: 1
      testCase: {vars: {answer: "null"}}
      response: {output: ~}
      gradingResult: &g {pass: false, score: .5, reason: "no"}
  stats: {successes: 1}
config:
  description: Said
"""


def _yaml(folder: Path, text: str) -> Path:
    pytest.importorskip("yaml")
    return written(folder, text, "x.yaml")


def test_yaml_is_read_as_promptfoo_writes_it(tmp_path: Path) -> None:
    (log,) = logs_of(_yaml(tmp_path, _YAML))
    one, two = log.samples()
    assert (one.answer, one.scores["score"].value, two.answer, two.scores["score"].value) == (
        "yes\nit is",
        1,
        None,
        0.5,
    )
    assert one.metadata["vars"] == {"answer": "yes", "when": "2026-01-02", "how": "1:30", "n": "0x10"}
    assert two.metadata["vars"] == {"answer": "null"}
    assert (log.header.task, log.header.model, log.header.n_claimed) == ("Said", "gpt", 2)
    assert {claim.metric for claim in log.header.claims} >= {"score", "testPassCount", "successes"}


@pytest.mark.parametrize(
    ("written_as", "text"),
    [(r"\ud835", "\\ud835"), (r"\ud83d\ude00", "\U0001f600"), (r"\U0001F600 \xe9", "\U0001f600 é")],
)
def test_half_a_character_in_yaml_is_its_escape(tmp_path: Path, written_as: str, text: str) -> None:
    (log,) = logs_of(_yaml(tmp_path, _YAML.replace("{output: ~}", f'{{output: "a {written_as}"}}')))
    assert [one.answer for one in log.samples()] == ["yes\nit is", f"a {text}"]


def _laughs() -> str:
    lines = ["a0: &a0 {x: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}"]
    lines += [f"a{n}: &a{n} {{x: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 9)]
    return _YAML.replace("config:\n", "config:\n" + "".join(f"  {line}\n" for line in lines))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(_laughs(), "aliases that stand for more than can be held", id="a billion laughs"),
        pytest.param(_YAML.replace("~}", "[" * 300 + "]" * 300 + "}"), "YAML nested too deeply", id="deep"),
        pytest.param(_YAML.replace("~}", "!!python/object/apply:os.system [ls]}"), "the tag '", id="a tag"),
        pytest.param(_YAML.replace("~}", "&r {r: *r}}"), "an alias of 'r', which is not there yet", id="a circle"),
        pytest.param(_YAML.replace("~}", "{[1]: 2}}"), "a key that is no text", id="a key"),
        pytest.param(_YAML + "---\na: 1\n", "a second document", id="two documents"),
        pytest.param(_YAML[: _YAML.index("  stats")], "the file's end before `config`", id="cut where a line ends"),
        pytest.param(_YAML[: _YAML.index("0x10") - 3], "found the file's end before `config`", id="cut"),
        pytest.param(_YAML.replace("~}", "'open}"), "x.yaml:", id="an open quote"),
        pytest.param(
            _YAML.replace("testIdx: 1", "testIdx: one"), "results.results[1]: another form", id="another form"
        ),
    ],
)
def test_yaml_that_makes_no_sense_or_wants_too_much(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        logs_of(_yaml(tmp_path, text))
    assert said in str(raised.value)


def test_without_the_extra_yaml_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r"pip install 'benchbook\[yaml\]'"):
        logs_of(written(tmp_path, _YAML, "x.yaml"))


# ── older JSON, and tables ───────────────────────────────────────────────────────────────────────────────────────


def _table(**more: Any) -> dict[str, Any]:
    grading = {
        "pass": False,
        "score": 0.25,
        "reason": "no Par in it",
        "componentResults": [check("contains", passed=False, score=0)],
    }
    outputs = [
        {"pass": True, "score": 1, "text": "Paris", "prompt": "Capital of France?", "latencyMs": 40, "cost": 0.5},
        {"pass": False, "score": 0.25, "text": "no Par in it\n---\nRome", "prompt": "…", "gradingResult": grading},
        {"pass": False, "score": 0, "text": "HTTP 500\n---\n", "prompt": "…", "latencyMs": 3},
        None,
    ]
    metrics = {"score": 1, "testPassCount": 1, "testFailCount": 0}
    head = {"prompts": [{"raw": f"{n}", "label": f"{n}", "provider": "gpt", "metrics": metrics} for n in range(4)]}
    test = {"description": "easy", "vars": {"country": "France"}}
    return {
        "head": head | {"vars": ["country"]},
        "body": [{"outputs": outputs, "vars": ["France"], "test": test, **more}],
    }


@pytest.mark.parametrize(
    ("content", "form", "place"),
    [
        pytest.param(_table(testIdx=5), "JSON, a table", "body[0]", id="a table"),
        pytest.param(
            {"version": 2, "results": {"version": 2, "timestamp": "x", "results": [{"a": 1}], "table": _table()}},
            "JSON, version 2",
            "results.table.body[0]",
            id="version 2",
        ),
        pytest.param(
            {"evalId": "e", "results": {"version": 1, "results": [], "table": _table()}, "config": {}},
            "JSON, version 1",
            "results.table.body[0]",
            id="version 1",
        ),
    ],
)
def test_tables_are_read_by_their_columns(tmp_path: Path, content: dict[str, Any], form: str, place: str) -> None:
    logs = logs_of(written(tmp_path, content))
    (first,), (second,), (third,) = (list(log.samples()) for log in logs[:3])
    assert list(logs[3].samples()) == []
    assert (first.answer, first.prompt, first.scores["score"].value, first.latency_ms) == (
        "Paris",
        "Capital of France?",
        1,
        40,
    )
    assert (first.metadata["vars"], first.metadata["description"]) == ({"country": "France"}, "easy")
    assert (first.where, first.id) == (f"{place}.outputs[0]", "5" if "a table" in form else "0")
    assert (second.answer, second.scores["score"].explanation) == ("Rome", "no Par in it")
    assert set(second.scores) == {"score", "assert.contains"}
    assert (third.failure, third.answer) == (LogFailure(message="HTTP 500"), None)
    assert {log.header.form for log in logs} == {form}


def test_versions_that_did_not_tell_errors_from_failures_count_both(tmp_path: Path) -> None:
    third = logs_of(written(tmp_path, _table()))[2]
    claim = next(one for one in third.header.claims if one.metric == "testFailCount")
    assert (claim.formula, claim.field) == ("sum", "notPassed")
    assert [one.metadata["notPassed"] for one in third.samples()] == [1]


def test_older_numbers_of_the_file_have_judges_tokens_in_them(tmp_path: Path) -> None:
    table = _table()
    output = table["body"][0]["outputs"][0]
    output["tokenUsage"] = {"total": 12, "prompt": 9, "completion": 3}
    output["gradingResult"] = {"pass": True, "score": 1, "tokensUsed": {"total": 30, "prompt": 20, "completion": 10}}
    stats = {"successes": 1, "failures": 2, "tokenUsage": {"total": 42, "prompt": 29, "cached": 0}}
    first = logs_of(written(tmp_path, {"results": {"version": 2, "table": table, "stats": stats}}))[0]
    told = {
        one.metric: (one.of_file, one.field) for one in first.header.claims if one.where.startswith("results.stats")
    }
    assert told == {
        "successes": ("n_passed", None),
        "failures": ("sum", "notPassed"),
        "tokenUsage.total": ("sum", "allTokens.total"),
        "tokenUsage.prompt": ("sum", "allTokens.prompt"),
        "tokenUsage.cached": ("sum", "allTokens.cached"),
    }
    assert next(iter(first.samples())).metadata["allTokens.total"] == 42


def test_older_yaml_is_read_by_its_table(tmp_path: Path) -> None:
    text = """results:
  version: 2
  timestamp: '2026-01-02T03:04:05.678Z'
  results:
    - response: &ref_0 {output: Paris}
  table:
    head: {prompts: [{raw: a, label: a, provider: gpt, metrics: {score: 1}}], vars: []}
    body:
      - outputs: [{pass: true, score: 1, text: Paris, prompt: France?, response: *ref_0}]
        test: {vars: {}}
config: {description: Old}
"""
    (log,) = logs_of(_yaml(tmp_path, text))
    (one,) = log.samples()
    assert (one.answer, one.prompt, one.where) == ("Paris", "France?", "results.table.body[0].outputs[0]")
    assert (log.header.form, [claim.where for claim in log.header.claims]) == (
        "YAML, version 2",
        ["results.table.head.prompts[0].metrics.score"],
    )


# ── which file is promptfoo's ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("<promptfoo>\n  <evalId>x</evalId>", "XML"),
        ('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites errors="1" name="promptfoo" tests="4">', "JUnit XML"),
        ('<!doctype html>\n<html><div aria-label="Promptfoo">', "HTML"),
    ],
)
def test_forms_for_other_readers_are_refused(tmp_path: Path, text: str, form: str) -> None:
    path = written(tmp_path, text, "x.txt")
    assert recognised(path).name == "promptfoo"
    with pytest.raises(InputError) as raised:
        logs_of(path)
    assert f"found promptfoo's {form}, which lacks what is read here" in str(raised.value)
    assert "promptfoo export eval ID -o x.json" in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        '{"version": 2, "status": "success", "eval": {}, "results": {"total_samples": 1}}',
        '{"results": {"task": {"acc,none": 1}}, "configs": {}}',
        "question,answer\nx,y\n",
        "<html><body>results</body></html>",
        "evalId of nothing",
        '{"spec": {}}\n{"final_report": {}}\n',
        "\0\1\2",
    ],
)
def test_files_of_others_are_not_promptfoos(tmp_path: Path, text: str) -> None:
    assert not recognises(seen_at(written(tmp_path, text, "x.any")))


def test_a_mark_of_byte_order_does_no_harm(tmp_path: Path) -> None:
    for name, text in {"a.json": json.dumps(document([result()])), "b.jsonl": _LINES, "c.csv": _TODAY}.items():
        logs = logs_of(written(tmp_path, b"\xef\xbb\xbf" + text.encode(), name))
        assert next(iter(logs[0].samples())).answer == "Paris"
