"""The number of answers to label of each stratum, so that few labels settle much (Neyman 1934). Pure.

A stratum's members have one verdict of the judge, or a few near ones. The best share of `n` labels for a stratum is
proportional to its size times the spread of people's scores in it: where all are alike, few labels tell. The spread is
not known before people look. To begin with, `SAME_BEYOND_CHANCE` is taken for the judge's agreement with people: with
that chance they give the judge's score, else any, as often as the judge gives it. (Where the judge passes every second
answer, it errs in 20 %.) Labels that are there correct the guess; it makes nothing wrong that is computed from the
labels, only less sharp. So that a bad guess costs little, every stratum has half of what its size asks for at least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt

SAME_BEYOND_CHANCE = 0.6  # kappa, as judges and people often have it
_GUESS_LABELS = 4.0  # the guess counts as so many labels of each stratum
MOST_STRATA = 6  # by simulation: with more, and 100 labels, intervals hold less often than they say
_SMALLEST_SHARE = 0.02
_FEWEST = 10  # answers of a stratum
_EACH = 2  # labels of a stratum: one alone says nothing of spread

Verdict = tuple[int, ...]
"""The judge's scores of an answer, by criterion."""


def verdict_words(verdict: Sequence[int | None]) -> str:
    return " / ".join("none" if score is None else str(score) for score in verdict)


# ── strata ───────────────────────────────────────────────────────────────────────────────────────────────────


def strata_of(counts: Mapping[Verdict, int], places: Mapping[Verdict, Sequence[float]]) -> dict[Verdict, str]:
    """The stratum of each verdict, named by all that it holds: small ones are merged with the nearest.

    `places` says where a verdict stands: near ones should be worth the same to the aggregates in doubt.
    """
    groups = [[verdict] for verdict in sorted(counts)]
    enough = max(_FEWEST, _SMALLEST_SHARE * sum(counts.values()))

    def size(group: Sequence[Verdict]) -> int:
        return sum(counts[one] for one in group)

    while len(groups) > 1:
        smallest = min(groups, key=lambda group: (size(group), group))
        if size(smallest) >= enough and len(groups) <= MOST_STRATA:
            break
        groups.remove(smallest)
        middle = _middle(smallest, counts, places)
        nearest = min(groups, key=lambda group: (_apart(_middle(group, counts, places), middle), -size(group), group))
        nearest.extend(smallest)
        nearest.sort()
    return {one: " or ".join(map(verdict_words, group)) for group in groups for one in group}


def _middle(
    group: Sequence[Verdict], counts: Mapping[Verdict, int], places: Mapping[Verdict, Sequence[float]]
) -> list[float]:
    n = sum(counts[one] for one in group)
    return [sum(counts[one] * places[one][axis] for one in group) / n for axis in range(len(places[group[0]]))]


def _apart(a: Sequence[float], b: Sequence[float]) -> float:
    return round(sum(abs(x - y) for x, y in zip(a, b, strict=True)), 9)


# ── what people's scores will be like ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ExpectedScores:
    """People's scores to be expected of one stratum's `n` answers, in the unit of an aggregate."""

    n: int
    mean: float
    spread: float  # the standard deviation


def expected_scores(
    judge: Mapping[str, Sequence[float]], people: Mapping[str, Sequence[float]], span: float
) -> dict[str, ExpectedScores]:
    """By stratum, from the judge's value of each answer (0 to `span`) and from people's of those that have labels.

    One answer more is taken to lie at each end by half, so that a judge that says the same of all is not believed.
    """
    every = [value for values in judge.values() for value in values]
    mean = (sum(every) + span / 2) / (len(every) + 1)
    squares = (sum(value * value for value in every) + span * span / 2) / (len(every) + 1)
    found = {}
    for name, values in judge.items():
        own, said = sum(values) / len(values), people.get(name, ())
        own_squares = sum(value * value for value in values) / len(values)
        n = _GUESS_LABELS + len(said)
        first = (_GUESS_LABELS * _mixed(own, mean) + sum(said)) / n
        second = (_GUESS_LABELS * _mixed(own_squares, squares) + sum(one * one for one in said)) / n
        found[name] = ExpectedScores(len(values), first, sqrt(max(0.0, second - first * first)))
    return found


def _mixed(own: float, every: float) -> float:
    return SAME_BEYOND_CHANCE * own + (1 - SAME_BEYOND_CHANCE) * every


