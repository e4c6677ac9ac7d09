"""The aggregates of R4 by name: what a rubric has, and where each one's data are.

Callers ask for an aggregate here, and know no names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_type_hints

import msgspec

from benchbook.evaluators.exact import NANO, as_float, mean, ratio
from benchbook.evaluators.made import Made, made
from benchbook.evaluators.rubric.aggregate_kinds import (
    Aggregate,
    AggregateSums,
    Bounded,
    Exact,
    OfSamples,
    Percentile,
    TokenRatio,
)
from benchbook.evaluators.rubric.criteria import Criterion, Shown
from benchbook.evaluators.rubric.scoring import MetCounts, RubricScore, SampleOutcome
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.tally import Case, ClusterSums, RubricTally

PER_CORRECT = "tokens_per_correct_answer"


def table_of(spec: RubricSpec) -> Mapping[str, Aggregate]:
    """Every aggregate of a rubric, in the order in which they are written."""
    return _table(spec.criteria, spec.correct, spec.measures_cost)


def bounded(spec: RubricSpec, name: str) -> Bounded:
    """An aggregate that has a bound, by its name."""
    one = table_of(spec)[name]
    assert isinstance(one, OfSamples | Percentile)  # noqa: S101 - nobody asks for a bound of what is exact
    return one


def is_bounded(spec: RubricSpec, name: str) -> bool:
    return isinstance(table_of(spec)[name], OfSamples | Percentile)


def is_unmeasured(spec: RubricSpec, name: str) -> bool:
    """True if an aggregate is made of what was declared unmeasured: a gate on it neither holds nor fails (R1.4)."""
    return table_of(spec)[name].measure in spec.unmeasured


@cache
def _table(criteria: tuple[Criterion, ...], correct: str | None, costs: bool) -> Mapping[str, Aggregate]:
    return {one.name: one for one in _aggregates(criteria, correct, costs)}


def _aggregates(criteria: tuple[Criterion, ...], correct: str | None, costs: bool) -> Iterator[Aggregate]:
    yield Exact("n_samples", lambda one: one.n_samples)
    yield Exact("n_scored", lambda one: one.n_scored)
    yield Exact("n_unscored", lambda one: one.n_samples - one.n_scored)
    yield Exact("n_no_answer", lambda one: one.n_no_answer)
    yield Exact("n_unanswered", lambda one: one.n_unanswered)
    yield Exact("n_timed_out", lambda one: one.n_timed_out)
    for number, criterion in enumerate(criteria):
        for shown in criterion.shown:
            yield _of_criterion(number, criterion, shown)
    for field in ("e2e", "model"):
        for hundredths in (50, 95):
            yield Percentile(f"latency_{field}_p{hundredths}_ms", field, hundredths)
    yield Exact("total_input_tokens", lambda one: one.input_tokens, measure="tokens")
    yield Exact("total_output_tokens", lambda one: one.output_tokens, measure="tokens")
    yield Exact("total_tokens", lambda one: one.total_tokens, measure="tokens")
    yield TokenRatio("token_efficiency_ratio_mean")
    for number, criterion in enumerate(criteria):
        if criterion.name == correct:
            yield Exact(PER_CORRECT, _tokens_per_correct(number, criterion.highest), float, "tokens")
    yield _PASS_RATE
    yield _AGGREGATE_SCORE
    yield _ERROR_RATE
    for number, criterion in enumerate(one for one in criteria if one.quote == "report"):
        yield _quotes_found(f"{criterion.name}_quote_found_rate", number)
    for criterion in criteria:
        for place, what in enumerate(MetCounts._fields if criterion.by_item else ()):
            yield Exact(f"{criterion.name}_{what}", _met(place))
    if costs:
        yield Exact("cost_mean_usd", _cost_mean, float | None, "cost")


def _met(place: int) -> Callable[[RubricTally], int]:
    return lambda tally: 0 if tally.further is None else tally.further.met[place]


def _cost_mean(tally: RubricTally) -> float | None:
    found = tally.further
    return None if found is None else as_float(mean(found.cost_nano_usd, found.n_costs))


def _quotes_found(name: str, number: int) -> OfSamples:
    """The share of a criterion's quotes that were found; `number` is its place among those whose quotes are counted."""

    def sums(tally: RubricTally, case: Case) -> AggregateSums:
        del case  # a quote is a fact, whatever else is said
        n, n_found = (0, 0) if tally.further is None else tally.further.quotes[number]
        return AggregateSums.of_share(n_found, n)

    def of_cluster(cluster: ClusterSums) -> tuple[int, int, int]:
        n, n_found = (0, 0) if cluster.further is None else cluster.further.quotes[number]
        return n, n_found, n_found

    def of_sample(outcome: SampleOutcome, _: RubricScore) -> int | None:
        found = outcome.further.quotes_found[number] if outcome.further is not None else None
        return None if found is None else int(found)

    return OfSamples(name, sums, of_cluster, of_sample, is_open=False)


