"""The distributions that a report draws, as data: bins, counts, and the limits drawn in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

from benchbook.evaluators.gates import thresholds
from benchbook.evaluators.rubric.scoring import rubric_scale
from benchbook.views import numbers
from benchbook.views.digest import SCORE_BINS, Digest, Spread
from benchbook.views.model import RunReport
from benchbook.views.numbers import Kind
from benchbook.views.tables import Column, Table

__all__ = ["Bin", "Mark", "Plot", "plot_table", "plots", "step"]


_MOST_BINS = 25


@dataclass(frozen=True, slots=True)
class Bin:
    """`low <= value < high`; `high` is None for the bin of everything above."""

    low: float
    high: float | None
    counts: tuple[int, ...]  # one per series


@dataclass(frozen=True, slots=True)
class Mark:
    """A line drawn in: a limit of the spec, or a value of this run."""

    at: float
    label: str
    kind: Literal["limit", "value"]


@dataclass(frozen=True, slots=True)
class Plot:
    """A histogram. `top` is the right end of its axis; what lies above is in a last bin of its own."""

    id: str
    title: str
    description: str
    kind: Kind
    series: tuple[str, ...]
    bins: tuple[Bin, ...]
    marks: tuple[Mark, ...]
    top: float
    n: int


def plots(report: RunReport, digest: Digest) -> tuple[Plot, ...]:
    """Scores, latencies, tokens."""
    return (_scores(report, digest), _latencies(report, digest), _tokens(report, digest))


def plot_table(plot: Plot) -> Table:
    """The figures of a plot; empty bins are left out."""
    rows = tuple(
        (_range(plot.kind, one), *(numbers.count(count) for count in one.counts))
        for one in plot.bins
        if any(one.counts)
    )
    columns = (Column("From, below"), *(Column(name, number=True) for name in plot.series))
    return Table(f"{plot.title}: the figures", columns, rows)


def step(highest: float, most: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, … with which at most `most` steps reach `highest`."""
    unit = 1
    while True:
        for factor in (1, 2, 5):
            if factor * unit * most >= highest:
                return factor * unit
        unit *= 10


def _range(kind: Kind, one: Bin) -> str:
    low = numbers.limit(kind, one.low)
    return f"{low} and above" if one.high is None else f"{low} to {numbers.limit(kind, one.high)}"


def _gate_limit(aggregate: str) -> float:
    return next(one.limit for one in thresholds() if one.aggregate == aggregate)


def _scores(report: RunReport, digest: Digest) -> Plot:
    bins = tuple(
        Bin(
            index / SCORE_BINS,
            (index + 1) / SCORE_BINS,
            (digest.scores_passed[index], digest.scores_failed[index]),
        )
        for index in range(SCORE_BINS)
    )
    n = digest.scores_passed.total() + digest.scores_failed.total()
    gate, mean = _gate_limit("aggregate_score"), report.aggregates.aggregates.aggregate_score
    marks = [Mark(gate, f"the mean's gate ≥ {numbers.limit('score', gate)}", "limit")]
    if mean is not None:
        marks.append(Mark(mean, f"mean {numbers.show('score', mean, apart_from=gate)}", "value"))
    description = _told(n, "scored samples", digest.n_rows - n, "have no score")
    return Plot("scores", "Sample scores", description, "score", ("passed", "did not pass"), bins, tuple(marks), 1.0, n)


def _latencies(report: RunReport, digest: Digest) -> Plot:
    spread, totals = digest.latency_e2e_ms, report.aggregates.aggregates
    gate, limit = _gate_limit("latency_e2e_p95_ms"), rubric_scale().max_latency_e2e_ms
    marks = [
        Mark(limit, f"a sample's limit {numbers.limit('ms', limit)}", "limit"),
        Mark(gate, f"p95's gate ≤ {numbers.limit('ms', gate)}", "limit"),
    ]
    if totals.latency_e2e_p95_ms is not None:
        shown = numbers.show("ms", totals.latency_e2e_p95_ms, apart_from=gate)
        marks.append(Mark(totals.latency_e2e_p95_ms, f"p95 {shown}", "value"))
    description = _told(spread.n, "samples, milliseconds", digest.n_rows - spread.n, "were not measured")
    return _spread_plot(
        ("latency", "Latency end to end", description, "ms"), spread, max(gate, limit) * 1.2, tuple(marks)
    )


def _tokens(report: RunReport, digest: Digest) -> Plot:
    del report
    spread, limit = digest.total_tokens, rubric_scale().max_total_tokens
    marks = (Mark(limit, f"a sample's limit {numbers.limit('tokens', limit)}", "limit"),)
    description = _told(spread.n, "samples", digest.n_rows - spread.n, "have no token count")
    return _spread_plot(("tokens", "Tokens, input and output", description, "tokens"), spread, limit * 1.2, marks)


def _told(n: int, what: str, n_without: int, lack: str) -> str:
    return f"n = {n:,} {what}" + (f"; {n_without:,} {lack}" if n_without else "")


def _spread_plot(words: tuple[str, str, str, Kind], spread: Spread, at_least: float, marks: tuple[Mark, ...]) -> Plot:
    """Bins from 0 to beyond the limits and the 95th percentile, and one bin for what lies above."""
    needed = max(at_least, 1.25 * spread.below(0.95) + 1)
    width = step(needed, _MOST_BINS)
    n_bins = ceil(needed / width)
    counts = _counted(spread.counts, width, n_bins)
    bins = [Bin(index * width, (index + 1) * width, (counts[index],)) for index in range(n_bins)]
    if counts[n_bins]:
        bins.append(Bin(n_bins * width, None, (counts[n_bins],)))
    name, title, description, kind = words
    return Plot(name, title, description, kind, ("samples",), tuple(bins), marks, float(n_bins * width), spread.n)


def _counted(counts: Mapping[int, int], width: int, n_bins: int) -> list[int]:
    result = [0] * (n_bins + 1)
    for value, count in counts.items():
        result[min(value // width, n_bins)] += count
    return result
