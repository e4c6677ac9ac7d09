"""Records for the page's tests: three checkpoints, a judged run, an experiment with judges, and labels."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchbook.ask.work import run_async
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.registry import score_predictions, start_run
from benchbook.evaluators.settings import ScoreConfig
from benchbook.exchange.asking_pairs import PairsAsked, prepared_pairs
from benchbook.exchange.asking_pairs import go_on as go_on_with_pairs
from benchbook.exchange.auditing_judges import AuditAsked, go_on, prepared_audit
from benchbook.labels.labels import LabelBook, give_labels
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.record.folder import Record
from judging import make_set, sound_reply
from labelled import judged_run
from own_protocol import experiment, written
from own_protocol import judged as by_shop
from own_rubric import CITED, own_run
from own_scorers import scored
from panels import replies_of, run_panel
from running import config
from scripted_server import always_good, running
from talked import talked_run

Replies = Callable[[str, int, dict[str, Any]], dict[str, Any]]

N_ITEMS = 90
N_MANY = 12_000
# What a model may say, and a page must only show. The page is told to count what runs: `window.ran`.
HOSTILE = (
    "<script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 2'>",
    "<svg onload='window.ran = 3'><style>*{display:none}</style>",
    "</div></main><iframe srcdoc='<script>parent.ran = 4</script>'></iframe>",
    "[link](javascript:window.ran=5) <a href='javascript:window.ran=6'>x</a>",
    "\u001b[31mred\u001b[0m \u0007 \u202eturned\u202c \u2066isolated",
    "{{constructor.constructor('window.ran = 7')()}} ${window.ran = 8} %s %n",
    "half a pair: \ud835",
    '=HYPERLINK("http://localhost:1/", "x") \'; DROP TABLE runs; --',
    "long " * 30_000,
)
# What a rubric's author wrote is no markup either.
OWN = CITED.replace("Is it clear?", HOSTILE[1]).replace("scale = [0, 1]\n", 'scale = ["no", "yes"]\n')
SECTIONS = ("core", "trace_sensitive", "edge_case")
CATEGORIES = ("arithmetic", "geometry", "general_knowledge")
DIFFICULTIES = ("easy", "medium", "hard")


def make_records(folder: Path) -> None:
    """In `folder`/runs: `base`, `tuned` and `third`; `many-a` and `many-b`; `judged`, with `labels` that nobody gave
    and those of `people`; `panel`; `own`, of another rubric, with `own-labels`; `talked`, of one that asks for all
    there is; `experiment`, and `shop` by a protocol of its own; `scored`, by a function; `refused` and
    `judge-refused`, which servers stopped. In `folder`/audits `tried`, of the judge of `judged`; in `folder`/pairs
    `compared`, of base, tuned and third.
    """
    items = [
        {
            "id": f"item-{number:03d}", "prompt": f"What is {number} + 1?", "expected_answer": str(number + 1),
            "section": SECTIONS[number % 3], "category": CATEGORIES[number // 3 % 3],
            "difficulty": DIFFICULTIES[number // 9 % 3],
        }
        for number in range(N_ITEMS)
    ]  # fmt: skip
    items[1]["prompt"] = f"{HOSTILE[0]} {HOSTILE[5]} What is 1 + 1?"
    evalset = _lines(folder / "sums.jsonl", items)
    for run, wrong_below, losses in (("base", 40, 200), ("tuned", 25, 300), ("third", 10, 0)):
        _scored(folder, evalset, run, wrong_below, losses)
    judged = judged_run(folder, [(2, 2), (2, 1), (0, 0), (1, 2), None, (2, 2)], run_id="judged")
    asked = AuditAsked(variants=("longer", "hedged"), audits=str(folder / "audits"), audit_id="tried")
    run_async(go_on(prepared_audit(judged, {}, asked).begin()))
    _pairs(folder)
    sample_labels(judged, folder / "runs" / "labels", n=2, stratify=(), seed=1)
    _disputed(sample_labels(judged, folder / "runs" / "people", n=4, stratify=(), seed=1))
    _panel(folder)
    own = own_run(folder / "own", [{"sources": None, "clear": "yes"}, {"sources": 2, "clear": "no"}], OWN).record
    shutil.move(own.path, folder / "runs" / "own")
    sample_labels(Record(folder / "runs" / "own"), folder / "runs" / "own-labels", n=1, stratify=(), seed=1)
    talked_run(folder)
    make_set(folder)
    _experiment(folder, "experiment", _judge)
    with running(by_shop) as server:
        experiment(folder, server, written(folder / "shop@v2"), run_id="shop")
    scored(folder, run_id="scored")
    _refused(folder)
    _many(folder)


def _pairs(folder: Path) -> None:
    """In `folder`/pairs `compared`: the answers of three runs, by a judge of its own mind, whose words are hostile."""
    by_digit = {0: "neither", 1: "second", 2: "second", 3: "second", 4: "first"}
    replies = [{"contains": f"{digit} + 1?", "text": _better(one)} for digit, one in by_digit.items()]
    script = _lines(folder / "referee.json", [{"replies": [*replies, {"text": _better("first")}]}])
    records = [Record(folder / "runs" / name) for name in ("base", "tuned", "third")]
    settings = {"judge": f"scripted/{'long-' * 8}referee@1", "judge_path": str(script)}
    asked = PairsAsked(n=20, pairs=str(folder / "pairs"), pairs_id="compared")
    run_async(go_on_with_pairs(prepared_pairs(records, settings, asked).begin()))


def _better(better: str) -> str:
    return json.dumps({"better_score": better, "usable_score": "no", "rationale": HOSTILE[1]})


def _disputed(book: LabelBook) -> None:
    """Two people have labelled everything, and differ on three scores: of the first, second and last sample."""
    scores = {"ann": ((2, 2), (1, 2), (2, 2), (0, 0)), "bob": ((2, 1), (0, 2), (2, 2), (0, 2))}
    given = [
        Given(sample, name, field, score, "<b>half</b> of it is made up" if name == "bob" else "")  # type: ignore[arg-type]
        for name, rows in scores.items()
        for sample, row in zip(book.started.samples, rows, strict=True)
        for field, score in zip(FIELDS, row, strict=True)
    ]
    give_labels(book, given)


def _many(folder: Path) -> None:
    """Two runs with more items than any page of the API has."""
    items = [
        {"id": f"m{number:05d}", "prompt": f"Say {number}.", "expected_answer": str(number)} for number in range(N_MANY)
    ]
    evalset = _lines(folder / "many.jsonl", items)
    for run, step in (("many-a", 3), ("many-b", 4)):
        predictions = [
            {"item_id": f"m{number:05d}", "predicted": str(number + (number % step == 0))} for number in range(N_MANY)
        ]
        path = _lines(folder / f"{run}.jsonl", predictions)
        score_predictions(
            ScoreConfig(evalset=str(evalset), predictions=str(path), runs=str(folder / "runs"), run_id=run)
        )


def _panel(folder: Path) -> None:
    """Two judges, one with a hostile name, who split on two items of three."""
    with running(replies_of({"a": lambda _: (2, 2), "b": lambda item: (item, 2)})) as server:
        judges = [{"model": "openai/a@1", "name": HOSTILE[0]}, {"model": "openai/b@1"}]
        run_panel(folder, server, judges, 3, run_id="panel")


def _scored(folder: Path, evalset: Path, run: str, wrong_below: int, n_losses: int) -> None:
    predictions: list[dict[str, Any]] = []
    for number in range(N_ITEMS):
        right = number % 50 >= wrong_below and not (run == "tuned" and number % 11 == 0)
        text = str(number + 1) if right else f"The sum of {number} and 1 is {number + 1} by {run}"
        if number == 21 and not right:
            text = f"It is {number + 1}.25 by {run}"  # the expected answer, as a part of a longer number
        predictions.append({"item_id": f"item-{number:03d}", "predicted": text})
    for number, text in enumerate(HOSTILE):
        predictions[number]["predicted"] = f"{run} {text}"
    logs = ()
    if n_losses:
        points = [
            {"step": 10 * step, "loss": math.nan if step == 50 else 1 / (1 + step / 40), "tokens": 4096 * step}
            for step in range(n_losses)
        ]
        logs = (str(_lines(folder / f"{run}-log.jsonl", points)),)
    path = _lines(folder / f"{run}.jsonl", predictions)
    config = ScoreConfig(
        evalset=str(evalset), predictions=str(path), runs=str(folder / "runs"), run_id=run,
        model=f"lab/{run}-model@1", training_metrics=logs,
    )  # fmt: skip
    score_predictions(config)


def _refused(folder: Path) -> None:
    """A run and an experiment whose servers refuse the key from the fourth and the first request on."""
    refusal = {"status": 401, "body": {"error": {"message": f"no such key {HOSTILE[1]}"}}}
    with running(lambda role, n, request: always_good(role, n, request) if n < 3 else refusal) as server:
        run_async(start_run(config(folder, server, run_id="refused", max_connections=1)))
    _experiment(folder, "judge-refused", lambda role, n, request: refusal)


def _experiment(folder: Path, run_id: str, judge: Replies) -> None:
    with running(judge) as server:
        judges = [{"model": f"openai/{name}@2026-01-01", "base_url": server.base_url} for name in ("j", "k")]
        values = {
            "set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "judges": judges,
            "run_id": run_id, "runs": str(folder / "runs"),
        }  # fmt: skip
        run_async(start_run(judging_config_from_mapping(values, "test")))


def _judge(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """A judge that quotes, in its last dimension, what nobody wrote."""
    reply = json.loads(sound_reply(request))
    if reply["meta"]["question_id"] == "q1":
        reply["evidence"][3]["quote"] = "nobody wrote this <b>here</b>"
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"status": 200, "content": json.dumps(reply), "usage": usage}


def _lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
