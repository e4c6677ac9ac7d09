"""From a run to a sheet of those answers whose labels settle its decision with the fewest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.contract import LabelCriterion
from benchbook.evaluators.correctable import Correctable, MeanOfScores
from benchbook.evaluators.gates import Decision
from benchbook.evaluators.registry import evaluator_of
from benchbook.labels.allocation import Verdict, allocate, strata_of, verdict_words
from benchbook.labels.calibration import TELLING_LABELS
from benchbook.labels.calibration_corrected import worth_by
from benchbook.labels.calibration_results import ScoredAnswer
from benchbook.labels.carried import labels_of_run
from benchbook.labels.deciding import DecisionPlan, deciding
from benchbook.labels.drawing import draw_allocated
from benchbook.labels.labels import LabelBook, give_labels
from benchbook.labels.sheet import LabelledRun, derived_anew, is_as_drawn, new_labels
from benchbook.labels.state import Given
from benchbook.record.facts import Allocation, EarlierDraw, LabelsStarted
from benchbook.record.folder import Record
from benchbook.text import quoted

MOST = 500  # labels, where nobody says how many
_NEAR = 0.1  # a score's weight beside an aggregate's, where verdicts are merged
WITHOUT_END = 100  # labels, where no number is expected to settle it


def sample_for_decision(
    record: Record, out: str | Path, *, n: int | None = None, seed: int = 0, labels: LabelBook | None = None
) -> tuple[LabelBook, DecisionPlan]:
    """Draw the answers that settle a run's decision with the fewest labels into a new record in the folder `out`.

    `n` None takes as many as are expected to settle it. With `labels`, these are `n` more: the new record has theirs,
    too, and people's spread in them says where to draw.

    Raises: ConfigError for an impossible `n`; UsageError where `out` exists, where the labels are of another run, and
        where no label changes the decision.
    """
    correctable = _correctable(record)
    with derived_anew(record) as run:
        frozen = run.derived.decision
        if not isinstance(frozen, Decision):
            raise UsageError(f"{record.path}: has no decision that labels could settle")
        scored = run.answers(correctable.worth)
        if not scored:
            raise UsageError(f"{record.path}: has no scored answers to label")
        strata = strata_of(Counter(map(verdict_of, scored)), _places(scored, run.criteria, correctable.means, frozen))
        answers = [replace(one, stratum=strata[verdict_of(one)]) for one in scored]
        stratum_of = {one.sample: strata[verdict_of(one)] for one in scored}
        earlier = frozenset[int]() if labels is None else frozenset(_same_draw(labels, run).started.samples)
        sizes, already = Counter(stratum_of.values()), Counter(stratum_of[sample] for sample in earlier)
        found = deciding(
            answers,
            {} if labels is None else labels_of_run(labels, run).scores(run.criteria),
            run.criteria,
            correctable.means,
            frozen=frozen,
            counted=correctable.counts(run.derived),
            already=already,
        )
        total = _total(n, found.plan, len(earlier), len(answers))
        drawn = draw_allocated(
            stratum_of,
            allocate(sizes, found.weights, total, already),
            seed=seed,
            run_sha256=run.derived.manifest.journal_sha256,
            earlier=earlier,
        )
        allocation = Allocation(
            drawn_for="decision",
            aggregates=list(found.plan.aggregates),
            verdicts={verdict_words(verdict): stratum for verdict, stratum in sorted(strata.items())},
            n_to_settle=found.plan.n_to_settle,
            n_by_chance=found.plan.n_by_chance,
            earlier=[] if labels is None else _draws(labels),
        )
        names = [one.name for one in run.criteria]
        book = new_labels(out, run, drawn, seed=seed, stratify=names, allocation=allocation)
    return (book if labels is None else give_labels(book, [*_said(labels)])), found.plan


def _places(
    answers: Sequence[ScoredAnswer],
    criteria: Sequence[LabelCriterion],
    means: Sequence[MeanOfScores],
    frozen: Decision,
) -> dict[Verdict, list[float]]:
    """Where each verdict stands: by what it is worth to the aggregates with a gate, and a little by its scores."""
    gated = {gate.aggregate for gate in frozen.gates}
    used = [(axis, mean.highest - mean.lowest) for axis, mean in enumerate(means) if mean.name in gated]
    names = [one.name for one in criteria]
    worth: dict[Verdict, list[Sequence[float]]] = {}
    for one in answers:
        worth.setdefault(verdict_of(one), []).append(worth_by(one, {}, names))
    return {
        verdict: [
            *(sum(one[axis] for one in own) / len(own) / span for axis, span in used),
            *(_NEAR * score for score in verdict),
        ]
        for verdict, own in worth.items()
    }


def verdict_of(one: ScoredAnswer) -> Verdict:
    """The judge's scores of an answer. Raises: ValueError where it did not score all."""
    verdict = tuple(score for score in one.scores if score is not None)
    if len(verdict) < len(one.scores):
        raise ValueError(f"sample {one.sample} was not judged")
    return verdict