def _tokens_per_correct(number: int, highest: int) -> Callable[[RubricTally], float]:
    return lambda one: (ratio(one.total_tokens, max(one.counts[number][highest], 1)) or 0) / NANO


# ── of all criteria together ─────────────────────────────────────────────────────────────────────────────────


def _sample_scores(tally: RubricTally, case: Case) -> AggregateSums:
    extreme = tally.extreme(case)
    parts = [tally.spread] if extreme is None else [tally.spread, extreme.spread]
    return AggregateSums(
        n=tally.n_scored + (0 if extreme is None else extreme.n_scored),
        total=tally.score_nano + (0 if extreme is None else extreme.score_nano),
        squares=sum(part.squares for part in parts),
        least=min((part.least for part in parts if part.least is not None), default=0),
        most=max((part.most for part in parts if part.most is not None), default=0),
    )


def _passed(tally: RubricTally, case: Case) -> AggregateSums:
    extreme = tally.extreme(case)
    return AggregateSums.of_share(tally.n_passed + (0 if extreme is None else extreme.n_passed), tally.n_samples)


_AGGREGATE_SCORE = OfSamples(
    "aggregate_score",
    _sample_scores,
    lambda cluster: (cluster.n_scored, cluster.score_nano, cluster.score_nano_squared),
    lambda _, scored: scored.sample_score_nano,
    unit=NANO,
    is_rate=False,
)
_PASS_RATE = OfSamples(
    "pass_rate",
    _passed,
    lambda cluster: (cluster.n_samples, cluster.n_passed, cluster.n_passed),
    lambda _, scored: int(scored.passed),
)
_ERROR_RATE = OfSamples(
    "evaluator_error_rate",
    lambda tally, _: AggregateSums.of_share(tally.n_evaluator_errors, tally.n_samples),
    lambda cluster: (cluster.n_samples, cluster.n_errors, cluster.n_errors),
    lambda outcome, _: int(outcome.evaluator_error is not None),
    is_open=False,  # an error is a fact, whatever the score would have been
    low_is_good=True,
)


# ── of one criterion ─────────────────────────────────────────────────────────────────────────────────────────


def _of_criterion(number: int, criterion: Criterion, shown: Shown) -> OfSamples:
    name = f"{criterion.name}_{shown}"
    if shown == "mean":
        return _mean_of(name, number, criterion)
    at, end = (criterion.lowest, "n_lowest") if shown == "failure_rate" else (criterion.highest, "n_highest")
    return _share_of(name, number, at, end)  # type: ignore[arg-type]


def _counted(tally: RubricTally, number: int, case: Case) -> Counter[int]:
    """How often each score was given, with what unscored samples are taken at."""
    counts, extreme = tally.counts[number], tally.extreme(case)
    if extreme is None or not extreme.n_scored:
        return counts
    return counts + Counter({extreme.scores[number]: extreme.n_scored})


