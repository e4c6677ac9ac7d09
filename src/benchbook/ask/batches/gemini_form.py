"""Gemini's form: `{"key", "request"}` a line, each request a GenerateContentRequest.

Sources: https://ai.google.dev/gemini-api/docs/batch-api ("Input file", "Retrieving results") and
https://ai.google.dev/api/generate-content (GenerateContentRequest, GenerationConfig).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchbook.ask.batches.form import BatchWire, body_values, text_in, unmeasured, values_on
from benchbook.ask.providers.calls import Answer, is_fault
from benchbook.ask.providers.error_body import is_error, read_error, told_detail
from benchbook.ask.providers.faults import broken_off, broken_reply, failed_without_status
from benchbook.ask.providers.gemini_wire import answer_in_response, get, within
from benchbook.ask.providers.json_parts import objects, text
from benchbook.canonical import canonical_json

_RENAMED = {
    "temperature": "temperature", "top_p": "topP", "top_k": "topK", "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens", "seed": "seed", "stop": "stopSequences", "n": "candidateCount",
    "presence_penalty": "presencePenalty", "frequency_penalty": "frequencyPenalty",
}  # fmt: skip
_ROLES = {"assistant": "model"}
_SYSTEM = ("system", "developer")


class GeminiWire(BatchWire):
    """Chat requests as contents: system texts are the instruction, an assistant's turn is the model's."""

    name = "gemini"

    def takes(self, parameter: str) -> bool:
        return parameter in _RENAMED or parameter == "response_format"

    def request(self, custom_id: str, body: bytes) -> bytes:
        return canonical_json({"key": custom_id, "request": content_of(body_values(body))})

    def answer(self, line: bytes, body: bytes) -> Answer:
        found = values_on(line)
        if is_error(found.get("error")):
            told = read_error(found["error"])
            raise failed_without_status(told, told_detail(told), body, 0)
        response = found.get("response")
        if not isinstance(response, dict):
            raise broken_reply("a line of results with neither a response nor an error", 0)
        candidates = objects(response.get("candidates"))
        if not candidates and within(response, "promptFeedback") is None:
            raise broken_reply("the response has no candidates", 0)
        reason = text(get(candidates[0], "finishReason")) if candidates else None
        if is_fault(reason):
            raise broken_off(reason, 0)
        return unmeasured(answer_in_response(response))


def content_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The GenerateContentRequest by a chat request; the model stands in the address."""
    messages: Sequence[Mapping[str, Any]] = values["messages"]
    config: dict[str, Any] = {}
    for name, value in values.items():
        if name in _RENAMED:
            config[_RENAMED[name]] = [value] if name == "stop" and isinstance(value, str) else value
    if (asked := values.get("response_format")) is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = asked["json_schema"]["schema"]
    texts = [(one["role"], {"text": text_in(one, "gemini")}) for one in messages]
    request: dict[str, Any] = {
        "contents": [{"role": _ROLES.get(role, "user"), "parts": [said]} for role, said in texts if role not in _SYSTEM]
    }
    if system := [said for role, said in texts if role in _SYSTEM]:
        request["systemInstruction"] = {"parts": system}
    if config:
        request["generationConfig"] = config
    return request
