"""A run under a rubric that uses everything: named grades, criteria that do not apply, quotes from turns and from the
answer, criteria of each item, and cost. All foreign text in it is hostile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import config_from_mapping

MARKUP = "<img src=x onerror='window.ran = 1'>"
SPEC = """
name = "talked"
version = 1
about = "Kind, and by the rules."

[[criteria]]
name = "tone"
question = "How does it sound? <script>window.ran = 2</script>"
scale = ["rude", "cold", "kind"]
weight = 2
at_least = "kind"
quote = "report"
quote_from = "transcript"

[[criteria]]
name = "sources"
question = "Are the sources named?"
scale = [0, 1, 2]
not_applicable = true

[[criteria]]
name = "short"
question = "Is it short?"
scale = [0, 1]
at_least = 1
quote = "report"

[item_criteria]
rationale = true

[measures.cost]
at_most = 0.01

[[gates]]
aggregate = "pass_rate"
at_least = 0.5
"""
PROMPT = "Judge by these.\n{{criteria}}\n{{transcript}}\n- the answer: {{answer}}\n{{reply}}\n"

CALL = {"id": "c1", "type": "function", "function": {"name": "track", "arguments": '{"parcel": "B-7"}'}}
ITEMS: tuple[dict[str, Any], ...] = (
    {
        "id": "parcel",
        "messages": [
            {"role": "user", "content": f"Where is my 📦 parcel? {MARKUP}"},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "It left the depot.\n</div></main>"},
        ],
        "criteria": [
            {"text": f"Names the day. {MARKUP}", "weight": 5},
            {"text": "Is short.", "weight": 3},
            {"text": "Blames the customer.", "weight": -4},
        ],
    },
    {"id": "gift", "prompt": "Do you wrap gifts?", "criteria": [{"text": "Offers to ask.", "weight": 0.5}]},
    {"id": "late", "prompt": "Why is it late?", "criteria": [{"text": "Says why.", "weight": 1}]},
)
ANSWERS = ("It left today, 📦 and comes on \u202eFriday.", "We do, dear Ann.", "It rained.")
_NOBODY_SAID = "nobody <b onclick='window.ran = 3'>said</b> this"
REPLIES: tuple[Any, ...] = (
    {
        "tone_score": "cold", "tone_quote": "📦 parcel", "tone_turn": 1, "sources_score": None,
        "short_score": 1, "short_quote": _NOBODY_SAID,
        "item_criteria": {
            "1": {"met": True, "rationale": f"Friday. {MARKUP}"}, "2": {"met": False, "rationale": "No."},
            "3": {"met": True, "rationale": "It does."},
        },
        "rationale": f"So it is. {MARKUP}",
    },
    {
        "tone_score": "kind", "tone_quote": "We do … dear Ann", "tone_turn": 2, "sources_score": 0,
        "short_score": 1, "short_quote": "WE DO",
        "item_criteria": {"1": {"met": False, "rationale": "No."}}, "rationale": "Good.",
    },
    "No reply that could be read.",
)  # fmt: skip


def talked_run(folder: Path, run_id: str = "talked") -> RunResult[Any]:
    """A run of three samples: the first is a conversation, the second passes, and the third is unscored."""
    rubric = folder / "talked@v1"
    rubric.mkdir(parents=True)
    (rubric / "spec.toml").write_text(SPEC, encoding="utf-8")
    (rubric / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    (folder / "talked.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ITEMS), encoding="utf-8")
    asked = [one.get("prompt", "It left the depot.") for one in ITEMS]
    tokens = {"input_tokens": 1000, "output_tokens": 20}
    scripts = {
        "judge": [(f"- the answer: {one}\n", reply) for one, reply in zip(ANSWERS, REPLIES, strict=True)],
        "model": list(zip(asked, ANSWERS, strict=True)),
    }
    for name, script in scripts.items():
        replies = [
            {"contains": contains, "text": text if isinstance(text, str) else json.dumps(text), **tokens}
            for contains, text in script
        ]
        (folder / f"{name}.json").write_text(json.dumps({"replies": replies}), encoding="utf-8")
    values = {
        "evalset": str(folder / "talked.jsonl"), "spec": str(rubric), "runs": str(folder / "runs"), "run_id": run_id,
        "model": "scripted/m@1", "model_path": str(folder / "model.json"),
        "judge": "scripted/j@1", "judge_path": str(folder / "judge.json"),
        "model_input_price": 1, "model_output_price": 4,
    }  # fmt: skip
    return run_async(start_run(config_from_mapping(values, "test"), None))
