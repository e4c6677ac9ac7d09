"""DAMO-NLP-SG/LLM_summeval: a hundred articles, summed up by twelve models, graded by experts and by five judges.

A judge here is a model, a way of asking it and a side of the answer: the same model asked in another way gives other
grades. `rts` and `altrts` ask for a reason and a score, `mcq` and `altmcq` for a letter, `stareval` for stars; `h2h`
for the better of two summaries, in both orders. The replies are raw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from published_judges.judgement import Judgement, Reading
from published_judges.readers.files import json_lines
from published_judges.readers.replies import grade_at_the_end, letter, stars

SIDES = ("coherence", "consistency", "fluency", "relevance")
WAYS = ("rts", "altrts", "mcq", "altmcq", "stareval")
_PAIR = re.compile(r"(M\d+)-(M\d+)_([a-z]+)(_toggle)?")
_PREFERENCES = {"A": 1.0, "B": 0.0, "C": 0.5}

People = Mapping[tuple[str, str, str], float]
"""The experts' mean grade, 1 to 5, of a model's summary of an article, on a side."""


def read(folder: Path) -> Iterator[Judgement]:
    people = _people(folder)
    for path in sorted(folder.glob("eval_model_generations/*/eval_M*_generations/*.txt")):
        side, _, way = path.stem.partition("_")
        if side in SIDES and way in WAYS:  # others are what its authors tried before
            yield from _graded(path, side, way, people)
    for path in sorted(folder.glob("comp_res/*/*.result")):
        yield from _compared(path, people)


def _people(folder: Path) -> People:
    found = {}
    for line in annotated(folder):
        for side in SIDES:
            grades = [float(one[side]) for one in line["expert_annotations"]]
            found[line["model_id"], line["id"], side] = sum(grades) / len(grades)
    return found


def annotated(folder: Path) -> Iterator[Mapping[str, Any]]:
    """The summaries, each with its article and what the experts gave it."""
    for path in sorted(folder.glob("model_output_annotations/*.jsonl")):
        yield from json_lines(path)


def _graded(path: Path, side: str, way: str, people: People) -> Iterator[Judgement]:
    model = path.parent.name.removeprefix("eval_").removesuffix("_generations")
    seen = set()
    for line in json_lines(path):
        if line["id"] in seen:  # asked again, and added to the file
            continue
        seen.add(line["id"])
        grade, reading = _grade(line["resp"], way)
        expert = people.get((model, line["id"], side))
        yield Judgement(
            source="summeval",
            judge=f"{path.parent.parent.name} {way} {side}",
            model=model,
            item=line["id"],
            score=None if grade is None else (grade - 1) / 4,
            people=None if expert is None else (expert - 1) / 4,
            reading=reading,
            reply=line["resp"],
        )


def _grade(reply: str, way: str) -> tuple[float | None, Reading]:
    if way == "stareval":
        return stars(reply)
    if way.endswith("rts"):
        return grade_at_the_end(reply)
    said, reading = letter(reply, "ABCDE")
    return (None if said is None else "ABCDE".index(said) + 1.0), reading


def _compared(path: Path, people: People) -> Iterator[Judgement]:
    named = _PAIR.fullmatch(path.stem)
    if named is None:
        return
    first, second, side, swapped = named[1], named[2], named[3], named[4] is not None
    for line in json_lines(path):
        said, reading = letter(line["resp"], "ABC")
        score = None if said is None else _PREFERENCES[said]
        of_first, of_second = (people.get((model, line["id"], side)) for model in (first, second))
        difference = None if of_first is None or of_second is None else of_first - of_second
        yield Judgement(
            source="summeval",
            judge=f"{path.parent.name} h2h {side}",
            model=first,
            against=second,
            item=line["id"],
            score=1 - score if score is not None and swapped else score,
            people=None if difference is None else 0.5 + difference / 8,
            reading=reading,
            swapped=swapped,
            reply=line["resp"],
        )


def experts_differ(folder: Path) -> tuple[list[bool], list[str]]:
    """Of each summary and side whether the first two experts gave it other grades, and the article that it is of."""
    two = [(line, side, line["expert_annotations"][:2]) for line in annotated(folder) for side in SIDES]
    return [first[side] != second[side] for _, side, (first, second) in two], [line["id"] for line, _, _ in two]
