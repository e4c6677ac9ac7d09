"""Items that are conversations: what is refused, and the transcript that people and judges read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.conversations import MessageError, check_messages, transcript
from running import benchbook_here

USER = {"role": "user", "content": "How warm is it in Kyiv?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Kyiv"}'}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "21 °C"}


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        pytest.param("hi", "messages: found a string; expected a list of messages", id="no-list"),
        pytest.param([], "messages: found none; expected a list of messages", id="empty"),
        pytest.param(["hi"], "messages[0]: found a string; expected an object with role and content", id="no-object"),
        pytest.param([{"content": "x"}], "messages[0].role: found nothing; expected system,", id="no-role"),
        pytest.param([{"role": "human", "content": "x"}], "messages[0].role: found 'human'", id="another-role"),
        pytest.param([USER, {"role": "user"}], "messages[1].content: found nothing", id="no-content"),
        pytest.param([USER | {"content": 3}], "messages[0].content: found a number", id="content-of-another-type"),
        pytest.param([USER | {"refusal": ""}], "messages[0].refusal: found a field that is not known", id="field"),
        pytest.param(
            [USER | {"content": [{"type": "image_url", "image_url": {}}]}],
            "messages[0].content[0]: found 'image_url'; expected a part of text", id="a-picture",
        ),
        pytest.param([USER | {"tool_calls": [CALL]}], "messages[0].tool_calls: found calls of user", id="users-call"),
        pytest.param(
            [CALLS | {"tool_calls": [CALL | {"function": {"name": "f", "arguments": {}}}]}, RESULT],
            "messages[0].tool_calls[0].function.arguments: found an object; expected a string", id="arguments",
        ),
        pytest.param([USER, CALLS, RESULT | {"tool_call_id": None}], "messages[2].tool_call_id: found n", id="id"),
        pytest.param([USER, CALLS], "messages[1].role: found 'assistant'; expected user or tool", id="the-models-turn"),
        pytest.param([{"role": "system", "content": "x"}], "messages[0].role: found 'system'", id="system-alone"),
    ],
)  # fmt: skip
def test_what_is_no_conversation_is_told_by_its_place(messages: Any, said: str) -> None:
    with pytest.raises(MessageError) as caught:
        check_messages(messages)
    assert str(caught.value).startswith(said)


def test_a_transcript_names_turns_calls_and_results() -> None:
    parts = {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    system = {"role": "system", "content": "Be brief."}
    assert transcript(check_messages([system, USER, CALLS, RESULT, parts])) == (
        "[1] system:\nBe brief.\n\n[2] user:\nHow warm is it in Kyiv?\n\n"
        '[3] assistant:\ncalls weather({"city": "Kyiv"}), as c1\n\n[4] tool, result of c1:\n21 °C\n\n'
        "[5] user Ann:\na\nb"
    )


def items(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_transcript_stands_in_for_a_prompt(tmp_path: Path) -> None:
    path = items(tmp_path, {"id": "a", "messages": [USER]}, {"id": "b", "prompt": "Kyiv?", "messages": [USER]})
    with open_evalset(path) as evalset:
        assert evalset.has_messages
        assert [item.prompt for item in evalset] == ["[1] user:\nHow warm is it in Kyiv?", "Kyiv?"]
        assert [item.messages for item in evalset] == [[USER], [USER]]


def test_a_cell_of_a_table_may_hold_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text('id,messages\na,"[{""role"": ""user"", ""content"": ""hi""}]"\n', encoding="utf-8")
    with open_evalset(path) as evalset:
        assert [item.messages for item in evalset] == [[{"role": "user", "content": "hi"}]]


def test_runs_and_validate_refuse_alike(tmp_path: Path) -> None:
    path = items(tmp_path, {"id": "a", "prompt": "x", "messages": [USER]}, {"id": "b", "messages": [CALLS]})
    with pytest.raises(InputError, match=r"items\.jsonl:2: messages\[0\]\.role: found 'assistant'"):
        open_evalset(path)
    told = benchbook_here("evalset", "validate", "--as", "rubric", str(path))
    assert told.returncode == 1
    assert b"items.jsonl:2: error: messages[0].role: found 'assistant'" in told.stdout + told.stderr
