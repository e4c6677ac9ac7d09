"""CPU time to validate 10,000 judge replies and locate their quotes (issue 5: under 20 s).

Five quotes a reply, texts of 20,000 characters, each normalised once. By default ten replies about each of 1,000
outputs; with `--outputs 10000`, the dearest case, every reply pays for a text of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from benchbook.scorers.evidence_text import NormalisedText
from benchbook.scorers.judge_protocol import Evaluation, EvaluationSet, validate

GOAL_CPU_S = 20.0
TEXT_LENGTH = 20_000
DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")

PLAIN = ["the", "plan", "of", "a", "supplier", "total", "-", "invoice;", "is", "not", "March,", "workflow", "efficient"]
LATIN = [*PLAIN, "“total”", "—", "isn’t", "workﬂow", "eﬃcient", "naïve"]
HAN = ["提⽰词", "约束", "输出", "格式，", "模型", "遵循", "失败。", "分析", "联⽹", "搜索", "GPT", "（一）", "事实"]
SCRIPTS = {"ascii": (PLAIN, " "), "typographic": (LATIN, " "), "han": (HAN, "")}


@dataclass(frozen=True, slots=True)
class Output:
    cell: dict[str, str]
    text: str


def make_text(rng: random.Random, script: str) -> str:
    words, gap = SCRIPTS[script]
    pieces: list[str] = []
    length = 0
    while length < TEXT_LENGTH:
        piece = rng.choice(words) + ("\n" if rng.random() < 0.08 else gap)
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)[:TEXT_LENGTH]


def make_outputs(rng: random.Random, count: int) -> Iterator[Output]:
    for at in range(count):
        cell = {"question_id": f"Q{at}", "prompt_variant": "A", "target_model": "acme/writer@1", "output_id": f"o{at}"}
        yield Output(cell, make_text(rng, list(SCRIPTS)[at % len(SCRIPTS)]))


def make_quote(rng: random.Random, text: str) -> str:
    """A part of the text as it stands, with white space of its own, as two fragments, or with a word that is new."""
    start = rng.randrange(len(text) - 400)
    part = text[start : start + rng.randrange(30, 120)]
    match rng.randrange(4):
        case 0:
            return part
        case 1:
            return " ".join(part.upper().split())
        case 2:
            return f"{part} ... {text[start + 200 : start + 260]}"
        case _:
            return f"{part} unwritten"


def make_reply(rng: random.Random, output: Output) -> str:
    scores = [rng.randrange(3) for _ in DIMENSIONS]
    total = sum(scores)
    return json.dumps(
        {
            "meta": {**output.cell, "judge_model": "bench/judge@1", "method": "cross_judge", "timestamp": "2026-03-14"},
            "scores": {**dict(zip(DIMENSIONS, scores, strict=True)), "overall_score": total},
            "verdict": "FAIL" if total <= 3 else "PASS" if total >= 7 else "PARTIAL",
            "flags": [],
            "evidence": [
                {"dimension": dimension, "quote": make_quote(rng, output.text), "reason": "It shows what was asked."}
                for dimension in (*DIMENSIONS, DIMENSIONS[0])
            ],
            "notes": "A short note.",
        },
        ensure_ascii=False,
    )


def judge_all(outputs: list[Output], replies: list[list[str]]) -> Iterator[Evaluation]:
    cells = EvaluationSet(output.cell for output in outputs)
    for output, about_it in zip(outputs, replies, strict=True):
        text = NormalisedText(output.text)
        asked = {**output.cell, "judge_model": "bench/judge@1", "method": "cross_judge"}
        for reply in about_it:
            yield validate(reply, output_text=text, asked=asked, evaluation_set=cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=10_000)
    parser.add_argument("--outputs", type=int, default=1_000)
    args = parser.parse_args()
    rng = random.Random(5)
    outputs = list(make_outputs(rng, args.outputs))
    replies = [[make_reply(rng, output) for _ in range(args.replies // args.outputs)] for output in outputs]
    located: Counter[str | None] = Counter()
    valid = 0
    start = time.process_time()
    for evaluation in judge_all(outputs, replies):
        located.update(evaluation.located)
        valid += evaluation.valid
    cpu_s = time.process_time() - start
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(located.items(), key=str))
    print(f"{args.replies} replies about {args.outputs} outputs of {TEXT_LENGTH} characters: {valid} valid")
    print(f"quotes: {kinds}")
    print(f"{cpu_s:.2f} s CPU (goal: under {GOAL_CPU_S:.0f} s)")
    return 0 if cpu_s < GOAL_CPU_S else 1


if __name__ == "__main__":
    sys.exit(main())
