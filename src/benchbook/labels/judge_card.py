"""A judge's card: a run and people's labels of it, brought together into all that is known of the judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.rubric.aggregate_kinds import OfSamples
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.evaluator import RubricEvaluator
from benchbook.evaluators.rubric.row import further_of, row_type, scores_of
from benchbook.evaluators.rubric.rows import AggregatesFile, EarlyStop, RubricRow
from benchbook.evaluators.rubric.scoring import SampleOutcome
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.tables import Derived
from benchbook.labels.calibration import SampleCounts, agreements, calibrate
from benchbook.labels.calibration_corrected import GoldScores
from benchbook.labels.calibration_results import AgreementName, Calibration, JudgedSample
from benchbook.labels.carried import CarriedFrom, LabelsOfRun, labels_of_run
from benchbook.labels.labels import LabelBook
from benchbook.labels.sheet import derived_anew, is_as_drawn
from benchbook.record.facts import DrawnStratum
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows
from benchbook.statistics import Agreement, Estimate, cohens_kappa, wilson

__all__ = [
    "BetweenPeople",
    "JudgeCard",
    "JudgeCost",
    "LabelSource",
    "Retest",
    "Validity",
    "between_people",
    "has_judge_card",
    "judge_card",
]


_SLICES = ("section", "category", "difficulty")


class BetweenPeople(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of two people over the `n_twice` samples that both labelled, each without seeing the other's scores."""

    n_twice: dict[str, int]  # this, and all that follows, by criterion
    agreement: dict[str, dict[AgreementName, Agreement]]


class LabelSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where the labels come from. `between_people` is over samples that two people labelled independently."""

    sha256: str
    n_drawn: int
    as_drawn: bool  # the samples are those that the seed draws; else somebody chose them
    seed: int
    stratify: list[str]
    strata: dict[str, DrawnStratum]
    n_labellers: int
    n_twice: dict[str, int]
    n_adjudicated: dict[str, int]
    n_disputed: dict[str, int]  # open: they count as not labelled
    between_people: dict[str, dict[AgreementName, Agreement]]
    carried: CarriedFrom | msgspec.UnsetType = msgspec.UNSET  # left out where they were drawn from this run


class Validity(msgspec.Struct, frozen=True, kw_only=True):
    """How often the judge's reply could be read (SPEC R3)."""

    n_asked: int
    n_valid: int
    share: Estimate
    invalid_by_reason: dict[str, int]
    parse_retries: int


class Retest(msgspec.Struct, frozen=True, kw_only=True):
    """How the judge scored the same answer to the same item when it saw it again, in another repeat."""

    n_items: int
    same_scores: Estimate  # the share of items with all scores the same
    kappa: dict[str, Agreement]  # with quadratic weights


class JudgeCost(msgspec.Struct, frozen=True, kw_only=True):
    """What judging took; None where nobody told."""

    usd: str | None
    input_tokens: int
    output_tokens: int
    latency_p50_ms: float | None


