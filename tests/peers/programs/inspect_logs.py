"""Real logs of Inspect AI with scripted models, and what its own reader says of them: FOLDER.

Prints `{name: {"path": …, "samples": [...], "scores": [...]}}`; a NaN is `"NaN"`.
"""

from __future__ import annotations

import json
import math
import sys
from itertools import cycle
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task, eval  # noqa: A004
from inspect_ai.dataset import Sample
from inspect_ai.log import (
    ProvenanceData,
    convert_eval_logs,
    edit_score,
    invalidate_samples,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.log._recorders.chunked.convert import convert_eval_logs_to_chunked
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import (
    Score,
    ScoreEdit,
    accuracy,
    choice,
    ci,
    grouped,
    includes,
    match,
    mean,
    model_graded_fact,
    model_graded_qa,
    scorer,
    std,
    stderr,
    var,
)
from inspect_ai.solver import generate, multiple_choice, solver

SAMPLES = [
    Sample(
        id=n, input=f"What is {n} + {n}?", target=[str(2 * n), f"{2 * n}.0"], metadata={"kind": kind, "family": n % 3}
    )
    for n, kind in enumerate(("odd", "even") * 3, start=1)
]
ANSWERS = ["2", "5", "6", "8 or so", "", "12"]


def model(*texts: str) -> Any:
    """A model that says these one after another, again and again."""

    said = cycle(texts)

    def output(*_: Any) -> ModelOutput:
        made = ModelOutput.from_content("mockllm/model", next(said))
        made.usage = ModelUsage(
            input_tokens=12, output_tokens=len(made.completion), total_tokens=12 + len(made.completion)
        )
        return made

    return get_model("mockllm/model", memoize=False, custom_outputs=output)


@scorer(metrics={"length": [mean(), std(), var()], "right": [accuracy(), stderr(cluster="family")], "*": [mean()]})
def parts():
    async def score(state, target):
        text = state.output.completion
        return Score(value={"length": len(text), "right": "C" if text in target else "I", "other": 0.25})

    return score


@scorer(
    metrics=[
        mean(),
        grouped(mean(), "kind"),
        grouped(stderr(), "kind", all=False),
        grouped(mean(), "family", all="groups"),
        ci(),
        std(),
        var(),
    ]
)
def closeness():
    async def score(state, target):
        text = state.output.completion
        if not text:
            return Score.unscored(reason="no_response", explanation="nothing was said")
        return Score(value=1 / (1 + abs(len(text) - 1)), answer=text, explanation=f"{len(text)} characters")

    return score


@scorer(metrics=[accuracy(), stderr()])
def broken():
    async def score(state, target):
        if state.sample_id == 3:
            raise RuntimeError("the scorer broke \x1b[31m")
        return Score(value=bool(state.output.completion in target))

    return score


@solver
def failing():
    async def solve(state, generate):
        if state.sample_id == 2:
            raise ValueError("no such tool: \N{SNOWMAN}")
        return await generate(state)

    return solve


@solver
def talking():
    async def solve(state, generate):
        while not state.completed:
            state = await generate(state)
            state.messages.append(ChatMessageUser(content="go on"))
        return state

    return solve


def tasks() -> dict[str, tuple[Task, dict[str, Any]]]:
    """Each task with what it is run with, by the name of its log."""
    conversations = [
        Sample(
            id="talk",
            input=[ChatMessageSystem(content="Be brief."), ChatMessageUser(content="What is 2 + 2?")],
            target="4",
        ),
        Sample(id="a/b ü", input="An id with a slash", target="4"),
        Sample(id="1", input="An id of digits", target="4"),
    ]
    judge = model(
        "It is right.\n\nGRADE: C", "GRADE: I\nno, GRADE: C", "grade: c", "I can't say", "GRADE: CI", "GRADE: I"
    )
    return {
        "match": (Task(SAMPLES, scorer=[match(), includes()]), {}),
        "epochs": (
            Task(SAMPLES, scorer=match(), epochs=Epochs(3, ["mean", "mode", "max", "at_least_2", "pass_at_2"])),
            {},
        ),
        "epochs-mean": (Task(SAMPLES, scorer=[match(), closeness()], epochs=2), {}),
        "parts": (Task(SAMPLES, scorer=[parts(), match()], epochs=2), {}),
        "groups": (Task(SAMPLES, scorer=closeness()), {}),
        "errors": (Task(SAMPLES, solver=failing(), scorer=match()), {"fail_on_error": False}),
        "failed": (Task(SAMPLES, solver=failing(), scorer=match()), {"fail_on_error": True}),
        "score-error": (Task(SAMPLES, scorer=[match(), broken()]), {"fail_on_error": False}),
        "scored-error": (
            Task(SAMPLES, solver=failing(), scorer=match()),
            {"fail_on_error": False, "score_on_error": True},
        ),
        "limits": (Task(SAMPLES[:2], solver=talking(), scorer=includes(), message_limit=5), {}),
        "judge": (Task(SAMPLES, scorer=model_graded_qa(model=judge)), {}),
        "judge-role": (Task(SAMPLES, scorer=model_graded_fact()), {"model_roles": {"grader": judge}}),
        "choices": (
            Task(
                [Sample(id="c", input="Which is a fruit?", choices=["stone", "pear"], target="B")],
                solver=multiple_choice(),
                scorer=choice(),
            ),
            {"model": model("ANSWER: B")},
        ),
        "conversations": (Task(conversations, solver=generate(), scorer=includes()), {"model": model("It is 4.")}),
        "unscored": (Task(SAMPLES), {"score": False}),
    }


def plain(value: Any) -> Any:
    """JSON that every reader takes."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def said(path: str) -> dict[str, Any]:
    """What Inspect's own reader says of a log."""
    log = read_eval_log(path)
    return {
        "path": path,
        "status": log.status,
        "total": log.results.total_samples if log.results else None,
        "completed": log.results.completed_samples if log.results else None,
        "samples": [
            {
                "id": sample.id,
                "epoch": sample.epoch,
                "answer": sample.output.completion,
                "error": sample.error.message if sample.error else None,
                "limit": sample.limit.type if sample.limit else None,
                "invalid": sample.invalidation is not None,
                "scores": {name: plain(score.value) for name, score in (sample.scores or {}).items()},
            }
            for sample in log.samples or []
        ],
        "scores": [
            {
                "name": score.name,
                "scorer": score.scorer,
                "reducer": score.reducer,
                "scored": score.scored_samples,
                "unscored": score.unscored_samples,
                "metrics": {name: plain(metric.value) for name, metric in score.metrics.items()},
            }
            for score in (log.results.scores if log.results else [])
        ],
    }


def main(folder: str) -> None:
    made = {}
    for name, (task, words) in tasks().items():
        for form in ("eval", "json") if name in ("match", "parts", "groups") else ("eval",):
            options = {"model": model(*ANSWERS), "max_samples": 1, "max_connections": 1, "display": "none", **words}
            (log,) = eval(task, log_dir=f"{folder}/{name}", log_format=form, **options)
            made[name if form == "eval" else f"{name}-json"] = log.location
    log = read_eval_log(made["match"])
    edit_score(log, 1, "match", ScoreEdit(value="P", provenance=ProvenanceData(author="ann", reason="half of it")))
    made["edited"] = f"{folder}/edited.eval"
    write_eval_log(log, made["edited"])
    log = invalidate_samples(read_eval_log(made["match"]), [log.samples[2].uuid], ProvenanceData(author="ann"))
    made["invalidated"] = f"{folder}/invalidated.eval"
    write_eval_log(log, made["invalidated"])
    convert_eval_logs(made["epochs"], "json", f"{folder}/converted")
    made["epochs-json"] = str(next(Path(f"{folder}/converted").glob("*.json")))
    convert_eval_logs_to_chunked(made["match"], f"{folder}/chunked")
    chunked = {**said(made["match"]), "path": str(next(Path(f"{folder}/chunked").glob("*.eval")))}
    print(json.dumps({"chunked": chunked} | {name: said(path) for name, path in made.items()}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
