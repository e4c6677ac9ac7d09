"""Loss curves over one another, as SVG: light and dark by the page's palette, told apart by dashes as well as colours.

A run without metrics is said in words beside the plot, and where no run has any there is no plot. The figures that a
plot is read for stand in a table, for readers who can't see it. `CURVES_CSS` goes into the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, floor, isfinite, log10

from benchbook.evaluators.document import Cell, Column, Table
from benchbook.text import one_line, plural
from benchbook.training.curves import Curve, MetricPoint, Place, thin
from benchbook.views.markup import Html, el, table_html, text
from benchbook.views.svg import label, picture

_MOST_POINTS = 600  # of a curve; a wide screen has no more columns for it


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A run's curve: every place, what is drawn of them, and what was trained again later."""

    run: str
    curve: Curve
    places: list[Place]
    line: list[Place]
    again: list[list[Place]]


def _drawn_curves(runs: Mapping[str, Curve | None]) -> tuple[list[_Drawn], dict[str, str]]:
    """The runs that have a line, and the reason why each of the others has none."""
    drawn: list[_Drawn] = []
    left_out: dict[str, str] = {}
    for name, curve in runs.items():
        run = one_line(name)
        if curve is None or not curve.points:
            left_out[run] = "its trainer logged none"
        elif curve.n_not_finite == len(curve.points):
            left_out[run] = "every value that was logged is NaN or infinite"
        else:
            places = _places(curve.points)
            again = [thin(_places(segment), _MOST_POINTS // 4) for segment in curve.replaced[-3:] if segment]
            drawn.append(_Drawn(run, curve, places, thin(places, _MOST_POINTS), again))
    return drawn, left_out


def _places(points: Sequence[MetricPoint]) -> list[Place]:
    return [(float(point.step), point.value) for point in points]


def _curve_remarks(drawn: Sequence[_Drawn], *, by_plot: bool = True) -> Iterator[str]:
    """Remarks on gaps in a curve and on steps trained again. `by_plot`: they stand beside a plot."""
    gaps, thin_lines = ("; the line has gaps there", ", the others are thin") if by_plot else ("", "")
    for one in drawn:
        if n := one.curve.n_not_finite:
            yield f"{one.run}: {plural(n, 'value')} logged as NaN or infinite{gaps}."
        if one.curve.replaced:
            first = min(segment[0].step for segment in one.curve.replaced)
            starts = plural(len(one.curve.replaced), "time")
            yield f"{one.run}: trained again {starts} from step {first:,} on; the last time counts{thin_lines}."


def _told(one: _Drawn) -> str:
    """A line in words, for readers who can't see it."""
    (first_at, first), (low_at, low), (last_at, last) = _telling(one)
    return f"{one.run}: {first} at step {first_at}, lowest {low} at {low_at}, last {last} at {last_at}."


def _curves_table(drawn: Sequence[_Drawn], caption: str) -> Table:
    """The figures that the lines are read for: first, lowest, last, each with its place."""
    columns = [Column("Run"), Column("Points", "count")]
    for name in ("First", "Lowest", "Last"):
        columns += [Column(name, "number"), Column("Step", "number")]
    rows: list[Sequence[Cell]] = [
        [one.run, len(one.places), *(cell for place, value in _telling(one) for cell in (value, place))]
        for one in drawn
    ]
    return Table(f"{caption} as it was logged", tuple(columns), tuple(rows))


def training_table(curves: Mapping[str, Curve | None]) -> Table:
    """Each run's training loss: first, lowest and last."""
    return _curves_table(_drawn_curves(curves)[0], "Training loss")


def training_remarks(curves: Mapping[str, Curve | None]) -> Iterator[str]:
    """Remarks on what the table of losses leaves out: gaps, restarts, and runs without a curve."""
    drawn, left_out = _drawn_curves(curves)
    yield from _curve_remarks(drawn, by_plot=False)
    yield from (f"{run}: no training loss, {why}." for run, why in left_out.items())


def _telling(one: _Drawn) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str]]:
    """First, lowest and last, each as (place, value); the lowest of several equals is the first."""
    known = [(at, value) for at, value in one.places if value is not None]
    low = min(known, key=lambda place: place[1])
    first, lowest, last = (_words(place) for place in (one.places[0], low, one.places[-1]))
    return first, lowest, last


def _words(place: Place) -> tuple[str, str]:
    at, value = place
    return f"{at:,.12g}", "not finite" if value is None else f"{value:.6g}"


MOST_CURVES = 12  # more of them can't be told apart
_COLOURS = ("value", "unscored", "silent", "passed", "failed", "absent")
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "12 4")
_TOP, _HEIGHT = 10, 220  # pixels
_GRID = 1000  # units of the inner picture, which is stretched to the width of the page

