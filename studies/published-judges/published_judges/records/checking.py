"""Records held against the study: each mean, and differences of two models, as judged and as people would judge."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import benchbook as bb
from published_judges.correction import Interval, corrected_difference
from published_judges.judgement import Judgement
from published_judges.pairs import ModelPair, Sign, pairs_of
from published_judges.records.making import MadeRecord, MadeSet, labelled, standing
from published_judges.records.published import PublishedSet

Json = dict[str, Any]

FEW_LABELS = 25
SEED = 20_261_130
LAST_DECIMAL = 1e-8  # a record keeps nine decimals
_SIGNS: Mapping[str, Sign] = {"better": 1, "worse": -1}


def checked(made: MadeSet) -> Json:
    """What there is of a set, and how much of it is as it should be.

    `as_in_the_study`: records whose mean is that of the same replies in the study. `moved`: those of which
    the study's tables have another mean, since they take guessed scores, too.
    """
    runs = made.records
    return {
        "records": len(runs),
        "samples": sum(one.run.aggregates.aggregates.n_samples for one in runs),
        "no_score": sum(one.run.aggregates.aggregates.n_unscored for one in runs),
        "label_folders": len(made.labels),
        "labels": sum(sum(one.progress.by_labeller.values()) for one in made.labels.values()),
        "not_labelled": sum(len(made.published.answers[name]) - len(one.sheet) for name, one in made.labels.items()),
        "verified": sum(one.run.verify().holds for one in runs),
        "labels_verified": sum(bb.verify(one.path).holds for one in made.labels.values()),
        "as_in_the_study": sum(_is_as_in_the_study(made.published, one) for one in runs),
        "moved": sum(_is_moved_by_guesses(one) for one in runs),
    }


def _is_as_in_the_study(published: PublishedSet, one: MadeRecord) -> bool:
    found = one.run.aggregates.aggregates
    shares = _shares(published, one.judgements.values())
    return found.n_scored == len(shares) and _is_mean(found.aggregate_score, shares)


def _is_moved_by_guesses(one: MadeRecord) -> bool:
    shares = [judgement.score for judgement in one.judgements.values() if judgement.score is not None]
    return not _is_mean(one.run.aggregates.aggregates.aggregate_score, shares)


def _shares(published: PublishedSet, judgements: Iterable[Judgement]) -> list[float]:
    return [one.score or 0.0 for one in judgements if published.grade(one) is not None]


def _is_mean(found: float | None, shares: Sequence[float]) -> bool:
    return found is None if not shares else found is not None and abs(found - float(np.mean(shares))) < LAST_DECIMAL


# ── two models ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class HeldPair:
    """Two models under one judge: the signs of b - a, the study's first and then the records'.

    `by_means` is the study's look with people's mean grades, in place of the labels that stand.
    """

    judge: str
    a: str
    b: str
    mean_is_equal: bool
    judged: tuple[Sign, Sign]
    all_labels: tuple[Sign, Sign]
    few_labels: tuple[Sign, Sign]
    few_apart: float  # of the two corrected differences
    by_means: Sign

    @property
    def is_the_same(self) -> bool:
        pairs = (self.judged, self.all_labels, self.few_labels)
        return self.mean_is_equal and all(study == records for study, records in pairs)


def held_pairs(made: MadeSet) -> list[HeldPair]:
    """One pair of models of each judge, drawn by chance from those in which the judge scored enough answers of both."""
    if not made.labels:
        return []
    rng = np.random.default_rng(SEED)
    by_judge: dict[str, list[MadeRecord]] = {}
    for one in made.records:
        by_judge.setdefault(one.judge, []).append(one)
    found = []
    for records in by_judge.values():
        ordered = sorted(records, key=lambda one: one.model)
        pairs = [_Pair(made, a, b) for a, b in combinations(ordered, 2)]
        roomy = [pair for pair in pairs if len(pair.items) >= 2 * FEW_LABELS]
        if roomy:
            found.append(roomy[int(rng.integers(len(roomy)))].held(rng))
    return found


@dataclass(frozen=True, slots=True)
class _Pair:
    made: MadeSet
    a: MadeRecord
    b: MadeRecord

    @property
    def items(self) -> list[str]:
        """The items whose both answers have a grade, and labels; in the study's order."""
        of_a, of_b = (
            {item for item, one in record.judgements.items() if self.made.published.grade(one) is not None}
            for record in (self.a, self.b)
        )
        return sorted(of_a & of_b & self._labelled(self.a) & self._labelled(self.b))

    def _labelled(self, record: MadeRecord) -> set[str]:
        return set(self.made.labels[record.model].sheet["item_id"])

    def held(self, rng: np.random.Generator) -> HeldPair:
        study = self._in_the_study(by_labels=True)
        drawn = np.zeros(len(self.items), bool)
        drawn[rng.permutation(drawn.size)[:FEW_LABELS]] = True
        few = corrected_difference(study.by_people[drawn], study.by_judge[drawn], study.by_judge[~drawn])
        by_all = bb.compare(self.a.run, self.b.run, labels=[self.made.labels[one.model] for one in (self.a, self.b)])
        by_few = self._by_labels_of({item for item, is_drawn in zip(self.items, drawn, strict=True) if is_drawn})
        return HeldPair(
            judge=self.a.judge,
            a=self.a.model,
            b=self.b.model,
            mean_is_equal=abs((by_all.score.difference or 0.0) - study.told.mean) < LAST_DECIMAL,
            judged=(study.win, _sign(by_all.score)),
            all_labels=(study.known, _sign(by_all.as_people_would_judge[0])),
            few_labels=(Interval(few.estimate or 0.0, few.low, few.high).decides, _sign(by_few)),
            few_apart=abs((by_few.difference or 0.0) - (few.estimate or 0.0)),
            by_means=self._in_the_study(by_labels=False).known,
        )

    def _in_the_study(self, *, by_labels: bool) -> ModelPair:
        """The study's own look at the two, over the replies that have a grade."""
        judgements = [record.judgements[item] for record in (self.a, self.b) for item in self.items]
        (pair,) = pairs_of(map(self._as_labelled, judgements) if by_labels else judgements)
        return pair

    def _as_labelled(self, one: Judgement) -> Judgement:
        """A judgement with the label that stands of its answer in place of people's mean."""
        stands = standing(self.made.published.labels[one.model][one.item])
        return replace(one, people=self.made.published.question.share_of(stands))

    def _by_labels_of(self, items: set[str]) -> Any:
        """The corrected difference where both answers to these items alone are labelled."""
        with tempfile.TemporaryDirectory() as folder:
            few = [
                labelled(self.made.published, one, Path(folder) / one.run.path.name, items) for one in (self.a, self.b)
            ]
            return bb.compare(self.a.run, self.b.run, labels=few).as_people_would_judge[0]


def _sign(found: Any) -> Sign:
    return _SIGNS.get(found.verdict, 0)


def summed_up(pairs: Sequence[HeldPair]) -> Json:
    """In how many pairs the records say what the study says; and those in which they do not.

    `alike` and `apart_at_most` are of the differences corrected by few labels; `by_means` compares all labels with the
    study's look by people's mean grades.
    """
    return {
        "n": len(pairs),
        "means": sum(one.mean_is_equal for one in pairs),
        "judged": sum(one.judged[0] == one.judged[1] for one in pairs),
        "all_labels": sum(one.all_labels[0] == one.all_labels[1] for one in pairs),
        "by_means": sum(one.by_means == one.all_labels[1] for one in pairs),
        "few_labels": sum(one.few_labels[0] == one.few_labels[1] for one in pairs),
        "alike": sum(one.few_apart < LAST_DECIMAL for one in pairs),
        "apart_at_most": round(max((one.few_apart for one in pairs), default=0.0), 5),
        "others": [asdict(one) for one in pairs if not one.is_the_same],
    }
