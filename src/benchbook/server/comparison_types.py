"""The API's answers about comparisons (SPEC A11): plain data from the room `comparison`."""

from __future__ import annotations

from typing import Literal

import msgspec

from benchbook.comparison.by_metric import MetricChoice, RunByMetric
from benchbook.comparison.checkpoints import BaselineRule
from benchbook.comparison.corrected_results import CorrectedDifference, CorrectedScore
from benchbook.comparison.difference import Difference, SliceDifference, Verdict
from benchbook.comparison.leaderboard import HistoryName, Leaderboard
from benchbook.comparison.pairing import ItemClass, MetricDifference
from benchbook.evaluators.contract import MetricKind
from benchbook.evaluators.document import Kind
from benchbook.evaluators.measured import LeafDifference, Measured
from benchbook.server.types import RunRow
from benchbook.views.views import TableWords


class MeasuredPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the measurement that differs, and the leaves of the two manifests in which it does."""

    name: Measured
    leaves: tuple[LeafDifference, ...]


class ContainmentCounts(msgspec.Struct, frozen=True, kw_only=True):
    """A diagnosis in both runs: the expected answer is the text, or stands inside it. It is never the score."""

    n_a: int
    n_b: int
    n_lost: int
    n_won: int
    difference: Difference
    p_holm: float | None


class MetricOfPair(MetricDifference, frozen=True, kw_only=True):
    """Another thing that both runs measured: a criterion, a check, or a measure, as reports name and write it."""

    title: str
    kind: MetricKind


class PairForPeople(msgspec.Struct, frozen=True, kw_only=True):
    """The pair as people would judge, by the labels of its runs' answers that are here, in the folders `labels`.

    `turned` has a sentence for each difference that the labels turn: they are to be read before any number. `says` is
    the first of the `differences` in a sentence, or the reason why there are none; `table` has each as judged and as
    people would judge. In all of these words `{a}` and `{b}` stand for the two runs.
    """

    labels: tuple[str, ...]
    differences: tuple[CorrectedDifference, ...]
    turned: tuple[str, ...]
    says: str
    table: TableWords
    notes: tuple[str, ...]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Run `b` against run `a`. `p_holm` is the score's p adjusted for the other pairs, if any, and `verdict` what
    may be said of B's score by it; `passing_p_holm` is that of `passing`. Slices are by `metric`.

    `n_unanswered_a` and `n_unanswered_b` items are left out: no answer came, for a reason that is not the model's.
    `notices` are what must be read before any number, beside what was measured differently. `as_people_would_judge` is
    left out where no answer of the two is labelled.
    """

    a: str
    b: str
    n_compared: int
    n_left_out: int
    n_unscored: int
    n_unanswered_a: int
    n_unanswered_b: int
    classes: dict[ItemClass, int]
    measured_differences: tuple[MeasuredPart, ...]
    unknown_in_both: tuple[Measured, ...]
    notices: tuple[str, ...]
    score: Difference
    p_holm: float | None
    verdict: Verdict
    passing: Difference | None
    passing_p_holm: float | None
    metric: str
    metrics: tuple[MetricOfPair, ...]
    containment: ContainmentCounts | None
    slices: tuple[SliceDifference, ...]
    metadata: tuple[LeafDifference, ...]
    as_people_would_judge: PairForPeople | msgspec.UnsetType = msgspec.UNSET


class ScoresForPeople(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of ranked runs as people would judge, of those whose answers are labelled, in the order of places."""

    labels: tuple[str, ...]
    scores: tuple[CorrectedScore, ...]
    notes: tuple[str, ...]


class RankedRuns(Leaderboard, frozen=True, kw_only=True):
    """A leaderboard. `as_people_would_judge` is left out where no answer of a ranked run is labelled."""

    as_people_would_judge: ScoresForPeople | msgspec.UnsetType = msgspec.UNSET


class MetricOption(MetricChoice, frozen=True, kw_only=True):
    """A metric that the runs can be shown by, as reports name and write it."""

    title: str
    kind: Kind


class ComparedSet(msgspec.Struct, frozen=True, kw_only=True):
    """Two to twenty runs, the others against the `baseline`. `leaderboard` is null where they are over several sets.

    `rows` are the runs by `metric`, in the order asked for; `metrics` are all that they can be shown by. Ranks are over
    the `n_ranked` items that every run has; `unranked` says why there are none.
    """

    runs: tuple[str, ...]
    pairs: tuple[Pair, ...]
    leaderboard: Leaderboard | None
    baseline: str
    metric: str
    metrics: tuple[MetricOption, ...]
    rows: tuple[RunByMetric, ...]
    n_ranked: int | None
    unranked: str | None


class RunAtStep(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is compared; `step` is the training step that it is from, by its model's name or its training log."""

    run: RunRow
    step: int | None


class RunsOfSet(msgspec.Struct, frozen=True, kw_only=True):
    """Runs in their order: of training steps, or of when they were started, as `baseline_rule` says. The first is the
    baseline where nobody has chosen one.
    """

    runs: tuple[RunAtStep, ...]
    baseline: str
    baseline_rule: BaselineRule


class HistoryRow(msgspec.Struct, frozen=True, kw_only=True):
    """An item's history over the runs; `marks` has a 1 or 0 for each run, such as `0011`. `item` is the item's position
    in the list of the first two runs.
    """

    position: int
    item: int | None
    item_id: str
    section: str | None
    category: str | None
    difficulty: str | None
    prompt: str | None
    history: HistoryName
    marks: str


class HistoryPage(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[HistoryRow, ...]
    n: int
    next_cursor: str | None


class HistorySummary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of histories. `by` says what a 1 means: `correct` (in most repeats), or `contained` (in the answer)."""

    by: Literal["correct", "contained"]
    runs: tuple[str, ...]
    counts: dict[HistoryName, int]
    n_right: tuple[int, ...]
    n_left_out: int
