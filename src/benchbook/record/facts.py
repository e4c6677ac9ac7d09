"""The kinds of facts (DESIGN, The record). Each is one journal line.

Every fact has `seq` (from 0), `prev` (the SHA-256 of the line before, without its newline; 64 zeros at first) and
`at` (UTC). The journal sets them. Times are milliseconds of a monotonic clock (SPEC C7).

A text that names or describes (a provider's name for its model, an error's words, a note) is made storable when its
fact is written, by `line_of` alone. What a model answered stays as it came, and so do settings: they are hashed with
the plan, and name files.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from benchbook.canonical import canonical_json, ready, unicode_json
from benchbook.record.imported_scores import ImportedOutcome
from benchbook.text import all_storable

FIRST_PREV = "0" * 64

Role = Literal["candidate", "judge"]
# What a failed call ended: the attempt (it was tried again), the sample for good, the sample for this sitting (it is
# asked again when the run is resumed), or the whole sitting.
FailureEnds = Literal["attempt", "sample", "sitting", "run"]
# Why a call brought no answer. Only `time_limit` is the model's (R1.3): all others leave a sample unanswered (R1.3a).
FailureCause = Literal[
    "time_limit",  # the model was asked, and gave no whole answer within the time limit
    "connection",  # none could be made, or it was lost
    "dns",
    "tls",
    "proxy",
    "local",  # a fault of this machine: open files, memory, disk
    "authentication",  # 401, 403
    "payment",  # 402, a spent quota
    "not_found",  # 404: no such model or address
    "parameter",  # a generation parameter that the server refuses; `Failure.parameter` names it
    "rate_limit",  # 429
    "server_error",  # 5xx, and what counts as one
    "request",  # another 4xx: this request is refused
    "broken_reply",  # no JSON, cut short, too large, compressed, without a choice
    "not_recorded",  # the recorded outputs have none for this item
    "not_carried_out",  # the batch that it was in ended before it was asked: expired, cancelled, without a result
    "harness",  # the tool failed whose log was imported
]

LabelField = Literal["accuracy_score", "faithfulness_score"]  # the criteria of rubric@v1
# Two people label a sample without seeing each other's scores; where they differ, the third round settles it.
LabelRound = Literal["first", "second", "adjudicated"]


class _Fact(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="kind"):
    seq: int = -1
    prev: str = ""
    at: str = ""


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a run that one of many writers records: the samples from `first` up to and without `end`."""

    number: int  # from 1
    of: int
    first: int
    end: int

    @property
    def n_samples(self) -> int:
        return self.end - self.first


class RunStarted(_Fact, tag="run_started", kw_only=True):
    """The run's plan and settings, recorded before anything was asked."""

    run_id: str
    spec: str
    spec_sha256: str
    plan_sha256: str
    n_items: int
    repeats: int
    config: dict[str, Any]
    inputs: dict[str, str]
    identity: dict[str, Any]  # R7.1's metadata as far as it was known at the start
    code_version: dict[str, Any]
    environment: dict[str, Any]
    format: int = 0  # named where it is higher than the derivation: the journal has what older versions can't read
    shard: Shard | None = None  # None: one writer records all of it


class Reply(_Fact, tag="reply", kw_only=True):
    """An answer that came back whole. `text` is None where it held no text (a content filter)."""

    sample: int
    role: Role
    judge: int = 0  # which of a panel's judges; they are numbered as in the plan
    attempt: int = 1  # the judge's parse retry is 2 (R3.5)
    text: str | None = None
    finish_reason: str | None = None
    request_sha256: str | None = None  # None for recorded outputs: nobody was asked
    latency_e2e_ms: int | None = None
    latency_model_ms: int | None = None
    time_to_first_token_ms: int | None = None
    queue_ms: int = 0
    retry_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_reported: int | None = None  # if the provider's total shows that more were used (R1.5)
    reasoning_characters: int | None = None  # of thoughts that came apart from the answer; their text is not kept
    model_reported: str | None = None
    fingerprint: str | None = None
    cached: bool = False
    own: str | None = None  # what else the row of a recorded prediction held (A5), as a JSON object
    batch: str | None = None  # the one that it came in, and whose part of the price its tokens cost


