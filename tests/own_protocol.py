"""A user's own judge protocol, and a judge that is asked by it, for tests of results by dimension."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.registry import start_run
from scripted_server import ScriptedServer

SPEC = """
name = "shop"
version = 2
about = "Right, and kind."

[[dimensions]]
name = "Right"
question = "Is it right?"
scale = [1, 2, 3, 4, 5]

[[dimensions]]
name = "kind"
question = "Is it kind?"
scale = [0, 1]
must_quote = false

[verdict]
fail_at_most = 2
pass_at_least = 5

[evidence]
max_quote_words = 3

[probes]
empty = "Right"

[[prompts]]
name = "others"
methods = ["cross_judge"]
file = "others.txt"

[[prompts]]
name = "own"
methods = ["self_judge"]
[[prompts.messages]]
role = "system"
file = "system.txt"
[[prompts.messages]]
role = "user"
file = "others.txt"

[generation]
max_tokens = 512
"""
TEXTS = {
    "others.txt": "{{dimensions}}\nMETA\n{{meta}}\nTASK {{task}}\nTEXT {{fence}}\n{{output_text}}\nEND {{fence}}\n",
    "system.txt": "You judge your own text. {{verdict}}\n{{evidence}}\n{{reply}}",
}


def written(folder: Path, spec: str = SPEC, texts: Mapping[str, str] = TEXTS) -> Path:
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text(spec, encoding="utf-8")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def reply_to(request: dict[str, Any], scores: tuple[int, int], quote: str | None = None) -> str:
    """A sound reply with these scores, which quotes the first words of the judged text, or `quote`."""
    prompt = request["messages"][-1]["content"]
    meta = json.loads(re.search(r"^META\n(.*)$", prompt, re.MULTILINE)[1])  # type: ignore[index]
    text = re.split(r"\nTEXT \w{32}\n", prompt)[1]
    total = sum(scores)
    return json.dumps(
        {
            "meta": meta,
            "scores": dict(zip(("Right", "kind"), scores, strict=True)) | {"overall_score": total},
            "verdict": "FAIL" if total <= 2 else "PASS" if total >= 5 else "PARTIAL",
            "flags": [],
            "evidence": [{"dimension": "Right", "quote": quote or " ".join(text.split()[:3]), "reason": "So."}],
            "notes": "",
        }
    )


def judged(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """The replies of judge j: (5, 1) for the other's outputs and (4, 0) for its own; its quote of q1 is too long."""
    del role, n
    own = len(request["messages"]) == 2
    long = "The shop of m opens" if '"question_id":"q1"' in request["messages"][-1]["content"] and not own else None
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"status": 200, "content": reply_to(request, (4, 0) if own else (5, 1), long), "usage": usage}


def experiment(folder: Path, server: ScriptedServer, spec: Path, **more: Any) -> RunResult:
    values = {
        "spec": str(spec), "set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "run_id": "run",
        "runs": str(folder / "runs"), "judges": [{"model": "openai/j@2026-01-01", "base_url": server.base_url}],
        "max_connections": 1,
    }  # fmt: skip
    return run_async(start_run(judging_config_from_mapping(values | more, "test")))
