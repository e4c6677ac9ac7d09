"""Mistakes that people make, each made for real: the table of docs/reference/mistakes.md, and what a test holds it to.

python tests/mistakes.py      writes the page
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from running import benchbook_here

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "mistakes.md"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A command with a mistake, in a folder that `make_folder` made; `files` are those that it needs beside."""

    what: str
    command: str
    right: str
    files: dict[str, str] = field(default_factory=dict)
    shows: str | None = None  # a file of these, in the table
    code: int = 2
    line: str | None = None  # how the line begins that says it, in the output of a command that ends with 0


_HALF = """evalset = "items.jsonl"
model = "openai/m@1"
model_base_url = "http://localhost:8000/v1"
judge = "openai/j@1"
"""
_ASKS_NOBODY = """evalset = "items.jsonl"
model = "scripted/m@1"
model_path = "script.json"
judge = "scripted/j@1"
judge_path = "script.json"
"""
CONFIGS = {"run.toml": _ASKS_NOBODY, "server.toml": f'{_HALF}judge_base_url = "http://localhost:8000/v1"\n'}

COMMANDS_AND_CONFIGS = (
    Mistake("A mistyped command", "rnu run.toml", "`benchbook run run.toml`"),
    Mistake("A mistyped option", "run --evalste items.jsonl", "`--evalset`; `benchbook run --help` has all"),
    Mistake(
        "A mistyped setting, `repeat = 3`",
        "run typo.toml",
        "`repeats = 3`",
        {"typo.toml": f"{_ASKS_NOBODY}repeat = 3\n"},
    ),
    Mistake(
        "A config without most of what it needs",
        "run empty.toml",
        "`benchbook init` asks for it",
        {"empty.toml": "repeats = 3\n"},
    ),
    Mistake(
        "A text without quotes",
        "run bare.toml",
        '`model = "openai/m@1"`',
        {"bare.toml": "model = openai/m@1\n"},
        "bare.toml",
    ),
    Mistake("A config that is elsewhere", "run run.tml", "the path of the config"),
    Mistake(
        "A config of another command",
        "run judging.toml",
        "`benchbook judge run judging.toml`",
        {"judging.toml": 'set = "outputs"\nspec = "judge_protocol@v1"\n'},
    ),
)

MODELS_AND_KEYS = (
    Mistake("A model without its provider", "run server.toml --model gpt-4.1", "`--model openai/gpt-4.1@2025-04-14`"),
    Mistake(
        "A model without a version, on a server of your own",
        "run server.toml --model openai/m --dry-run",
        "`--model openai/m@1`, with whatever version you know it by",
        code=0,
        line="  ! model: ",
    ),
    Mistake(
        "An address without /v1",
        "run server.toml --model-base-url http://localhost:8000 --dry-run",
        "`http://localhost:8000/v1`",
        code=0,
        line="  ! model_",
    ),
    Mistake("An address without http", "run server.toml --model-base-url localhost:8000", "`http://localhost:8000/v1`"),
    Mistake(
        "An address for the model alone",
        "run half.toml",
        "`judge_base_url` too, or OpenAI's key in `OPENAI_API_KEY`",
        {"half.toml": _HALF},
        "half.toml",
    ),
    Mistake(
        "A key's variable that is not set", "run server.toml --model-api-key-env MY_KEY", "`export MY_KEY=…` before it"
    ),
    Mistake(
        "The key itself, for its variable's name",
        "run server.toml --model-api-key-env sk-0123456789abcdef",
        "`export MY_KEY=sk-…`, and `--model-api-key-env MY_KEY`",
    ),
    Mistake("A local model without its file", "run server.toml --model local/llama", "`--model-path llama.gguf`"),
    Mistake(
        "Two judges of one name",
        "run run.toml --judge scripted/j@1 --judge scripted/j@2",
        "a `name` for each, in `[[judges]]` of a config",
    ),
    Mistake(
        "A rule that no panel has",
        "run run.toml --judge scripted/j@1 --judge scripted/k@1 --panel-rule median",
        "`--panel-rule majority`",
    ),
    Mistake("A rule for one judge", "run run.toml --panel-rule mean", "a second `--judge`, or no rule"),
)