# ── how many of each ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Doubt:
    """A gate that labels may settle: its mean's interval must not reach further than `distance` (0 or less: whatever
    people say, it is not settled). `expected` is by stratum."""

    aggregate: str
    distance: float
    expected: Mapping[str, ExpectedScores]

    def reach(self, drawn: Mapping[str, float], z: float) -> float:
        """Half the width of the interval that labels of so many answers of each stratum would bring."""
        n = sum(one.n for one in self.expected.values())
        mean = sum(one.n * one.mean for one in self.expected.values()) / n
        variance = sum(one.n / n * (one.mean - mean) ** 2 for one in self.expected.values()) / n
        for name, one in self.expected.items():
            if not drawn[name]:
                return inf
            variance += (one.n / n * one.spread) ** 2 / drawn[name]
        return z * sqrt(variance)


def weights_of(doubts: Sequence[Doubt]) -> dict[str, float]:
    """The weight of an answer of each stratum for a draw: the root of its part in the sum, over the gates, of variance
    over squared distance. So the gate nearest to its limit has the greatest say."""
    nearest = min((one.distance for one in doubts if one.distance > 0), default=1.0)
    squares: dict[str, float] = {}
    for one in doubts:
        by = max(one.distance, nearest / 10)
        for name, stratum in one.expected.items():
            squares[name] = squares.get(name, 0.0) + (stratum.spread / by) ** 2
    return {name: sqrt(square) for name, square in squares.items()}


def allocate(
    sizes: Mapping[str, int], weights: Mapping[str, float], n: int, already: Mapping[str, int] | None = None
) -> dict[str, int]:
    """`n` labels shared out over strata of these sizes, those that are there `already` counted in.

    Raises: ValueError for fewer than there are already, or more than there are answers.
    """
    had = {name: 0 if already is None else already.get(name, 0) for name in sizes}
    if not sum(had.values()) <= n <= sum(sizes.values()):
        raise ValueError(f"n must lie between {sum(had.values())} and {sum(sizes.values())}, not {n}")
    least = _least(sizes, n, had)
    low, high = 0.0, 1.0
    while sum(_at(high, sizes, weights, least).values()) < n and high < 1e18:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(_at(middle, sizes, weights, least).values()) <= n else (low, middle)
    return _whole(_at(low, sizes, weights, least), sizes, n)


def _least(sizes: Mapping[str, int], n: int, had: Mapping[str, int]) -> dict[str, int]:
    """The fewest labels of each stratum; those that it has already, where `n` is too small for more."""
    total = sum(sizes.values())
    least = {name: min(size, max(_EACH, had[name], n * size // (2 * total))) for name, size in sizes.items()}
    return least if sum(least.values()) <= n else dict(had)


def _at(
    level: float, sizes: Mapping[str, int], weights: Mapping[str, float], least: Mapping[str, int]
) -> dict[str, float]:
    return {name: min(size, max(least[name], level * size * weights[name])) for name, size in sizes.items()}


def _whole(shares: Mapping[str, float], sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Shares in whole numbers: the largest remainders round up, and what is left over goes where there is room."""
    found = {name: int(share + 1e-9) for name, share in shares.items()}
    order = sorted(shares, key=lambda name: (-round(shares[name] - found[name], 9), name))
    while (left := n - sum(found.values())) > 0:
        for name in [one for one in order if found[one] < sizes[one]][:left]:
            found[name] += 1
    return found


def proportional(sizes: Mapping[str, int], n: int) -> dict[str, float]:
    """The expected number of each stratum in a draw by chance alone."""
    total = sum(sizes.values())
    return {name: n * size / total for name, size in sizes.items()}


@dataclass(frozen=True, slots=True)
class Needed:
    """The number of labels, in all, that are expected to settle every doubt; None where not even all would."""

    n: int | None
    n_by_chance: int | None


def labels_needed(doubts: Sequence[Doubt], z: float, already: Mapping[str, int] | None = None) -> Needed:
    """By the allocation for these doubts, and by chance alone. `z` is the normal quantile of the interval."""
    sizes = {name: one.n for name, one in doubts[0].expected.items()}
    weights = weights_of(doubts)

    def settled(drawn: Mapping[str, float]) -> bool:
        return all(one.distance > 0 and one.reach(drawn, z) <= one.distance for one in doubts)

    least = max(1, sum((already or {}).values()))
    return Needed(
        _first(least, sum(sizes.values()), lambda n: settled(allocate(sizes, weights, n, already))),
        _first(1, sum(sizes.values()), lambda n: settled(proportional(sizes, n))),
    )


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """The first number from `low` to `high` that holds, where every later one does, too."""
    if not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
