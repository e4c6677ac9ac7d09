"""Compared runs in numbers: one against another, or several against a baseline, by any metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

import msgspec

from benchbook.comparison.adjusting import adjusted
from benchbook.comparison.by_metric import (
    RunsByMetric,
    choices,
    chosen,
    differences_by_metric,
    runs_by_metric,
)
from benchbook.comparison.compared import Comparison, compare
from benchbook.comparison.difference import Difference
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.leaderboard import Leaderboard, leaderboard
from benchbook.comparison.measures import SCORE
from benchbook.server.by_people import LabelsOfRuns, labels_of, pairs_for_people, without_texts
from benchbook.server.compared_items import make_item_list
from benchbook.server.comparison_types import (
    ComparedSet,
    ContainmentCounts,
    MeasuredPart,
    MetricOfPair,
    MetricOption,
    Pair,
    PairForPeople,
)
from benchbook.server.comparisons import compared, found_runs, key_of
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import ComparedRuns, PairAsked
from benchbook.server.services import FoundRun, Services
from benchbook.text import shorten, storable
from benchbook.views.comparison_overview import metric_title
from benchbook.views.comparison_tables import metric_word, run_notices
from benchbook.views.several_runs import with_titles


def get_pair(call: Request) -> Pair:
    question: PairAsked = call.query
    services = call.services
    labels = labels_of(services, question.run)
    runs = found_runs(call, "pair", *labels.of_state)

    def make() -> Pair:
        a, b = (compared(services, found) for found in runs)
        make_item_list(services, runs, a, b)  # filtered next, so it comes before the statistics
        by = question.metric if chosen(question.metric, (a, b)).by_items else SCORE.name
        found = compare(a, b, by=by)
        (people,) = pairs_for_people(services, runs, [found], labels)
        return pair_answer(found, by, people=people)

    return services.kept.get(("pair", question.metric, labels.stamp, *key_of(runs)), make, lambda _: 1 << 16)


# ── several runs ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _SetNumbers:
    """The numbers of several runs against one, without their items; `against` by a run's name, then by metric."""

    pairs: Mapping[str, Pair]
    against: Mapping[str, Mapping[str, Difference]]
    leaderboard: Leaderboard | None


def get_set(call: Request) -> ComparedSet:
    question: ComparedRuns = call.query
    services = call.services
    labels = labels_of(services, question.run)
    runs = found_runs(call, "set", *labels.of_state)
    first = _baseline(runs, question.baseline)
    against_first = [first, *(one for one in runs if one is not first)]
    numbers: _SetNumbers = services.kept.get(
        ("set", labels.stamp, *key_of(against_first)),
        lambda: _numbers(services, against_first, labels),
        lambda _: len(runs) << 16,
    )
    rows, options = services.kept.get(
        ("by metric", question.metric, *key_of([first, *runs])),
        lambda: _by_metric(services, runs, numbers, question.metric),
        lambda _: len(runs) << 11,
    )
    return ComparedSet(
        runs=tuple(row.run for row in rows.rows),
        pairs=tuple(numbers.pairs[row.run] for row in rows.rows if row.run in numbers.pairs),
        leaderboard=numbers.leaderboard,
        baseline=storable(first.row.run_id),
        metric=rows.metric,
        metrics=options,
        rows=rows.rows,
        n_ranked=rows.n_ranked,
        unranked=rows.unranked,
    )


def _baseline(runs: Sequence[FoundRun], wanted: str | None) -> FoundRun:
    if wanted is None:
        return runs[0]
    found = next((one for one in runs if one.row.run_id == wanted), None)
    if found is None:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"baseline {shorten(wanted, 100)!r} is none of the runs that are compared"
        )
    return found


def _numbers(services: Services, runs: Sequence[FoundRun], labels: LabelsOfRuns) -> _SetNumbers:
    """Each run against the first. Items are let go of before the next pair: twenty runs may have a million each. What
    labels need of them is kept."""
    first, *others = (compared(services, one) for one in runs)
    if len(runs) == 2:
        make_item_list(services, runs, first, others[0])  # filtered next, so it comes before the statistics
    notices, pairs = [], []
    for other in others:
        pair = compare(first, other)
        notices.append(_notices(pair))
        pairs.append(without_texts(pair) if labels.folders else replace(pair, items=pair.items.clear()))
    found = adjusted(pairs)
    people = pairs_for_people(services, runs, found, labels)
    return _SetNumbers(
        pairs={
            pair.b.name: pair_answer(pair, notices=said, people=theirs)
            for pair, said, theirs in zip(found, notices, people, strict=True)
        },
        against={pair.b.name: differences_by_metric(pair) for pair in found},
        leaderboard=with_titles(leaderboard([first, *others])) if _is_one_set(found) else None,
    )


def _by_metric(
    services: Services, runs: Sequence[FoundRun], numbers: _SetNumbers, metric: str
) -> tuple[RunsByMetric, tuple[MetricOption, ...]]:
    found = [compared(services, one) for one in runs]
    against = {run: of_run[metric] for run, of_run in numbers.against.items() if metric in of_run}
    return runs_by_metric(found, against, metric), tuple(_options(found))


def _options(runs: Sequence[ComparedRun]) -> Iterator[MetricOption]:
    for one in choices(runs):
        title, kind = metric_title(one.name, runs)
        yield MetricOption(
            name=one.name, title=title, kind=kind, higher_is_better=one.higher_is_better, by_items=one.by_items
        )


def _is_one_set(pairs: Sequence[Comparison]) -> bool:
    return not any(part.name in ("evalset", "spec") for pair in pairs for part in pair.measured)


# ── a pair as an answer ──────────────────────────────────────────────────────────────────────────────────────


def _notices(found: Comparison) -> tuple[str, ...]:
    return tuple(run_notices(found, found.a.name, found.b.name))


def pair_answer(
    found: Comparison,
    metric: str = SCORE.name,
    *,
    notices: tuple[str, ...] | None = None,
    people: PairForPeople | None = None,
) -> Pair:
    """A comparison, whose slices are by `metric`, as the API answers it; `notices` where its items are let go of, and
    `people` where any of its answers are labelled."""
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
        notices=_notices(found) if notices is None else notices,
        score=found.score,
        p_holm=found.score.p_adjusted,
        verdict=found.score.verdict,
        passing=found.passing,
        passing_p_holm=None if found.passing is None else found.passing.p_adjusted,
        metric=metric,
        metrics=tuple(_metrics(found)),
        containment=None
        if inside is None
        else ContainmentCounts(
            n_a=inside.n_a,
            n_b=inside.n_b,
            n_lost=len(inside.lost),
            n_won=len(inside.won),
            difference=inside.difference,
            p_holm=inside.difference.p_adjusted,
        ),
        slices=found.slices,
        metadata=found.metadata,
        as_people_would_judge=msgspec.UNSET if people is None else people,
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