def of_strata(answers: Sequence[ScoredAnswer], started: LabelsStarted) -> list[ScoredAnswer]:
    """The answers with their strata, where labels were drawn for a decision.

    Raises: UsageError for a verdict that the draw does not know.
    """
    if started.allocation is None:
        return [*answers]
    verdicts = started.allocation.verdicts
    if strange := {verdict_words(one.scores) for one in answers} - verdicts.keys():
        raise UsageError(f"labels: found the verdict {min(strange)}; expected {quoted(', '.join(verdicts))}")
    return [replace(one, stratum=verdicts[verdict_words(one.scores)]) for one in answers]


def _correctable(record: Record) -> Correctable:
    started = record.started()
    found = evaluator_of(record).correctable(started)
    if found is None:
        what = f"{started.spec} has no decision that people's labels correct; draw by chance, without --for"
        raise UsageError(f"{record.path}: {what}")
    return found


def _total(n: int | None, plan: DecisionPlan, had: int, n_answers: int) -> int:
    """The number of labels in all, earlier ones included."""
    left = n_answers - had
    if not left:
        raise UsageError("all scored answers were drawn before")
    if n is None:
        asked = WITHOUT_END if plan.n_to_settle is None else plan.n_to_settle - had
        n = min(left, MOST, max(1 if had else TELLING_LABELS, asked))
    if not 1 <= n <= left:
        raise ConfigError("n", str(n), f"1 to {left}, the scored answers that were not drawn before")
    return had + n


def _same_draw(labels: LabelBook, run: LabelledRun) -> LabelBook:
    if (items_of := labels.started.items_of) is not None:
        what = f"has the items of labels of {items_of.run_id}; only a draw of this run's own can be gone on from"
        raise UsageError(f"{labels.path}: {what}")
    if labels.started.run_sha256 != run.derived.manifest.journal_sha256 or not is_as_drawn(run, labels.started):
        raise UsageError(f"{labels.path}: was not drawn from this run by chance; only such labels can be gone on from")
    return labels


def _draws(labels: LabelBook) -> list[EarlierDraw]:
    started = labels.started
    before: Sequence[EarlierDraw] = () if started.allocation is None else started.allocation.earlier
    own = EarlierDraw(
        sha256=labels.sha256,
        seed=started.seed,
        stratify=started.stratify,
        strata=started.strata,
        verdicts={} if started.allocation is None else started.allocation.verdicts,
    )
    return [*before, own]


def _said(labels: LabelBook) -> Iterator[Given]:
    """The labels that stand, what settles a dispute last."""
    state = labels.state
    for one in sorted(state.labels(), key=lambda one: one.round == "adjudicated"):
        settles = one.round == "adjudicated"
        if settles and len({other.score for other in state.opinions(one.sample, one.field)}) < 2:
            continue  # one of the two was taken back since
        yield Given(one.sample, one.labeller, one.field, one.score, one.note, settles)
