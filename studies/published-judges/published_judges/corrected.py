"""What labels of a few items make of declared wins: how often the corrected interval holds, decides, and errs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchbook.statistics import prediction_powered_mean
from published_judges.correction import LABELS, WAYS, Draw, Interval, Way, draws, has_room
from published_judges.pairs import ModelPair
from published_judges.shares import Json, mean, share_alone

LEAST_DRAWS = 10_000  # of declared wins, for each number of labels and each way
SEED = 20_261_130

Look = Callable[[Draw], Interval]
LOOKS: dict[str, Look] = {
    "corrected": lambda draw: draw.corrected,
    "labels_alone": lambda draw: draw.labels_alone,
    "judge_alone": lambda draw: draw.judge_alone,
}


def tried(pairs: Sequence[ModelPair]) -> dict[tuple[int, Way], list[Draw]]:
    """Drawings for all pairs that have room, by number of labels and way; at least 10,000 of declared wins each."""
    found = {}
    for n_labels in LABELS:
        roomy = [pair for pair in pairs if has_room(pair, n_labels)]
        wins = sum(pair.win != 0 for pair in roomy)
        for number, way in enumerate(WAYS):
            rng = np.random.default_rng([SEED, n_labels, number])
            each = -(-LEAST_DRAWS // wins) if wins else 0
            found[n_labels, way] = list(draws(roomy, n_labels, each, way, rng))
    return found


def summary(drawn: Sequence[Draw]) -> Json:
    """Of the drawings for declared wins; `reversed` alone is of all pairs that people tell apart.

    Intervals are over drawings: they say what drawing labels anew would change for these very wins.
    """
    of_wins = [draw for draw in drawn if draw.pair.win]
    of_wrong = [draw for draw in of_wins if draw.pair.win * draw.pair.known < 0]
    return {
        "wins": len({id(draw.pair) for draw in of_wins}),
        "draws": len(of_wins),
        **{name: _look(of_wins, look) for name, look in LOOKS.items()},
        "width_to_labels_alone": _ratio(of_wins),
        "of_wrong": {"wins": len({id(draw.pair) for draw in of_wrong}), **_outcomes(of_wrong)},
        "reversed": _reversed([draw for draw in drawn if draw.pair.known]),
    }


def _look(drawn: Sequence[Draw], look: Look) -> Json:
    """`decided` and `wrong` are of wins whose truth is known; `decided_unknown` of those that people can't tell."""
    bounded = [draw for draw in drawn if look(draw).width is not None]
    known = [draw for draw in drawn if draw.pair.known]
    unknown = [draw for draw in drawn if not draw.pair.known]
    decided = [draw for draw in known if look(draw).decides]
    return {
        "without_interval": _share(drawn, lambda draw: look(draw).width is None),
        "covers": _share(bounded, lambda draw: bool(look(draw).covers(draw.pair.truth or 0.0))),
        "decided": _share(known, lambda draw: look(draw).decides != 0),
        "wrong": _share(decided, lambda draw: look(draw).decides != draw.pair.known),
        "decided_unknown": _share(unknown, lambda draw: look(draw).decides != 0),
        "width": mean([look(draw).width or 0.0 for draw in bounded]),
    }


def _outcomes(drawn: Sequence[Draw]) -> Json:
    """What becomes of wins that point the wrong way: turned right, left open, or still wrong."""
    return {
        "turned": _share(drawn, lambda draw: draw.corrected.decides == draw.pair.known),
        "open": _share(drawn, lambda draw: draw.corrected.decides == 0),
        "still_wrong": _share(drawn, lambda draw: draw.corrected.decides * draw.pair.known < 0),
    }


def _ratio(drawn: Sequence[Draw]) -> Json:
    """The corrected interval's width over that of the labels alone, drawing by drawing."""
    both = [(draw.corrected.width, draw.labels_alone.width) for draw in drawn]
    return mean([own / alone for own, alone in both if own is not None and alone])


def _reversed(drawn: Sequence[Draw]) -> Json:
    """The estimates that put the two models the other way than people do, whatever their intervals say."""

    def of(look: Look) -> Json:
        return _share(drawn, lambda draw: look(draw).estimate * draw.pair.known < 0)

    return {name: of(look) for name, look in LOOKS.items()}


def _share(drawn: Sequence[Draw], hit: Callable[[Draw], bool]) -> Json:
    return share_alone(sum(map(hit, drawn)), len(drawn))


def by_spread(pairs: Sequence[ModelPair], n_labels: int) -> list[Json]:
    """Coverage in quarters of the wins, by how much people's differences spread; and without the scale's ends.

    `bounded` is the interval that is used. `normal` takes no notice of what lies beyond the few labels (`ppi++`).
    """
    roomy = [pair for pair in pairs if pair.win and has_room(pair, n_labels)]
    if not roomy:
        return []
    each = -(-LEAST_DRAWS // len(roomy))
    rng = np.random.default_rng([SEED, n_labels, len(WAYS)])
    ordered = sorted(roomy, key=lambda pair: float(pair.by_people.std()))
    quarters = np.array_split(np.arange(len(ordered)), 4)
    return [_quarter([ordered[place] for place in quarter], n_labels, each, rng) for quarter in quarters]


def _quarter(pairs: Sequence[ModelPair], n_labels: int, each: int, rng: np.random.Generator) -> Json:
    bounded: list[bool] = []
    normal: list[bool] = []
    for pair in pairs:
        size = pair.by_judge.size
        for _ in range(each):
            drawn = rng.integers(0, size, size)
            labelled, others = drawn[:n_labels], drawn[n_labels:]
            given = pair.by_people[labelled], pair.by_judge[labelled], pair.by_judge[others]
            found = prediction_powered_mean(*given, scale=(-1.0, 1.0)), prediction_powered_mean(*given)
            covered = [Interval(one.estimate or 0.0, one.low, one.high).covers(pair.truth or 0.0) for one in found]
            if covered[0] is not None and covered[1] is not None:
                bounded.append(covered[0])
                normal.append(covered[1])
    spreads = [round(float(pair.by_people.std()), 3) for pair in (pairs[0], pairs[-1])]
    return {"spread": spreads, "bounded": _all(bounded), "normal": _all(normal)}


def _all(hits: Sequence[bool]) -> Json:
    return share_alone(sum(hits), len(hits))
