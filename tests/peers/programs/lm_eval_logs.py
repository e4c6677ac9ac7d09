"""Runs lm-evaluation-harness with a scripted model on tasks of its own: `lm_eval_logs.py FOLDER`. Prints its files.

The model's words follow from the question alone, so that every number can be worked out: it knows the sum of two digits
where the first is below 6, and otherwise says one too many.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": sys.argv[1] + "/cache", "DISABLE_MULTIPROC": "1"}

import yaml
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager


@register_model("scripted")
class Scripted(LM):
    def __init__(self, pretrained: str = "", api_key: str = "", **_: object) -> None:
        super().__init__()
        self.n_asked = 0

    @classmethod
    def create_from_arg_obj(cls, arguments, additional_config=None):
        return cls(**arguments)

    def generate_until(self, requests, disable_tqdm=False):
        self.n_asked += len(requests)
        return [self._said(one.args[0], number) for number, one in enumerate(requests)]

    def _said(self, prompt: str, number: int) -> str:
        a, b = _sum_of(prompt)
        right = a + b if a < 6 else a + b + 1
        if "vote" in prompt and number % 3 == 2:
            right += 5
        return f"Let me think: {a} and {b}.\n#### {right}" if b % 2 else f"It is {right}"

    def loglikelihood(self, requests, disable_tqdm=False):
        found = []
        for one in requests:
            context, continuation = one.args
            a, b = _sum_of(context) if "+" in context else (0, 0)
            wanted = str(a + b if a < 6 else a + b + 1)
            found.append((-0.25 * (1 + len(continuation)) if continuation.strip() == wanted else -3.5, a < 6))
        return found

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        return [-1.5 * len(one.args[0].split()) for one in requests]


def _sum_of(prompt: str) -> tuple[int, int]:
    a, b = prompt.rsplit("?", 1)[0].rsplit(" ", 1)[-1].split("+")
    return int(a), int(b)


BASE = {"dataset_path": "json", "test_split": "test", "num_fewshot": 0, "metadata": {"version": 2.0}}
CHOICE = {
    **BASE,
    "output_type": "multiple_choice",
    "doc_to_text": "What is {{a}}+{{b}}?\nAnswer:",
    "doc_to_choice": "{{[sum | string, (sum + 1) | string, (sum + 2) | string]}}",
    "doc_to_target": "{{0}}",
    "metric_list": [
        {"metric": "acc", "aggregation": "mean", "higher_is_better": True},
        {"metric": "acc_norm", "aggregation": "mean", "higher_is_better": True},
    ],
}


def _tasks(data: Path) -> list[dict]:
    files = {name: {"test": str(data / f"{name}.jsonl")} for name in ("large", "small", "tiny")}

    def on(name: str) -> dict:
        return {"dataset_kwargs": {"data_files": files[name]}}

    return [
        {
            **BASE, **on("large"), "task": "bb_sums", "output_type": "generate_until",
            "doc_to_text": "What is {{a}}+{{b}}?\nAnswer:", "doc_to_target": "{{sum}}",
            "generation_kwargs": {"until": ["\n\n"], "temperature": 0.0, "max_gen_toks": 32},
            "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
            "filter_list": [
                {"name": "strict-match", "filter": [{"function": "regex", "regex_pattern": "#### (\\-?[0-9]+)"},
                                                    {"function": "take_first"}]},
                {"name": "flexible-extract", "filter": [
                    {"function": "regex", "group_select": -1, "regex_pattern": "(-?[0-9]+)"},
                    {"function": "take_first"}]},
            ],
        },
        {
            **BASE, **on("small"), "task": "bb_votes", "output_type": "generate_until", "repeats": 3,
            "doc_to_text": "By vote: what is {{a}}+{{b}}?\nAnswer:", "doc_to_target": "{{sum}}",
            "generation_kwargs": {"until": ["\n\n"], "temperature": 1.0, "do_sample": True},
            "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
            "filter_list": [
                {"name": "maj", "filter": [
                    {"function": "regex", "group_select": -1, "regex_pattern": "(-?[0-9]+)"},
                    {"function": "majority_vote"}, {"function": "take_first"}]},
                {"name": "first", "filter": [{"function": "take_first"}]},
            ],
        },
        {
            **BASE, **on("small"), "task": "bb_bleu", "output_type": "generate_until",
            "doc_to_text": "What is {{a}}+{{b}}?\nAnswer:", "doc_to_target": "It is {{sum}}",
            "generation_kwargs": {"until": ["\n\n"]},
            "metric_list": [{"metric": "bleu", "aggregation": "bleu", "higher_is_better": True}],
        },
        {
            **BASE, **on("small"), "task": "bb_perplexity", "output_type": "loglikelihood",
            "doc_to_text": "What is {{a}}+{{b}}?", "doc_to_target": " {{sum}}",
            "metric_list": [{"metric": "perplexity", "aggregation": "perplexity", "higher_is_better": False},
                            {"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        },
        {
            **BASE, **on("small"), "task": "bb_rolling", "output_type": "loglikelihood_rolling",
            "doc_to_text": "", "doc_to_target": "{{a}} and {{b}} make {{sum}}, which nobody doubts, né?",
            "metric_list": [{"metric": "word_perplexity"}, {"metric": "byte_perplexity"}, {"metric": "bits_per_byte"}],
        },
        {
            **CHOICE, **on("large"), "task": "bb_pairs",
            "doc_to_choice": ["no", "yes"], "doc_to_text": "Is it so that {{sum}} is {{a}}+{{b}}?",
            "doc_to_target": "{{a % 2}}",
            "metric_list": [{"metric": "acc"}, {"metric": "f1"}, {"metric": "mcc"}, {"metric": "brier_score"}],
        },
        {**CHOICE, **on("large"), "task": "bb_choice_large"},
        {**CHOICE, **on("small"), "task": "bb_choice_small"},
        {**CHOICE, **on("tiny"), "task": "bb_choice_tiny"},
    ]  # fmt: skip


def _groups() -> list[dict]:
    def over(metric: str, *, by_size: bool) -> list[dict]:
        return [{"metric": metric, "aggregation": "mean", "weight_by_size": by_size, "filter_list": ["none"]}]

    return [
        {"group": "bb_by_size", "task": ["bb_choice_large", "bb_choice_small"],
         "aggregate_metric_list": over("acc", by_size=True) + over("acc_norm", by_size=False)},
        {"group": "bb_nested", "task": ["bb_by_size", "bb_choice_tiny"],
         "aggregate_metric_list": over("acc", by_size=True)},
    ]  # fmt: skip


def _write(folder: Path) -> Path:
    tasks = folder / "tasks"
    tasks.mkdir(parents=True)
    for name, n in {"large": 40, "small": 11, "tiny": 1}.items():
        docs = [
            {"a": k * 3 % 10, "b": k % 7, "sum": k * 3 % 10 + k % 7, "note": "né \u2028 1e-7", "x": 0.1 * k}
            for k in range(n)
        ]
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in docs)
        (tasks / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    for one in _tasks(tasks) + _groups():
        name = one.get("task") if isinstance(one.get("task"), str) else one["group"]
        (tasks / f"{name}.yaml").write_text(yaml.safe_dump(one), encoding="utf-8")
    return tasks


def _run(folder: Path, tasks: Path, names: list[str], **settings: object) -> None:
    tracker = EvaluationTracker(output_path=str(folder))
    found = simple_evaluate(
        model="scripted",
        model_args={"pretrained": "acme/scripted", "api_key": "sk-not-to-be-kept"},
        tasks=names,
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        evaluation_tracker=tracker,
        log_samples=True,
        bootstrap_iters=20,
        **settings,
    )
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    for name in found["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])


def main() -> None:
    logging.disable(logging.WARNING)
    folder = Path(sys.argv[1])
    tasks = _write(folder)
    _run(folder / "all", tasks, [
        "bb_sums", "bb_votes", "bb_bleu", "bb_perplexity", "bb_rolling", "bb_pairs", "bb_nested",
    ])  # fmt: skip
    _run(folder / "limited", tasks, ["bb_sums", "bb_choice_large"], limit=7)
    _run(folder / "file" / "mine.json", tasks, ["bb_choice_small"])
    _run(folder / "unscored", tasks, ["bb_choice_tiny"], predict_only=True)
    sys.stdout.write(json.dumps(sorted(str(one.relative_to(folder)) for one in folder.rglob("*.json*"))) + "\n")


if __name__ == "__main__":
    main()
