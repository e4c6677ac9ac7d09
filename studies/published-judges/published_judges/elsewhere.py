"""Sources in which people graded no answers: one of two is known to be right, a stronger model graded, or no one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from published_judges.judgement import Judgement
from published_judges.pairs import ModelPair, Sign
from published_judges.shares import Json, share, share_alone
from published_judges.wins import by_judge, judge_of

FAR_APART = 20.0  # points of Elo; the source gives no intervals


def verdicts(judgements: Iterable[Judgement]) -> list[Json]:
    """Of each judge of two answers: right verdicts, ties counted as a half, and verdicts that follow the place.

    `by_place` counts pairs in which the answer shown first (or second) was preferred in both orders.
    """
    found: dict[tuple[str, str], dict[str, dict[bool, float | None]]] = defaultdict(lambda: defaultdict(dict))
    for one in judgements:
        found[one.source, one.judge][one.item][one.swapped] = one.score
    return [_verdicts(source, judge, items) for (source, judge), items in sorted(found.items())]


def _verdicts(source: str, judge: str, items: Mapping[str, Mapping[bool, float | None]]) -> Json:
    said = [score for scores in items.values() for score in scores.values()]
    both = [(scores[False], scores[True]) for scores in items.values() if len(scores) == 2]
    read = [(first, second) for first, second in both if first is not None and second is not None]
    return {
        "source": source,
        "judge": judge,
        "items": len(items),
        "right": share_alone(sum(score == 1 for score in said), len(said)),
        "ties": share_alone(sum(score == 0.5 for score in said), len(said)),
        "unread": share_alone(sum(score is None for score in said), len(said)),
        "right_in_both": share_alone(sum(pair == (1, 1) for pair in both), len(both)),
        "by_place": share_alone(sum(pair in ((0, 1), (1, 0)) for pair in read), len(read)),
    }


def contested(pairs: Sequence[ModelPair]) -> list[Json]:
    """Of every two judges of one source: the pairs of models that both tell apart, and opposite winners among them."""
    judges = by_judge(pairs)
    found = []
    for one, other in combinations(sorted(judges), 2):
        theirs = {(pair.a, pair.b): pair for pair in judges[other]}
        shared = [(pair, theirs[pair.a, pair.b]) for pair in judges[one] if (pair.a, pair.b) in theirs]
        if one[0] != other[0] or not shared:
            continue
        found.append(
            {
                "source": one[0],
                "judges": [one[1], other[1]],
                "pairs": len(shared),
                "opposite": _opposite([(a.win, b.win) for a, b in shared]),
                "opposite_by_holm": _opposite([(a.win_by_holm, b.win_by_holm) for a, b in shared]),
            }
        )
    return found


def _opposite(wins: Sequence[tuple[Sign, Sign]]) -> Json:
    told = [(one, other) for one, other in wins if one and other]
    return share_alone(sum(one != other for one, other in told), len(told))


def against_elo(pairs: Sequence[ModelPair], elo: Mapping[str, float]) -> Json:
    """Declared wins against the Arena's order of the same two models, where they are far enough apart there."""
    rated = [pair for pair in pairs if abs(elo.get(pair.b, 0.0) - elo.get(pair.a, 0.0)) >= FAR_APART]
    rated = [pair for pair in rated if pair.a in elo and pair.b in elo]
    found: Json = {"models": len({name for pair in rated for name in (pair.a, pair.b)}), "pairs": len(rated)}
    for name, holm in (("raw", False), ("holm", True)):
        wins = [(pair, pair.win_by_holm if holm else pair.win) for pair in rated]
        told = [(pair, win) for pair, win in wins if win]
        hits = [win * (elo[pair.b] - elo[pair.a]) < 0 for pair, win in told]
        clusters = [judge_of(pair) for pair, _ in told]
        several = len(set(clusters)) > 1
        found[name] = share(hits, clusters) if several else share_alone(sum(hits), len(hits))
    return found
