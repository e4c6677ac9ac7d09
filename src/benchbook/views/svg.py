"""The pictures of a report, as inline SVG made by hand.

Horizontal places are percentages and vertical ones are pixels, so that a picture takes the width it is given, from a
phone to a wide screen, and its letters keep their size. Colours come from the page's style sheet, by class. Each
picture has a title and a description for screen readers; the page shows its figures as a table beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from benchbook.evaluators.document import Bar, Bin, Cell, Columns, Kind, Plot, Table, table
from benchbook.evaluators.gates import Gate
from benchbook.views import numbers
from benchbook.views.gates import extremes, gate_rule, gate_state, gate_value
from benchbook.views.markup import Html, el, join, text
from benchbook.views.words import aggregate_word

_HATCHED = frozenset({"did not pass"})


def hatching() -> Html:
    """The pattern that tells failed from passed without colour; once a page."""
    line = el("path", d="M-1,7 L7,-1 M5,9 L9,5 M-3,3 L3,-3", class_="hatch")
    pattern = el("pattern", line, id="hatch", width=6, height=6, patternUnits="userSpaceOnUse")
    return el("svg", el("defs", pattern), width=0, height=0, aria_hidden="true", class_="defs")


def gate_scale(gate: Gate) -> Html:
    """A gate's value on its scale: where it holds, its limit, its interval, its worst and best case."""
    word = aggregate_word(gate.aggregate)
    top = _gate_top(gate)
    limit = _x(gate.limit, top)
    sign, good = ("≥", (limit, 100.0)) if gate.direction == "at_least" else ("≤", (0.0, limit))
    pieces = [
        _rect((0.0, 100.0), 22, 18, "track"),
        _rect(good, 22, 18, "zone"),
        *_interval(gate, top),
        *_case_range(gate, top),
        _vline(limit, 15, 45, "limit"),
        label(limit, 10, f"{sign} {numbers.limit(word.kind, gate.limit)}", "limit-label"),
        *(label(_x(tick, top), 57, _tick(word.kind, tick), "tick") for tick in _ticks(top, 4)),
    ]
    if gate.value is not None:
        pieces.append(el("circle", cx=_percent(_x(gate.value, top)), cy=31, r=6.5, class_="value"))
    description = (
        f"{gate_value(gate, gate.value)}; the gate asks for {gate_rule(gate)}; worst to best case {extremes(gate)}; "
        f"interval {numbers.interval(word.kind, gate.interval)}. {gate_state(gate).words}."
    )
    return picture(f"gate-{gate.aggregate}", word.label, description, 62, pieces, "scale")


