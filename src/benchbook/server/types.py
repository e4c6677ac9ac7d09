"""The API's answers. Real numbers are numbers; a null is unknown, and never zero (SPEC C2)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from benchbook.canonical import canonical_json
from benchbook.evaluators.contract import SamplesAre
from benchbook.evaluators.document import Tone
from benchbook.evaluators.gates import Decision, RunVerdict
from benchbook.record.standing import RunState
from benchbook.views.views import GateWords, TableWords


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An error (RFC 9457). `type` is always `about:blank`: the status says what kind it is, `detail` what is wrong."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str | None = None


def encoded(value: Any) -> bytes:
    """A value as JSON. A lone surrogate in somebody's text is written as its escape."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return canonical_json(value)


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as lists show it. Times are RFC 3339, in UTC."""

    run_id: str
    spec: str | None
    samples_are: SamplesAre | None  # answers, or evaluations by judges; null where the evaluator is not known here
    state: RunState
    state_words: str  # the same as people read it: `stopped, can be resumed`, `running, no news for 5 min`
    last_sign_utc: str | None  # of one that runs: when its journal grew last
    error: str | None  # why the record is damaged, or that it stands under another's name
    started_utc: str | None
    ended_utc: str | None
    dataset_id: str | None
    dataset_sha256: str | None
    dataset_name: str | None  # the id with the version that was asked: `sums@334e4011`
    model_id: str | None
    model_version: str | None
    evaluator_model_id: str | None
    judges: tuple[str, ...]  # by name: all of a panel, and of an experiment
    decision: str | None
    primary_name: str | None  # the aggregate that the spec ranks runs by
    primary: float | None
    primary_low: float | None
    primary_high: float | None
    n_items: int | None
    n_planned: int | None  # samples
    n_attempted: int | None
    n_scored: int | None
    n_unscored: int | None
    n_evaluations: int | None  # by judges, without probes; null for a run of answers
    n_tokens: int | None  # of models and judges, as far as the record tells
    cost_usd: float | None  # of both, where prices were given
    journal_sha256: str | None  # names the whole record
    manifest_sha256: str | None
    predictions_unavailable: str | None  # why there is no per-item table (A6); null where there is one
    name: str  # that people gave it beside its id; empty for none
    note: str
    tags: tuple[str, ...]  # those that it was begun with among them
    archived: bool
    loss: tuple[float | None, ...] | None  # a few points of the curve; null where the run has none
    compared_as: str | None  # runs that have the same can be compared; null where it can be with none
    not_compared: str | None  # why it can be compared with none


class Indexing(msgspec.Struct, frozen=True, kw_only=True):
    """How far a server that was started lately is with its first look through the folder: until it is over, lists are
    not whole. All is null once it is. `total` is null, too, while the folder is being listed."""

    done: int | None
    total: int | None
    words: str | None


class RunsPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the list of runs. `n` runs fit in all; `next_cursor` is null on the last page, `indexing` where
    the list is whole.
    """

    runs: tuple[RunRow, ...]
    n: int
    next_cursor: str | None
    indexing: Indexing | None


class RunTotalsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the runs that fit. Null where no run has the number; `n_with_*` says how many have it."""

    n_runs: int
    n_samples: int
    n_tokens: int | None
    n_with_tokens: int
    cost_usd: float | None
    n_with_cost: int
    by_state: dict[str, int]
    by_decision: dict[str, int]


class Tags(msgspec.Struct, frozen=True, kw_only=True):
    """People's tags of a run, in alphabetical order."""

    run_id: str
    tags: tuple[str, ...]


class MarksOfRun(msgspec.Struct, frozen=True, kw_only=True):
    """People's marks on a run. `etag` names them as they are: the header If-Match of a change that replaces texts."""

    run_id: str
    name: str
    note: str
    tags: tuple[str, ...]
    archived: bool
    etag: str


class MarksChanged(msgspec.Struct, frozen=True, kw_only=True):
    """The marks of many runs after one change of them all."""

    marks: tuple[MarksOfRun, ...]


class Reasons(msgspec.Struct, frozen=True, kw_only=True):
    """Sentences under a title, if they have one."""

    title: str | None
    entries: tuple[str, ...]


class HeadlineWords(msgspec.Struct, frozen=True, kw_only=True):
    """The opening words of a report: the headline, its meaning, the reasons, and the colour it is shown in."""

    headline: str
    tone: Tone
    meaning: tuple[str, ...]
    reasons: tuple[Reasons, ...]


class DecisionWords(HeadlineWords, frozen=True, kw_only=True):
    """The same for a decision with gates: each gate as reports word it, in their order; `gates_table` has them all."""

    gates: tuple[GateWords, ...]
    gates_table: TableWords


class DecisionOfRun(Decision, frozen=True, kw_only=True):
    """decision.json. `said` has its reasons as reports word them: rates in percent, aggregates by their labels."""

    said: tuple[str, ...]
    words: DecisionWords


