"""Servers that are out of order, for tests that this is not taken for an answer (SPEC R1.3a, R1.3b)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from judging import sound_reply
from scripted_server import OK_CANDIDATE, OK_JUDGE

__all__ = ["FAULTS", "number_of", "well"]

Replies = Callable[[str, int, dict[str, Any]], dict[str, Any]]

# Faults that a server gives instead of an answer; none of them is the model's.
FAULTS: dict[str, dict[str, Any]] = {
    "400": {"status": 400, "body": {"error": {"message": "the request is too long"}}},
    "401": {"status": 401, "body": {"error": {"message": "bad key"}}},
    "402": {"status": 402, "body": {"error": {"message": "no credit"}}},
    "403": {"status": 403, "body": {"error": {"message": "not you"}}},
    "404": {"status": 404, "body": {"error": {"message": "no such model"}}},
    "408": {"status": 408},
    "422": {"status": 422, "body": {"detail": [{"msg": "not allowed"}]}},
    "429-quota": {"status": 429, "body": {"error": {"code": "insufficient_quota", "message": "quota exceeded"}}},
    "500": {"status": 500, "body": {"error": {"message": "it broke"}}},
    "502-html": {"status": 502, "raw": "<html><title>Bad Gateway</title></html>"},
    "503": {"status": 503},
    "529": {"status": 529, "body": {"error": {"type": "overloaded_error", "message": "overloaded"}}},
    "200-error": {"status": 200, "body": {"error": {"code": 502, "message": "upstream"}}},
    "200-error-in-choice": {
        "status": 200,
        "body": {"choices": [{"message": {"content": None}, "finish_reason": "error", "error": {"code": 502}}]},
    },
    "200-no-choices": {"status": 200, "body": {"message": "capacity exceeded"}},
    "200-empty-choices": {"status": 200, "body": {"choices": []}},
    "200-half-a-text": {
        "status": 200, "body": {"choices": [{"message": {"content": "Sev"}, "finish_reason": "network_error"}]},
    },
    "200-no-json": {"status": 200, "raw": "it works!"},
    "cut-body": {"behaviour": "cut_body"},
    "too-large": {"behaviour": "body_bytes", "bytes": 17 << 20},
}  # fmt: skip


def number_of(request: dict[str, Any]) -> int:
    """The number of the item, of those by `running.write_items`, that a request is about; -1 for none."""
    found = re.search(r"What is (\d+) \+ 1\?", request["messages"][0]["content"])
    return int(found[1]) if found else -1


def well(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """The replies of a healthy server: the same request always gets the same answer, and scores differ by item."""
    del n
    text = request["messages"][0]["content"]
    if "BEGIN JUDGED TEXT" in text:
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return {"status": 200, "content": sound_reply(request), "usage": usage}
    number = number_of(request)
    if role == "candidate":
        return OK_CANDIDATE | {"content": str(number + 1) if number % 2 else f"It is {number + 1}."}
    scores = {"accuracy_score": number % 3, "faithfulness_score": 2 - number % 2, "rationale": "So it is."}
    return OK_JUDGE | {"content": json.dumps(scores)}
