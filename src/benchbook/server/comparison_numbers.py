"""Compared runs in numbers: one against another, or several against the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.comparison.compared import Comparison, compare, compare_runs
from benchbook.comparison.leaderboard import leaderboard
from benchbook.server.comparison_types import ComparedSet, ContainmentCounts, MeasuredPart, MetricOfPair, Pair
from benchbook.server.comparisons import compared, found_runs, key_of, make_item_list
from benchbook.server.operations import Request
from benchbook.views.comparison_tables import metric_word, run_notices


def get_pair(call: Request) -> Pair:
    runs = found_runs(call, "pair")
    services = call.services

    def make() -> Pair:
        a, b = (compared(services, found) for found in runs)
        make_item_list(services, runs, a, b)  # filtered next, so it comes before the statistics
        return _pair(compare(a, b), None)

    return services.kept.get(("pair", *key_of(runs)), make, lambda _: 1 << 16)


def get_set(call: Request) -> ComparedSet:
    runs = found_runs(call, "set")
    services = call.services

    def make() -> ComparedSet:
        found = compare_runs([compared(services, one) for one in runs])
        pairs = tuple(_pair(pair, p) for pair, p in zip(found.pairs, found.p_holm, strict=True))
        board = found.leaderboard or (leaderboard(found.runs) if _is_one_set(found.pairs) else None)
        return ComparedSet(runs=tuple(run.name for run in found.runs), pairs=pairs, leaderboard=board)

    return services.kept.get(("set", *key_of(runs)), make, lambda _: 1 << 18)


def _is_one_set(pairs: Sequence[Comparison]) -> bool:
    return not any(part.name in ("evalset", "spec") for pair in pairs for part in pair.measured)


def _pair(found: Comparison, p_holm: float | None) -> Pair:
    inside = found.containment
    return Pair(
        a=found.a.name,
        b=found.b.name,
        n_compared=found.n_compared,
        n_left_out=found.n_left_out,
        n_unscored=found.n_unscored,
        n_unanswered_a=found.n_unanswered_a,
        n_unanswered_b=found.n_unanswered_b,
        classes=dict(found.counts),
        measured_differences=tuple(MeasuredPart(name=one.name, leaves=one.leaves) for one in found.measured),
        unknown_in_both=found.unknown,
        notices=tuple(run_notices(found, found.a.name, found.b.name)),
        score=found.score,
        p_holm=p_holm,
        verdict=found.score.verdict,
        passing=found.passing,
        metrics=tuple(_metrics(found)),
        containment=None
        if inside is None
        else ContainmentCounts(
            n_a=inside.n_a,
            n_b=inside.n_b,
            n_lost=len(inside.lost),
            n_won=len(inside.won),
            difference=inside.difference,
        ),
        slices=found.slices,
        metadata=found.metadata,
    )


def _metrics(found: Comparison) -> Iterator[MetricOfPair]:
    known = {one.name: one for one in found.a.columns.metrics}
    for one in found.metrics:
        metric = known[one.name]
        yield MetricOfPair(
            name=one.name,
            higher_is_better=one.higher_is_better,
            difference=one.difference,
            p_holm=one.p_holm,
            title=metric_word(metric),
            kind=metric.kind,
        )
