"""Logs of Inspect AI, written by hand: their JSON, as archives and as JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchbook.exchange.inspect.reading import opened
from benchbook.exchange.log import ForeignLog
from zipped import DEFLATED, Entry, archive


def header(**changes: Any) -> dict[str, Any]:
    """A finished log's, of the scorer `match` with an accuracy of 0.5; `eval` and `results` take changes of theirs."""
    evaluated = {
        "task": "popularity",
        "model": "mockllm/model",
        "created": "2025-02-11T15:17:00-05:00",
        "dataset": {"name": "sums", "samples": 100},
        "config": {"epochs": 1, "epochs_reducer": ["mean"]},
        "packages": {"inspect_ai": "0.3.200"},
        **changes.pop("eval", {}),
    }
    results = {
        "total_samples": 2,
        "completed_samples": 2,
        "scores": [scores("match", accuracy=0.5)],
        **changes.pop("results", {}),
    }
    made = {"version": 2, "status": "success", "eval": evaluated, "plan": {}, "results": results, "stats": {}}
    return {**made, **changes}


def scores(
    name: str, scorer: str | None = None, /, more: Mapping[str, Any] | None = None, **metrics: Any
) -> dict[str, Any]:
    """An entry of the results: each metric a number, or an object that stands as it is."""
    held = {
        key: value if isinstance(value, dict) else {"name": key, "value": value, "params": {}}
        for key, value in metrics.items()
    }
    return {"name": name, "scorer": scorer or name, "params": {}, "metrics": held, **(more or {})}


def sample(number: int | str = 1, value: Any = "C", **changes: Any) -> dict[str, Any]:
    """A sample that was asked for a sum, and scored by `match`."""
    said = str(changes.pop("said", "2"))
    message = {"role": "assistant", "content": said, "source": "generate"}
    made: dict[str, Any] = {
        "id": number,
        "epoch": 1,
        "input": "What is 1 + 1?",
        "target": "2",
        "messages": [{"role": "user", "content": "What is 1 + 1?", "source": "input"}, message],
        "output": {
            "model": "mock-1",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "usage": {"input_tokens": 12, "output_tokens": 1, "total_tokens": 13},
            "time": 0.25,
        },
        "scores": {"match": {"value": value, "answer": said}},
        "metadata": {"kind": "sum"},
        "total_time": 1.5,
    }
    return {**made, **changes}


SAMPLES = [sample(1, "C"), sample(2, "I", said="3")]


def members(
    samples: Sequence[Mapping[str, Any]] = SAMPLES, head: Mapping[str, Any] | None = None, *, method: int = DEFLATED
) -> list[Entry]:
    """The members of an archive, in the order in which Inspect writes them."""
    told = header() if head is None else head
    start = {name: told[name] for name in ("version", "eval", "plan") if name in told}
    made = [Entry("_journal/start.json", as_json(start), method)]
    made += [Entry(f"samples/{one['id']}_epoch_{one['epoch']}.json", as_json(one), method) for one in samples]
    made += [Entry("summaries.json", b"[]", method), Entry("header.json", as_json(told), method)]
    return made


def as_json(value: Any) -> bytes:
    """As Python writes it: NaN among the numbers, halves of characters as escapes."""
    return json.dumps(value).encode()


def as_archive(
    folder: Path, samples: Sequence[Mapping[str, Any]] = SAMPLES, head: Mapping[str, Any] | None = None, **how: Any
) -> Path:
    path = folder / "log.eval"
    path.write_bytes(archive(members(samples, head), **how))
    return path


def as_file(
    folder: Path, samples: Sequence[Mapping[str, Any]] | None = SAMPLES, head: Mapping[str, Any] | None = None
) -> Path:
    path = folder / "log.json"
    path.write_bytes(as_json({**(header() if head is None else head), "samples": samples}))
    return path


def open_log(path: Path) -> ForeignLog:
    (log,) = opened(path)
    return log
