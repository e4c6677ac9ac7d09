"""Reads logs with Inspect in each way that it has, writes them again, and prints what it found of each as JSON."""

import json
import math
import sys
from pathlib import Path

from inspect_ai.log import (
    EvalSample,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
    write_eval_log,
)


def _plain(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


def _sample(path: str, whole: EvalSample) -> EvalSample | None:
    """A sample as it is looked for alone; None for one whose id can't name a file."""
    try:
        return read_eval_log_sample(path, whole.id, whole.epoch)
    except IndexError:
        return None


def _check_written_again(path: str, samples: list[EvalSample]) -> None:
    again = str(Path(path).with_suffix("")) + "-again.eval"
    write_eval_log(read_eval_log(path), again)
    found = read_eval_log(again).samples
    assert [one.model_dump_json() for one in found] == [one.model_dump_json() for one in samples]


def _log(path: str) -> dict[str, object]:
    log = read_eval_log(path)
    alone = [_sample(path, one) for one in log.samples]
    samples = [one or whole for one, whole in zip(alone, log.samples, strict=True)]
    if all(alone):
        _check_written_again(path, samples)
    assert len(read_eval_log_sample_summaries(path)) == len(samples)
    assert read_eval_log(path, header_only=True).results == log.results
    return {
        "status": log.status,
        "model": log.eval.model,
        "metadata": log.eval.metadata,
        "temperature": log.eval.model_generate_config.temperature,
        "epochs": log.eval.config.epochs,
        "results": {
            score.name: {name: _plain(one.value) for name, one in score.metrics.items()} for score in log.results.scores
        },
        "reductions": {
            one.scorer: {score.sample_id: _plain(score.value) for score in one.samples} for one in log.reductions
        },
        "samples": [
            {
                "id": one.id,
                "epoch": one.epoch,
                "input": one.input,
                "target": one.target,
                "answer": one.output.completion,
                "messages": [[message.role, message.text] for message in one.messages],
                "error": None if one.error is None else one.error.message,
                "limit": None if one.limit is None else one.limit.type,
                "tokens": sum(usage.total_tokens for usage in one.model_usage.values()),
                "scores": {
                    name: [_plain(score.value), score.answer, score.explanation, score.reason]
                    for name, score in (one.scores or {}).items()
                },
            }
            for one in samples
        ],
    }


folder = sys.argv[1]
assert len(list_eval_logs(folder)) == len(sys.argv[2:])
print(json.dumps([_log(str(Path(folder) / name)) for name in sys.argv[2:]]))  # noqa: T201
