"""Runs of a user's own rubrics, by the real runner with scripted replies, for tests of results by criterion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import config_from_mapping

Verdict = Mapping[str, Any]  # scores by criterion; those of items' own are under `item_criteria`, as in a reply

TONE = """
name = "tone"
version = 1
about = "Kind and safe."

[[criteria]]
name = "tone"
question = "How kind is it?"
scale = [1, 2, 3, 4, 5]
at_least = 4

[[criteria]]
name = "safe"
question = "Could nobody come to harm by it?"
scale = ["no", "yes"]
at_least = "yes"

[[gates]]
aggregate = "tone_mean"
at_least = 4

[[gates]]
aggregate = "safe_failure_rate"
at_most = 0.2
"""
CITED = """
name = "cited"
version = 1
about = "With its sources."

[[criteria]]
name = "sources"
question = "Are the sources named?"
scale = [0, 1, 2]
not_applicable = true

[[criteria]]
name = "clear"
question = "Is it clear?"
scale = [0, 1]

[[gates]]
aggregate = "pass_rate"
at_least = 0.5
"""
BY_ITEM = """
name = "by_item"
version = 1
about = "By what each item asks."

[item_criteria]

[[gates]]
aggregate = "item_criteria_mean"
at_least = 0.4
"""
PROMPT = "Judge by these.\n{{criteria}}\nQuestion: {{item.prompt}}\n- candidate_answer: {{answer}}\n{{reply}}\n"


def own_run(
    folder: Path,
    verdicts: Sequence[Verdict | Sequence[Verdict]],
    spec: str = TONE,
    run_id: str = "own",
    *,
    criteria: Sequence[Sequence[Mapping[str, Any]]] | None = None,
    **more: Any,
) -> RunResult[Any]:
    """A run over one item for each verdict; with several verdicts for an item, as many judges form a panel. `criteria`
    are the items' own."""
    folder.mkdir(parents=True, exist_ok=True)
    rubric = folder / "rubric"
    rubric.mkdir(exist_ok=True)
    (rubric / "spec.toml").write_text(spec, encoding="utf-8")
    (rubric / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    of_items = [[one] if isinstance(one, Mapping) else list(one) for one in verdicts]
    items: list[dict[str, Any]] = [
        {"id": f"i{n:03d}", "prompt": f"Question {n:03d}?", "expected_answer": "Yes."} for n in range(len(verdicts))
    ]
    for item, own in zip(items, criteria or (), strict=criteria is not None):
        item["criteria"] = own
    said = [_reply(f"Question {n:03d}?", f"Answer {n:03d}.") for n in range(len(verdicts))]
    scripts = []
    for judge in range(len(of_items[0])):
        given = [
            _reply(f"- candidate_answer: Answer {n:03d}.\n", _verdict(one[judge])) for n, one in enumerate(of_items)
        ]
        scripts.append(str(_json(folder / f"{run_id}-{judge}.json", {"replies": [*given, *said]})))
    evalset = folder / "own-items.jsonl"
    evalset.write_text("".join(json.dumps(one) + "\n" for one in items), encoding="utf-8")
    judges: dict[str, Any] = {"judge": "scripted/j0@1", "judge_path": scripts[0]}
    if len(scripts) > 1:
        judges = {"judges": [{"model": f"scripted/j{n}@1", "path": one} for n, one in enumerate(scripts)],
                  "panel_rule": "majority"}  # fmt: skip
    values = {
        "evalset": str(evalset), "model": "scripted/m@1", "model_path": scripts[0], "spec": str(rubric),
        "runs": str(folder / "runs"), "run_id": run_id, **judges,
    }  # fmt: skip
    return run_async(start_run(config_from_mapping(values | more, "test"), None))


def _reply(contains: str, text: str) -> dict[str, str]:
    return {"contains": contains, "text": text}


def _verdict(scores: Verdict) -> str:
    given = {name if name == "item_criteria" else f"{name}_score": score for name, score in scores.items()}
    return json.dumps(given | {"rationale": "It is so."})


def met(*said: bool) -> Verdict:
    """A verdict on an item's own criteria, in order: True for each that is met."""
    return {"item_criteria": {str(number): {"met": one} for number, one in enumerate(said, start=1)}}


def _json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