class Failure(_Fact, tag="failure", kw_only=True):
    """A call that brought no answer."""

    sample: int
    role: Role
    judge: int = 0
    attempt: int = 1
    error: Literal["provider_error", "timeout", "cancelled"]
    ends: FailureEnds
    status: int | None = None
    detail: str = ""
    cause: FailureCause | None = None  # None: written before derivation 3
    parameter: str | None = None  # the refused one, for the cause `parameter`
    request_sha256: str | None = None
    latency_ms: int = 0  # how long this attempt took
    queue_ms: int = 0
    retry_ms: int = 0
    batch: str | None = None  # the one that it was in


BatchForm = Literal["openai", "anthropic", "gemini"]  # how a vendor takes requests; many take them as OpenAI does
# How a batch ended: as a vendor says, or `not_sent`, for it was never made there.
BatchEnd = Literal["completed", "expired", "cancelled", "failed", "not_sent"]


class BatchPrepared(_Fact, tag="batch_prepared", kw_only=True):
    """Requests that are about to go out together: on the disk before anything is sent, so that they go out once."""

    batch: str  # our own id, which leads from a vendor's batch to this fact
    form: BatchForm
    address: str | None = None  # whom they are sent to; None: a file for whoever carries it there
    role: Role
    judge: int = 0
    n_requests: int
    samples: list[tuple[int, int]]  # whose requests they are: runs of samples, each its first and how many
    sha256: str  # of the file with the requests
    price_factor: str  # the part of the price that its tokens cost, as a decimal
    most_cost_usd: str | None = None  # if every answer is as long as allowed; None where no price is known


class BatchSubmitted(_Fact, tag="batch_submitted", kw_only=True):
    """A vendor has a batch, under an id of its own."""

    batch: str
    vendor_id: str


class BatchCollected(_Fact, tag="batch_collected", kw_only=True):
    """A batch is over: nothing of it is waited for. Its requests without a reply may be sent again."""

    batch: str
    end: BatchEnd
    detail: str = ""  # what the vendor said of a batch that failed
    n_replies: int = 0
    n_failures: int = 0  # requests that were not carried out among them
    n_doubled: int = 0  # lines more than one of a request: the first stands
    n_strange: int = 0  # lines that answer no request of it
    results: list[str] = []  # the hashes of the files with the results


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The result of a user's own scorer for one sample: a score and any named values, or a fault.

    `score` and `passed` are as they were returned; `passed` is None if it was left to the score. `fault` is the
    scorer's, and stands alone: it raised, or returned something that is not a score.
    """

    sample: int
    score: bool | int | float | None = None
    passed: bool | None = None
    values: dict[str, bool | int | float | str] = {}
    fault: str | None = None


class Outcomes(_Fact, tag="outcomes", kw_only=True):
    """A scorer's results for some samples: facts, since nobody can compute them again from the record."""

    scorer: str  # `name@vN`
    source_sha256: str
    python: str  # the version that it ran under
    outcomes: list[Outcome]


class LogOutcomes(_Fact, tag="imported", kw_only=True):
    """Another tool's scores of some samples, as its log has them: facts, since nobody can compute them again."""

    outcomes: list[ImportedOutcome]


class Sealed(_Fact, tag="sealed", kw_only=True):
    """A full segment was compressed; `sha256` is that of the compressed file, `lines_sha256` that of its lines."""

    segment: int
    sha256: str
    lines_sha256: str


class Interrupted(_Fact, tag="interrupted", kw_only=True):
    """The run stopped before its plan's end, on purpose, and can be resumed."""

    reason: str


class Resumed(_Fact, tag="resumed", kw_only=True):
    """The run goes on, perhaps elsewhere."""

    code_version: dict[str, Any]
    environment: dict[str, Any]
    config: dict[str, Any]  # the settings that may change between sittings: limits, endpoints


class RunEnded(_Fact, tag="run_ended", kw_only=True):
    """Every planned sample has its outcome, or the plan's rule has decided without the rest.

    `accepts_unanswered`: whoever ran it chose to end it with samples unanswered (R1.3a).
    """

    accepts_unanswered: bool = False


class DrawnStratum(msgspec.Struct, frozen=True, kw_only=True):
    """How many samples of the run share a value, and how many of them were drawn."""

    n_eligible: int
    n_drawn: int


