"""A panel of judges, from the rows of its run under a rubric (`evaluators.panels` has the types of its analysis)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from types import GenericAlias
from typing import cast

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.exact import as_float, percentile, ratio
from benchbook.evaluators.made import made
from benchbook.evaluators.panels import JudgeAlone, JudgesScores, Marks, PanelAgreement, PanelAnalysis, Split, rank_of
from benchbook.evaluators.rubric.aggregates import aggregates_of
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.intervals import further_intervals_of, intervals_of
from benchbook.evaluators.rubric.outcomes import exact_scores_of, outcome_in
from benchbook.evaluators.rubric.release import decide
from benchbook.evaluators.rubric.reply import ITEM_CRITERIA
from benchbook.evaluators.rubric.rows import (
    AggregatesFile,
    EarlyStop,
    PanelJudge,
    PanelManifest,
    PanelRow,
    PanelVote,
    RubricManifest,
)
from benchbook.evaluators.rubric.scoring import EvaluatorError, score_sample
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.tally import RubricTally


def panel_type(spec: RubricSpec) -> type[PanelAnalysis]:
    """The type of a panel's analysis under a rubric."""
    return _panel_type(spec.criteria)


_Criteria = tuple[Criterion, ...]


@cache
def _panel_type(criteria: _Criteria) -> type[PanelAnalysis]:
    judges, splits = (GenericAlias(list, (one,)) for one in (_judge_type(criteria), _split_type(criteria)))
    return made(PanelAnalysis, {}, {"judges": judges, "splits": splits})


@cache
def _judge_type(criteria: _Criteria) -> type[JudgeAlone]:
    means, failures = ([(name, float | None) for name in names] for names in _shown(criteria))
    return made(JudgeAlone, {"unscored_by_reason": means, "pass_rate": failures})


@cache
def _split_type(criteria: _Criteria) -> type[Split]:
    columns = [(f"{one.name}_scores", list[float | None] if one.by_item else list[int | None]) for one in criteria]
    return made(Split, {"n_dissenting": columns})


def _shown(criteria: _Criteria) -> tuple[list[str], list[str]]:
    """The names of the means and failure rates of criteria that a rubric shows."""
    means = [f"{one.name}_mean" for one in criteria if "mean" in one.shown]
    return means, [f"{one.name}_failure_rate" for one in criteria if "failure_rate" in one.shown]


