"""docs/explanation/published-judges.md, and the list of all judges, from results.json: no figure is typed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from published_judges.families import families_of
from published_judges.figures import LEAST_SHOWN, NAMES
from published_judges.sources import HOME
from published_judges.template import filled
from published_judges.words import NOTHING, cell, mean, percent, rate, rate_in_table, table

Json = Mapping[str, Any]

_LABELLED = {"people": "people's", "gold": "one is right", "model": "a stronger model's", "none": "none"}


def page_of(results: Json, records: Json) -> str:
    """The page: the template, with every figure in its place. `records` is what records.json has."""
    template = (HOME / "page.template.md").read_text(encoding="utf-8")
    parts = (_of_wins, _of_labels, _of_intervals, _of_replies, _elsewhere, _tables)
    figures = {name: words for part in parts for name, words in part(results).items()}
    return filled(template, figures | _of_records(records))


def _of_wins(results: Json) -> dict[str, str]:
    wins = results["wins"]
    raw = wins["raw"]
    return {
        "judgements": f"{results['judgements']:,}",
        "n_sources": f"{len(results['sources'])}",
        "judges": f"{wins['judges']}",
        "wins": f"{raw['wins']:,}",
        "known": f"{raw['wrong']['n']:,}",
        "wrong": rate(raw["wrong"]),
        "not_told": rate(raw["not_told_by_people"]),
        "wrong_by_holm": rate(raw["wrong_by_holm"]),
        "against_mean": rate(raw["against_mean"]),
        "reversed": rate(wins["reversed"]),
        "experts_differ": rate(results["experts_differ"]),
    }


def _of_labels(results: Json) -> dict[str, str]:
    few, more = (results["corrected"][n]["like_these"] for n in ("25", "50"))
    of_triviaqa = results["corrected_by_source"]["triviaqa"]["25"]
    return {
        "least_draws": f"{results['settings']['least_draws']:,}",
        "judge_covers": rate(few["judge_alone"]["covers"]),
        "people_cover": rate(results["corrected_people"]["25"]["judge_alone"]["covers"]),
        "decided_25": rate(few["corrected"]["decided"]),
        "wrong_25": rate(few["corrected"]["wrong"]),
        "decided_50": rate(more["corrected"]["decided"]),
        "wrong_50": rate(more["corrected"]["wrong"]),
        "narrower_25": _narrower(few["width_to_labels_alone"]),
        "narrower_triviaqa": _narrower(of_triviaqa["width_to_labels_alone"]),
        "reversed_judge": rate(few["reversed"]["judge_alone"]),
        "reversed_25": rate(few["reversed"]["corrected"]),
        "reversed_alone_25": rate(few["reversed"]["labels_alone"]),
    }


def _narrower(ratio: Json) -> str:
    """`7.4 % narrower (7.1 to 7.6; n = 9,985)` than by the labels alone."""
    low, high = (100 * (1 - ratio[end]) for end in ("high", "low"))
    return f"{100 * (1 - ratio['mean']):.1f} % narrower ({low:.1f} to {high:.1f}; n = {ratio['n']:,})"


def _of_records(records: Json) -> dict[str, str]:
    sets = list(records["sets"].values())
    pairs = [one["pairs"] for one in sets]

    def whole(name: str, of: Sequence[Json] = sets) -> str:
        return f"{sum(one[name] for one in of):,}"

    return {
        **{name: whole(name) for name in ("records", "samples", "label_folders", "labels", "verified")},
        **{name: whole(name) for name in ("labels_verified", "as_in_the_study", "no_score", "moved")},
        **{f"pairs_{name}": whole(name, pairs) for name in ("judged", "all_labels", "few_labels", "alike")},
        "pairs": whole("n", pairs),
        "pairs_apart": f"{max(one['apart_at_most'] for one in pairs):.4f}",
        "few": f"{records['few_labels']}",
    }


def _of_intervals(results: Json) -> dict[str, str]:
    narrow, wide = results["coverage_by_spread"][0], results["coverage_by_spread"][-1]
    return {
        f"{name}_{figure}": words
        for name, quarter in (("narrow", narrow), ("wide", wide))
        for figure, words in (
            ("from", f"{quarter['spread'][0]:.2f}"),
            ("to", f"{quarter['spread'][1]:.2f}"),
            ("bounded", rate(quarter["bounded"])),
            ("normal", rate(quarter["normal"])),
        )
    }


def _of_replies(results: Json) -> dict[str, str]:
    of_source = {one["key"]: one for one in results["sources"]}
    guesses = {one.name: one.guess for one in families_of(results)["summeval"] if one.guess is not None}
    least, most = (end(guesses, key=lambda name: float(guesses[name]["share"])) for end in (min, max))
    return {
        "guessed": rate(of_source["summeval"]["guess"]),
        "guessed_brackets": rate(of_source["judgebench"]["guess"]),
        "least_guessed_by": cell(least),
        "least_guessed": rate(guesses[least]),
        "most_guessed_by": cell(most),
        "most_guessed": rate(guesses[most]),
        "unread": f"{sum(one['unread'] for one in results['sources']):,}",
    }


def _elsewhere(results: Json) -> dict[str, str]:
    stronger = results["stronger_model"]
    bench = [one for one in results["verdicts"] if one["source"] == "judgebench"]
    worst, best = (end(bench, key=lambda one: one["right_in_both"]["share"]) for end in (min, max))
    elo = [f"{rate_in_table(one['raw'])} ({cell(one['judge'])})" for one in results["elo"] if one["raw"]["n"]]
    return {
        "bench_judges": f"{len(bench)}",
        "bench_worst": rate(worst["right_in_both"]),
        "bench_worst_judge": cell(worst["judge"].partition(" ")[0]),
        "bench_best": rate(best["right_in_both"]),
        "bench_best_judge": cell(best["judge"].partition(" ")[0]),
        "bench_by_place": rate(max((one["by_place"] for one in bench), key=lambda one: one["share"])),
        "llmbar_judges": f"{len(results['verdicts']) - len(bench)}",
        "opposite_wildbench": _opposite(results, "wildbench"),
        "opposite_alpaca": _opposite(results, "alpaca_eval"),
        "elo_apart": f"{results['settings']['elo_apart']:.0f}",
        "elo": ", ".join(elo),
        "cje_wins": f"{stronger['raw']['wins']}",
        "cje_pairs": f"{stronger['pairs']}",
        "cje_known": f"{stronger['raw']['wrong']['n']}",
        "cje_wrong": f"{stronger['raw']['wrong']['k'] or 'none'}",
    }


def _opposite(results: Json, source: str) -> str:
    """`0 of 15, 0 of 15 and 0 of 28`: for every two judges that both tell some pair apart."""
    found = [one["opposite"] for one in results["contested"] if one["source"] == source and one["opposite"]["n"]]
    counts = [rate_in_table(one) for one in found]
    return ", ".join(counts[:-1]) + f" and {counts[-1]}" if len(counts) > 1 else counts[0]


def _tables(results: Json) -> dict[str, str]:
    return {
        "table_sources": _table_of_sources(results),
        "table_wins": _table_of_wins(results),
        "table_labels": _table_of_labels(results),
        "table_intervals": _table_of_intervals(results),
    }


def _table_of_sources(results: Json) -> str:
    rows = [
        (
            f"{one['title']}: {one['repository']}",
            one["licence"],
            f"{one['judgements']:,}",
            f"{one['judges']}",
            f"{one['models'] or NOTHING}",
            f"{one['items']:,}",
            _LABELLED[one["labels"]],
        )
        for one in results["sources"]
    ]
    return table(("source", "licence", "judgements", "judges", "models", "items", "labels"), rows, left=2)


def _table_of_wins(results: Json) -> str:
    """The four sources, all of them, and the yardstick."""
    found = {NAMES[key]: one for key, one in results["by_source"].items() if key in NAMES}
    found["all four"] = results["wins"]
    found["WMT: people as judges"] = results["by_source"]["wmt"]
    rows = [
        (
            name,
            f"{one['pairs']:,}",
            f"{one['raw']['wins']:,}",
            rate_in_table(one["raw"]["not_told_by_people"]),
            rate_in_table(one["raw"]["wrong"]),
            f"{one['holm']['wins']:,}",
            rate_in_table(one["holm"]["wrong"]),
        )
        for name, one in found.items()
    ]
    head = ("source", "pairs of models", "wins", "people can't tell", "wrong, of those known", "wins by Holm", "wrong")
    return table(head, rows)


def _table_of_labels(results: Json) -> str:
    rows = []
    for n_labels, ways in results["corrected"].items():
        found = ways["like_these"]
        figures = (
            found["corrected"]["decided"],
            found["labels_alone"]["decided"],
            found["corrected"]["wrong"],
            found["of_wrong"]["turned"],
            found["of_wrong"]["still_wrong"],
        )
        rows.append((n_labels, f"{found['wins']:,}", *map(rate_in_table, figures)))
    head = ("labels", "wins", "decided", "by labels alone", "decided wrongly", "wrong wins turned right", "still wrong")
    return table(head, rows, left=0)


def _table_of_intervals(results: Json) -> str:
    rows = [
        (
            NAMES[source],
            n_labels,
            rate_in_table(found["corrected"]["covers"]),
            rate_in_table(found["covers_these"]),
            mean(found["corrected"]["width"]),
            mean(found["labels_alone"]["width"]),
            mean(found["width_to_labels_alone"]),
        )
        for source, by_labels in results["corrected_by_source"].items()
        for n_labels, found in by_labels.items()
        if found["draws"] >= LEAST_SHOWN
    ]
    head = ("source", "labels", "holds", "holds, these very items", "width", "labels alone", "ratio of the two")
    return table(head, rows)


# ── every judge ──────────────────────────────────────────────────────────────────────────────────────────────

_JUDGES = """# Every judge

