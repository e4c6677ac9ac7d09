"""A small judged run, made by the real runner with scripted replies, for tests of labels and calibration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.ask.work import run_async
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import RunConfig
from benchbook.record.folder import Record

Scores = tuple[int, int] | None  # the judge's accuracy and faithfulness; None: an unreadable reply


def judged_run(
    folder: Path, scores: Sequence[Scores], *, items: Sequence[dict[str, Any]] = (), **settings: Any
) -> Record:
    """A record whose judge gives item `iN` the N-th scores. `items` adds fields to the items, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, replies = [], []
    for number, score in enumerate(scores):
        more = items[number] if number < len(items) else {}
        answer = more.get("answer", f"Answer {number:03d}.")
        given = {name: value for name, value in more.items() if name != "answer"}
        lines.append({"id": f"i{number:03d}", "prompt": f"Question {number:03d}?", "expected_answer": "Yes."} | given)
        replies.append({"contains": f"- candidate_answer: {answer}\n", "text": _verdict(score)})
    for number in range(len(scores)):
        more = items[number] if number < len(items) else {}
        replies.append({"contains": f"Question {number:03d}?", "text": more.get("answer", f"Answer {number:03d}.")})
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "script.json").write_text(json.dumps({"replies": replies}), encoding="utf-8")
    outputs = [{"id": line["id"], "output": f"Answer {number:03d}."} for number, line in enumerate(lines)]
    (folder / "outputs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in outputs), encoding="utf-8")
    script = str(folder / "script.json")
    values = {
        "evalset": str(folder / "items.jsonl"), "model": "scripted/m@1", "model_path": script,
        "judge": "scripted/j@1", "judge_path": script, "runs": str(folder / "runs"), "run_id": "run",
    }  # fmt: skip
    return run_async(start_run(RunConfig(**(values | settings)), None)).record


def _verdict(scores: Scores) -> str:
    if scores is None:
        return "No scores from me."
    accuracy, faithfulness = scores
    return json.dumps({"accuracy_score": accuracy, "faithfulness_score": faithfulness, "rationale": "It is so."})