class EarlierDraw(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record of labels that another goes on from: all that it takes to draw its samples again."""

    sha256: str  # of that record
    seed: int
    stratify: list[str]
    strata: dict[str, DrawnStratum]
    verdicts: dict[str, str] = {}  # as in `Allocation`; empty: drawn from each stratum in proportion


class Allocation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A draw that took more of some of the judge's verdicts than of others, for labels to settle a decision.

    The numbers are of labels, earlier ones counted in, that were expected to be needed; None where all would not be
    enough.
    """

    drawn_for: Literal["decision"]
    aggregates: list[str]  # whose gates were in doubt
    verdicts: dict[str, str]  # by the judge's scores, joined with " / ", the stratum that they are in
    n_to_settle: int | None = None
    n_by_chance: int | None = None
    earlier: list[EarlierDraw] = []  # the oldest first; their samples and labels are in this record, too


class ItemsOf(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A draw of this run's answers to the items that labels of another run of the same eval set were drawn of."""

    run_id: str  # the other run's
    run_sha256: str
    draw: EarlierDraw  # by which that run's samples were drawn
    items: list[str]  # the ids of what was drawn there, in the order shown there
    repeats: list[int] = []  # for each of them, from 0; empty: all are of the first
    scored_here_alone: list[int] = []  # samples of this run that have a score, and in the other run none


class LabelScale(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One criterion by which people score an answer: its name, and the scores that may be given."""

    name: str
    scores: tuple[int, ...]
    meaning: str = ""  # in words, as people see it
    grades: tuple[str, ...] = ()  # the name of each score, in order; empty: scores have numbers alone
    may_not_apply: bool = False  # people may say that it does not apply: a label without a score


class LabelsStarted(_Fact, tag="labels_started", kw_only=True):
    """The first fact of a record of people's labels: which samples of which run people are asked about."""

    run_id: str
    run_sha256: str  # of the run's journal: it names that record and no other
    spec: str
    seed: int
    stratify: list[str]
    strata: dict[str, DrawnStratum]  # by their values, joined with " / "; {"": …} where nothing was stratified
    samples: list[int]  # numbers of the run's samples, or of the questions about them, in the order shown
    hidden: list[str]  # what labellers do not see
    inputs: dict[str, str]
    drawn_by: str
    criteria: list[LabelScale] = []  # empty in older records: people scored the criteria of rubric@v1
    answers: list[str] = []  # for each sample, in order, the hash that its labels belong to; empty in older records
    allocation: Allocation | None = None  # None: drawn from each stratum in proportion
    items_of: ItemsOf | None = None  # None: this run's own chance drew
    anchored: bool = False  # anchor.json was there from the start: without it, lines may be missing from the end


class Label(_Fact, tag="label", kw_only=True):
    """One person's score of one sample by a criterion, `field`; or, with `undoes`, the withdrawal of a label.

    With neither, it says that the criterion does not apply.
    """

    run_sha256: str
    sample: int
    labeller: str
    field: str
    score: int | None = None  # None: `undoes` withdraws a label, or the criterion does not apply
    round: LabelRound = "first"
    note: str = ""
    undoes: int | None = None  # the `seq` of this labeller's label that no longer holds
    more: int = 0  # labels of the same import that follow: all of them stand, or none


Fact = (
    RunStarted
    | Reply
    | Failure
    | BatchPrepared
    | BatchSubmitted
    | BatchCollected
    | Outcomes
    | LogOutcomes
    | Sealed
    | Interrupted
    | Resumed
    | RunEnded
    | LabelsStarted
    | Label
)

_Placed = TypeVar("_Placed", bound=_Fact)

fact_decoder: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(ready(Fact))

_AS_IT_CAME = frozenset({"text", "own", "config", "identity"})  # fields


def line_of(fact: Fact) -> bytes:
    """The canonical bytes of a fact, whose texts are made storable: in the fact itself, as others will read it."""
    try:
        return unicode_json(fact)
    except UnicodeEncodeError:
        _make_storable(fact)
        return canonical_json(fact)


def without_place(fact: _Placed) -> _Placed:
    """A fact without its ties to its place in the journal: two with the same content are equal."""
    return msgspec.structs.replace(fact, seq=-1, prev="", at="")


def _make_storable(fact: Fact) -> None:
    for one in msgspec.structs.fields(type(fact)):
        if one.name not in _AS_IT_CAME:
            plain = all_storable(msgspec.to_builtins(getattr(fact, one.name)))
            setattr(fact, one.name, msgspec.convert(plain, ready(one.type)))


SampleFact = Reply | Failure
NOT_ASKED = "not_asked"


def cause_of(failure: Failure | None) -> str:
    """The reason why an answer is missing, by the last call for it; `not_asked` if there was none."""
    return NOT_ASKED if failure is None else failure.cause or failure.error