<!-- Generated by study.py. Do not edit: change the script, and run it again. -->

What the columns are: [published judges](../../docs/explanation/published-judges.md). `items` is the median of a judge's pairs; `wrong` is of the wins whose truth is known; `reversed` of the pairs that people tell apart, by means alone. `25` and `50` are labels of each model: how many known wins these decide, how many of them wrongly, and how often the corrected interval holds. Intervals take a judge's pairs as standing alone, and are too narrow.

{judges}

Judges of two answers, one of which is known to be right. Right is a judge that prefers the right answer in both orders; by place one that prefers the first, or the second, in both.

{verdicts}
"""  # noqa: E501


def judges_of(results: Json) -> str:
    """A table of all judges, with what 25 and 50 labels make of their wins."""
    rows = [
        (
            f"{NAMES[one['source']]}: {one['judge']}",
            f"{one['items']}",
            f"{one['pairs']}",
            f"{one['raw']['wins']}",
            rate_in_table(one["raw"]["wrong"]),
            rate_in_table(one["holm"]["wrong"]),
            rate_in_table(one["reversed"]),
            NOTHING if one["replies"]["guess"] is None else percent(one["replies"]["guess"]["share"]) + " %",
            *(_after(one, n_labels, name) for n_labels in ("25", "50") for name in ("decided", "wrong", "covers")),
        )
        for one in results["judges"]
    ]
    before = ("judge", "items", "pairs", "wins", "wrong", "wrong by Holm", "reversed", "guessed")
    after = (f"{n_labels}: {name}" for n_labels in (25, 50) for name in ("decided", "wrongly", "holds"))
    return filled(_JUDGES, {"judges": table((*before, *after), rows), "verdicts": _table_of_verdicts(results)})


def _table_of_verdicts(results: Json) -> str:
    rows = [
        (
            f"{'JudgeBench' if one['source'] == 'judgebench' else 'LLMBar'}: {one['judge']}",
            *(rate_in_table(one[name]) for name in ("right_in_both", "right", "by_place", "ties", "unread")),
        )
        for one in results["verdicts"]
    ]
    head = ("judge", "right in both orders", "right, of all verdicts", "by place", "ties", "unread")
    return table(head, rows)


def _after(judge: Json, n_labels: str, name: str) -> str:
    found = judge["corrected"].get(n_labels)
    return NOTHING if found is None else rate_in_table(found[name])
