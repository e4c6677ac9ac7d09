"""Four new users, each from an empty folder: what they type, in the order of the manual, and what they should see.

`play(python, folder)` plays them with the `benchbook` that is installed beside `python`. As a program:
`four_users.py PYTHON FOLDER` prints a table, and ends with 1 where a command failed.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

from newcomers.desk import Desk
from newcomers.endpoint import JUDGE, MODEL, serving

N_ITEMS = 80  # of which all right is enough for READY


def _questions() -> list[dict[str, str]]:
    """A shop's questions, as a spreadsheet has them."""
    return [
        {
            "id": f"q{number:03}",
            "question": f"How much is article {number:03}?",
            "answer": f"It is {number + 5} euros.",
            "context": f"Price list. Article {number:03}: {number + 5} euros.",
        }
        for number in range(1, N_ITEMS + 1)
    ]


def _csv(rows: list[dict[str, str]]) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def engineer(desk: Desk) -> None:
    """An engineer with an endpoint and a CSV: is this model ready, and is the shorter prompt as good?"""
    rows = _questions()
    desk.write("questions.csv", _csv(rows))
    with serving({row["question"]: row["answer"] for row in rows}) as url:
        desk.benchbook("--help", says="run")
        desk.benchbook("doctor", says="openai")
        desk.benchbook("evalset", "validate", "--as", "rubric", "questions.csv", says="did you mean expected_answer")
        desk.write("questions.csv", _csv(rows).replace("answer", "expected_answer", 1))  # the heading
        both = ["--model", f"openai/{MODEL}@2026-11", "--judge", f"openai/{JUDGE}@2026-11"]
        where = ["--model-base-url", url, "--judge-base-url", url]
        asked = ["run", "--evalset", "questions.csv", *both, *where]
        desk.benchbook(*asked, "--dry-run", says="Nothing was asked")
        desk.benchbook("doctor", "--evalset", "questions.csv", *both, *where, says="answers in")
        desk.benchbook(*asked, "--run-id", "plain", says="READY", decides=True)
        desk.write("brief.txt", "Be brief. {{prompt}}\n")
        desk.benchbook(*asked, "--prompt-template", "brief.txt", "--run-id", "brief", says="brief")
        desk.benchbook("compare", "plain", "brief", says="q004")
        desk.benchbook("show", "brief", "--failed", says="q004")
        desk.benchbook("show", "brief", "--sample", "q004", says="I do not know.")
        desk.benchbook("runs", says="plain")
        desk.benchbook("verify", "plain", says="verified")
        desk.benchbook("gate", "plain")
        desk.benchbook("gate", "brief", ends=1)


def researcher(desk: Desk) -> None:
    """A researcher with checkpoints: their predictions, their training logs, and which of them is better."""
    items = [
        {"id": f"sum-{n}", "prompt": f"{n} + {n + 3} =", "expected_answer": str(2 * n + 3), "section": "core"}
        for n in range(60)
    ]
    desk.write("sums.jsonl", _jsonl(items))
    desk.benchbook("evalset", "validate", "--as", "score", "sums.jsonl")
    for step, wrong_every in ((100, 2), (200, 4), (300, 20)):
        said = [
            {"id": item["id"], "prediction": "0" if n % wrong_every == 1 else str(item["expected_answer"])}
            for n, item in enumerate(items)
        ]
        desk.write(f"step-{step}.jsonl", _jsonl(said))
        losses = [{"step": at, "loss": round(3 - at / 150, 3)} for at in range(50, step + 1, 50)]
        desk.write(f"losses-{step}.jsonl", _jsonl(losses))
        desk.benchbook(
            "score", "--evalset", "sums.jsonl", "--predictions", f"step-{step}.jsonl", "--training-metrics",
            f"losses-{step}.jsonl", "--model", f"local/mine@step-{step}", "--run-id", f"step-{step}",
            says="items correct", decides=True,
        )  # fmt: skip
    desk.benchbook("compare", "step-100", "step-200", "step-300", says="step-300")
    desk.benchbook("leaderboard", says="step-300")
    desk.benchbook("compare", "step-100", "step-300", "--html", "compared.html")
    desk.benchbook("baseline", "set", "step-200")
    desk.benchbook("gate", "step-300")
    desk.benchbook("gate", "step-100", ends=1, says="step-200")
    desk.benchbook("verify", "step-300", says="verified")


