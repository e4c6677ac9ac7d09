"""Results of batches as the vendors' own libraries write them; their check of requests that Benchbook wrote.

Prints what each library wrote, null for one that is not installed, and the number of requests that OpenAI's took.
"""

import importlib
import json
import sys
from pathlib import Path

HI = {"type": "text", "text": "Hi", "citations": None}
MESSAGE = {
    "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [HI],
    "stop_reason": "max_tokens", "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 4},
}  # fmt: skip
WRONG = {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}, "request_id": "r"}
RESULTS = {
    "a": {"type": "succeeded", "message": MESSAGE},
    "b": {"type": "errored", "error": WRONG},
    "c": {"type": "expired"},
    "d": {"type": "canceled"},
}
GENERATED = {
    "candidates": [{"content": {"parts": [{"text": "Hi"}], "role": "model"}, "finishReason": "MAX_TOKENS"}],
    "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2, "totalTokenCount": 9},
    "modelVersion": "gemini-x",
}
COMPLETION = {
    "id": "x", "object": "chat.completion", "created": 1, "model": "gpt-x",
    "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "Hi"}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}  # fmt: skip


def anthropic() -> list[str]:
    types = importlib.import_module("anthropic.types.messages")
    lines = ({"custom_id": name, "result": result} for name, result in RESULTS.items())
    return [types.MessageBatchIndividualResponse.model_validate(line).model_dump_json() for line in lines]


def gemini() -> list[str]:
    types = importlib.import_module("google.genai.types")
    answer = types.GenerateContentResponse.model_validate(GENERATED)
    answered = types.InlinedResponse(response=answer, metadata={"key": "a"})
    failed = types.InlinedResponse(error=types.JobError(code=3, message="bad"), metadata={"key": "b"})
    return [
        answered.model_dump_json(),
        answered.model_dump_json(by_alias=True, exclude_none=True),
        failed.model_dump_json(),
    ]


def openai() -> list[str]:
    types = importlib.import_module("openai.types.chat")
    body = json.loads(types.ChatCompletion.model_validate(COMPLETION).model_dump_json())
    return [
        json.dumps({"custom_id": "a", "response": {"status_code": 200, "request_id": "r", "body": body}, "error": None})
    ]


def n_taken(requests: Path) -> int | None:
    """The requests of a file whose bodies are what OpenAI's library would send."""
    params = importlib.import_module("openai.types.chat.completion_create_params")
    adapter = importlib.import_module("pydantic").TypeAdapter(params.CompletionCreateParamsNonStreaming)
    bodies = [json.loads(line)["body"] for line in requests.read_text(encoding="utf-8").splitlines()]
    return sum(adapter.validate_python(body) is not None for body in bodies)


def or_none(made):
    try:
        return made()
    except ImportError:
        return None


found = {"anthropic_batch": or_none(anthropic), "gemini_batch": or_none(gemini), "openai_batch": or_none(openai)}
print(json.dumps({"results": found, "n_taken": or_none(lambda: n_taken(Path(sys.argv[1])))}))  # noqa: T201
