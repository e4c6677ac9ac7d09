"""SummEval's summaries, graded 1 to 5: a set for each side of a summary, since people graded each by itself.

A set's labels are what two experts gave, and where these differ the median of all three settles it: so what stands is
the median of the three, for every answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from published_judges.readers.summeval import SIDES, annotated, read
from published_judges.records.published import PeoplesLabel, PublishedSet, Question

GRADES = ("1", "1 and a half", "2", "2 and a half", "3", "3 and a half", "4", "4 and a half", "5")
WORDS = {
    "coherence": "Do the sentences of the summary make one text?",
    "consistency": "Does the summary say only what the article says?",
    "fluency": "Is each sentence of the summary well formed?",
    "relevance": "Does the summary have what matters in the article, and nothing else?",
}


def sets(folder: Path) -> Iterator[PublishedSet]:
    judgements = [one for one in read(folder) if one.against is None]
    items: dict[str, dict[str, str]] = {}
    answers: dict[str, dict[str, str]] = defaultdict(dict)
    summaries = list(annotated(folder))
    for one in summaries:
        items.setdefault(one["id"], {"prompt": "Sum up the article.", "context": one["text"]})
        answers[one["model_id"]][one["id"]] = one["decoded"]
    for side in SIDES:
        labels: dict[str, dict[str, list[PeoplesLabel]]] = defaultdict(dict)
        for one in summaries:
            labels[one["model_id"]][one["id"]] = _labels([grades[side] for grades in one["expert_annotations"]])
        of_side = [one for one in judgements if one.judge.endswith(f" {side}")]
        yield PublishedSet(f"summeval-{side}", _question(side), items, answers, of_side, labels)


def _question(side: str) -> Question:
    return Question(
        rubric=f"published_{side}",
        about=f"The {side} of a summary, from 1 to 5, as a published judge graded it.",
        criterion=side,
        words=WORDS[side],
        scale=GRADES,
        shown={"Article": "context"},
    )


def _labels(grades: list[int]) -> list[PeoplesLabel]:
    given = [PeoplesLabel(f"expert {place}", str(grade)) for place, grade in enumerate(grades[:2], start=1)]
    if len(set(grades[:2])) > 1:
        settled = GRADES[round(2 * median(grades)) - 2]
        given.append(PeoplesLabel("the median of the experts", settled, settles=True))
    return given
