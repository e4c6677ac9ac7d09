"""How many declared wins point the wrong way, by judge and in all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from published_judges.judgement import Judgement
from published_judges.pairs import ModelPair, Sign
from published_judges.shares import Json, share, share_alone

Win = Callable[[ModelPair], Sign]


def judge_of(pair: ModelPair) -> tuple[str, str]:
    """The judge, as a cluster: its pairs share models and items."""
    return pair.source, pair.judge


def by_judge(pairs: Iterable[ModelPair]) -> dict[tuple[str, str], list[ModelPair]]:
    found: dict[tuple[str, str], list[ModelPair]] = defaultdict(list)
    for pair in pairs:
        found[judge_of(pair)].append(pair)
    return dict(found)


def wins_of(pairs: Sequence[ModelPair]) -> Json:
    """The declared wins of some pairs, as tested one by one (`raw`) and after Holm's correction (`holm`)."""
    return {
        "pairs": len(pairs),
        "known": sum(pair.known != 0 for pair in pairs),
        "raw": _declared(pairs, lambda pair: pair.win),
        "holm": _declared(pairs, lambda pair: pair.win_by_holm),
        "reversed": _reversed(pairs),
    }


def _declared(pairs: Sequence[ModelPair], win: Win) -> Json:
    """`wrong` is of the wins whose truth is known; `against_mean` of all, by people's mean, however unsure that is.

    `wrong_by_holm` is of the wins whose truth is known even after Holm's correction of people's own tests.
    """
    declared = [pair for pair in pairs if win(pair)]
    known = [pair for pair in declared if pair.known]
    surely = [pair for pair in declared if pair.known_by_holm]
    return {
        "wins": len(declared),
        "unknown": len(declared) - len(known),
        "wrong": _share(known, lambda pair: win(pair) != pair.known),
        "wrong_by_holm": _share(surely, lambda pair: win(pair) != pair.known_by_holm),
        "against_mean": _share(declared, lambda pair: pair.is_wrong),
        "not_told_by_people": _share(declared, lambda pair: not pair.known),
    }


def _reversed(pairs: Sequence[ModelPair]) -> Json:
    """Of the pairs that people tell apart, those that the judge's means put the other way, whatever their test says."""
    return _share([pair for pair in pairs if pair.known], lambda pair: pair.told.leans * pair.known < 0)


def _share(pairs: Sequence[ModelPair], hit: Callable[[ModelPair], bool]) -> Json:
    """By judge, where there are several; of one judge alone, as if its pairs stood alone: then it is too narrow."""
    clusters = [judge_of(pair) for pair in pairs]
    hits = [hit(pair) for pair in pairs]
    return share(hits, clusters) if len(set(clusters)) > 1 else share_alone(sum(hits), len(hits))


def readings(judgements: Iterable[Judgement]) -> Mapping[tuple[str, str], Json]:
    """By judge, how its replies could be read; `guess` is of those replies whose text is published."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in judgements:
        counts[one.source, one.judge][one.reading] += 1
    return {key: readings_of(of_judge) for key, of_judge in counts.items()}


def readings_of(counts: Mapping[str, int]) -> Json:
    """`guess` and `none` are shares of the replies that are there as text; of verdicts alone there are none."""
    strict, guess, none = (counts.get(name, 0) for name in ("strict", "guess", "none"))
    as_text = strict + guess + none if strict + guess else 0
    return {
        "judgements": sum(counts.values()),
        "unread": none,
        "as_text": as_text,
        "guess": share_alone(guess, as_text) if as_text else None,
    }
