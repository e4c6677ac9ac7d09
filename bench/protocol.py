"""CPU time of `judge_protocol@v1` (issue 5): to validate 10,000 replies and locate their quotes, under 20 s; to rebuild
an archive of as many evaluations from their rows, with its analysis, under 15 s.

Five quotes a reply, texts of 20,000 characters, each normalised once. By default ten replies about each of 1,000
outputs; with `--outputs 10000`, the dearest case, every reply pays for a text of its own. The replies about an output
come from as many judges.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchbook.evaluators.protocol.evaluation_rows import Asked, CellId, EvaluationRow, JudgedText, evaluation_row
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.protocol.validity import EvaluationSet
from benchbook.views.protocol.archive import write_archive
from benchbook.views.protocol.archive_model import Archive, JudgeUsed, RunLog, UsedPrompt

GOAL_CPU_S = 20.0
ARCHIVE_GOAL_CPU_S = 15.0
TEXT_LENGTH = 20_000
DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")

PLAIN = ["the", "plan", "of", "a", "supplier", "total", "-", "invoice;", "is", "not", "March,", "workflow", "efficient"]
LATIN = [*PLAIN, "“total”", "—", "isn’t", "workﬂow", "eﬃcient", "naïve"]
HAN = ["提⽰词", "约束", "输出", "格式，", "模型", "遵循", "失败。", "分析", "联⽹", "搜索", "GPT", "（一）", "事实"]
SCRIPTS = {"ascii": (PLAIN, " "), "typographic": (LATIN, " "), "han": (HAN, "")}


@dataclass(frozen=True, slots=True)
class Output:
    cell: CellId
    text: str


def judge_name(number: int) -> str:
    return f"bench/judge-{number}@1"


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
        cell = CellId(f"Q{at // 4}", "ABCD"[at % 4], "acme/writer@1", f"o{at}")
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


def make_reply(rng: random.Random, output: Output, asked: Asked) -> str:
    scores = [rng.randrange(3) for _ in DIMENSIONS]
    total = sum(scores)
    return json.dumps(
        {
            "meta": {**asked.meta(), "timestamp": "2026-03-14"},
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


def asked_of(output: Output, number: int) -> Asked:
    return Asked(output.cell, judge_name(number), "cross_judge")


def judge_all(outputs: list[Output], replies: list[list[str]]) -> Iterator[EvaluationRow]:
    cells = EvaluationSet(asked_of(output, 0).meta() for output in outputs)
    for output, about_it in zip(outputs, replies, strict=True):
        text = JudgedText(output.text)
        for number, reply in enumerate(about_it):
            yield evaluation_row(asked_of(output, number), reply, text, evaluation_set=cells)


def rebuild(rows: list[EvaluationRow], n_judges: int, folder: Path) -> int:
    """Write the archive; how many files it has."""
    judges = [JudgeUsed(judge_model=judge_name(number)) for number in range(n_judges)]
    log = RunLog(
        experiment="bench",
        spec="judge_protocol@v1",
        spec_sha256="",
        evidence="must_be_found",
        judges=judges,
        n_samples=len(rows) // n_judges,
    )
    prompts = [UsedPrompt("judge_protocol@v1", "You judge.")]
    write_archive(Archive(rows, prompts, log, protocol_v1()), folder)
    return sum(path.is_file() for path in folder.rglob("*"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=10_000)
    parser.add_argument("--outputs", type=int, default=1_000)
    args = parser.parse_args()
    rng = random.Random(5)
    outputs = list(make_outputs(rng, args.outputs))
    n_judges = args.replies // args.outputs
    replies = [[make_reply(rng, output, asked_of(output, number)) for number in range(n_judges)] for output in outputs]
    start = time.process_time()
    rows = list(judge_all(outputs, replies))
    cpu_s = time.process_time() - start
    located = Counter(item.located for row in rows for item in row.evidence)
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(located.items(), key=str))
    valid = sum(row.valid for row in rows)
    print(f"{len(rows)} replies about {len(outputs)} outputs of {TEXT_LENGTH} characters: {valid} valid")
    print(f"quotes: {kinds}")
    print(f"validated in {cpu_s:.2f} s CPU (goal: under {GOAL_CPU_S:.0f} s)")
    with tempfile.TemporaryDirectory() as place:
        start = time.process_time()
        n_files = rebuild(rows, n_judges, Path(place) / "archive")
        archive_cpu_s = time.process_time() - start
    print(f"archive of {n_files} files rebuilt in {archive_cpu_s:.2f} s CPU (goal: under {ARCHIVE_GOAL_CPU_S:.0f} s)")
    return 0 if cpu_s < GOAL_CPU_S and archive_cpu_s < ARCHIVE_GOAL_CPU_S else 1


if __name__ == "__main__":
    sys.exit(main())
