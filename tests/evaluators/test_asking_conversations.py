"""Prompts of more than one message: templates with roles, and items that are conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import ConfigError
from benchbook.evaluators.candidate import read_template
from benchbook.evaluators.verify import verify
from running import run
from scripted_server import OK_CANDIDATE, OK_JUDGE, Reply, running

USER = {"role": "user", "content": "How warm is it?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
TALK = [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "21"}]  # fmt: skip
TEMPLATE = """
[[messages]]
role = "system"
content = "You answer in {{category}}."

[[messages]]
role = "user"
content = "One and one?"

[[messages]]
role = "assistant"
content = "2"

[[messages]]
role = "item"
"""


def asked_of(folder: Path, rows: list[dict[str, Any]], template: str | None) -> tuple[list[list[Any]], list[str]]:
    """What the candidate was asked, by item, and the judge; the run is verified."""
    evalset = folder / "set.jsonl"
    evalset.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings: dict[str, Any] = {"evalset": str(evalset), "max_connections": 1}
    if template is not None:
        settings["prompt_template"] = str(folder / "template.toml")
        (folder / "template.toml").write_text(template, encoding="utf-8")
    asked: list[list[Any]] = []
    judged: list[str] = []

    def answering(role: str, n: int, request: dict[str, Any]) -> Reply:
        del n
        if role == "judge":
            judged.append(request["messages"][0]["content"])
            return OK_JUDGE
        asked.append(request["messages"])
        return OK_CANDIDATE

    with running(answering) as server:
        made = run(folder, server, **settings)
    assert verify(made.record).findings == ()
    return asked, judged


def test_a_conversation_is_asked_as_it_stands_and_judged_by_its_transcript(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "messages": TALK},
        {"id": "b", "prompt": "Warm?", "messages": [USER]},
        {"id": "c", "prompt": "Cold?"},
    ]
    asked, judged = asked_of(tmp_path, rows, None)
    assert asked == [TALK, [USER], [{"role": "user", "content": "Cold?"}]]
    assert (
        "[1] user:\nHow warm is it?\n\n[2] assistant:\ncalls weather({}), as c1\n\n[3] tool, result of c1:\n21"
        in judged[0]
    )
    assert "Warm?" in judged[1]
    assert "How warm is it?" not in judged[1]


def test_a_template_has_roles_and_the_item_in_its_place(tmp_path: Path) -> None:
    rows = [{"id": "a", "prompt": "Two and two?", "category": "digits"}, {"id": "b", "messages": TALK}]
    asked, _ = asked_of(tmp_path, rows, TEMPLATE)
    shots = [{"role": "user", "content": "One and one?"}, {"role": "assistant", "content": "2"}]
    assert asked == [
        [{"role": "system", "content": "You answer in digits."}, *shots, {"role": "user", "content": "Two and two?"}],
        [{"role": "system", "content": "You answer in ."}, *shots, *TALK],
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("messages = 3", "messages", id="no-list"),
        pytest.param("", "nothing", id="empty"),
        pytest.param("[[messages", "no TOML", id="no-toml"),
        pytest.param('[[messages]]\nrole = "tool"\ncontent = "{{prompt}}"', "messages[0].role 'tool'", id="role"),
        pytest.param('[[messages]]\nrole = "user"', "messages[0] with role", id="no-content"),
        pytest.param('[[messages]]\nrole = "item"\ncontent = "x"', "messages[0] with role, content", id="item-content"),
        pytest.param('[[messages]]\nrole = "user"\ncontent = "x"', "no message of role item", id="no-item"),
        pytest.param(
            '[[messages]]\nrole = "item"\n[[messages]]\nrole = "assistant"\ncontent = "x"',
            "the last message is the assistant's", id="the-models-turn",
        ),
        pytest.param('[[messages]]\nrole = "user"\ncontent = "{{prompt}} {{lang}}"', "'{{lang}}' on line 3", id="name"),
        pytest.param('x = 1\n[[messages]]\nrole = "item"', "x, messages", id="another-key"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_template_of_messages_is_told(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_template(path)
    assert found in caught.value.found


def test_a_text_template_can_not_hold_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("{{prompt}}", encoding="utf-8")
    with pytest.raises(ConfigError, match="have one of role item"):
        read_template(path, conversations=True)
