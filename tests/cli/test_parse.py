"""`benchbook parse`: a line comes out for each that goes in, whatever it holds (SPEC R3)."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.registry import evaluator_named
from running import benchbook, benchbook_here
from support import cases

GOOD = '{"accuracy_score": 2, "faithfulness_score": 1, "rationale": "Agrees."}'
LOCALES = [
    pytest.param({}, id="utf-8"),
    pytest.param({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, id="LC_ALL=C"),
    pytest.param({"PYTHONIOENCODING": "cp932"}, id="cp932"),
]


def parsed(folder: Path, content: bytes, **env: str) -> tuple[int, list[dict[str, Any]], str]:
    path = folder / "replies.jsonl"
    path.write_bytes(content)
    started = benchbook if env else benchbook_here
    found = started("parse", "rubric@v1", str(path), env=env)
    text = found.stdout.decode(env.get("PYTHONIOENCODING", "utf-8"))
    assert "Traceback" not in found.stderr.decode("utf-8")
    return found.returncode, [json.loads(line) for line in text.split("\n") if line], found.stderr.decode("utf-8")


def line(**case: Any) -> bytes:
    return json.dumps(case).encode("utf-8") + b"\n"


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("judge_reply"))
def test_a_reply_on_the_command_line_is_worth_what_it_is_worth(case: dict[str, Any]) -> None:
    """The command's own steps, in this process; `test_commands.py` runs all of them through a pipe."""
    from benchbook.cli.judges import _object_on

    given = {key: case[key] for key in ("id", "reply", "options") if key in case}
    found = evaluator_named("rubric@v1").parse_line(_object_on(json.dumps(given).encode("utf-8")))
    assert (found["id"], found["ok"]) == (case["id"], case["expect"]["ok"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"not JSON\n", "no JSON", id="no-json"),
        pytest.param(b'["a"]\n', "no JSON object", id="no-object"),
        pytest.param(b'{"id": "x"\n', "no JSON", id="cut"),
        pytest.param(b'{"id": "x"}\n', "reply: expected a string", id="no-reply"),
        pytest.param(b'{"id": "x", "reply": 3}\n', "reply: expected a string", id="a-number-for-a-reply"),
        pytest.param(b'{"id": "x", "reply": "\xff"}\n', "no UTF-8 at byte 23", id="no-utf-8"),
        pytest.param(line(id="x", reply=GOOD, options=[]), "options: expected an object", id="options-of-another-type"),
        pytest.param(
            line(id="x", reply=GOOD, options={"reasoning_tags": 3}), "tags: expected a list", id="tags-no-list"
        ),
        pytest.param(
            line(id="x", reply=GOOD, options={"reasoning_tags": "think"}), "a list of strings", id="tags-a-text"
        ),
        pytest.param(
            line(id="x", reply=GOOD, options={"reasoning_tags": [1]}), "a list of strings", id="tags-of-numbers"
        ),
        pytest.param(b"[" * 100_000 + b"\n", "no JSON", id="too-deep"),
        pytest.param(b'{"id": ' + b"9" * 5_000 + b', "reply": ""}\n', "no JSON", id="too-long-a-number"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_case_is_told_and_stops_nothing(tmp_path: Path, content: bytes, says: str) -> None:
    code, found, stderr = parsed(tmp_path, line(id="a", reply=GOOD) + content + line(id="z", reply=GOOD))
    assert code == 2
    assert [result["ok"] for result in found] == [True, False, True]
    assert found[1]["parse_error_reason"] is None
    assert found[1]["detail"].startswith(f"{tmp_path / 'replies.jsonl'}:2: ")
    assert says in found[1]["detail"]
    assert "1 line is not what rubric@v1 reads; the output says why" in stderr


HOSTILE = {
    "null": (None, "empty_reply"),
    "empty": ("", "empty_reply"),
    "a-line-separator-alone": ("\u2028", "malformed_json"),
    "a-line-separator-behind": (GOOD + "\u2028", "malformed_json"),
    "a-byte-order-mark": ("\ufeff" + GOOD, "malformed_json"),
    "a-lone-surrogate": ("\ud835", "malformed_json"),
    "an-escaped-lone-surrogate": (GOOD.replace("Agrees", "\\ud835"), "malformed_json"),
    "very-deep": ("[" * 100_000, None),
    "cjk": ("答案", "malformed_json"),
}  # fmt: skip
TEXTS = {"cjk-and-emoji": "答案 🌾", "separator": "a\u2028b", "bidi": "\u202e", "ansi": "\x1b[31m"}


@pytest.fixture(scope="module", params=LOCALES)
def out(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What comes out of all these lines in a process of that locale: each hostile reply with a sound one behind it."""
    lines = [line(id=name, reply=reply) + line(id="z", reply=GOOD) for name, (reply, _) in HOSTILE.items()]
    for text in TEXTS.values():
        verdict = {"accuracy_score": 2, "faithfulness_score": 2, "rationale": text}
        lines.append(line(id=text, reply=json.dumps(verdict)))
    code, found, _ = parsed(tmp_path_factory.mktemp("out"), b"".join(lines), **request.param)
    assert code == 0
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_reply_is_one_line_out(name: str, out: list[dict[str, Any]]) -> None:
    at = 2 * list(HOSTILE).index(name)
    found = out[at : at + 2]
    assert [result["id"] for result in found] == [name, "z"]
    assert found[1]["ok"]
    assert found[0]["ok"] is False
    assert HOSTILE[name][1] in (None, found[0]["parse_error_reason"])


@pytest.mark.parametrize("name", TEXTS)
def test_texts_come_out_as_they_went_in(name: str, out: list[dict[str, Any]]) -> None:
    found = out[2 * len(HOSTILE) + list(TEXTS).index(name)]
    assert len(out) == 2 * len(HOSTILE) + len(TEXTS)
    assert (found["id"], found["rationale"]) == (TEXTS[name], TEXTS[name])


def test_an_id_with_a_lone_surrogate_comes_back(tmp_path: Path) -> None:
    _, (found,), _ = parsed(tmp_path, line(id="\ud835", reply=GOOD))
    assert found["id"] == "\ud835"


@pytest.mark.parametrize("item_id", [7, None, ["a"], {"b": 1}, True], ids=repr)
def test_an_id_may_be_any_json(tmp_path: Path, item_id: Any) -> None:
    code, (found,), _ = parsed(tmp_path, line(id=item_id, reply=GOOD))
    assert (code, found["id"]) == (0, item_id)


def test_blank_lines_a_byte_order_mark_and_crlf_are_no_fault(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + line(id="a", reply=GOOD) + b"\r\n \n" + line(id="b", reply=GOOD).replace(b"\n", b"\r\n")
    code, found, _ = parsed(tmp_path, content)
    assert (code, [result["id"] for result in found]) == (0, ["a", "b"])


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    code, found, _ = parsed(tmp_path, line(id="a", reply=GOOD) + line(id="b", reply=GOOD).rstrip())
    assert (code, [result["id"] for result in found]) == (0, ["a", "b"])


def test_an_empty_file_is_no_fault(tmp_path: Path) -> None:
    assert parsed(tmp_path, b"") == (0, [], "")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_number_that_json_does_not_have_is_no_id(tmp_path: Path, number: str) -> None:
    """Python reads these; JSON has none, and what comes out must be JSON for every reader."""
    content = f'{{"id": {number}, "reply": ""}}\n'.encode()
    code, (found,), _ = parsed(tmp_path, content)
    assert (code, found["id"], found["ok"]) == (2, None, False)


BAD_PROTOCOL_LINES = [
    pytest.param(b"{}", "reply", id="nothing"),
    pytest.param(b'{"id": 1}', "reply", id="an-id-alone"),
    pytest.param(b'{"reply": "{}"}', "output_text", id="no-output-text"),
    pytest.param(b'{"reply": "{}", "output_text": []}', "output_text", id="a-list-for-a-text"),
    pytest.param(b'{"reply": "{}", "output_text": "", "asked": 3}', "asked", id="asked-a-number"),
    pytest.param(b'{"reply": "{}", "output_text": "", "evaluation_set": 7}', "evaluation_set", id="set-a-number"),
    pytest.param(b'{"reply": "{}", "output_text": "", "evaluation_set": [7]}', "evaluation_set[0]", id="cell-a-number"),
    pytest.param(b'{"reply": "{}", "output_text": "", "options": {"evidence": 1}}', "options.evidence", id="evidence"),
    pytest.param(b'{"reply": "{}", "output_text": "", "options": {"reasoning_tags": 3}}', "reasoning_tags", id="tags"),
    pytest.param(b'{"reply": "{}", "output_text": "", "options": {"same_model": 3}}', "same_model", id="same-model"),
]


@pytest.mark.parametrize(("bad", "names"), BAD_PROTOCOL_LINES)
def test_a_bad_line_does_not_stop_the_judge_protocol_either(tmp_path: Path, bad: bytes, names: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(bad + b"\n" + line(id="good", reply="{}", output_text="text"))
    found = benchbook_here("parse", "judge_protocol@v1", str(path), "--json")
    told, good = (json.loads(text) for text in found.stdout.splitlines())
    assert found.returncode == 2
    assert (told["valid"], told["flags"], told["verdict"]) == (False, [], None)
    assert told["located"] == told["details"] == []
    assert told["detail"].startswith(f"{path}:1: ")
    assert names in told["detail"]
    assert (good["id"], good["valid"]) == ("good", False)
    assert "UNPARSABLE_OUTPUT" in good["flags"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(case=st.fixed_dictionaries({"reply": _JSON, "output_text": _JSON, "asked": _JSON, "evaluation_set": _JSON,
                                   "options": _JSON | st.fixed_dictionaries({"same_model": _JSON})}))  # fmt: skip
def test_no_line_is_more_than_wrong_use(case: dict[str, Any]) -> None:
    """Whatever JSON stands in its fields, a line is read or refused with a reason."""

    from benchbook.errors import UsageError

    for spec in ("rubric@v1", "judge_protocol@v1"):
        with contextlib.suppress(UsageError):
            evaluator_named(spec).parse_line(case)
