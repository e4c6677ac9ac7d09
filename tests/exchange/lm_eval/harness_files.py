"""Small files as lm-evaluation-harness writes them, made by hand."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

TIME = "2026-01-02T03-04-05.678901"


def sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def row(doc_id: int | str, answer: str = "4", *, filtered_by: str = "none", **metrics: Any) -> dict[str, Any]:
    """A row of 0.4.13 in which a text was asked for; the right answer is 4."""
    prompt, doc = f"What is {doc_id}?", {"q": doc_id}
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["\n"]}}},
        "resps": [[answer]],
        "filtered_resps": [answer],
        "filter": filtered_by,
        "metrics": list(metrics),
        "doc_hash": sha(json.dumps(doc, indent=2)),
        "prompt_hash": sha(prompt),
        "target_hash": sha("4"),
        **metrics,
    }


def choice_row(doc_id: int, weighed: list[float], target: str = "1", **metrics: Any) -> dict[str, Any]:
    """A row of 0.4.13 in which the choices red, green and blue were weighed."""
    prompt = f"Colour {doc_id}?"
    arguments = {
        f"gen_args_{number}": {"arg_0": prompt, "arg_1": f" {text}"}
        for number, text in enumerate(("red", "green", "blue"))
    }
    pairs = [[str(one), "False"] for one in weighed]
    return {
        "doc_id": doc_id,
        "doc": {"q": doc_id},
        "target": target,
        "arguments": arguments,
        "resps": [[one] for one in pairs],
        "filtered_resps": pairs,
        "filter": "none",
        "metrics": list(metrics),
        "doc_hash": sha(json.dumps({"q": doc_id}, indent=2)),
        "prompt_hash": sha(prompt),
        "target_hash": sha(target),
        **metrics,
    }


def task_hash(rows: list[dict[str, Any]]) -> str:
    return sha("".join(one["doc_hash"] + one["prompt_hash"] + one["target_hash"] for one in rows))


def results(tasks: dict[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A results file of 0.4.13 for tasks by name: the numbers of each."""
    n = {name: {"original": 10, "effective": numbers.get("sample_len", 3)} for name, numbers in tasks.items()}
    metrics = {
        name: [key.partition(",")[0] for key in numbers if "," in key and "_stderr" not in key]
        for name, numbers in tasks.items()
    }
    return {
        "results": {name: {"alias": name, **numbers} for name, numbers in tasks.items()},
        "group_subtasks": {name: [] for name in tasks},
        "configs": {
            name: {
                "task": name,
                "dataset_path": "acme/data",
                "dataset_name": "main",
                "doc_to_text": "What is {{q}}?",
                "output_type": "generate_until",
                "generation_kwargs": {"until": ["\n"], "temperature": 0.0},
                "metric_list": [{"metric": one, "aggregation": "mean"} for one in metrics[name]],
                "repeats": 1,
            }
            for name in tasks
        },
        "versions": dict.fromkeys(tasks, 1.0),
        "n-shot": dict.fromkeys(tasks, 5),
        "higher_is_better": {name: dict.fromkeys(metrics[name], True) for name in tasks},
        "n-samples": n,
        "config": {
            "model": "hf",
            "model_args": "pretrained=acme/m,api_key=sk-verysecret1,base_url=https://u:pw1@h/v1,max_length=8",
            "limit": 3.0,
            "random_seed": 0,
        },
        "git_hash": "abc1234",
        "date": 1767323045.25,
        "pretty_env_info": "not read",
        "lm_eval_version": "0.4.13",
        "task_hashes": {},
        "model_source": "hf",
        "model_name": "acme/m",
        "chat_template_sha": sha("{{ template }}"),
        **more,
    }


def write_run(
    folder: Path, stated: dict[str, Any] | None, samples: dict[str, list[dict[str, Any]]], time: str = TIME
) -> Path:
    """A run's files; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if stated is not None:
        (folder / f"results_{time}.json").write_text(json.dumps(stated, indent=2, ensure_ascii=False), encoding="utf-8")
    for task, rows in samples.items():
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)
        (folder / f"samples_{task}_{time}.jsonl").write_text(lines, encoding="utf-8")
    return folder
