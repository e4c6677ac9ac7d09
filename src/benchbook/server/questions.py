"""The parameters of queries, and the bodies of writes. All of them are bounded here."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from benchbook.comparison.leaderboard import HistoryName
from benchbook.comparison.measures import SCORE
from benchbook.comparison.pairing import ItemClass
from benchbook.evaluators.settings import SCORE_SPEC
from benchbook.labels.pairs.verdicts import Swap
from benchbook.record.marks import MOST_TAGS, MarksChange, Tag
from benchbook.record.standing import RunState

RunId: TypeAlias = Annotated[str, Meta(min_length=1, max_length=255, description="a run's id")]
Word: TypeAlias = Annotated[str, Meta(max_length=500)]
FreeText: TypeAlias = Annotated[str, Meta(max_length=200, description="letters of ASCII count in either case")]
Cursor: TypeAlias = Annotated[str, Meta(max_length=4_000, description="what the page before gave as next_cursor")]
Limit: TypeAlias = Annotated[int, Meta(ge=1, le=1_000, description="how many rows")]
Offset: TypeAlias = Annotated[
    int, Meta(ge=0, le=1_000_000_000, description="how many rows to pass over; not with a cursor")
]
Place: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
ANumber: TypeAlias = Annotated[float, Meta(ge=-1e15, le=1e15)]
Order: TypeAlias = Literal["asc", "desc"]
Confidence: TypeAlias = Annotated[float, Meta(gt=0.5, lt=1)]
RunsSort: TypeAlias = Literal[
    "started", "score", "model", "eval_set", "run", "ended", "evaluator", "judge", "decision", "state", "samples",
    "tokens", "cost"
]  # fmt: skip
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=100)]


class _Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An unknown parameter is refused: a mistyped filter would show everything."""


class Nothing(_Question, frozen=True, kw_only=True):
    """No parameters."""


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


class RunsFilter(_Question, frozen=True, kw_only=True):
    """A filter of runs. Those that are archived are left out unless they are asked for."""

    text: FreeText | None = None  # each word stands in the run's id, spec, model, judge, eval set or marks
    spec: Word | None = None
    spec_sha256: Word | None = None  # of specs of one name, the one of that hash
    model: Word | None = None
    judge: Word | None = None  # as a run's row names it
    eval_set: Word | None = None  # its id, or the hash of its bytes
    decision: Word | None = None
    state: RunState | None = None
    tag: Tag | None = None
    archived: Literal["no", "only", "any"] = "no"


class RunsOrder(RunsFilter, frozen=True, kw_only=True):
    """A filter of runs, and the order of those that fit."""

    sort: RunsSort = "started"
    order: Order = "desc"


class RunsAsked(RunsOrder, frozen=True, kw_only=True):
    """A filter of runs, and a part of their list."""

    limit: Limit = 50
    offset: Offset = 0
    cursor: Cursor | None = None


class ConfigAsked(_Question, frozen=True, kw_only=True):
    """One of the configs that runs may be started from, by its name in the list of them."""

    name: Annotated[str, Meta(min_length=1, max_length=1_000)]


class TagsNew(_Question, frozen=True, kw_only=True):
    """The tags that the run has from now on."""

    tags: Annotated[tuple[Tag, ...], Meta(max_length=MOST_TAGS)]


