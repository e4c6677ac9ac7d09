"""A provider that puts hostile texts, and what is no text, into every field of a reply: nothing that follows breaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from benchbook.record.facts import Failure, Reply
from benchbook.record.reading import read_journal
from hostile import NO_TEXTS, TEXTS
from running import benchbook_here, options, write_items
from scripted_server import GOOD_VERDICT, running


class Hostile:
    """Replies, each with another hostile value in every field."""

    def __init__(self, at: int) -> None:
        self._texts: Iterator[str] = cycle([*TEXTS[at:], *TEXTS[:at]])
        self._values: Iterator[Any] = cycle([*NO_TEXTS, *TEXTS])
        self.fails = True

    def __call__(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        text, value = self._texts, self._values
        if role == "candidate" and n == 0:
            return {"status": 200, "body": self.completion("Seven.")}  # else everybody would seem to be down
        if self.fails and n % 3 == 1:
            error = {"message": next(text), "type": next(text), "code": next(value), "param": next(value)}
            return {"status": 400, "body": {"error": error, next(text): next(value)}}
        if self.fails and n % 3 == 2:
            return {"status": 200, "body": {"error": next(value) or next(text), "message": next(text), "model": 1}}
        if request.get("stream"):
            return {"status": 200, "behaviour": "events", "events": self.events(next(text))}
        rationale = "".join(one for one in next(text) if one.isprintable()) or "So."
        verdict = json.dumps({**GOOD_VERDICT, "rationale": rationale})
        return {"status": 200, "body": self.completion(verdict if role == "judge" else next(text) * 2)}

    def completion(self, content: str) -> dict[str, Any]:
        """A whole reply in which everything but the content is hostile."""
        value, text = self._values, self._texts
        call = {"function": {"name": next(text), "arguments": next(value)}, "index": next(value)}
        message = {
            "content": content, "reasoning_content": next(value), "reasoning": next(text), "tool_calls": [call],
            "role": next(value), "thinking_blocks": next(value), next(text): next(value),
        }  # fmt: skip
        choice = {"message": message, "finish_reason": next(text), "index": next(value), next(text): next(value)}
        return {
            "model": next(text) if next(value) is None else next(value), "system_fingerprint": next(text),
            "choices": [choice, next(value)], "usage": {"prompt_tokens": next(value), "total_tokens": next(value)},
            "timings": next(value), "object": next(text), "id": next(value), next(text): next(value),
        }  # fmt: skip

    def events(self, content: str) -> list[Any]:
        """The same as a stream, with lines in it that are none of its events."""
        value, text = self._values, self._texts
        whole = self.completion(content)
        begun = whole | {"choices": [{"delta": one["message"]} for one in whole["choices"][:1]]}
        ended = {"choices": [{"delta": {}, "finish_reason": next(text)}], "model": next(value), "usage": next(value)}
        return [begun, {"choices": [], next(text): next(value)}, ended, "[DONE]"]


def said(folder: Path, *words: str, ends: tuple[int, ...] = (0,)) -> None:
    done = benchbook_here(*words, cwd=folder)
    assert b"Traceback" not in done.stderr
    assert done.returncode in ends, (words, done.stdout[-1_000:], done.stderr[-2_000:])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("command", ["run", "score"])
def test_a_run_resumes_and_is_rescored_verified_and_shown(tmp_path: Path, command: str, stream: bool) -> None:
    write_items(tmp_path / "items.jsonl", 8)
    replies = Hostile(13 * stream)
    with running(replies) as server:
        words = options(tmp_path, server, reports=tmp_path / "reports", **{"max-retries": 0})
        if command == "score":  # there is no judge
            words = [word for place, word in enumerate(words) if "judge" not in words[place - place % 2]]
        said(tmp_path, command, *words, *(["--stream"] if stream else []), ends=(0, 1, 3))
        replies.fails = False
        said(tmp_path, command, "--resume", str(tmp_path / "runs" / "run"), ends=(0, 1))
    facts = [line.fact for line in read_journal(tmp_path / "runs" / "run" / "journal")]
    assert any(isinstance(one, Reply) and one.model_reported for one in facts)
    assert any(isinstance(one, Failure) and one.detail for one in facts)
    said(tmp_path, "rescore", "run", "--reports", "reports")
    said(tmp_path, "verify", "run")
    for more in ([], ["--failed"], ["--json"], ["--sample", "0"], ["--sample", "1", "--json"]):
        said(tmp_path, "show", "run", *more)
    for path in (tmp_path / "reports").rglob("*.*"):
        if path.is_file():
            path.read_text("utf-8")
