"""The answers of CJE's arena sample, graded in hundredths. What a stronger model gave them is no label of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from published_judges.readers.cje import draws, read
from published_judges.records.published import PublishedSet, Question

QUESTION = Question(
    rubric="published_grade",
    about="An answer's grade in hundredths, as a published judge gave it.",
    criterion="grade",
    words="How good is the answer?",
    scale=range(101),
    shown={"Prompt": "prompt"},
)


def sets(folder: Path) -> Iterator[PublishedSet]:
    items: dict[str, dict[str, str]] = {}
    answers: dict[str, dict[str, str]] = defaultdict(dict)
    for policy, draw in draws(folder):
        items.setdefault(draw["prompt_id"], {"prompt": draw["prompt"]})
        answers[policy][draw["prompt_id"]] = draw["response"]
    yield PublishedSet("cje", QUESTION, items, answers, list(read(folder)), labels={})