def team(desk: Desk) -> None:
    """A team with finished outputs and people's labels: what is the judge worth, and what do its numbers become?"""
    rows = _questions()
    desk.write("questions.csv", _csv(rows).replace("answer", "reference", 1))
    outputs = [
        {"id": row["id"], "output": row["answer"] if n % 8 else "No idea.", "latency_ms": "900", "input_tokens": "40",
         "output_tokens": "8"}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    desk.write("outputs.csv", _csv(outputs))
    with serving({row["question"]: row["answer"] for row in rows}) as url:
        desk.benchbook(
            "run", "--evalset", "questions.csv", "--model", "recorded/assistant@2026-11", "--outputs", "outputs.csv",
            "--judge", f"openai/{JUDGE}@2026-11", "--judge-base-url", url, "--run-id", "assistant",
            says="INCONCLUSIVE", decides=True,
        )  # fmt: skip
    desk.benchbook("label", "sample", "assistant", "--n", "40", "--out", "labels", says="40 of")
    sheet = desk.benchbook("label", "export", "labels", says="sample")
    for person in ("ann", "bob"):
        desk.write(f"{person}.csv", _filled(sheet, mild=person == "bob"))
        desk.benchbook("label", "import", "labels", f"{person}.csv", "--labeller", person, says="80 labels recorded")
    desk.benchbook("calibrate", "assistant", "--labels", "labels", "--html", "card.html", says="40 labelled")
    desk.benchbook("show", "assistant", says="Pass rate")
    desk.benchbook("export", "assistant", "--to", "csv", "--out", "assistant.csv")
    desk.benchbook("verify", "labels", says="verified")
    desk.benchbook("runs", says="assistant")


def _filled(sheet: str, *, mild: bool) -> str:
    """The sheet, filled in: an answer that names a price is right. Whoever is mild forgives one that does not, once."""
    rows = list(csv.DictReader(io.StringIO(sheet)))
    forgiven = not mild
    for row in rows:
        is_right = "euros" in row["output"] if "output" in row else "euros" in row["answer"]
        row["accuracy_score"] = "2" if is_right else "0" if forgiven else "1"
        row["faithfulness_score"] = "2"
        forgiven = forgiven or not is_right
    return _csv(rows)


# What the notebook user types, cell by cell: in Jupyter a loop is running already, as it is here.
_NOTEBOOK = """\
import asyncio
import json

import benchbook as bb

ANSWERS = {f"What is {n} + {n}?": str(2 * n) for n in range(70)}


def model(prompt):
    return next(answer for question, answer in ANSWERS.items() if question in prompt)


def judge(prompt):
    return json.dumps({"accuracy_score": 2, "faithfulness_score": 2, "rationale": "The same number."})


async def cells():
    rows = [{"id": f"n{n}", "prompt": one, "expected_answer": a} for n, (one, a) in enumerate(ANSWERS.items())]
    run = bb.run(evalset=rows, model=model, judge=judge, unmeasured=["tokens"], run_id="mine")
    assert run.decision.decision == "INCONCLUSIVE", run  # never better where tokens were not measured
    print(run)
    assert "<" in run._repr_html_()
    assert run.samples.height == 70
    assert bb.load("mine").verify().holds
    other = bb.run(evalset=rows, model=lambda prompt: "7", judge=judge, unmeasured=["tokens"], run_id="other")
    print(bb.compare("mine", "other"))
    assert {"run", "score", "judge", "label", "calibrate", "leaderboard", "audit", "load", "compare"} <= set(dir(bb))
    again = await bb.run_async(evalset=rows, model=model, judge=judge, unmeasured=["tokens"], run_id="again")
    assert again.decision.decision == run.decision.decision


asyncio.run(cells())
"""


def notebook_user(desk: Desk) -> None:
    """Somebody in a notebook: rows and functions of their own, a loop that is running already, no file."""
    desk.write("cells.py", _NOTEBOOK)
    desk.program("cells.py", decides=True)
    desk.benchbook("runs", says="mine")
    desk.benchbook("show", "mine")
    desk.benchbook("verify", "again", says="verified")


USERS: dict[str, Callable[[Desk], None]] = {
    "endpoint and CSV": engineer,
    "checkpoints": researcher,
    "finished outputs and labels": team,
    "notebook": notebook_user,
}


def play(python: Path, folder: Path) -> list[Desk]:
    """Play all four, each in a folder of its own below `folder`, which is empty."""
    desks = []
    for name, user in USERS.items():
        place = folder / name.replace(" ", "-")
        place.mkdir(parents=True)
        desks.append(Desk(name, place, python))
        user(desks[-1])
    return desks


def table(desks: list[Desk]) -> str:
    """The count of commands and failures, and when the first decision was there, as Markdown."""
    lines = ["| user | commands | failed | first decision after |", "| --- | --- | --- | --- |"]
    for desk in desks:
        decided = "never" if desk.first_decision_s is None else f"{desk.first_decision_s:.0f} s"
        lines.append(f"| {desk.user} | {len(desk.commands)} | {len(desk.failures)} | {decided} |")
    return "\n".join(lines)


if __name__ == "__main__":
    played = play(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
    sys.stdout.write("\n".join([table(played), *(failure for one in played for failure in one.failures), ""]))
    sys.exit(any(one.failures for one in played))
