"""What a source published, in the form that records are made of: items, answers, a judge's replies, people's labels."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from published_judges.judgement import Judgement

Grade = str | int
"""A grade by its name, or a whole number."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge and people say of an answer: one criterion of a rubric.

    `scale` is lowest first and even: its grades are worth from 0 to 1. `shown` are the fields of an item that the
    answer is held against, by the words that they stand under.
    """

    rubric: str
    about: str
    criterion: str
    words: str
    scale: Sequence[Grade]
    shown: Mapping[str, str]
    at_least: Grade | None = None

    def grade_of(self, share: float) -> Grade | None:
        """The grade that is worth this share of the scale; None where the scale has no such grade."""
        place = share * (len(self.scale) - 1)
        return self.scale[round(place)] if abs(place - round(place)) < 1e-9 else None

    def share_of(self, grade: Grade) -> float:
        return self.scale.index(grade) / (len(self.scale) - 1)


@dataclass(frozen=True, slots=True)
class PeoplesLabel:
    """What one person gave an answer; or, with `settles`, what settles where two people differ."""

    labeller: str
    grade: Grade
    settles: bool = False


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """Items, the answers of several models to them, and what several judges said by one question.

    `items` are by their ids, with an eval set's fields; `answers` by model and item; `labels` likewise, and empty where
    no person was asked.
    """

    key: str
    question: Question
    items: Mapping[str, Mapping[str, str]]
    answers: Mapping[str, Mapping[str, str]]
    judgements: Sequence[Judgement]
    labels: Mapping[str, Mapping[str, Sequence[PeoplesLabel]]]

    def cells(self) -> dict[tuple[str, str], dict[str, Judgement]]:
        """The judgements by judge and model, and therein by item: each is a record."""
        found: dict[tuple[str, str], dict[str, Judgement]] = defaultdict(dict)
        for one in self.judgements:
            found[one.judge, one.model][one.item] = one
        return dict(found)

    def grade(self, judgement: Judgement) -> Grade | None:
        """The grade that a record has of it: None for a reply that is not what was asked for, guessed or not."""
        if judgement.score is None or judgement.reading not in ("strict", "given"):
            return None
        return self.question.grade_of(judgement.score)

    def played(self, judgement: Judgement) -> str:
        """The reply in the rubric's form, the judge's own words as its rationale; or, without a grade, those words."""
        grade = self.grade(judgement)
        if grade is None:
            return judgement.reply
        return json.dumps({f"{self.question.criterion}_score": grade, "rationale": judgement.reply}, ensure_ascii=False)
