"""Makes the records beside it. By hand: `PYTHONPATH=src:tests python tests/golden/make_records.py [NAME]...`

It makes those that are not there yet, and never writes over one: what a record says is what its code once said.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

from benchbook.evaluators.protocol.import_record import ImportConfig, record_judgements
from benchbook.labels.labels import give_labels, open_labels
from benchbook.labels.state import Given
from evaluators.protocol.test_judgement_record import judgement
from judging import make_set, sound_reply
from labelled import judged_run
from outages import number_of
from running import benchbook_here
from scored import PREDICTIONS, scored, write_lines
from scripted_server import Reply, running

RECORDS = Path(__file__).parent / "records"
# Text that is nobody's markup, path, formula or terminal escape.
HOSTILE = "<script>alert(1)</script> \x1b[31m \u202egnirts\u202c =HYPERLINK(1) | `a` ../../etc/passwd"
REFUSED = {"status": 400, "body": {"error": {"message": "the request is too long"}}}
NO_KEY = {"status": 401, "body": {"error": {"message": "bad key"}}}
NO_JSON = "It is very good."

Answer = Callable[[str, int, str], Reply]  # who is asked, the item's number, the name of who is asked


def said(text: str, *, tokens: int = 10, **more: Any) -> Reply:
    usage = {"prompt_tokens": 10 * tokens, "completion_tokens": tokens}
    return {"status": 200, "content": text, "usage": usage} | more


def verdict(accuracy: int, faithfulness: int, why: str = "So it is.") -> Reply:
    return said(json.dumps({"accuracy_score": accuracy, "faithfulness_score": faithfulness, "rationale": why}))


def items(count: int, *, grouped: bool = True) -> None:
    """items.jsonl, with all that tells items apart: sections, categories, difficulties and groups."""
    rows = [
        {
            "id": f"i{n}", "prompt": f"What is {n} + 1?", "expected_answer": str(n + 1),
            "section": ("core", "edge_case")[n % 2], "category": ("sums", "words", "sums")[n % 3],
            "difficulty": ("easy", "hard")[n // 2 % 2], "group": f"page {n // 2}" if grouped else None,
            "context": {"page": n} if n % 4 == 0 else None,
        }
        for n in range(count)
    ]  # fmt: skip
    write_lines(Path("items.jsonl"), rows)


def asked(run_id: str, answer: Answer, *words: str, judge: str | None = "openai/j@2026-01-01", **tables: Any) -> None:
    """A run of items.jsonl against a server that says what `answer` says; `tables` are lines of a config's judges."""

    def reply(role: str, n: int, request: dict[str, Any]) -> Reply:
        del n
        return answer(role, number_of(request), request["model"])

    with running(reply) as server:
        command = ["run", "--evalset", "items.jsonl", "--model", "openai/m@2026-01-01"]
        if tables:
            config = [f'panel_rule = "{tables["rule"]}"']
            for name in tables["judges"]:
                config += ["[[judges]]", f'model = "openai/{name}@2026-01-01"', f'base_url = "{server.base_url}"']
            Path("panel.toml").write_text("\n".join(config) + "\n", encoding="utf-8")
            command.insert(1, "panel.toml")
        elif judge is None:
            command[0] = "score"
        else:
            command += ["--judge", judge, "--judge-base-url", server.base_url]
        if "--outputs" not in words:
            command += ["--model-base-url", server.base_url]
        called(*command, "--max-connections", "1", "--max-retries", "0", "--run-id", run_id, *words)


def called(*words: str) -> None:
    found = benchbook_here(*words, "--runs", "runs", "--reports", "none")
    assert (Path("runs") / words[words.index("--run-id") + 1]).is_dir(), found.stderr.decode()


def faults(role: str, n: int, name: str) -> Reply:
    """Every way of a sample: passed, failed, unanswered by either, no answer, a reply that is no verdict."""
    del name
    if role == "candidate":
        texts = {4: said(""), 7: said(HOSTILE), 8: said("It is n", finish_reason="length"), 3: REFUSED}
        return texts.get(n, said(str(n + 1)))
    verdicts = {
        1: verdict(0, 2, HOSTILE), 2: verdict(2, 0), 5: said(NO_JSON), 6: REFUSED, 10: verdict(1, 1),
        9: said('```json\n{"accuracy_score": 7}\n```'), 11: said('{"accuracy_score": 2, "faithfulness_score": 2}'),
    }  # fmt: skip
    return verdicts.get(n, verdict(2, 2))


def later(role: str, n: int, name: str) -> Reply:
    """The same items by a model that has learned some and forgotten one."""
    if n in (0, 3):
        return said("No.") if role == "candidate" else verdict(0, 1)
    return said(str(n + 1)) if role == "candidate" else verdict(2, 2) if n < 10 else faults(role, n, name)


