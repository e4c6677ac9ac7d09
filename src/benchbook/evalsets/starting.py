"""Starts a new eval set: a file with one valid item, and a note on what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from benchbook.errors import UsageError
from benchbook.writing import written_new

SetKind = Literal["answer_correctness", "rubric"]

# JSON has no comments: the note is a field of its own, which is skipped.
_EXAMPLES: dict[SetKind, dict[str, str]] = {
    "answer_correctness": {
        "id": "example-001",
        "prompt": "A shelf holds 3 rows of 12 jars. How many jars is that? Reply with the number only.",
        "expected_answer": "36",
        "section": "core",
        "category": "arithmetic",
        "difficulty": "easy",
        "note": "One item a line: put your own here, then run `benchbook evalset validate`. Say in the prompt which "
        "form the answer should have: the whole answer is compared. Add answer_format answer_prefix where the model "
        "is to end with a line such as Answer: 36.",
    },
    "rubric": {
        "id": "example-001",
        "prompt": "How long do I have to return a lamp?",
        "expected_answer": "30 days from delivery.",
        "context": "Returns. Unused items may be returned within 30 days of delivery.",
        "category": "answerable",
        "group": "returns",
        "note": "One item a line: put your own here, then run `benchbook evalset validate --as rubric`. "
        "expected_answer, context, category and group may be left out; items of one group count as one cluster.",
    },
}


def first_line(kind: SetKind = "answer_correctness") -> str:
    """A line, with its end, that holds one valid item and a note on what to do."""
    return json.dumps(_EXAMPLES[kind], ensure_ascii=False) + "\n"


def start_evalset(path: str | Path, kind: SetKind = "answer_correctness") -> Path:
    """Write a new file with `first_line` in it.

    Raises: UsageError if the file exists already, or can't be written.
    """
    path = Path(path)
    try:
        with written_new(path, refuse=UsageError) as file:
            file.write(first_line(kind).encode("utf-8"))
    except FileExistsError:
        raise UsageError(f"{path}: there is a file already; it was left as it is") from None
    return path
