"""A first line to write an eval set from: `evalset new`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from benchbook.errors import UsageError

__all__ = ["SetKind", "first_line", "start_evalset"]


SetKind = Literal["answer_correctness", "rubric"]

# JSON has no comments: the note is a field of its own, which is passed over.
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
    """One item that keeps the rules, with a note on what to do; a line with its end."""
    return json.dumps(_EXAMPLES[kind], ensure_ascii=False) + "\n"


def start_evalset(path: str | Path, kind: SetKind = "answer_correctness") -> Path:
    """Write a new file with `first_line` in it.

    Raises: UsageError where there is a file already, or none can be written.
    """
    path = Path(path)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(first_line(kind))
    except FileExistsError:
        raise UsageError(f"{path}: there is a file already; it was left as it is") from None
    except OSError as error:
        raise UsageError(f"{path}: can't be written ({error.strerror or error})") from None
    return path