def panel(role: str, n: int, name: str) -> Reply:
    """Three judges who split, one of whom says nothing readable of item 3, and one whose server fails for item 5."""
    if role == "candidate":
        return said(str(n + 1))
    if (name, n) in (("b", 3), ("c", 5)):
        return said(NO_JSON) if n == 3 else REFUSED
    return verdict(2 if name == "a" or n % 2 else 0, 2 if name != "c" else n % 3)


def repeats(role: str, n: int, name: str) -> Reply:
    del name
    return said(f"It is {n + 1}.", tokens=n + 1) if role == "candidate" else verdict(2, 2 - (n == 5))


def rubric_recorded() -> None:
    items(5)
    write_lines(Path("outputs.jsonl"), [{"item_id": f"i{n}", "output": f"{n + 1}"} for n in (3, 1, 0, 4)])
    asked(
        "rubric_unmeasured", repeats, "--outputs", "outputs.jsonl", "--unmeasured", "latency", "--unmeasured", "tokens",
        "--model", "recorded/m@1", "--accept-unanswered",
    )  # fmt: skip


def weather(number: int) -> None:
    """One of the runs of an experiment of that name."""

    def answer(role: str, n: int, name: str) -> Reply:
        del name
        return said(str(n + 1)) if role == "candidate" else verdict(2 if n % (number + 1) else 0, 2)

    items(12, grouped=False)
    asked(f"rubric_weather_{number}", answer, "--experiment", "weather")


def rubric_against() -> None:
    """A model that is better than the one of rubric_weather_1, asked until that is shown, or no item is left."""
    made_before("rubric_weather_1")
    items(12, grouped=False)
    asked("rubric_against", repeats, "--until-decided", "--against", "rubric_weather_1")


def rubric_stopped() -> None:
    items(6)

    def breaks(role: str, n: int, name: str) -> Reply:
        return NO_KEY if n >= 3 else repeats(role, n, name)

    asked("rubric_stopped", breaks)


def rubric_labelled() -> None:
    scores = [(2, 0) if n % 9 == 0 else (1, 2) if n % 4 == 1 else (2, 2) for n in range(24)]
    sections = [{"section": ("core", "edge_case")[n % 2]} for n in range(25)]
    judged_run(Path(), [*scores, None], items=sections, run_id="rubric_labelled")


def labels() -> None:
    """What two people say of rubric_labelled, who differ on some, and a third who settles one."""
    made_before("rubric_labelled")
    found = benchbook_here("label", "sample", "rubric_labelled", "--n", "16", "--seed", "7", "--out", "runs/labels")
    assert found.returncode == 0, found.stderr.decode()
    book = open_labels("runs/labels")
    fields = ("accuracy_score", "faithfulness_score")
    given = []
    for place, sample in enumerate(book.started.samples):
        by_judge = (2, 0) if sample % 9 == 0 else (1, 2) if sample % 4 == 1 else (2, 2)
        for who in ("ann", "bob"):
            theirs = (0, by_judge[1]) if place == 5 or (who == "bob" and place in (2, 3)) else by_judge
            note = HOSTILE if place == 5 else ""
            given += [
                Given(sample, who, field, score, note)  # type: ignore[arg-type]
                for field, score in zip(fields, theirs, strict=True)
            ]
    book = give_labels(book, given)
    settled = Given(book.started.samples[2], "eve", "accuracy_score", 2, "It is right.", adjudicates=True)
    give_labels(book, [settled])


def score_runs(run_id: str, rows: Iterable[Mapping[str, Any]], **settings: Any) -> None:
    scored(Path(), list(rows), run_id=run_id, runs="runs", **settings)


def score_a() -> None:
    log = [{"step": step, "loss": 2.0 / (step + 1) if step != 5 else float("nan"), "lr": 0.1} for step in range(12)]
    write_lines(Path("log.jsonl"), log)
    score_runs("score_a", PREDICTIONS, training_metrics=["log.jsonl"], model="org/m@1")


def score_asked() -> None:
    items(7)

    def answer(role: str, n: int, name: str) -> Reply:
        del role, name
        texts = {1: said("It is 2."), 3: REFUSED, 4: said(""), 5: said(HOSTILE), 6: said("7", finish_reason="length")}
        return texts.get(n, said(str(n + 1)))

    asked("score_asked", answer, "--accept-unanswered", judge=None)


