"""A parameter that a server refuses stops the run with the first answer, and the setting that leaves it out is named:
it mends it (SPEC R3.6a)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scripted_server import running
from tried import WAYS, begin, breaking

Told = tuple[str, int, Any]  # the parameter that is to be left out, and how its refusal comes

REFUSALS: dict[str, Told] = {
    "anthropic": ("top_p", 400, {"type": "error", "error": {"type": "invalid_request_error", "message":
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one."}}),
    "bedrock": ("top_p", 400, {"message": "The model returned the following errors: temperature and top_p cannot both "
        "be specified for this model."}),
    "openai-o-series": ("temperature", 400, {"error": {"message": "Unsupported value: 'temperature' does not support 0 "
        "with this model. Only the default (1) value is supported.", "type": "invalid_request_error",
        "param": "temperature", "code": "unsupported_value"}}),
    "openai-max-tokens": ("max_tokens", 400, {"error": {"message": "Unsupported parameter: 'max_tokens' is not "
        "supported with this model. Use 'max_completion_tokens' instead.", "type": "invalid_request_error",
        "param": "max_tokens", "code": "unsupported_parameter"}}),
    "mistral": ("seed", 422, {"object": "error", "message": {"detail": [{"type": "extra_forbidden",
        "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 42}]}}),
    "fastapi": ("seed", 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"],
        "msg": "Extra inputs are not permitted"}]}),
    "groq": ("top_p", 400, {"error": {"message": "property 'top_p' is unsupported", "type": "invalid_request_error"}}),
    "gateway": ("seed", 200, {"error": {"code": 400, "message": "Unknown parameter: 'seed'."}}),
    "plain": ("seed", 400, "unknown field `seed`, expected one of `model`, `messages`"),
}  # fmt: skip


def refusing(parameter: str, status: int, body: Any) -> Any:
    """A server that refuses whoever sends it."""
    reply = {"status": status, **({"raw": body} if isinstance(body, str) else {"body": body})}
    return lambda n, request: reply if parameter in request else None


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.parametrize("way", ["run-model", "run-judge", "score"])
def test_the_first_refusal_stops_the_run_and_names_what_leaves_it_out(tmp_path: Path, case: str, way: str) -> None:
    """11-temperature-beside-top-p: what is advised mends it."""
    with running(breaking(way, refusing(*REFUSALS[case]))) as server:
        stopped = begin(way, tmp_path, server)
        asked = sum(WAYS[way].hits(role, request) for role in server.asked for request in server.asked[role])
        assert (stopped.code, stopped.state, asked) == (3, "interrupted", 1)
        assert f"{WAYS[way].whose}'s server" in stopped.first
        mending = re.search(r"Leave it out: (--(?:model|judge)-params) (\w+=null)\.", stopped.first)
        assert mending is not None, stopped.first
        assert mending[2] == f"{REFUSALS[case][0]}=null"
        mended = begin(way, tmp_path, server, "--run-id", "again", *mending.groups())
    assert mended.code == 0, mended.said


@pytest.mark.parametrize("way", ["panel", "judge-run"])
def test_of_several_judges_the_setting_is_named_by_its_place(tmp_path: Path, way: str) -> None:
    """11-temperature-beside-top-p"""
    with running(breaking(way, refusing(*REFUSALS["anthropic"]))) as server:
        stopped = begin(way, tmp_path, server)
    assert stopped.code == 3
    assert 'judges[1].params.top_p = "null"' in stopped.first


def test_a_schema_that_is_refused_is_left_out_by_its_own_setting(tmp_path: Path) -> None:
    """11-temperature-beside-top-p, of `response_format`."""
    fault = refusing("response_format", 400, {"error": {"message": "response_format is not supported"}})
    with running(breaking("run-judge", fault)) as server:
        stopped = begin("run-judge", tmp_path, server, "--judge-json-schema")
    assert stopped.code == 3
    assert "judge_json_schema = false in the config" in stopped.first


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens; max_tokens 1024 and your messages need 5000.",
        "The request was refused by our content policy.",
        "messages: text content blocks must be non-empty",
    ],
)
def test_a_refusal_of_one_item_is_no_refusal_of_a_parameter(tmp_path: Path, message: str) -> None:
    """11-temperature-beside-top-p: other items may be well, and are asked."""
    fault = {"status": 400, "body": {"error": {"message": message}}}
    with running(breaking("run-model", lambda n, request: fault if n == 0 else None)) as server:
        tried = begin("run-model", tmp_path, server, n_items=5)
    assert (tried.code, tried.n_unanswered, len(server.asked["candidate"])) == (3, 1, 5)
    assert "refused the request" in tried.first
    assert message[:20] in tried.first
