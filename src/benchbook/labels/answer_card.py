"""An evaluator on trial: the scores that it gave to a run's answers, held against people's, by its own criteria."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.contract import LabelCriterion
from benchbook.labels.calibration import agreements, field_trial, pair_of
from benchbook.labels.calibration_corrected import corrected_scores
from benchbook.labels.calibration_results import AgreementName, Bias, Drawing, ScoredAnswer
from benchbook.labels.carried import CarriedFrom, LabelsOfRun, labels_of_run
from benchbook.labels.labels import LabelBook
from benchbook.labels.sheet import RunByRows, derived_anew, is_as_drawn, judge_on_trial
from benchbook.record.folder import Record
from benchbook.statistics import Agreement, Estimate


class Applies(msgspec.Struct, frozen=True, kw_only=True):
    """Labelled answers, counted by whether a criterion applies to them in the evaluator's view and in people's."""

    both: int
    evaluator_alone: int
    people_alone: int
    neither: int


class CriterionTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion of the evaluator against people; `confusion[people][evaluator]` counts answers.

    `as_scored` is the mean that the evaluator gave to all scored answers, `corrected` what it would be if people had
    scored them; of the scores 0 and 1 these are rates. Answers to which the criterion does not apply, as people say,
    are not in the corrected mean.
    """

    criterion: str
    scores: tuple[int, ...]
    n_scored: int  # answers that the evaluator gave a score for it: it need not apply to all
    n: int  # of these: labelled
    confusion: dict[str, dict[str, int]]
    same: Estimate  # the share of the labelled answers to which the evaluator gave people's own score
    agreement: dict[AgreementName, Agreement]
    bias: Bias
    as_scored: float | None
    corrected: Estimate
    by_labels_alone: Estimate
    n_twice: int  # answers that two people gave a score, each without seeing the other's
    n_disputed: int  # open: they count as not labelled
    between_people: dict[AgreementName, Agreement]
    applies: Applies | None  # None where the criterion applies to every answer

    @property
    def is_rate(self) -> bool:
        return self.scores == (0, 1)


class AnswerCard(msgspec.Struct, frozen=True, kw_only=True):
    """All that people's labels say of the scores of one run. Samples without an answer or a score are not in it."""

    spec: str
    run_id: str
    run_sha256: str
    dataset_id: str
    labels_sha256: str
    as_drawn: bool  # the labelled samples are those that the seed draws from this run
    carried: CarriedFrom | None
    judge: str | msgspec.UnsetType  # of an experiment's judges the one that is on trial
    n_scored: int
    n_labelled: int
    n_labellers: int
    n_clusters: int | None  # groups, or items under repeats: intervals are by whole clusters; None where there are none
    confidence: float
    seed: int
    criteria: tuple[CriterionTrial, ...]


def answer_card(
    record: Record,
    book: LabelBook,
    *,
    judge: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> AnswerCard:
    """Derive a run of any evaluator again, hold its scores against the labels, and say what follows. Of a
    judged experiment they are those of one `judge`, which is to be named where it has several.

    Raises: UsageError where people can't label its answers, or labelled none of them.
    """
    with derived_anew(record, judge_on_trial(record, judge)) as run:
        labels, manifest = labels_of_run(book, run), run.derived.manifest
        answers = run.answers()
        as_drawn = labels.carried is None and is_as_drawn(run, book.started)
    known = {one.sample for one in answers}
    if strange := sorted(labels.gold.keys() - known):
        raise UsageError(f"{book.path}: sample {strange[0]} is labelled, and {record.path} has no score for it")
    drawing = Drawing(confidence, seed, n_resamples)
    trials = tuple(_trial(place, one, answers, labels, book, drawing) for place, one in enumerate(run.criteria))
    clusters = {one.cluster for one in answers if one.cluster is not None}
    return AnswerCard(
        spec=run.started.spec,
        run_id=run.started.run_id,
        run_sha256=manifest.journal_sha256,
        dataset_id=manifest.dataset_id,
        labels_sha256=book.sha256,
        as_drawn=as_drawn,
        carried=labels.carried,
        judge=run.judge or msgspec.UNSET if isinstance(run, RunByRows) else msgspec.UNSET,
        n_scored=len(answers),
        n_labelled=len(labels.gold),
        n_labellers=len(book.state.labellers),
        n_clusters=len(clusters) or None,
        confidence=confidence,
        seed=seed,
        criteria=trials,
    )


def _trial(
    place: int,
    criterion: LabelCriterion,
    answers: Sequence[ScoredAnswer],
    labels: LabelsOfRun,
    book: LabelBook,
    drawing: Drawing,
) -> CriterionTrial:
    """One criterion, the `place`-th of the evaluator's."""
    name, scores = criterion.name, criterion.scores
    gold = {sample: said[name] for sample, said in labels.gold.items() if name in said}
    all_scored = [(one, own) for one in answers if (own := one.scores[place]) is not None]
    # As people would have it, the mean is over answers to which the criterion applies by their word.
    scored = [(one, own) for one, own in all_scored if gold.get(one.sample, own) is not None]
    people = [gold.get(one.sample) for one, _ in scored]
    pairs = [pair_of(one, place, score) for (one, _), score in zip(scored, people, strict=True) if score is not None]
    corrected, alone = corrected_scores(
        [own for _, own in scored], people, scores, clusters=[one.cluster for one, _ in scored], drawing=drawing
    )
    trial, twice = field_trial(pairs, criterion, drawing), book.said_twice(name)
    return CriterionTrial(
        criterion=name,
        scores=scores,
        n_scored=len(all_scored),
        n=trial.n,
        confusion=trial.confusion,
        same=trial.same,
        agreement=trial.agreement,
        bias=trial.bias,
        as_scored=sum(own for _, own in all_scored) / len(all_scored) if all_scored else None,
        corrected=corrected,
        by_labels_alone=alone,
        n_twice=len(twice),
        n_disputed=book.origins(name).count("disputed"),
        between_people=agreements(twice, scores, drawing),
        applies=_applies(place, answers, gold) if criterion.may_not_apply else None,
    )


def _applies(place: int, answers: Sequence[ScoredAnswer], gold: Mapping[int, int | None]) -> Applies:
    found = Counter(
        (one.scores[place] is not None, gold[one.sample] is not None) for one in answers if one.sample in gold
    )
    return Applies(
        both=found[True, True],
        evaluator_alone=found[True, False],
        people_alone=found[False, True],
        neither=found[False, False],
    )