def judged_gaps() -> None:
    """A sound judge, one that keeps no rule for some outputs, and one whose server fails; probes and two repeats."""
    make_set(Path())

    def reply(role: str, n: int, request: dict[str, Any]) -> Reply:
        del role, n
        prompt, judge = request["messages"][0]["content"], request["model"]
        text = sound_reply(request, score=0 if "can't help" in prompt.split("BEGIN JUDGED TEXT ")[1] else 2)
        found = json.loads(text)
        if judge == "k" and found["meta"]["question_id"] == "q1":
            found["evidence"][3]["quote"] = "nobody wrote this <b>here</b>"
        if judge == "k" and found["meta"]["prompt_variant"] == "long":
            return said(NO_JSON)
        if judge == "l" and found["meta"]["question_id"] == "q0":
            return REFUSED
        if judge == "l":
            found["scores"]["FORMAT_COMPLIANCE"] = 1
            found["scores"]["overall_score"] -= 1
        return said(json.dumps(found))

    with running(reply) as server:
        lines = ['set = "set"', 'prompts = "prompts.jsonl"', "probes = 1", "repeats = 2", "accept_unanswered = true"]
        for name in ("j", "k", "l"):
            lines += ["[[judges]]", f'model = "openai/{name}@2026-01-01"', f'base_url = "{server.base_url}"']
        Path("judging.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        called(
            "judge", "run", "judging.toml", "--max-connections", "1", "--max-retries", "0", "--run-id", "judged_gaps"
        )


def judgements_unknown() -> None:
    """Judgements made elsewhere, of which one is of no output, one is no reply, and two outputs have none."""
    outputs = make_set(Path())
    made = [judgement(outputs, number) for number in range(5)]
    made += [judgement(outputs, number, judge_model="y", reply=NO_JSON) for number in (1, 2)]
    made.append(judgement(outputs, 0, question_id=None, remarks=("no output of the set",), place="line 99"))
    record_judgements(outputs, made, ImportConfig(runs="runs", run_id="judgements_unknown"))


def made_before(name: str) -> None:
    """Another record, as it stands in the folder."""
    shutil.copytree(RECORDS / name, Path("runs") / name)
    found = benchbook_here("rescore", name, "--reports", "none")
    assert found.returncode in (0, 1), found.stderr.decode()


def _with_items(count: int, run_id: str, answer: Answer, *words: str, **tables: Any) -> Callable[[], None]:
    def make() -> None:
        items(count)
        asked(run_id, answer, *words, **tables)

    return make


MAKE: Mapping[str, Callable[[], None]] = {
    "rubric_faults": _with_items(12, "rubric_faults", faults, "--accept-unanswered"),
    "rubric_faults_later": _with_items(12, "rubric_faults_later", later, "--accept-unanswered"),
    "rubric_panel": _with_items(
        8, "rubric_panel", panel, "--accept-unanswered", rule="majority", judges=("a", "b", "c")
    ),
    "rubric_repeats": _with_items(
        8, "rubric_repeats", repeats, "--repeats", "3", "--stream", "--model-input-price", "1.5",
        "--model-output-price", "6", "--judge-input-price", "0.3", "--judge-output-price", "0.9",
    ),
    "rubric_unmeasured": rubric_recorded,
    "rubric_until": _with_items(60, "rubric_until", lambda role, n, _: verdict(0, n % 3) if role == "judge" else said(
        "No."), "--until-decided"),
    **{f"rubric_weather_{number}": partial(weather, number) for number in (1, 2, 3)},
    "rubric_against": rubric_against,
    "rubric_stopped": rubric_stopped,
    "rubric_refused": _with_items(6, "rubric_refused", lambda role, n, name: repeats(role, n, name) | {"model": None},
        "--benchmark", "--model", "openai/m@stable"),
    "rubric_labelled": rubric_labelled,
    "labels": labels,
    "score_a": score_a,
    "score_b": lambda: score_runs("score_b", (PREDICTIONS[1], {"item_id": "b", "predicted": "Lyon"}, PREDICTIONS[3])),
    "score_c": lambda: score_runs("score_c", ({"item_id": "a", "predicted": HOSTILE, "eval_time_ms": 3},
        *PREDICTIONS[2:], {"item_id": "e", "predicted": "nothing"})),
    "score_asked": score_asked,
    "score_dry": lambda: score_runs("score_dry", PREDICTIONS, dry_run=True),
    "judged_gaps": judged_gaps,
    "judgements_unknown": judgements_unknown,
}  # fmt: skip


def make(name: str) -> None:
    """The record in a folder of its own, where all paths are relative, then its journal and inputs into the golden."""
    with tempfile.TemporaryDirectory() as folder:
        with chdir(folder):
            MAKE[name]()
        for part in ("journal", "inputs"):
            shutil.copytree(Path(folder) / "runs" / name / part, RECORDS / name / part)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MAKE:
        if not (RECORDS / wanted).exists():
            make(wanted)
