"""All figures of the study, as results.json has them: each with its n and its interval, and no text of any source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

from published_judges.corrected import LEAST_DRAWS, SEED, by_spread, summary, tried
from published_judges.correction import LABELS, Draw, Way
from published_judges.elsewhere import FAR_APART, against_elo, contested, verdicts
from published_judges.judgement import Judgement
from published_judges.pairs import LEAST_ITEMS, ModelPair, pairs_of
from published_judges.shares import Json, share
from published_judges.sources import Source
from published_judges.wins import by_judge, judge_of, readings, readings_of, wins_of

PEOPLE_JUDGE = "wmt"  # its judges are people: a yardstick, and no part of the totals
RANKED = ("triviaqa", "summeval", "pandalm", "faithbench")
GOLD = ("judgebench", "llmbar")

BySource = Mapping[str, Sequence[Judgement]]
Say = Callable[[str], None]


def results(
    sources: Mapping[str, Source],
    judgements: BySource,
    *,
    elo: Mapping[str, float],
    experts_differ: tuple[Sequence[bool], Sequence[str]],
    say: Say,
) -> Json:
    """Everything that the page and the pictures show. `say` is told how far it is.

    `elo` is of the Arena's models; `experts_differ` says so of SummEval's answers, with their articles.
    """
    pairs = {key: pairs_of(_told(key, judgements, say)) for key in judgements if sources[key].labels != "gold"}
    ranked = [pair for key in RANKED for pair in pairs.get(key, ())]
    say("drawing labels")
    drawn = tried(ranked)
    of_people = tried(pairs.get(PEOPLE_JUDGE, []))
    return {
        "settings": {
            "confidence": 0.95,
            "least_items": LEAST_ITEMS,
            "least_draws": LEAST_DRAWS,
            "seed": SEED,
            "labels": list(LABELS),
            "elo_apart": FAR_APART,
        },
        "sources": [_source(sources[key], judgements[key]) for key in judgements],
        "judgements": sum(len(of_source) for of_source in judgements.values()),
        "experts_differ": share(*experts_differ),
        "wins": _wins(ranked),
        "by_source": {key: wins_of(pairs[key]) for key in (*RANKED, PEOPLE_JUDGE) if key in pairs},
        "judges": _judges(ranked, drawn, [one for key in RANKED for one in judgements.get(key, ())]),
        "corrected": _corrected(drawn),
        "corrected_by_source": _corrected_by_source(drawn),
        "corrected_people": {str(n): summary(of) for (n, way), of in of_people.items() if way == "like_these" and of},
        "coverage_by_spread": by_spread(ranked, LABELS[0]),
        "verdicts": verdicts(one for key in GOLD for one in judgements.get(key, ())),
        "stronger_model": wins_of(pairs["cje"]) if "cje" in pairs else None,
        "contested": contested([*pairs.get("wildbench", []), *pairs.get("alpaca_eval", [])]),
        "elo": _elo(pairs.get("alpaca_eval", []), elo),
    }


def _told(key: str, judgements: BySource, say: Say) -> Sequence[Judgement]:
    say(f"comparing the models of {key}")
    return judgements[key]


def _source(source: Source, judgements: Sequence[Judgement]) -> Json:
    counts: dict[str, int] = {}
    for one in judgements:
        counts[one.reading] = counts.get(one.reading, 0) + 1
    models = {one.model for one in judgements} | {one.against for one in judgements if one.against is not None}
    return {
        "key": source.key,
        "title": source.title,
        "repository": source.repository,
        "commit": source.commit,
        "licence": source.licence,
        "labels": source.labels,
        "judges": len({one.judge for one in judgements}),
        "models": 0 if source.labels == "gold" else len(models),
        "items": len({one.item for one in judgements}),
        "labelled": sum(one.people is not None for one in judgements),
        **readings_of(counts),
    }


def _wins(ranked: Sequence[ModelPair]) -> Json:
    return {"judges": len(by_judge(ranked)), **wins_of(ranked)}


def _judges(
    ranked: Sequence[ModelPair], drawn: Mapping[tuple[int, Way], Sequence[Draw]], judgements: Iterable[Judgement]
) -> list[Json]:
    """Each judge by itself."""
    of_replies = readings(judgements)
    found = []
    for key, pairs in by_judge(ranked).items():
        after = {}
        for n_labels in LABELS:
            own = [draw for draw in drawn[n_labels, "like_these"] if judge_of(draw.pair) == key]
            if any(draw.pair.win for draw in own):
                after[str(n_labels)] = _brief(summary(own))
        items = sorted(pair.told.n for pair in pairs)
        found.append(
            {
                "source": key[0],
                "judge": key[1],
                "items": items[len(items) // 2],
                **wins_of(pairs),
                "replies": of_replies[key],
                "corrected": after,
            }
        )
    return found


def _brief(whole: Json) -> Json:
    """Of one judge: how often the interval holds, decides and errs."""
    of_corrected = {name: whole["corrected"][name] for name in ("covers", "decided", "wrong")}
    return {"wins": whole["wins"], "draws": whole["draws"], **of_corrected, "width": whole["width_to_labels_alone"]}


def _corrected(drawn: Mapping[tuple[int, Way], Sequence[Draw]]) -> Json:
    """By number of labels, and by way."""
    return {str(n): {way: summary(of) for (m, way), of in drawn.items() if m == n} for n in LABELS if drawn[n, "these"]}


def _corrected_by_source(drawn: Mapping[tuple[int, Way], Sequence[Draw]]) -> Json:
    """By source and number of labels, for items like these; of these very items the coverage, `covers_these`."""
    found: Json = {}
    for key, n_labels in product(RANKED, LABELS):
        like_these, these = (
            [draw for draw in drawn[n_labels, way] if draw.pair.source == key] for way in ("like_these", "these")
        )
        if any(draw.pair.win for draw in like_these):
            covers = summary(these)["corrected"]["covers"]
            found.setdefault(key, {})[str(n_labels)] = {**summary(like_these), "covers_these": covers}
    return found


def _elo(pairs: Sequence[ModelPair], elo: Mapping[str, float]) -> list[Json]:
    return [{"judge": key[1], **against_elo(own, elo)} for key, own in by_judge(pairs).items()]
