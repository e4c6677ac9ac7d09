"""Evaluation sets, and judges that keep the protocol's rules, for tests of `judge run`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchbook.evalsets.output_set_sources import find_in_table
from benchbook.evalsets.output_sets import OutputSet, write_output_set
from scripted_server import running

DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")


def make_set(folder: Path, questions: int = 2, targets: tuple[str, ...] = ("m", "j")) -> OutputSet:
    """Make a set of questions, each in two variants and answered by each target; the prompts are in prompts.jsonl."""
    rows = [
        {
            "question_id": f"q{question}", "prompt_variant": variant, "target_model": target, "output_id": "1",
            "text": f"# Answer {question}\n\nThe shop of {target} opens at nine, by {variant}.\n\nIt closes at six.\n",
        }
        for question in range(questions) for variant in ("base", "long") for target in targets
    ]  # fmt: skip
    table = folder / "outputs.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    prompts = [{"question_id": f"q{question}", "prompt": "When does it open?"} for question in range(questions)]
    lines = "".join(json.dumps(row) + "\n" for row in prompts)
    (folder / "prompts.jsonl").write_text(lines, encoding="utf-8")
    return write_output_set(find_in_table(table).candidates, folder / "set")


def sound_reply(request: dict[str, Any], score: int = 2) -> str:
    """A judge's reply that keeps every rule: it copies META, and quotes the first words of the judged text."""
    prompt = request["messages"][0]["content"]
    meta = json.loads(re.search(r"^META\n(.*)$", prompt, re.MULTILINE)[1])  # type: ignore[index]
    judged = prompt.split("BEGIN JUDGED TEXT ", 1)[1].split("\n", 1)[1]
    text = judged.split("\nEND JUDGED TEXT", 1)[0].strip()
    quote = " ".join(text.split("\n")[0].split()[:8]) or "nothing"
    total = 4 * score
    return json.dumps(
        {
            "meta": meta,
            "scores": dict.fromkeys(DIMENSIONS, score) | {"overall_score": total},
            "verdict": "FAIL" if total <= 3 else "PASS" if total >= 7 else "PARTIAL",
            "flags": [],
            "evidence": [{"dimension": name, "quote": quote, "reason": "It says so."} for name in DIMENSIONS],
            "notes": "",
        }
    )


@contextmanager
def sound_judging(folder: Path) -> Iterator[Path]:
    """A set of outputs, and the settings of an experiment on it by one judge, who answers within the block."""
    make_set(folder)

    def answer(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del role, n
        return {"status": 200, "content": sound_reply(request)}

    with running(answer) as server:
        table = {"set": "set", "prompts": "prompts.jsonl", "runs": "runs"}
        lines = [f'{name} = "{folder / value}"' for name, value in table.items()]
        lines += ["[[judges]]", 'model = "openai/j@2026-01-01"', f'base_url = "{server.base_url}"']
        (folder / "judging.toml").write_text("\n".join(lines), encoding="utf-8")
        yield folder / "judging.toml"
