"""The files that records are made from: a rubric's folder, items, answers, and scripts that play a judge's replies.

Nothing of a script is made up: a judge's tokens are not known, and its replies took no time here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from published_judges.judgement import Judgement
from published_judges.records.published import PublishedSet, Question

_MOST_WORDS = 100_000  # of a rationale, which is a judge's whole reply
_PROMPT = """This was not sent: the judge was asked by its publishers, in their words; its reply is played back here.
Item {{item.id}}

{{criteria}}

SHOWN
Answer: {{answer}}

{{reply}}
"""


def plain(name: str) -> str:
    """A name as a part of a file's name or of a run's id: small letters, digits, dots and dashes."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")


def write_rubric(question: Question, folder: Path) -> Path:
    """The rubric's folder, below `folder`."""
    home = folder / f"{question.rubric}@v1"
    home.mkdir(parents=True, exist_ok=True)
    passes = [] if question.at_least is None else [f"at_least = {json.dumps(question.at_least)}"]
    lines = [
        "# A published judge's replies. The study's reader puts a strict one into this rubric's form, its words as the",
        "# rationale; one from which a score could only be guessed stays as it is, and can't be read.",
        f'name = "{question.rubric}"',
        "version = 1",
        f"about = {json.dumps(question.about)}",
        "",
        "[[criteria]]",
        f'name = "{question.criterion}"',
        f"question = {json.dumps(question.words)}",
        f"scale = {json.dumps(list(question.scale))}",
        *passes,
        "",
        "[reply]",
        f"max_rationale_words = {_MOST_WORDS}",
        "",
        "[[gates]]  # a rubric has one; nobody published any",
        'aggregate = "aggregate_score"',
        "at_least = 0.5",
        "",
    ]
    (home / "spec.toml").write_text("\n".join(lines), encoding="utf-8")
    shown = "\n".join(f"{words}: {{{{item.{field}}}}}" for words, field in question.shown.items())
    (home / "prompt.txt").write_text(_PROMPT.replace("SHOWN", shown), encoding="utf-8")
    return home


def write_items(items: Mapping[str, Mapping[str, str]], path: Path) -> Path:
    return _json_lines(path, ({"id": item, **fields} for item, fields in items.items()))


def write_answers(answers: Mapping[str, str], path: Path) -> Path:
    return _json_lines(path, ({"item_id": item, "output": text} for item, text in answers.items()))


def write_script(published: PublishedSet, judgements: Mapping[str, Judgement], path: Path) -> Path:
    """A script that gives the judge's reply to each item, which the prompt names on a line of its own."""
    replies = [
        {
            "contains": f"Item {item}\n",
            "text": published.played(one),
            "latency_ms": 0,
            "input_tokens": None,
            "output_tokens": None,
        }
        for item, one in judgements.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"replies": replies}, ensure_ascii=False), encoding="utf-8")
    return path


def _json_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    path.write_text(text, encoding="utf-8", newline="")
    return path