NUMBERS = (
    Mistake("A price with a comma", "run run.toml --model-input-price 0,40", "`--model-input-price 0.40`"),
    Mistake(
        "A limit on cost without prices",
        "run run.toml --max-cost-usd 5",
        "`--model-output-price` and its kin beside it",
    ),
    Mistake("Per cent for a confidence", "run run.toml --confidence 95", "`--confidence 0.95`"),
    Mistake("Per cent for a rate", "plan --baseline 70 --detect 5", "`plan --baseline 0.7 --detect 0.05`"),
    Mistake("No item at all", "run run.toml --limit 0", "`--limit 1`, or no limit"),
    Mistake("A filter without a value", "run run.toml --where section", "`--where section=core`"),
    Mistake("A filter by a column that no item has", "run run.toml --where sektion=core", "`--where section=core`"),
    Mistake(
        "Ids that no item has", "run run.toml --ids ids.txt", "ids of the set, one a line", {"ids.txt": "i0\ni7\n"}
    ),
)

FILES = (
    Mistake("A set that is elsewhere", "run run.toml --evalset item.jsonl", "the path of the set"),
    Mistake("A set that is not shipped", "run run.toml --evalset @suport_v1", "`@support_v1`"),
    Mistake("A folder for a file", "run run.toml --evalset folder", "`folder/items.jsonl`"),
    Mistake(
        "JSON for JSON lines",
        "run run.toml --evalset list.jsonl",
        "an object a line, without brackets or commas",
        {"list.jsonl": '[\n  {"id": "a", "prompt": "P?"}\n]\n'},
    ),
    Mistake(
        "CSV that is called JSON lines",
        "run run.toml --evalset csv.jsonl",
        "`csv.csv`",
        {"csv.jsonl": "id,prompt\na,P?\n"},
    ),
    Mistake(
        "A column of another name",
        "run run.toml --evalset wrong.csv",
        "a column `prompt`",
        {"wrong.csv": "id,text\na,P?\n"},
        "wrong.csv",
    ),
    Mistake(
        "One id twice",
        "run run.toml --evalset twice.csv",
        "an id of its own for each item",
        {"twice.csv": "id,prompt\na,P?\na,Q?\n"},
        "twice.csv",
    ),
    Mistake(
        "No expected answers",
        "score --evalset wrong.csv --predictions said.csv",
        "a column `expected_answer`",
        {"wrong.csv": "id,prompt\ni0,P?\n", "said.csv": "item_id,predicted\ni0,1\n"},
        "wrong.csv",
    ),
    Mistake(
        "Answers in a column of another name",
        "score --evalset items.jsonl --predictions said.csv",
        "`--columns item_id=id,predicted=reply`",
        {"said.csv": "id,reply\ni0,1\n"},
        "said.csv",
    ),
    Mistake(
        "A template without the prompt",
        "run run.toml --prompt-template p.txt",
        "`{{prompt}}` where it belongs",
        {"p.txt": "Answer in one word.\n"},
        "p.txt",
    ),
    Mistake(
        "A template with a name that no item has",
        "run run.toml --prompt-template p.txt",
        "`{{context}}`",
        {"p.txt": "{{prompt}} {{kontext}}\n"},
        "p.txt",
    ),
    Mistake("An evaluator that there is not", "run run.toml --spec rubric@1", "`--spec rubric@v1`"),
    Mistake("A folder that is no evaluator", "run run.toml --spec folder/", "`benchbook rubric init NAME` makes one"),
)

RECORDS = (
    Mistake("A run id that is taken", "run run.toml --run-id base", "another `--run-id`, or `--resume base`"),
    Mistake("A mistyped run", "show bas", "`benchbook show base`"),
    Mistake("To go on with a run that is not there", "run --resume yesterday", "a run of `benchbook runs`"),
    Mistake("A gate on a dry run", "run run.toml --dry-run --gate", "one of them"),
    Mistake("A gate on a scoring without one", "gate scored", "`benchbook gate scored --min-score 0.9`"),
    Mistake("One run to compare", "compare base", "`benchbook compare base other`"),
    Mistake(
        "Runs that have nothing in common",
        "compare scored elsewhere",
        "two runs on one set",
        code=0,
        line="Nothing can be said",
    ),
    Mistake("A file that is no log", "import items.jsonl", "a log of a tool that `benchbook import --help` names"),
    Mistake(
        "A label that is no score",
        "label import labels sheet.csv --labeller me",
        "0, 1 or 2",
        {"sheet.csv": "sample,accuracy_score,faithfulness_score\n0,5,2\n"},
        "sheet.csv",
    ),
    Mistake("A port that is taken", "serve --port {port}", "another port, or `--port 0` for any that is free"),
)

