"""Two models under one judge: who wins by the judge, and who by people, as Benchbook compares two runs.

Passes by the mid-p McNemar test, graded scores by sign flips (by Student's t where more than 200 items differ, as
Benchbook does for slices), each with an interval that must leave out 0 as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchbook.comparison.difference import MOST_FLIPPED_IN_SLICE, p_of_flips
from benchbook.statistics import adjust_p_values, bounded_difference, mcnemar, paired_rates
from published_judges.judgement import RIGHT, Judgement

Floats: TypeAlias = NDArray[np.float64]
Sign = Literal[-1, 0, 1]
ALPHA = 0.05
LEAST_ITEMS = 20  # fewer than that rank nothing


@dataclass(frozen=True, slots=True)
class Told:
    """The differences b - a of some items, tested: `sign` is 0 where which is better can't be told."""

    n: int
    mean: float
    p: float
    sign: Sign

    @property
    def leans(self) -> Sign:
        """The sign of the mean itself."""
        return _sign(self.mean)


@dataclass(frozen=True, slots=True)
class ModelPair:
    """The differences b - a of the items that both models answered, by the judge and by people (NaN: not asked)."""

    source: str
    judge: str
    a: str
    b: str
    by_judge: Floats
    by_people: Floats
    told: Told
    told_by_people: Told | None  # None: people were asked of fewer than 20
    p_holm: float = 1.0
    p_holm_of_people: float = 1.0

    @property
    def win(self) -> Sign:
        """The judge's declared winner: 1 for b, -1 for a."""
        return self.told.sign

    @property
    def win_by_holm(self) -> Sign:
        """The same after Holm's correction over all pairs of the judge."""
        return self.told.sign if self.p_holm <= ALPHA else 0

    @property
    def known(self) -> Sign:
        """The winner by people, where their difference is itself significant."""
        return 0 if self.told_by_people is None else self.told_by_people.sign

    @property
    def known_by_holm(self) -> Sign:
        return self.known if self.p_holm_of_people <= ALPHA else 0

    @property
    def truth(self) -> float | None:
        """People's mean difference over all labelled items."""
        return None if self.told_by_people is None else self.told_by_people.mean

    @property
    def is_wrong(self) -> bool:
        """The declared win points against people's mean."""
        return self.told_by_people is not None and self.win * self.told_by_people.leans < 0


def pairs_of(judgements: Iterable[Judgement]) -> list[ModelPair]:
    """Every two models under every judge, in order of judge and names."""
    found = []
    for judge, alone, against in _by_judge(judgements):
        of_judge = [*_of_answers(judge, alone), *_of_preferences(judge, against)]
        found += _with_holm(of_judge)
    return found


Key: TypeAlias = "tuple[str, str]"  # source and judge
Scores: TypeAlias = "dict[str, list[tuple[float, float]]]"  # by item: the judge's and people's, of each reply


def _by_judge(judgements: Iterable[Judgement]) -> Iterator[tuple[Key, dict[str, Scores], dict[Key, Scores]]]:
    """Of each judge the scores by model, and those of one model against another; unread replies are left out."""
    alone: dict[Key, dict[str, Scores]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    against: dict[Key, dict[Key, Scores]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for one in judgements:
        if one.score is None or one.model == RIGHT:
            continue
        people = np.nan if one.people is None else one.people
        key = one.source, one.judge
        if one.against is None:
            alone[key][one.model][one.item].append((one.score, people))
        elif one.model < one.against:
            against[key][one.model, one.against][one.item].append((1 - one.score, 1 - people))
        else:
            against[key][one.against, one.model][one.item].append((one.score, people))
    for key in sorted(alone.keys() | against.keys()):
        yield key, alone.get(key, {}), against.get(key, {})


def _of_answers(key: Key, scores: Mapping[str, Scores]) -> Iterator[ModelPair]:
    for a, b in combinations(sorted(scores), 2):
        shared = sorted(scores[a].keys() & scores[b].keys())
        if len(shared) >= LEAST_ITEMS:
            of_a, of_b = (np.array([np.mean(scores[one][item], axis=0) for item in shared]) for one in (a, b))
            yield _pair(key, a, b, of_b - of_a, passes=_are_passes(of_a, of_b))


def _of_preferences(key: Key, scores: Mapping[Key, Scores]) -> Iterator[ModelPair]:
    """Preferences for b, 0 to 1, as differences from -1 to 1."""
    for (a, b), items in sorted(scores.items()):
        if len(items) >= LEAST_ITEMS:
            preferred = np.array([np.mean(items[item], axis=0) for item in sorted(items)])
            yield _pair(key, a, b, 2 * preferred - 1, passes=(False, False))


def _are_passes(of_a: Floats, of_b: Floats) -> tuple[bool, bool]:
    """The judge's scores are 0 or 1 throughout, and people's."""
    both = np.concatenate([of_a, of_b])
    by_judge, by_people = (bool(np.isin(column[~np.isnan(column)], (0, 1)).all()) for column in both.T)
    return by_judge, by_people


def _pair(key: Key, a: str, b: str, differences: Floats, *, passes: tuple[bool, bool]) -> ModelPair:
    by_judge, by_people = differences.T
    asked = by_people[~np.isnan(by_people)]
    return ModelPair(
        source=key[0],
        judge=key[1],
        a=a,
        b=b,
        by_judge=by_judge,
        by_people=by_people,
        told=told(by_judge, passes=passes[0]),
        told_by_people=told(asked, passes=passes[1]) if asked.size >= LEAST_ITEMS else None,
    )


def told(differences: Floats, *, passes: bool) -> Told:
    """Which is better, by Benchbook's test and interval of two runs on the same items."""
    return _told(differences.tobytes(), passes)


@cache
def _told(content: bytes, passes: bool) -> Told:
    """Kept, for people's labels are the same under every judge, and signs are flipped 100,000 times."""
    differences = np.frombuffer(content)
    n, mean = int(differences.size), float(differences.mean())
    if passes:
        lost, won = int((differences < 0).sum()), int((differences > 0).sum())
        p, interval = mcnemar(lost, won).p_mid, paired_rates(lost, won, n, 1 - ALPHA)
    else:
        interval = bounded_difference(differences, confidence=1 - ALPHA)
        many = int(np.count_nonzero(differences)) > MOST_FLIPPED_IN_SLICE
        p = p_of_flips(differences, None, 0, interval if many else None)[0]
    low, high = interval.low, interval.high
    leaves_out_0 = low is not None and high is not None and (low > 0 or high < 0)
    return Told(n=n, mean=mean, p=p, sign=_sign(mean) if p <= ALPHA and leaves_out_0 else 0)


def _with_holm(pairs: list[ModelPair]) -> list[ModelPair]:
    by_judge = adjust_p_values([one.told.p for one in pairs]).holm
    by_people = adjust_p_values([one.told_by_people.p if one.told_by_people else None for one in pairs]).holm
    return [
        replace(one, p_holm=1.0 if own is None else own, p_holm_of_people=1.0 if theirs is None else theirs)
        for one, own, theirs in zip(pairs, by_judge, by_people, strict=True)
    ]


def _sign(value: float) -> Sign:
    return 1 if value > 1e-12 else -1 if value < -1e-12 else 0
