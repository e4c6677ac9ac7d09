"""What a plot of curves shows, before it is drawn: each run's line, and what has to be said beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchbook.reports.tables import Column, Table
from benchbook.reports.words import plural
from benchbook.text import one_line
from benchbook.training.curves import Axis, Curve, CurveFault, Place, on_axis
from benchbook.training.smoothing import smooth
from benchbook.training.thinning import thin

__all__ = ["AXIS_WORDS", "DrawnCurve", "curve_remarks", "curves_table", "drawn_curves", "told"]

_MOST_POINTS = 600  # of a curve; a wide screen has no more columns for it
# A noun for a heading, the one thing that is counted, the column of a table, the name of an axis.
AXIS_WORDS: Mapping[Axis, tuple[str, str, str, str]] = {
    "step": ("step", "step", "Step", "step"),
    "tokens": ("tokens", "token", "Tokens", "tokens trained on"),
    "time": ("time", "second", "Seconds", "since the run's first point"),
}


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """A run's curve on the axis: every place, what is drawn of them, and what was trained again later."""

    run: str
    curve: Curve
    places: list[Place]
    line: list[Place]
    again: list[list[Place]]


def drawn_curves(
    runs: Mapping[str, Curve | None], axis: Axis, smoothing: float
) -> tuple[list[DrawnCurve], dict[str, str]]:
    """The runs that have a line, and of the others why not, in words."""
    drawn: list[DrawnCurve] = []
    left_out: dict[str, str] = {}
    for name, curve in runs.items():
        run = one_line(name)
        if curve is None or not curve.points:
            left_out[run] = "its trainer logged none"
            continue
        try:
            places = on_axis(curve, axis)
        except CurveFault as fault:
            left_out[run] = str(fault)
            continue
        if all(value is None for _, value in places):
            left_out[run] = "every value that was logged is NaN or infinite"
            continue
        values = smooth([value for _, value in places], smoothing)
        line = thin([(at, value) for (at, _), value in zip(places, values, strict=True)], _MOST_POINTS)
        drawn.append(DrawnCurve(run, curve, places, line, list(_again(curve, axis))))
    return drawn, left_out


def _again(curve: Curve, axis: Axis) -> Iterator[list[Place]]:
    """What later starts of the training replaced. By time it can't be laid over the curve: that clock is another."""
    if axis == "time":
        return
    for segment in curve.replaced[-3:]:
        try:
            yield thin(on_axis(Curve(curve.name, segment), axis), _MOST_POINTS // 4)
        except CurveFault:
            continue


def curve_remarks(drawn: Sequence[DrawnCurve], *, by_plot: bool = True) -> Iterator[str]:
    """What a reader would not see: gaps, points left out, and what was trained again. `by_plot`: they stand by one."""
    gaps, thin_lines = ("; the line has gaps there", ", the others are thin") if by_plot else ("", "")
    for one in drawn:
        name, not_finite = one.run, plural(one.curve.n_not_finite, "value")
        n_without = len(one.curve.points) - len(one.places)
        if one.curve.n_not_finite:
            yield f"{name}: {not_finite} logged as NaN or infinite{gaps}."
        if n_without:
            yield f"{name}: {plural(n_without, 'point')} without a place of its own on this axis left out."
        if one.curve.replaced:
            first = min(segment[0].step for segment in one.curve.replaced)
            starts = plural(len(one.curve.replaced), "time")
            yield f"{name}: trained again {starts} from step {first:,} on; the last time counts{thin_lines}."


def told(one: DrawnCurve, axis: Axis) -> str:
    """A line in words, for who can't see it."""
    (first_at, first), (low_at, low), (last_at, last) = _telling(one)
    at = AXIS_WORDS[axis][1]
    return f"{one.run}: {first} at {at} {first_at}, lowest {low} at {low_at}, last {last} at {last_at}."


def curves_table(drawn: Sequence[DrawnCurve], metric: str, axis: Axis) -> Table:
    """The figures that the lines are read for: first, lowest, last, each with its place."""
    at = AXIS_WORDS[axis][2]
    columns = [Column("Run"), Column("Points", number=True)]
    for name in ("First", "Lowest", "Last"):
        columns += [Column(name, number=True), Column(at, number=True)]
    rows = (
        (one.run, f"{len(one.places):,}", *(cell for place, value in _telling(one) for cell in (value, place)))
        for one in drawn
    )
    return Table(f"{one_line(metric)} as it was logged", tuple(columns), tuple(rows))


def _telling(one: DrawnCurve) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str]]:
    """First, lowest and last, each as (place, value); the lowest of several equals is the first."""
    known = [(at, value) for at, value in one.places if value is not None]
    low = min(known, key=lambda place: place[1])
    first, lowest, last = (_words(place) for place in (one.places[0], low, one.places[-1]))
    return first, lowest, last


def _words(place: Place) -> tuple[str, str]:
    at, value = place
    return f"{at:,.12g}", "not finite" if value is None else f"{value:.6g}"