class JudgeCard(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a judge from one run and people's labels of it."""

    judge_model_id: str
    judge_model_version: str | None
    spec: str
    run_id: str
    run_sha256: str
    model_id: str
    dataset_id: str
    labels: LabelSource
    validity: Validity
    evidence: str | None  # None: this evaluator asks for none
    retest: Retest
    calibration: Calibration
    cost: JudgeCost


def has_judge_card(record: Record) -> bool:
    """Whether a run has all that a judge's card says: a judge, and a decision by the gates of a rubric.

    Where a criterion need not apply, an aggregate is over other samples by the judge than by people; and of quotes, or
    of an item's own criteria, people say nothing. That can't be corrected as here: such a run has an answer card.
    """
    return _rubric_of(record) is not None


def _rubric_of(record: Record) -> RubricSpec | None:
    """The rubric of a run that has a judge's card."""
    evaluator = evaluator_of(record)
    if not isinstance(evaluator, RubricEvaluator):
        return None
    spec = evaluator.spec
    is_more = spec.by_item or spec.counted_quotes or any(one.may_not_apply for one in spec.criteria)
    return None if is_more else spec


def judge_card(
    record: Record, book: LabelBook, *, confidence: float = 0.95, seed: int = 0, n_resamples: int = 10_000
) -> JudgeCard:
    """Derive the run again, hold its judge against the labels, and say what follows.

    Raises: UsageError for a run of another evaluator, and where the labels are of none of its answers.
    """
    spec = _rubric_of(record)
    if spec is None:
        what = f"was scored under {record.started().spec}; a judge's card is of a rubric whose criteria always apply"
        raise UsageError(f"{record.path}: {what}")
    with derived_anew(record) as run:
        derived, samples = cast("Derived", run.derived), run.samples
        manifest, file = derived.manifest, derived.aggregates
        labels = labels_of_run(book, run)
        judged = _judged(samples, spec, clustered=manifest.repeats > 1)
        retest = _retest(samples, spec, confidence, seed, n_resamples)
        as_drawn = labels.carried is None and is_as_drawn(run, book.started)
    calibration = calibrate(
        judged,
        _gold(labels, spec),
        spec.without(manifest.unmeasured),
        frozen=derived.decision,
        counted=_counted(derived, spec),
        confidence=confidence,
        seed=seed,
        n_resamples=n_resamples,
    )
    return JudgeCard(
        judge_model_id=manifest.evaluator_model_id,
        judge_model_version=manifest.evaluator_model_version,
        spec=manifest.spec,
        run_id=manifest.run_id,
        run_sha256=manifest.journal_sha256,
        model_id=manifest.model_id,
        dataset_id=manifest.dataset_id,
        labels=_label_source(book, labels.carried, as_drawn, confidence, seed, n_resamples),
        validity=_validity(derived, len(judged), confidence),
        evidence=None,
        retest=retest,
        calibration=calibration,
        cost=JudgeCost(
            usd=file.evaluator_cost_usd,
            input_tokens=file.evaluator_input_tokens,
            output_tokens=file.evaluator_output_tokens,
            latency_p50_ms=file.evaluator_latency_p50_ms,
        ),
    )


def _gold(labels: LabelsOfRun, spec: RubricSpec) -> GoldScores:
    """People's scores by the rubric's criteria, which apply to every answer: that one does not is no score."""
    names = {one.score_key for one in spec.criteria}
    return {
        sample: {name: score for name, score in said.items() if name in names and score is not None}
        for sample, said in labels.gold.items()
    }


def _judged_rows(samples: Path, spec: RubricSpec) -> Iterator[RubricRow]:
    """Those that a judge scored by all criteria; a rule's zero is nobody's judgement (R1.3).

    They are read as far as the card goes: columns of later forms are passed over.
    """
    for row in read_rows(samples, row_type(spec, panel=False, caused=False)):
        if None not in scores_of(row, spec) and row.score_origin is None:
            yield row


def _judged(samples: Path, spec: RubricSpec, *, clustered: bool) -> list[JudgedSample]:
    """The samples that the judge scored. They are in clusters where any has a group, or items have repeats."""
    rows = [_judged_sample(row, spec) for row in _judged_rows(samples, spec)]
    if clustered or any(group is not None for _, group in rows):
        return [_in_cluster(one, f"item {one.item_id}" if group is None else f"group {group}") for one, group in rows]
    return [one for one, _ in rows]


def _judged_sample(row: RubricRow, spec: RubricSpec) -> tuple[JudgedSample, str | None]:
    outcome = SampleOutcome(
        scores=scores_of(row, spec),
        latency_e2e_ms=row.latency_e2e_ms,
        latency_model_ms=row.latency_model_ms,
        timed_out=row.timed_out,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        further=further_of(row, spec),
    )
    slices = {name: value for name in _SLICES if (value := getattr(row, name)) is not None}
    return JudgedSample(row.sample, row.item_id, outcome, len(row.candidate_answer or ""), slices), row.group


def _in_cluster(one: JudgedSample, cluster: str) -> JudgedSample:
    return JudgedSample(one.sample, one.item_id, one.outcome, one.answer_chars, one.slices, cluster)


def _counted(derived: Derived, spec: RubricSpec) -> SampleCounts:
    file = derived.aggregates
    by_number = [sum(getattr(file, f"{one.name}_counts").values()) for one in spec.criteria]
    return SampleCounts(
        n_samples=file.aggregates.n_samples,
        n_scored=file.aggregates.n_scored,
        n_unscored=file.ledger.n_unscored,
        by_criterion={
            name: by_number[one.of]
            for name, one in table_of(spec).items()
            if isinstance(one, OfSamples) and one.of is not None
        },
        is_whole=derived.manifest.state == "complete"
        and (file.ledger.n_attempted >= file.ledger.n_planned or _ended_early(file)),
    )


def _ended_early(file: AggregatesFile) -> bool:
    return isinstance(file.early_stop, EarlyStop) and file.early_stop.after_items is not None


def _validity(derived: Derived, n_valid: int, confidence: float) -> Validity:
    ledger = derived.aggregates.ledger
    n_asked = n_valid + ledger.n_unscored
    return Validity(
        n_asked=n_asked,
        n_valid=n_valid,
        share=wilson(n_valid, n_asked, confidence),
        invalid_by_reason=ledger.unscored_by_reason,
        parse_retries=derived.aggregates.parse_retries,
    )


def _label_source(
    book: LabelBook, carried: CarriedFrom | None, as_drawn: bool, confidence: float, seed: int, n_resamples: int
) -> LabelSource:
    started, state = book.started, book.state
    people = between_people(book, confidence=confidence, seed=seed, n_resamples=n_resamples)
    origins = {field: [state.gold(sample, field).origin for sample in started.samples] for field in state.criteria}
    return LabelSource(
        sha256=book.sha256,
        n_drawn=len(started.samples),
        as_drawn=as_drawn,
        seed=started.seed,
        stratify=started.stratify,
        strata=started.strata,
        n_labellers=len(state.labellers),
        n_twice=people.n_twice,
        n_adjudicated={field: found.count("adjudicated") for field, found in origins.items()},
        n_disputed={field: found.count("disputed") for field, found in origins.items()},
        between_people=people.agreement,
        carried=msgspec.UNSET if carried is None else carried,
    )


def between_people(
    book: LabelBook, *, confidence: float = 0.95, seed: int = 0, n_resamples: int = 10_000
) -> BetweenPeople:
    """How far two people agree; the labels alone tell, without the run."""
    opinions = {field: list(_twice(book, field)) for field in book.state.criteria}
    return BetweenPeople(
        n_twice={field: len(pairs) for field, pairs in opinions.items()},
        agreement={
            field: agreements(
                [first for first, _ in pairs],
                [second for _, second in pairs],
                scores=book.state.criteria[field].scores,
                clusters=None,
                confidence=confidence,
                seed=seed,
                n_resamples=n_resamples,
            )
            for field, pairs in opinions.items()
        },
    )


def _twice(book: LabelBook, field: str) -> Iterator[tuple[int, int]]:
    """Two people's scores of a sample, the first one's first."""
    for sample in book.started.samples:
        scores = [one.score for one in book.state.opinions(sample, field) if one.score is not None]
        if len(scores) == 2:
            yield scores[0], scores[1]


def _retest(samples: Path, spec: RubricSpec, confidence: float, seed: int, n_resamples: int) -> Retest:
    """Pairs of repeats with the same answer, one an item: the first two."""
    first: dict[tuple[str, str | None], tuple[int, ...]] = {}
    done: set[str] = set()
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for row in _judged_rows(samples, spec):
        if row.item_id in done:
            continue
        scores = tuple(score or 0 for score in scores_of(row, spec))
        key = (row.item_id, row.answer_sha256)
        if key in first:
            pairs.append((first[key], scores))
            done.add(row.item_id)
        first[key] = scores
    return Retest(
        n_items=len(pairs),
        same_scores=wilson(sum(a == b for a, b in pairs), len(pairs), confidence),
        kappa={
            one.score_key: _kappa([(a[place], b[place]) for a, b in pairs], one, confidence, seed, n_resamples)
            for place, one in enumerate(spec.criteria)
        },
    )


def _kappa(
    pairs: Sequence[tuple[int, int]], criterion: Criterion, confidence: float, seed: int, n_resamples: int
) -> Agreement:
    return cohens_kappa(
        [a for a, _ in pairs],
        [b for _, b in pairs],
        tuple(criterion.scores),
        weights="quadratic",
        confidence=confidence,
        seed=seed,
        n_resamples=n_resamples,
    )