def histogram(plot: Plot) -> Html:
    """Bars, stacked where there are several series, with limits and values drawn in."""
    above, base = 16 + 17 * len(plot.marks), 206
    slots = sum(one.high is not None for one in plot.bins) + (1.5 if plot.bins and plot.bins[-1].high is None else 0)
    highest = max((sum(one.counts) for one in plot.bins), default=1)
    unit = step(highest, 4)
    tall = unit * ceil(highest / unit)
    scale = (base - above) / tall
    width = 100 / max(slots, 1)
    heights = [(part, base - (base - above) * part) for part in (0.5, 1.0) if tall * part == int(tall * part)]
    pieces = [el("line", x1="0%", x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid") for _, y in heights]
    for index, one in enumerate(plot.bins):
        left = (index if one.high is not None else index + 0.5) * width
        pieces += _stack(plot, one.counts, (left, left + width), base, scale)
    pieces.append(el("line", x1="0%", x2="100%", y1=base, y2=base, class_="axis"))
    pieces += [label(0, y - 4, f"{int(tall * part):,}", "tick over") for part, y in heights]
    in_range = 100 * (slots - 1.5) / slots if plot.bins and plot.bins[-1].high is None else 100.0
    pieces += [
        label(in_range * tick / plot.top, base + 15, _tick(plot.kind, tick), "tick")
        for tick in _ticks(plot.top, 4)
        if in_range == 100 or tick < 0.9 * plot.top
    ]
    if in_range < 100:
        pieces.append(label(100, base + 15, "above", "tick"))
    pieces += _marks(plot, in_range, base)
    description = f"Histogram, {plot.description}. " + "; ".join(mark.label for mark in plot.marks)
    return picture(f"plot-{plot.id}", plot.title, description, base + 22, pieces, "plot")


def plot_table(plot: Plot) -> Table:
    """The figures of a plot; empty bins are left out."""
    rows: list[Sequence[Cell]] = [[_range(plot.kind, one), *one.counts] for one in plot.bins if any(one.counts)]
    columns: Columns = {"From, below": "text", **dict.fromkeys(plot.series, "count")}
    return table(f"{plot.title}: the figures", columns, rows)


def _range(kind: Kind, one: Bin) -> str:
    low = numbers.limit(kind, one.low)
    return f"{low} and above" if one.high is None else f"{low} to {numbers.limit(kind, one.high)}"


def step(highest: float, most: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, … with which at most `most` steps reach `highest`."""
    unit = 1
    while True:
        for factor in (1, 2, 5):
            if factor * unit * most >= highest:
                return factor * unit
        unit *= 10


def parts_bar(bar: Bar) -> Html:
    """A whole as one bar of its parts; parts of no size are left out."""
    whole = sum(part.size for part in bar.parts)
    pieces, left = [_rect((0.0, 100.0), 0, 26, "track")], 0.0
    for part in bar.parts:
        if not part.size:
            continue
        right = left + 100 * part.size / whole
        tip = el("title", text(f"{part.name}: {part.size:,} of {whole:,}"))
        pieces.append(_rect((left, right), 0, 26, f"part {part.role}", tip))
        if part.name in _HATCHED:
            pieces.append(_rect((left, right), 0, 26, "hatched"))
        left = right
    description = "; ".join(f"{part.name} {part.size:,}" for part in bar.parts)
    return picture(bar.id, bar.title, description, 26, pieces, "parts")


def picture(name: str, title: str, description: str, height: int, pieces: Sequence[Html], kind: str) -> Html:
    """An SVG of these pieces, as wide as it is given room, with a title and a description for screen readers."""
    labels = (el("title", text(title), id=f"{name}-title"), el("desc", text(description), id=f"{name}-desc"))
    return el(
        "svg",
        *labels,
        *pieces,
        role="img",
        aria_labelledby=f"{name}-title",
        aria_describedby=f"{name}-desc",
        width="100%",
        height=height,
        class_=f"picture {kind}",
    )


def _gate_top(gate: Gate) -> float:
    """The right end of a gate's scale: 1 for shares that must be high, else room beyond the limit and every value."""
    if gate.direction == "at_least" and gate.limit <= 1:
        return 1.0
    shown = [gate.value, gate.worst, gate.best, *((gate.interval.low, gate.interval.high) if gate.interval else ())]
    needed = max(gate.limit * 2, *(1.08 * value for value in shown if value is not None), 0)
    if aggregate_word(gate.aggregate).kind in ("rate", "score"):
        return min(_up(needed * 100) / 100, 1.0)
    return _up(needed)


def _up(needed: float) -> float:
    """The next round number."""
    unit = step(needed, 5)
    return float(unit * ceil(needed / unit))


def _tick(kind: Kind, value: float) -> str:
    """A place on an axis, without a unit: there is little room, and the limit has it."""
    return numbers.limit("count" if kind == "ms" else kind, value)


def _ticks(top: float, most: int) -> list[float]:
    if top <= 1:
        return [round(top * part, 4) for part in (0, 0.25, 0.5, 0.75, 1)]
    unit = step(top, most)
    return [float(unit * index) for index in range(int(top // unit) + 1)]


def _interval(gate: Gate, top: float) -> list[Html]:
    found = gate.interval
    if found is None or (found.low is None and found.high is None):
        return []
    low = 0.0 if found.low is None else found.low
    high = top if found.high is None else found.high
    return [_rect((_x(low, top), _x(high, top)), 26, 10, "interval")]


def _case_range(gate: Gate, top: float) -> list[Html]:
    if gate.worst is None or gate.best is None or gate.worst == gate.best:
        return []
    left, right = sorted((_x(gate.worst, top), _x(gate.best, top)))
    line = el("line", x1=_percent(left), x2=_percent(right), y1=31, y2=31, class_="range")
    return [line, _vline(left, 26, 36, "range"), _vline(right, 26, 36, "range")]


def _stack(plot: Plot, counts: Sequence[int], span: tuple[float, float], base: float, scale: float) -> list[Html]:
    pieces, bottom = [], base
    for name, count in zip(plot.series, counts, strict=True):
        if not count:
            continue
        height = max(count * scale, 2)
        bottom -= height
        role = {"passed": "passed", "did not pass": "failed"}.get(name, "bar")
        pieces.append(_rect(span, bottom, height, f"part {role}", el("title", text(f"{name}: {count:,}"))))
        if name in _HATCHED:
            pieces.append(_rect(span, bottom, height, "hatched"))
    return pieces


def _marks(plot: Plot, in_range: float, base: int) -> list[Html]:
    """Lines, each with its label in a row of its own; labels lie over the lines that cross them."""
    lines, labels = [], []
    for row, mark in enumerate(sorted(plot.marks, key=lambda one: one.at)):
        x, y = (in_range * mark.at / plot.top if mark.at <= plot.top else 100.0), 12 + 17 * row
        lines.append(_vline(x, y - 9, base, f"mark {mark.kind}"))
        labels.append(_beside(x, y, mark.label, f"mark-label {mark.kind}"))
    return lines + labels


def _beside(x: float, y: int, words: str, kind: str) -> Html:
    """A label on that side of a line where there is more room."""
    left = x > 50
    return el("text", text(words), x=_percent(x), y=y, dx=-6 if left else 6, class_=f"{kind} {'end' if left else ''}")


def label(x: float, y: float, words: str, kind: str) -> Html:
    """Words of a picture, set so that they stay inside it."""
    side = " end" if x > 94 else " middle" if x > 6 else ""
    return el("text", text(words), x=_percent(x), y=f"{y:g}", class_=f"{kind}{side}")


def _rect(span: tuple[float, float], y: float, height: float, kind: str, *children: Html) -> Html:
    left, right = span
    return el(
        "rect",
        *children,
        x=_percent(left),
        width=_percent(max(right - left, 0)),
        y=f"{y:.1f}",
        height=f"{height:.1f}",
        class_=kind,
    )


def _vline(x: float, top: float, bottom: float, kind: str) -> Html:
    return el("line", x1=_percent(x), x2=_percent(x), y1=f"{top:g}", y2=f"{bottom:g}", class_=kind)


def _x(value: float, top: float) -> float:
    return min(max(100 * value / top, 0.0), 100.0)


def _percent(x: float) -> str:
    return f"{x:.2f}%"


def legend(entries: Sequence[tuple[str, str]]) -> Html:
    """A legend of a picture's marks, each as (class of the swatch, words)."""
    return el(
        "p",
        join(*(el("span", el("span", class_=f"swatch {role}"), text(words)) for role, words in entries)),
        class_="legend",
        aria_hidden="true",
    )
