"""TriviaQA's answers, right or wrong: a set a file, for each has labels of its own.

The source has no answers, but what was said of them. In their place the records say so: a sentence for each, so that
labels are of the answer that they were given to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from published_judges.readers.triviaqa import answered, read
from published_judges.records.published import PeoplesLabel, PublishedSet, Question

NO_YES = ("no", "yes")
QUESTION = Question(
    rubric="published_right",
    about="Is the answer, which is not published, right, as a published judge said?",
    criterion="right",
    words="Does the answer say the same as one of the references?",
    scale=NO_YES,
    at_least="yes",
    shown={"Question": "prompt", "References": "expected_answer"},
)


def sets(folder: Path) -> Iterator[PublishedSet]:
    judgements = list(read(folder))
    rows = list(answered(folder))
    for version in sorted({row.version for row in rows}):
        items: dict[str, dict[str, str]] = {}
        answers: dict[str, dict[str, str]] = defaultdict(dict)
        labels: dict[str, dict[str, list[PeoplesLabel]]] = defaultdict(dict)
        for row in rows:
            if row.version == version:
                items.setdefault(row.item, {"prompt": row.question, "expected_answer": row.references})
                answers[row.model][row.item] = f"[The answer of {row.model} is not published.]"
                labels[row.model][row.item] = [PeoplesLabel("the source's people", NO_YES[int(row.people)])]
        yield PublishedSet(
            key=f"triviaqa-{version.lower()}",
            question=QUESTION,
            items=items,
            answers=answers,
            judgements=[one for one in judgements if one.item in items],
            labels=labels,
        )
