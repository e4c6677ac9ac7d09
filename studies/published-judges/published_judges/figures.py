"""The three pictures of the page, from results.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from published_judges.drawing import Scale, circle, line, picture, rect, text
from published_judges.families import Family, families_of

Json = Mapping[str, Any]
NAMES = {"triviaqa": "TriviaQA", "summeval": "SummEval", "pandalm": "PandaLM", "faithbench": "FaithBench"}
ROW = 19.0
BAND = (0.935, 0.965)  # what may be called 95 %
LEAST_SHOWN = 500  # drawings; of fewer there is little to see


def pictures_of(results: Json) -> dict[str, str]:
    """The pictures by file name."""
    return {
        "published-judges-wins.svg": wins(results),
        "published-judges-labels.svg": labels(results),
        "published-judges-coverage.svg": coverage(results),
    }


# ── which judges' wins point the wrong way ───────────────────────────────────────────────────────────────────


def wins(results: Json) -> str:
    """A bar a judge: the share of its wins that point the wrong way, of those whose truth is known."""
    scale = Scale(270, 590, 0, 0.7)
    pieces: list[str] = []
    y = 62.0
    for source, of_source in families_of(results).items():
        pieces.append(text(16, y, NAMES.get(source, source), "head"))
        y += 8
        for family in sorted(of_source, key=lambda one: (-(one.share or 0), -one.known, one.name)):
            pieces += _win_row(family, y, scale)
            y += ROW
        y += 22
    people = results["by_source"]["wmt"]["raw"]["wrong"]
    translators = next(one["judges"] for one in results["sources"] if one["key"] == "wmt")
    pieces.append(text(16, y, "For comparison: people as judges of people", "head"))
    yardstick = Family(
        "wmt", f"{translators} translators (WMT)", people["k"], people["n"], people["low"], people["high"]
    )
    pieces += _win_row(yardstick, y + 8, scale)
    bottom = y + 8 + ROW
    head = [
        text(16, 26, "Declared wins that point the wrong way by people's labels", "head"),
        text(scale.left, 44, "share of the wins whose truth is known, with its 95 % interval", "quiet small"),
        *scale.grid([0, 0.2, 0.4, 0.6], 52, bottom),
    ]
    total = results["wins"]["raw"]["wrong"]
    about = f"{total['k']} of {total['n']} wins point the wrong way in all; the table of the page has the judges."
    return picture(bottom + 28, "Declared wins that point the wrong way, by judge", about, [*head, *pieces])


def _win_row(family: Family, y: float, scale: Scale) -> list[str]:
    middle = y + ROW / 2
    row = [
        text(262, middle + 4, family.name, "small", "end"),
        text(600, middle + 4, f"{family.wrong} of {family.known}", "small"),
    ]
    if family.share is None or family.low is None or family.high is None:
        return row
    bar = rect(scale.left, y + 4, scale.at(family.share) - scale.left, ROW - 8, "wrong")
    return [*row, bar, scale.whisker(family.low, family.high, middle)]


# ── what becomes of wins with labels ─────────────────────────────────────────────────────────────────────────


def labels(results: Json) -> str:
    """Stacked bars: wins that point the right way, that are left open, and that point the wrong way."""
    left, right = Scale(142, 420, 0, 1), Scale(462, 740, 0, 1)
    pieces = [
        text(16, 26, "What labels make of declared wins", "head"),
        text(left.left, 62, "all wins whose truth is known", "small"),
        text(right.left, 62, "of these, wins that point the wrong way", "small"),
        *_legend(142, 44),
    ]
    y = 74.0
    for source, by_labels in results["corrected_by_source"].items():
        before = results["by_source"][source]["raw"]["wrong"]
        if not before["k"]:  # nothing there is to be mended
            continue
        pieces.append(text(16, y + 13, NAMES[source], "head"))
        y += 20
        of_all = (1 - before["share"], 0.0, before["share"])
        of_wrong: Sequence[float] = (0.0, 0.0, 1.0)
        bars = ((left, of_all, f"{before['n']:,}"), (right, of_wrong, f"{before['k']:,}"))
        pieces += _stack("judge alone", y, bars)
        y += 24
        for n_labels, found in by_labels.items():
            decided, wrong = found["corrected"]["decided"], found["corrected"]["wrong"]["k"]
            of_all = ((decided["k"] - wrong) / decided["n"], 1 - decided["share"], wrong / decided["n"])
            mended = found["of_wrong"]
            of_wrong = tuple(mended[name]["share"] for name in ("turned", "open", "still_wrong"))
            pieces += _stack(f"{n_labels} labels", y, ((left, of_all, ""), (right, of_wrong, "")))
            y += 24
        y += 12
    about = "By source and number of labels: shares of wins that are right, open and wrong; the page has the figures."
    return picture(y + 4, "What labels make of declared wins", about, pieces)


def _legend(x: float, y: float) -> list[str]:
    found = []
    for kind, words, wide in (("right", "right", 62), ("open", "can't be told", 112), ("wrong", "wrong", 70)):
        found += [rect(x, y - 10, 12, 12, kind), text(x + 18, y, words, "small")]
        x += wide
    return found


def _stack(words: str, y: float, bars: Sequence[tuple[Scale, Sequence[float], str]]) -> list[str]:
    """A row of bars: the shares that are right, open and wrong, and of how many."""
    pieces = [text(134, y + 14, words, "small", "end")]
    for scale, shares, n in bars:
        at = 0.0
        for share, kind in zip(shares, ("right", "open", "wrong"), strict=True):
            begin, end = scale.at(at), scale.at(at + share)
            pieces.append(rect(begin, y, end - begin, 18, kind))
            if end - begin > 40:
                said = f"{100 * share:.0f} %" + (f" of {n}" if n and end - begin > 80 else "")
                pieces.append(
                    text((begin + end) / 2, y + 13, said, "small" if kind == "open" else "on small", "middle")
                )
            elif kind == "wrong" and share >= 0.005:
                pieces.append(text(end + 5, y + 13, f"{100 * share:.0f} %", "small"))
            at += share
    return pieces


# ── whether intervals hold, and what the judge adds ──────────────────────────────────────────────────────────


def coverage(results: Json) -> str:
    """Left: how often intervals hold the truth. Right: how wide they are beside the labels alone."""
    holds, wide = Scale(250, 480, 0.92, 1.0), Scale(530, 720, 0.75, 1.05)
    top, y, before = 78.0, 84.0, ""
    marks: list[str] = []
    for source, by_labels in results["corrected_by_source"].items():
        for n_labels, found in by_labels.items():
            if found["draws"] < LEAST_SHOWN:
                continue
            if source != before:
                y += 6 if before else 0
                marks.append(text(16, y + 14, NAMES[source], "head small"))
                before = source
            marks += _coverage_row(n_labels, found, y, holds, wide)
            y += 22
    bottom = y + 2
    pieces = [
        text(16, 26, "How often intervals hold what people say, and how wide they are", "head"),
        *_coverage_legend(250, 48),
        text(130, 70, "labels", "quiet small", "end"),
        text(226, 70, "judge alone", "quiet small", "end"),
        text(holds.left, 70, "corrected (green: 95 ± 1.5 %)", "quiet small"),
        text(wide.left, 70, "width; labels alone: 100 %", "quiet small"),
        rect(holds.at(BAND[0]), top, holds.at(BAND[1]) - holds.at(BAND[0]), bottom - top, "zone"),
        *holds.grid([0.92, 0.94, 0.96, 0.98, 1.0], top, bottom),
        *wide.grid([0.8, 0.9, 1.0], top, bottom),
        line(wide.at(1), top, wide.at(1), bottom, "mark"),
        *marks,
    ]
    about = "By source and number of labels; the page has the figures."
    return picture(bottom + 28, "How often intervals hold, and how wide they are", about, pieces)


def _coverage_row(n_labels: str, found: Json, y: float, holds: Scale, wide: Scale) -> list[str]:
    middle = y + 10
    corrected, these = found["corrected"]["covers"], found["covers_these"]
    ratio = found["width_to_labels_alone"]
    return [
        text(130, middle + 4, n_labels, "small", "end"),
        text(226, middle + 4, f"{100 * found['judge_alone']['covers']['share']:.0f} %", "bad small", "end"),
        holds.whisker(these["low"], these["high"], middle),
        circle(holds.at(these["share"]), middle, "ring"),
        holds.whisker(corrected["low"], corrected["high"], middle),
        circle(holds.at(corrected["share"]), middle, "dot"),
        wide.whisker(ratio["low"], ratio["high"], middle),
        circle(wide.at(ratio["mean"]), middle, "dot"),
    ]


def _coverage_legend(x: float, y: float) -> list[str]:
    return [
        circle(x + 5, y - 4, "dot"),
        text(x + 17, y, "items like these", "small"),
        circle(x + 145, y - 4, "ring"),
        text(x + 157, y, "these very items, of which some are labelled", "small"),
    ]
