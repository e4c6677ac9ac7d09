"""A judge's card: a run and people's labels of it, brought together into all that is known of the judge."""

from __future__ import annotations

import hashlib

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.correctable import JudgeCost, JudgeWork
from benchbook.evaluators.registry import evaluator_of
from benchbook.labels.calibration import agreements, calibrate
from benchbook.labels.calibration_results import AgreementName, Calibration, Drawing
from benchbook.labels.carried import CarriedFrom, labels_of_run
from benchbook.labels.decision_sheet import of_strata
from benchbook.labels.labels import LabelBook
from benchbook.labels.sheet import LabelledRun, derived_anew, is_as_drawn
from benchbook.record.facts import DrawnStratum
from benchbook.record.folder import Record
from benchbook.statistics import Agreement, Estimate, cohens_kappa, wilson


class BetweenPeople(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of two people over the `n_twice` samples that both labelled, each without seeing the other's scores."""

    n_twice: dict[str, int]  # this, and all that follows, by criterion
    agreement: dict[str, dict[AgreementName, Agreement]]


class LabelSource(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of the labels. `between_people` is over samples that two people labelled independently."""

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
    """The share of the judge's replies that could be read (SPEC R3)."""

    n_asked: int
    n_valid: int
    share: Estimate
    invalid_by_reason: dict[str, int]
    parse_retries: int


class Retest(msgspec.Struct, frozen=True, kw_only=True):
    """The judge's agreement with itself where it saw the same answer to the same item again, in another repeat."""

    n_items: int
    same_scores: Estimate  # the share of items with all scores the same
    kappa: dict[str, Agreement]  # with quadratic weights


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
    """True if a run has all that a judge's card needs: a judge whose every score people can give too, and a decision.

    Other runs have an answer card.
    """
    return evaluator_of(record).correctable(record.started()) is not None


def judge_card(
    record: Record, book: LabelBook, *, confidence: float = 0.95, seed: int = 0, n_resamples: int = 10_000
) -> JudgeCard:
    """Derive the run again, hold its judge against the labels, and say what follows.

    Raises: UsageError for a run of another evaluator, and where the labels are of none of its answers.
    """
    started = record.started()
    correctable = evaluator_of(record).correctable(started)
    if correctable is None:
        what = f"was scored under {started.spec}; a judge's card is of a rubric whose criteria always apply"
        raise UsageError(f"{record.path}: {what}")
    drawing = Drawing(confidence, seed, n_resamples)
    with derived_anew(record) as run:
        derived, criteria = run.derived, run.criteria
        manifest = derived.manifest
        labels = labels_of_run(book, run)
        judged = of_strata(run.answers(correctable.worth), book.started)
        retest = _retest(run, drawing)
        as_drawn = labels.carried is None and is_as_drawn(run, book.started)
    calibration = calibrate(
        judged,
        labels.scores(criteria),
        criteria,
        correctable.means,
        frozen=derived.decision,
        counted=correctable.counts(derived),
        drawing=drawing,
    )
    judge = correctable.judge(derived)
    return JudgeCard(
        judge_model_id=judge.model_id,
        judge_model_version=judge.model_version,
        spec=manifest.spec,
        run_id=manifest.run_id,
        run_sha256=manifest.journal_sha256,
        model_id=manifest.model_id,
        dataset_id=manifest.dataset_id,
        labels=_label_source(book, labels.carried, as_drawn, drawing),
        validity=_validity(judge, len(judged), confidence),
        evidence=None,
        retest=retest,
        calibration=calibration,
        cost=judge.cost,
    )


def _validity(judge: JudgeWork, n_valid: int, confidence: float) -> Validity:
    n_asked = n_valid + judge.n_unscored
    return Validity(
        n_asked=n_asked,
        n_valid=n_valid,
        share=wilson(n_valid, n_asked, confidence),
        invalid_by_reason=dict(judge.unscored_by_reason),
        parse_retries=judge.parse_retries,
    )


def _label_source(book: LabelBook, carried: CarriedFrom | None, as_drawn: bool, drawing: Drawing) -> LabelSource:
    started, state = book.started, book.state
    people = _between_people(book, drawing)
    origins = {field: book.origins(field) for field in state.criteria}
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


def between_people(book: LabelBook, *, confidence: float = 0.95, seed: int = 0) -> BetweenPeople:
    """The agreement of two people, by the labels alone, without the run."""
    return _between_people(book, Drawing(confidence, seed))


def _between_people(book: LabelBook, drawing: Drawing) -> BetweenPeople:
    opinions = {field: book.said_twice(field) for field in book.state.criteria}
    return BetweenPeople(
        n_twice={field: len(pairs) for field, pairs in opinions.items()},
        agreement={
            field: agreements(pairs, book.state.criteria[field].scores, drawing) for field, pairs in opinions.items()
        },
    )


def _retest(run: LabelledRun, drawing: Drawing) -> Retest:
    """Pairs of repeats with the same answer, one an item: the first two."""
    pairs = _said_again(run) if run.derived.manifest.repeats > 1 else []
    return Retest(
        n_items=len(pairs),
        same_scores=wilson(sum(a == b for a, b in pairs), len(pairs), drawing.confidence),
        kappa={
            one.name: cohens_kappa(
                [a[place] or 0 for a, _ in pairs],
                [b[place] or 0 for _, b in pairs],
                one.scores,
                weights="quadratic",
                confidence=drawing.confidence,
                seed=drawing.seed,
                n_resamples=drawing.n_resamples,
            )
            for place, one in enumerate(run.criteria)
        },
    )


_Scores = tuple[int | None, ...]


def _said_again(run: LabelledRun) -> list[tuple[_Scores, _Scores]]:
    first: dict[tuple[str, bytes], _Scores] = {}
    pairs: dict[str, tuple[_Scores, _Scores]] = {}
    for row in run.scored():
        if row.item_id in pairs:
            continue
        text = (run.answer(row) or "").encode("utf-8", "surrogatepass")
        key, scores = (row.item_id, hashlib.sha256(text).digest()), run.scores(row)
        if key in first:
            pairs[row.item_id] = first[key], scores
        first[key] = scores
    return [*pairs.values()]
