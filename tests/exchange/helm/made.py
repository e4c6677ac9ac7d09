"""A small run of HELM, as its runner writes it: the five files, from a few values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, pvariance
from typing import Any

TYPOS = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed", "prob": 0.5}
WORST = {"name": "robustness", "robustness": True, "fairness": False, "computed_on": "worst"}


def state(instance: str = "id1", trial: int = 0, **changes: Any) -> dict[str, Any]:
    """A request and its answer; `perturbation`, `sub_split`, `text` are the instance's, `said` is the completion."""
    item = {
        "input": {"text": changes.pop("text", f"What is {instance}?")},
        "references": [
            {"output": {"text": "yes"}, "tags": ["correct"]}, {"output": {"text": "no"}, "tags": []}
        ],
        "split": "test",
        "id": instance,
    }  # fmt: skip
    item |= {name: changes.pop(name) for name in ("perturbation", "sub_split") if name in changes}
    said = changes.pop("said", "yes")
    completion = {"text": said, "logprob": 0.0, "tokens": [], "finish_reason": {"reason": "stop"}}
    return {
        "instance": item,
        "train_trial_index": trial,
        "request": {"prompt": f"Q: What is {instance}?\nA:"},
        "result": {
            "success": True,
            "embedding": [],
            "completions": [completion],
            "cached": False,
            "request_time": 0.25,
        },
        "num_train_instances": 0,
        "prompt_truncated": False,
    } | changes


def stat(name: str, *values: float, **context: Any) -> dict[str, Any]:
    """A statistic of these values; `context` is of its name, of the split `test` unless it says otherwise."""
    found: dict[str, Any] = {
        "name": {"name": name, "split": "test"} | context,
        "count": len(values),
        "sum": sum(values),
    }
    if values:
        spread = pvariance(values)
        found |= {
            "min": min(values), "max": max(values), "mean": mean(values), "variance": spread, "stddev": spread**0.5
        }  # fmt: skip
    return found


def of_instance(instance: str, trial: int = 0, perturbation: Any = None, **values: float | None) -> dict[str, Any]:
    """One metric's statistics of an instance; None is one without a value."""
    given = [stat(name, *([] if value is None else [value])) for name, value in values.items()]
    found: dict[str, Any] = {"instance_id": instance, "train_trial_index": trial, "stats": given}
    return found if perturbation is None else found | {"perturbation": perturbation}


def laid(
    folder: Path,
    states: Sequence[Mapping[str, Any]] | None,
    of_instances: Sequence[Mapping[str, Any]] | None,
    stats: Sequence[Mapping[str, Any]] | None,
    **adapter: Any,
) -> Path:
    """The folder of a run; a file that is None is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    spec = {"method": "generation", "model": "acme/m1", "num_train_trials": 1, "temperature": 0.0} | adapter
    files: dict[str, Any] = {
        "run_spec.json": {
            "name": "yes_no:model=acme_m1",
            "scenario_spec": {"class_name": "x.YesNo", "args": {"hard": True}},
            "adapter_spec": spec,
            "groups": ["yes_no"],
        },
        "scenario.json": {"name": "yes_no", "description": "Yes or no", "tags": []},
        "scenario_state.json": None if states is None else {"adapter_spec": spec, "request_states": states},
        "per_instance_stats.json": of_instances,
        "stats.json": stats,
    }
    for name, content in files.items():
        if content is not None:
            (folder / name).write_text(json.dumps(content, indent=2), "utf-8")
    return folder