def panel_analysis(
    manifest: RubricManifest,
    file: AggregatesFile,
    rows: Iterable[PanelRow],
    spec: RubricSpec,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> PanelAnalysis:
    """The analysis of a run's panel by its rows, under its rubric. `seed` is of the intervals by resampling.

    Raises: UsageError where one judge judged.
    """
    panel = manifest.panel
    if not isinstance(panel, PanelManifest):
        raise UsageError(f"{manifest.run_id}: one judge judged it; `benchbook run --judge A --judge B` makes a panel")
    seen = _Seen(panel, manifest, file, spec)
    for row in rows:
        seen.add(row)
    agreement = PanelAgreement(seen.criteria(), seen.marks, confidence, seed, n_resamples)
    return panel_type(spec)(
        rule=panel.rule,
        n_judged=seen.n_judged,
        n_unanimous=seen.n_unanimous,
        n_verdicts_differ=sum(split.verdicts_differ for split in seen.splits),
        n_scored_without_all=seen.n_scored_without_all,
        n_left_open=seen.n_left_open,
        judges=[judge.found(confidence) for judge in seen.judges],
        pairs=agreement.pairs([judge.name for judge in panel.judges]),
        alpha=agreement.alpha(),
        n_clusters=None if seen.clusters is None else len(set(seen.clusters)),
        splits=sorted(seen.splits, key=rank_of),
    )


class _Seen:
    """All that is kept in one pass over the rows: counts, each judge's scores, and the samples that they split on."""

    def __init__(
        self, panel: PanelManifest, manifest: RubricManifest, file: AggregatesFile, rubric: RubricSpec
    ) -> None:
        spec = rubric.without(manifest.unmeasured)
        whole = manifest.state == "complete" and not isinstance(file.early_stop, EarlyStop)
        self.judges = [_Judge(number, judge, spec, whole) for number, judge in enumerate(panel.judges)]
        self._spec = spec
        self._split_type = _split_type(spec.criteria)
        self.marks: list[list[Marks | None]] = [[] for _ in self.judges]
        self.splits: list[Split] = []
        self.n_judged = self.n_unanimous = self.n_scored_without_all = self.n_left_open = 0
        self._clusters: list[str] = []
        self._clustered = manifest.repeats > 1

    @property
    def clusters(self) -> list[str] | None:
        """The cluster of each sample; None where every sample stands for itself."""
        return self._clusters if self._clustered else None

    def criteria(self) -> dict[str, JudgesScores]:
        """The scores that the judges gave by each criterion."""
        asked = self._spec.asked
        found = {
            one.score_key: JudgesScores(
                tuple(one.scores),
                [[None if marks is None else marks[place] for marks in given] for given in self.marks],
                self.clusters,
            )
            for place, one in enumerate(asked)
        }
        return found | {one.score_key: self._of_items(len(asked)) for one in self._spec.criteria[len(asked) :]}

    def _of_items(self, first: int) -> JudgesScores:
        """The scores, met or not, by the items' own criteria, which are the marks from the `first` on. Those of one
        sample rise and fall together."""
        met: list[list[int | None]] = [[] for _ in self.judges]
        clusters: list[str] = []
        for cluster, *said in zip(self._clusters, *self.marks, strict=True):
            n = max((len(marks) for marks in said if marks is not None), default=first)
            for given, marks in zip(met, said, strict=True):
                given += (marks or (None,) * n)[first:]
            clusters += [cluster] * (n - first)
        return JudgesScores((0, 1), met, clusters)

    def add(self, row: PanelRow) -> None:
        if not row.votes:
            for judge in self.judges:
                judge.add(row, None)
            return
        for judge, vote in zip(self.judges, row.votes, strict=True):
            judge.add(row, vote)
        scored = [vote for vote in row.votes if vote.evaluator_error is None]
        self._note_marks(row)
        self.n_left_open += row.evaluator_error is not None and bool(scored)
        self.n_scored_without_all += row.evaluator_error is None and len(scored) < len(row.votes)
        if len(scored) < 2:
            return
        self.n_judged += 1
        if row.spread:
            self.splits.append(self._split(row))
        else:
            self.n_unanimous += 1

    def _note_marks(self, row: PanelRow) -> None:
        for given, vote in zip(self.marks, row.votes, strict=True):
            given.append(_marks(vote, self._spec))
        self._clusters.append(row.item_id if row.group is None else f"group {row.group}")
        self._clustered = self._clustered or row.group is not None

    def _split(self, row: PanelRow) -> Split:
        return self._split_type(
            sample=row.sample,
            item_id=row.item_id,
            repeat=row.repeat,
            verdicts_differ=row.verdicts_differ,
            spread=row.spread,
            n_dissenting=row.n_dissenting,
            **{
                f"{one.name}_scores": [getattr(vote, one.score_key) for vote in row.votes]
                for one in self._spec.criteria
            },
        )


class _Judge:
    """The run as this judge alone scores it."""

    def __init__(self, number: int, judge: PanelJudge, spec: RubricSpec, whole: bool) -> None:
        self._number = number
        self._judge = judge
        self._whole = whole
        self._spec = spec
        self._tally = RubricTally(spec)
        self._errors: Counter[str] = Counter()
        self._latencies: Counter[int] = Counter()
        self._n_asked = self._n_scored = self._n_both = self._n_same = self._input = self._output = 0

    def add(self, row: PanelRow, vote: PanelVote | None) -> None:
        """Add a row. `vote` is None where no answer came: that is scored by rule, whoever judges (R1.3)."""
        outcome = outcome_in(row, self._spec)
        if vote is not None:
            error = cast("EvaluatorError | None", vote.evaluator_error)
            outcome = msgspec.structs.replace(outcome, scores=exact_scores_of(vote, self._spec), evaluator_error=error)
        self._tally.add(outcome, score_sample(outcome, self._spec))
        if vote is None:
            return
        self._n_asked += 1
        self._input += vote.input_tokens or 0
        self._output += vote.output_tokens or 0
        if vote.latency_ms is not None:
            self._latencies[vote.latency_ms] += 1
        if vote.evaluator_error is not None:
            reason = f":{vote.parse_error_reason}" if vote.parse_error_reason else ""
            self._errors[vote.evaluator_error + reason] += 1
            return
        self._n_scored += 1
        if row.evaluator_error is None:
            self._n_both += 1
            self._n_same += _marks(vote, self._spec) == _marks(row, self._spec)

    def found(self, confidence: float) -> JudgeAlone:
        aggregates = aggregates_of(self._tally)
        means, failures = _shown(self._spec.criteria)
        shown = {"aggregate_score", "pass_rate", *means, *failures}
        reach = intervals_of(self._tally, confidence) | further_intervals_of(self._tally, confidence)
        return _judge_type(self._spec.criteria)(
            judge=self._number,
            name=self._judge.name,
            model_id=self._judge.model_id,
            model_version=self._judge.model_version,
            n_asked=self._n_asked,
            n_scored=self._n_scored,
            unscored_by_reason=dict(sorted(self._errors.items())),
            aggregate_score=aggregates.aggregate_score,
            pass_rate=aggregates.pass_rate,
            intervals={name: one for name, one in reach.items() if name in shown},
            decision=decide(self._tally).decision if self._whole else None,
            same_as_panel=as_float(ratio(self._n_same, self._n_both)),
            input_tokens=self._input,
            output_tokens=self._output,
            latency_p50_ms=as_float(percentile(self._latencies, 50)),
            **{name: getattr(aggregates, name) for name in (*means, *failures)},
        )


def _marks(said: PanelRow | PanelVote, spec: RubricSpec) -> Marks | None:
    """All that a judge, or the panel, gave an answer: a score by each criterion, and whether each of an item's own is
    met. None where there is no score."""
    if said.evaluator_error is not None:
        return None
    met = getattr(said, ITEM_CRITERIA) if spec.by_item else ()
    return (*(getattr(said, one.score_key) for one in spec.asked), *(int(one.met) for one in met))