class VerdictOfRun(RunVerdict, frozen=True, kw_only=True):
    """decision.json where there are no gates: how the run itself went, which is no verdict on its score (A3)."""

    words: HeadlineWords


class RefusedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that is refused, because metadata is missing (R7.1)."""

    decision: None
    release_ready: Literal[False]
    reasons: tuple[str, ...]
    words: HeadlineWords


class FindingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is not as it was written. `line` counts from 1; null: the file as a whole."""

    file: str
    line: int | None
    message: str


class VerificationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of deriving everything again and comparing it, byte by byte."""

    run_id: str
    holds: bool
    state: str
    n_facts: int
    journal_sha256: str
    findings: tuple[FindingRow, ...]
    not_computed: str | None  # in words: what was only compared byte for byte, since nobody can compute it again


# ── predictions, in source 004's form (A5, A6) ───────────────────────────────────────────────────────────────


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `tunix_run_predictions`. The run's own keys stand beside these fields, where none has their name.
    `expected` is null where the evaluator needs none and the item has none, `correctness` where there is no score.
    """

    item_id: str
    expected: str | None
    predicted: str | None
    correctness: float | None
    eval_time_ms: int | None


class PredictionsOfRun(msgspec.Struct, frozen=True, kw_only=True, tag_field="status", tag="available"):
    """A page in the order of the plan. `next_cursor` is null on the last."""

    run_id: str
    predictions: tuple[Prediction, ...]
    next_cursor: str | None


class PredictionsUnavailable(msgspec.Struct, frozen=True, kw_only=True, tag_field="status", tag="unavailable"):
    """There is no per-item table, and no row is made up (A6)."""

    run_id: str
    reason: str


# ── training ─────────────────────────────────────────────────────────────────────────────────────────────────


class MetricCurve(msgspec.Struct, frozen=True, kw_only=True):
    """A training metric by step; the four lists have one length. A null value was logged as NaN or an infinity.

    `times` are seconds, since 1970 or since the log's start, as the log has it. Of long curves a part is shown: lows,
    highs and gaps stay.
    """

    name: str
    source: str  # the log that it was read from
    steps: tuple[int, ...]
    values: tuple[float | None, ...]
    tokens: tuple[int | None, ...]
    times: tuple[float | None, ...]
    n_points: int  # before any was left out
    n_replaced: int  # points that were trained again later; they are not among these


class TrainingMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """`names` has every metric that was logged; `curves` those that were asked for."""

    run_id: str
    names: tuple[str, ...]
    curves: tuple[MetricCurve, ...]


# ── eval sets ────────────────────────────────────────────────────────────────────────────────────────────────


class EvalSetSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An eval set that runs were made on, under one spec."""

    dataset_sha256: str
    dataset_id: str | None
    dataset_name: str  # with its version: `sums@334e4011`
    spec: str
    spec_sha256: str | None
    n_runs: int
    best: float | None


class EvaluatorOfRuns(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluator that has runs. Two with one name and different files are two."""

    spec: str
    spec_sha256: str | None
    n_runs: int


class EvaluatorList(msgspec.Struct, frozen=True, kw_only=True):
    evaluators: tuple[EvaluatorOfRuns, ...]


class EvalSetList(msgspec.Struct, frozen=True, kw_only=True):
    """Eval sets. `shipped` are the names that a run may give with an @ in front."""

    evalsets: tuple[EvalSetSummary, ...]
    shipped: tuple[str, ...]


# ── starting, submitting ─────────────────────────────────────────────────────────────────────────────────────


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was started: `begun` once its record is there and in the list, `starting` before, or `refused` by its
    own process, for `detail`."""

    run_id: str
    state: Literal["starting", "begun", "refused"]
    detail: str | None


class CancelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`stopping`: what is under way is finished, then the run ends, and can be resumed."""

    run_id: str
    state: Literal["stopping"]


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """Predictions that are being sent in chunks. The record is made of them at the end, whole."""

    run_id: str
    evalset_sha256: str
    n_items: int
    chunks: tuple[str, ...]  # the keys that are there
    n_predictions: int


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    """`added` is 0 where the same chunk was there already under this key."""

    run_id: str
    key: str
    added: int
    sha256: str


# ── the server itself ────────────────────────────────────────────────────────────────────────────────────────


class WhoAmI(msgspec.Struct, frozen=True, kw_only=True):
    """The client's name and scopes. `login_needed`: this server asks for a token. `via`: how it knows the client."""

    name: str
    scopes: tuple[str, ...]
    login_needed: bool
    via: Literal["local", "token", "cookie", "nobody"]


class LoginAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The cookies are set. A write sends the one that is readable, benchbook_csrf, as the header x-csrf-token."""

    name: str
    scopes: tuple[str, ...]


class Live(msgspec.Struct, frozen=True, kw_only=True):
    status: Literal["ok"] = "ok"


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """`last_look_s`: seconds since the folder of records was last looked through."""

    status: Literal["ready"] = "ready"
    last_look_s: float
