"""FaithBench's summaries, true to their source or not, by the five detectors that give a verdict.

Three others give a share of many decimals, and no scale has as many grades: of these there are no records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from published_judges.readers.faithbench import people_of, read, summaries
from published_judges.records.published import PeoplesLabel, PublishedSet, Question

NO_YES = ("no", "yes")
QUESTION = Question(
    rubric="published_faithful",
    about="Is the summary true to its source, as a published detector said?",
    criterion="faithful",
    words="Does the source bear out all that the summary says?",
    scale=NO_YES,
    at_least="yes",
    shown={"Source": "context"},
)


def sets(folder: Path) -> Iterator[PublishedSet]:
    items: dict[str, dict[str, str]] = {}
    answers: dict[str, dict[str, str]] = defaultdict(dict)
    labels: dict[str, dict[str, list[PeoplesLabel]]] = defaultdict(dict)
    for item, sample in summaries(folder):
        model = sample["metadata"]["summarizer"]
        items.setdefault(item, {"prompt": "Sum up the source.", "context": sample["source"]})
        answers[model][item] = sample["summary"]
        people = NO_YES[int(people_of(sample["annotations"]))]
        labels[model][item] = [PeoplesLabel("the worst mark of all annotators", people)]
    judgements = list(read(folder))
    shares = {one.judge for one in judgements if one.score not in (None, 0, 1)}
    yield PublishedSet(
        key="faithbench",
        question=QUESTION,
        items=items,
        answers=answers,
        judgements=[one for one in judgements if one.judge not in shares],
        labels=labels,
    )