SECTIONS = {
    "Commands and configs": COMMANDS_AND_CONFIGS,
    "Models, addresses, keys": MODELS_AND_KEYS,
    "Numbers and filters": NUMBERS,
    "Files": FILES,
    "Records": RECORDS,
}
MISTAKES = tuple(one for section in SECTIONS.values() for one in section)
_ENV = {"OPENAI_API_KEY": "", "MY_KEY": "", "COLUMNS": "200"}
_SCRIPT = {
    "replies": [
        {"contains": "accuracy_score", "text": '{"accuracy_score": 2, "faithfulness_score": 2, "rationale": "Yes."}'},
        {"text": "1"},
    ]
}


def make_folder(folder: Path) -> None:
    """A set of three items, a script of answers, and runs under a rubric, and of two scorings on two sets."""
    items = [
        {"id": f"i{n}", "prompt": f"What is {n} + 1?", "expected_answer": str(n + 1), "section": "core"}
        for n in range(3)
    ]
    others = [{"id": f"o{n}", "prompt": f"What is {n} + 2?", "expected_answer": str(n + 2)} for n in range(3)]
    for name, rows in (("items", items), ("others", others)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        said = "".join(f"{row['id']},1\n" for row in rows)
        (folder / f"{name}.csv").write_text(f"item_id,predicted\n{said}", encoding="utf-8")
    for name, text in CONFIGS.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    (folder / "script.json").write_text(json.dumps(_SCRIPT), encoding="utf-8")
    (folder / "folder").mkdir()
    for words in (
        "run run.toml --run-id base --quiet",
        "score --evalset items.jsonl --predictions items.csv --run-id scored --quiet",
        "score --evalset others.jsonl --predictions others.csv --run-id elsewhere --quiet",
        "label sample base --n 3",
    ):
        done = benchbook_here(*words.split(), cwd=folder, env=_ENV)
        assert done.returncode == 0, done.stderr


def said_of(mistake: Mistake, folder: Path) -> list[str]:
    """The words of the command, by line: its error, without how it is used; of one that ends well, its warning."""
    for name, text in mistake.files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = benchbook_here(*mistake.command.format(port=port).split(), cwd=folder, env=_ENV)
    assert done.returncode == mistake.code, (mistake.command, done.returncode, done.stderr, done.stdout)
    if mistake.line is not None:
        return [line.strip() for line in done.stdout.decode().splitlines() if line.startswith(mistake.line)]
    lines = [line for line in done.stderr.decode().replace(port, "8400").splitlines() if line]
    return [line for line in lines if not line.startswith(("Usage: ", "Try "))]


def page(folder: Path) -> Iterator[str]:
    """The page, line by line."""
    yield from ("# Mistakes, and what is said of them", "")
    yield "Each of these was made, and what Benchbook said stands here word for word: a test makes them again, and"
    yield "holds the page to it (`python tests/mistakes.py` writes it). They end with exit code 2, but for `compare`"
    yield "and those with `--dry-run`, which are warned of. More: [troubleshooting](../how-to/troubleshoot.md)."
    yield ""
    yield "`items.jsonl` has three items; `base`, `scored` and `elsewhere` are runs in `runs/`. `run.toml` asks nobody:"
    yield "a model `scripted/…` answers from a file. `server.toml` has both models at `http://localhost:8000/v1`."
    for title, section in SECTIONS.items():
        yield from ("", f"## {title}", "", "| the mistake | what is said | what is right |", "| --- | --- | --- |")
        for mistake in section:
            shown = "" if mistake.shows is None else f"<br>`{mistake.shows}`: {_code(mistake.files[mistake.shows])}"
            command = f"<br>`benchbook {mistake.command.format(port=8400)}`"
            said = "<br>".join(_code(line.strip()) for line in said_of(mistake, folder))
            yield f"| {mistake.what}{command}{shown} | {said} | {mistake.right} |"


def _code(text: str) -> str:
    """A text as code in a cell of a table, its line ends as `⏎`."""
    text = text.rstrip("\n").replace("\n", " ⏎ ").replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        here = Path(made)
        make_folder(here)
        PAGE.write_text("\n".join(page(here)) + "\n", encoding="utf-8", newline="\n")
        os.write(1, f"{PAGE.name}: written\n".encode())