def _mean_of(name: str, number: int, criterion: Criterion) -> OfSamples:
    lowest, span = criterion.lowest, criterion.span
    shown = 1 if criterion.by_item else span  # what the mean is of: of nano-units, a share of 1

    def sums(tally: RubricTally, case: Case) -> AggregateSums:
        steps = {score - lowest: n for score, n in _counted(tally, number, case).items() if n}
        return AggregateSums(
            n=sum(steps.values()),
            total=sum(step * n for step, n in steps.items()),
            squares=sum(step**2 * n for step, n in steps.items()),
            least=min(steps, default=0),
            most=max(steps, default=0),
        )

    def of_cluster(cluster: ClusterSums) -> tuple[int, int, int]:
        found = cluster.criteria[number]
        return found.n, found.total, found.squares

    def of_sample(outcome: SampleOutcome, _: RubricScore) -> int | None:
        score = outcome.scores[number]
        return None if score is None else score - lowest

    return OfSamples(name, sums, of_cluster, of_sample, unit=span, lowest=lowest, span=shown, is_rate=False, of=number)


def _share_of(name: str, number: int, at: int, end: Literal["n_lowest", "n_highest"]) -> OfSamples:
    """The share of samples whose score is one end of the scale."""

    def sums(tally: RubricTally, case: Case) -> AggregateSums:
        counts = _counted(tally, number, case)
        return AggregateSums.of_share(counts[at], counts.total())

    def of_cluster(cluster: ClusterSums) -> tuple[int, int, int]:
        found = cluster.criteria[number]
        n: int = getattr(found, end)
        return found.n, n, n

    def of_sample(outcome: SampleOutcome, _: RubricScore) -> int | None:
        score = outcome.scores[number]
        return None if score is None else int(score == at)

    return OfSamples(name, sums, of_cluster, of_sample, of=number, low_is_good=end == "n_lowest")


# ── as a struct ──────────────────────────────────────────────────────────────────────────────────────────────


class RubricAggregates(Made, frozen=True, kw_only=True):
    """The aggregates. Rates and means are null where nothing was counted; latencies in milliseconds."""

    # Those of the criteria go by the rubric; `aggregates_type` makes the struct.

    __slots__ = ()

    n_samples: int
    n_scored: int
    n_unscored: int
    n_no_answer: int
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET  # left out before derivation 3
    n_timed_out: int
    latency_e2e_p50_ms: float | None
    latency_e2e_p95_ms: float | None
    latency_model_p50_ms: float | None
    latency_model_p95_ms: float | None
    total_input_tokens: int
    total_output_tokens: int
    total_tokens: int
    token_efficiency_ratio_mean: float | None
    pass_rate: float | None
    aggregate_score: float | None
    evaluator_error_rate: float | None


def aggregates_type(spec: RubricSpec) -> type[RubricAggregates]:
    """The type of a rubric's aggregates."""
    return _type_of(spec.criteria, spec.correct, spec.measures_cost)


@cache
def _type_of(criteria: tuple[Criterion, ...], correct: str | None, costs: bool) -> type[RubricAggregates]:
    of_criteria = [
        (name, one.kind)
        for name, one in _table(criteria, correct, costs).items()
        if isinstance(one, OfSamples) and one.of is not None
    ]
    per_correct = [] if correct is None else [(PER_CORRECT, float)]
    known = {*get_type_hints(RubricAggregates), PER_CORRECT, *(name for name, _ in of_criteria)}
    further = [(name, one.kind) for name, one in _table(criteria, correct, costs).items() if name not in known]
    return made(
        RubricAggregates,
        {"n_timed_out": of_criteria, "token_efficiency_ratio_mean": per_correct, "evaluator_error_rate": further},
    )


def aggregates_of(tally: RubricTally) -> RubricAggregates:
    """All aggregates of the samples that were added so far."""
    values: dict[str, Any] = {name: one.value(tally) for name, one in table_of(tally.spec).items()}
    return aggregates_type(tally.spec)(**values)