class MarksOfRuns(MarksChange, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One change of the marks of many runs, of all or of none. It has no texts: they would be replaced unseen."""

    runs: Annotated[tuple[RunId, ...], Meta(min_length=1, max_length=500)]


class RunNew(_Question, frozen=True, kw_only=True):
    """A run to start. `config` has the settings of a config file, as `benchbook init` writes them.

    Paths in it are relative to the folder that `benchbook serve --inputs` names and stay inside of it; `evalset` may
    also be `@NAME`, or `sha256:` and the hash of an eval set that some run here has.
    """

    config: dict[str, Any]


class RunAsked(_Question, frozen=True, kw_only=True):
    """The run that is asked about."""

    run: RunId


# ── samples ──────────────────────────────────────────────────────────────────────────────────────────────────


class SamplesFilter(_Question, frozen=True, kw_only=True):
    """A filter of samples."""

    outcome: Literal["passed", "failed", "unscored"] | None = None
    section: Word | None = None
    category: Word | None = None
    difficulty: Word | None = None
    reason: Word | None = None
    text: FreeText | None = None  # stands in the item's id or in the text


class SamplesAsked(SamplesFilter, frozen=True, kw_only=True):
    """A filter of samples, and their order."""

    sort: Literal["sample", "item_id", "score", "section", "category", "difficulty"] = "sample"
    order: Order = "asc"
    limit: Limit = 100
    offset: Offset = 0
    cursor: Cursor | None = None


class PredictionsAsked(_Question, frozen=True, kw_only=True):
    """A page of predictions."""

    limit: Limit = 100
    cursor: Cursor | None = None
    correctness: Literal[0, 1] | None = None


# ── training ─────────────────────────────────────────────────────────────────────────────────────────────────


class MetricAsked(_Question, frozen=True, kw_only=True):
    """The most points that a curve is shown with."""

    max_points: Annotated[int, Meta(ge=5, le=200_000)] = 2_000


class CurvesAsked(MetricAsked, frozen=True, kw_only=True):
    """The curves by name; by default the losses."""

    name: Annotated[tuple[Word, ...], Meta(max_length=20)] = ("loss", "eval_loss")


# ── comparisons ──────────────────────────────────────────────────────────────────────────────────────────────

MOST_COMPARED, FEWEST_IN_HISTORY, MOST_IN_HISTORY = 20, 3, 8  # runs at once

TwoRuns: TypeAlias = Annotated[tuple[RunId, ...], Meta(min_length=2, max_length=2, description="a, then b")]
SomeRuns: TypeAlias = Annotated[tuple[RunId, ...], Meta(min_length=2, max_length=MOST_COMPARED)]
AnyRuns: TypeAlias = Annotated[tuple[RunId, ...], Meta(min_length=1, max_length=MOST_COMPARED)]
ThreeRuns: TypeAlias = Annotated[tuple[RunId, ...], Meta(min_length=FEWEST_IN_HISTORY, max_length=MOST_IN_HISTORY)]


class ItemAsked(_Question, frozen=True, kw_only=True):
    """The comparison that is asked about."""

    run: TwoRuns


class PairAsked(ItemAsked, frozen=True, kw_only=True):
    """The comparison that is asked about, and the metric that its slices are by."""

    metric: Word = SCORE.name


class RunsToCompare(_Question, frozen=True, kw_only=True):
    """Runs that are, or may be, compared."""

    run: AnyRuns


class OneItemAsked(_Question, frozen=True, kw_only=True):
    """The runs whose answers are asked for. The first two are those whose list of items the position counts in."""

    run: SomeRuns


class ComparedRuns(_Question, frozen=True, kw_only=True):
    """The runs of a comparison, and the one that the others are held against: by default the first."""

    run: SomeRuns
    baseline: RunId | None = None
    metric: Word = SCORE.name


class ItemsFilter(ItemAsked, frozen=True, kw_only=True):
    """A filter of items. `metric` names the number that limits, `moved` and orders go by: `score`, `passing`,
    `contained`, or one of the comparison's metrics. Limits are inclusive, and leave out items without the number.
    """

    item_class: ItemClass | None = msgspec.field(name="class", default=None)
    section: Word | None = None
    category: Word | None = None
    difficulty: Word | None = None
    reason: Word | None = None  # why either text missed
    reason_a: Word | None = None
    reason_b: Word | None = None
    text: FreeText | None = None  # stands in the item's id, its prompt, the expected answer or either text
    text_changed: bool | None = None  # both answered, and not alike
    metric: Word = "score"
    moved: Literal["lost", "won", "same"] | None = None  # what became of the number, the better end being known
    a_min: ANumber | None = None
    a_max: ANumber | None = None
    b_min: ANumber | None = None
    b_max: ANumber | None = None
    difference_min: ANumber | None = None  # of B - A
    difference_max: ANumber | None = None


class ItemsAsked(ItemsFilter, frozen=True, kw_only=True):
    """A filter of items, and their order: `change` puts first those whose score lost or won the most; `a`, `b` and
    `difference` are of the metric.
    """

    sort: Literal[
        "position", "item_id", "class", "section", "category", "difficulty", "change", "a", "b", "difference"
    ] = "position"
    order: Order = "asc"
    limit: Limit = 100
    offset: Offset = 0
    cursor: Cursor | None = None


class HistoryCounts(_Question, frozen=True, kw_only=True):
    """The runs of a history, and what counts as right."""

    run: ThreeRuns
    by: Literal["correct", "contained"] = "correct"


class HistoryAsked(HistoryCounts, frozen=True, kw_only=True):
    """A filter of items by their history over the runs."""

    history: HistoryName | None = None
    text: FreeText | None = None  # stands in the item's id, its prompt or the expected answer
    limit: Limit = 100
    offset: Offset = 0
    cursor: Cursor | None = None


class LeaderboardAsked(_Question, frozen=True, kw_only=True):
    """The eval set of a leaderboard. All its runs are ranked, or stand apart with the reason."""

    dataset: Word  # its id, or the hash of its bytes
    spec: Word = SCORE_SPEC
    spec_sha256: Word | None = None  # where several evaluators have that name
    metric: Word = SCORE.name  # or another of the answer's `metrics`
    confidence: Confidence = 0.95


# ── judges ───────────────────────────────────────────────────────────────────────────────────────────────────


class PairsRankedAsked(_Question, frozen=True, kw_only=True):
    """How verdicts of both orders count: a win that survives, else a tie; or each order half."""

    swap: Swap = "tie"


class EvaluationsAsked(_Question, frozen=True, kw_only=True):
    """A filter of evaluations."""

    run: RunId
    question: Word | None = None
    variant: Word | None = None
    target: Word | None = None
    judge: Word | None = None
    method: Literal["cross_judge", "self_judge"] | None = None
    verdict: Literal["PASS", "PARTIAL", "FAIL"] | None = None
    valid: bool | None = None
    flag: Word | None = None
    limit: Limit = 100
    offset: Offset = 0
    cursor: Cursor | None = None


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────


class BookNew(_Question, frozen=True, kw_only=True):
    """A draw of a run's samples for people to label: by chance, `n` of them or 100, or with `drawn_for` those whose
    labels settle the run's decision with the fewest, `n` or as many as that takes. The latter goes on from the `labels`
    of a book, if one is named.
    """

    run: RunId
    book: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    drawn_for: Literal["decision"] | None = None
    n: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    labels: Word | None = None
    stratify: Annotated[tuple[Word, ...], Meta(max_length=6)] = ()
    seed: Annotated[int, Meta(ge=0, le=4_294_967_295)] = 0


class LabelsAsked(_Question, frozen=True, kw_only=True):
    """The person who labels. Where the server asks for tokens, the labeller is the token's name.

    With `adjudicate`, `sample` and `field` ask for this one of the disputes.
    """

    labeller: Name | None = None
    adjudicate: bool = False
    sample: Place | None = None
    field: Word | None = None


class DisputesAsked(_Question, frozen=True, kw_only=True):
    """A part of the list of disputes. The list shrinks as they are settled, so it is read by place, not by cursor."""

    limit: Limit = 100
    offset: Offset = 0


class SplitsAsked(_Question, frozen=True, kw_only=True):
    """A part of the ranked list of what a panel's judges split on."""

    limit: Limit = 100
    offset: Offset = 0


class CalibrationAsked(_Question, frozen=True, kw_only=True):
    """The confidence of intervals, and the seed of those by resampling."""

    confidence: Confidence = 0.95
    seed: Annotated[int, Meta(ge=0, le=4_294_967_295)] = 0


class LabelGiven(_Question, frozen=True, kw_only=True):
    """One score of one sample by a criterion, `field`; null where it does not apply."""

    labeller: Name | None = None
    sample: Place
    field: Annotated[str, Meta(min_length=1, max_length=500)]
    score: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] | None
    note: Annotated[str, Meta(max_length=2_000)] = ""
    adjudicate: bool = False


class LabelUndone(_Question, frozen=True, kw_only=True):
    """The labeller whose last standing label is taken back."""

    labeller: Name | None = None
    adjudicate: bool = False


# ── submitting ───────────────────────────────────────────────────────────────────────────────────────────────


class SubmissionNew(_Question, frozen=True, kw_only=True):
    """Predictions that were made elsewhere, to be sent in chunks. `evalset` as in `RunNew.config`; `spec` is a shipped
    evaluator without a judge."""

    run_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    evalset: Word
    model: Word
    spec: Word = SCORE_SPEC


class SubmittedPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """One prediction. Further keys are the run's own (A5). `predicted` is null where there is none (A3)."""

    item_id: Annotated[str, Meta(min_length=1)]
    predicted: str | None
    eval_time_ms: Annotated[int, Meta(ge=0, le=(1 << 53) - 1)] | None = None


# ── access ───────────────────────────────────────────────────────────────────────────────────────────────────


class Login(_Question, frozen=True, kw_only=True):
    """A token, to be exchanged for cookies."""

    token: Annotated[str, Meta(min_length=1, max_length=200)]
