"""Runs in shards: of recorded outputs that a script judges, and of predictions that are scored."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchbook.ask.sharding import ShardResult, ask_shard
from benchbook.ask.work import run_async
from benchbook.evaluators.joining import Joined, join
from benchbook.evaluators.registry import answers_evaluator, evaluator_asked_for, start_run
from benchbook.evaluators.settings import RunConfig, ScoreConfig
from benchbook.record.folder import Record
from benchbook.record.shards import shard_named
from scored import write_lines

DERIVED = ("samples.parquet", "aggregates.json", "decision.json")


def write_judged(folder: Path, n_items: int, repeats: int) -> RunConfig:
    """The files of a run of recorded outputs, which a script judges: each tenth reply can't be read at first."""
    folder.mkdir(parents=True, exist_ok=True)
    items = [{"id": f"i{n}", "prompt": f"{n} + 1?", "expected_answer": str(n + 1)} for n in range(n_items)]
    outputs = [
        {"item_id": f"i{n}", "repeat": r, "output": f"answer {n * 7 + r}", "latency_ms": 100 + n, "prompt_tokens": 9,
         "completion_tokens": 5}
        for r in range(repeats) for n in range(n_items)
    ]  # fmt: skip
    replies: list[dict[str, Any]] = [
        {"contains": f"answer {n}", "text": json.dumps(
            {"accuracy_score": n % 3, "faithfulness_score": 2 - n % 2, "rationale": f"as {n} has it"}
        ), "latency_ms": 50, "input_tokens": 30, "output_tokens": 10}
        for n in range(1, 10)
    ]  # fmt: skip
    replies.append({"contains": "", "text": "no verdict", "latency_ms": 40, "input_tokens": 30, "output_tokens": 2})
    script = folder / "script.json"
    script.write_text(json.dumps({"replies": replies}), encoding="utf-8")
    return RunConfig(
        evalset=str(write_lines(folder / "items.jsonl", items)),
        outputs=str(write_lines(folder / "outputs.jsonl", outputs)),
        model="recorded/m@1", judge="scripted/j@1", judge_path=str(script), repeats=repeats,
        runs=str(folder / "runs"), run_id="run", max_connections=1,
    )  # fmt: skip


def begun_alone(config: RunConfig) -> Record:
    return run_async(start_run(config)).record


def ask(config: RunConfig, shard: str) -> ShardResult:
    return run_async(ask_shard(evaluator_asked_for(config.spec), config, shard_named(shard)))


def judged_in_shards(config: RunConfig, of: int, order: Iterable[int] | None = None) -> Record:
    """All shards of a run, asked in this order; they are not joined."""
    for number in range(1, of + 1) if order is None else order:
        ask(config, f"{number}/{of}")
    return Record(Path(config.runs) / str(config.run_id))


def scored_in_shards(config: ScoreConfig, of: int, spec: Any = None) -> Record:
    evaluator = answers_evaluator(config.spec if spec is None else spec)
    for number in range(of, 0, -1):
        evaluator.score_shard(config, shard_named(f"{number}/{of}"))
    return Record(Path(config.runs) / str(config.run_id))


def joined(record: Record, **how: Any) -> Joined:
    """A joined record. Nothing may be wrong with it."""
    found = join(record, **how)
    assert [str(one) for one in found.findings] == []
    return found