CURVES_CSS = "".join(
    [
        ".curves p+.table{margin-top:1rem}",
        ".curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.curve.again{stroke-width:1;opacity:.55}",
        ".curve-legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;font-size:.8125rem}",
        *(
            f".curve-{n}{{stroke:var(--{_COLOURS[n % len(_COLOURS)]});stroke-dasharray:{_DASHES[n % len(_DASHES)]}}}"
            f".curve-dot-{n}{{fill:var(--{_COLOURS[n % len(_COLOURS)]})}}"
            for n in range(MOST_CURVES)
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Scales places and values to the inner picture's units; by halves, so that no difference overflows."""

    left: float
    right: float
    low: float
    high: float

    def x(self, place: float) -> float:
        return _GRID * _part(place, self.left, self.right)

    def y(self, value: float) -> float:
        return _GRID * (1 - _part(value, self.low, self.high))


def curves_figure(runs: Mapping[str, Curve | None]) -> Html:
    """The training loss of several runs, by their names, over the step. None is a run whose trainer logged none."""
    drawn, left_out = _drawn_curves(runs)
    shown, too_many = drawn[:MOST_CURVES], drawn[MOST_CURVES:]
    caption = el("figcaption", el("h3", text("loss by step")))
    remarks = [*_curve_remarks(shown), *(f"{run}: not drawn, {why}." for run, why in left_out.items())]
    if too_many:
        remarks.append(f"{plural(len(too_many), 'further run')} not drawn: {', '.join(one.run for one in too_many)}.")
    if not shown:
        remarks.append("No run has a curve of loss, so there is nothing to draw.")
    words = [el("p", text(remark), class_="quiet") for remark in remarks]
    if not shown:
        return el("figure", caption, *words, class_="curves")
    table = table_html(_curves_table(shown, "loss"))
    return el("figure", caption, _plot(shown), _legend(shown), *words, table, class_="curves")


def _plot(drawn: Sequence[_Drawn]) -> Html:
    scale = _scale(drawn)
    inner = el(
        "svg",
        *(piece for n, one in enumerate(drawn) for piece in _lines(n, one, scale)),
        x="0%", y=_TOP, width="100%", height=_HEIGHT, viewBox=f"0 0 {_GRID} {_GRID}", preserveAspectRatio="none",
        overflow="visible",
    )  # fmt: skip
    dots = [dot for n, one in enumerate(drawn) for dot in _dots(n, one, scale)]
    base = _TOP + _HEIGHT
    axis_line = el("line", x1="0%", x2="100%", y1=base, y2=base, class_="axis")
    x_ticks = [
        label(scale.x(tick) / 10, base + 15, _tick(tick), "tick") for tick in _ticks(scale.left, scale.right, least=1)
    ]
    lines, y_ticks = _grid(scale)
    pieces = [*lines, axis_line, inner, *dots, *y_ticks, *x_ticks, label(50, base + 31, "step", "tick")]
    title = f"loss by step, {plural(len(drawn), 'run')}"
    return picture("curves", title, " ".join(map(_told, drawn)), base + 36, pieces, "plot")


def _scale(drawn: Sequence[_Drawn]) -> _Scale:
    lines = [line for one in drawn for line in (one.line, *one.again)]
    known = [value for line in lines for _, value in line if value is not None]
    at = [place for line in lines for place, _ in line]
    return _Scale(min(at), max(at), min(known), max(known))


def _part(value: float, low: float, high: float) -> float:
    return 0.5 if low == high else (value / 2 - low / 2) / (high / 2 - low / 2)


def _lines(n: int, one: _Drawn, scale: _Scale) -> Iterator[Html]:
    for line, kind in [*((line, f"curve again curve-{n}") for line in one.again), (one.line, f"curve curve-{n}")]:
        path = " ".join(_path(stretch, scale) for stretch in _stretches(line) if len(stretch) > 1)
        if path:
            yield el("path", d=path, class_=kind, vector_effect="non-scaling-stroke")


def _path(stretch: Sequence[tuple[float, float]], scale: _Scale) -> str:
    return "M" + " L".join(f"{scale.x(at):.1f},{scale.y(value):.1f}" for at, value in stretch)


def _dots(n: int, one: _Drawn, scale: _Scale) -> Iterator[Html]:
    """Values between two gaps, and a run's only one: no line would show them."""
    for stretch in _stretches(one.line):
        if len(stretch) == 1:
            at, value = stretch[0]
            y = _TOP + _HEIGHT * scale.y(value) / _GRID
            yield el("circle", cx=f"{scale.x(at) / 10:.2f}%", cy=f"{y:.1f}", r=3.5, class_=f"curve-dot-{n}")


def _stretches(line: Sequence[Place]) -> Iterator[list[tuple[float, float]]]:
    for is_known, found in groupby(line, key=lambda place: place[1] is not None):
        if is_known:
            yield [(at, value) for at, value in found if value is not None]


def _grid(scale: _Scale) -> tuple[list[Html], list[Html]]:
    """Lines to lie under the curves, and their labels to lie over them."""
    lines, labels = [], []
    for tick in _ticks(scale.low, scale.high):
        y = _TOP + _HEIGHT * scale.y(tick) / _GRID
        lines.append(el("line", x1="0%", x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid"))
        labels.append(label(0, y - 4, _tick(tick), "tick mark-label"))
    return lines, labels


def _ticks(low: float, high: float, *, least: float = 0) -> list[float]:
    """Round numbers within a range, three to seven, at least `least` apart; its ends where there are no such."""
    span = high - low
    if not isfinite(span) or span <= abs(high) * 1e-9:
        return sorted({low, high})
    power = 10.0 ** floor(log10(span / 3))
    unit = next((factor * power for factor in (5, 2) if span / (factor * power) >= 3), power)
    unit = max(unit, least)
    return [float(f"{n * unit:.9g}") for n in range(ceil(low / unit), floor(high / unit) + 1)]


def _tick(at: float) -> str:
    return f"{int(at):,}" if at == int(at) and abs(at) < 1e12 else f"{at:.6g}"


def _legend(drawn: Sequence[_Drawn]) -> Html:
    def swatch(n: int) -> Html:
        line = el("line", x1=1, x2=27, y1=5, y2=5, class_=f"curve curve-{n}")
        return el("svg", line, width=28, height=10, aria_hidden="true")

    entries = (el("li", swatch(n), text(" "), el("bdi", text(one.run))) for n, one in enumerate(drawn))
    return el("ul", *entries, class_="curve-legend")
