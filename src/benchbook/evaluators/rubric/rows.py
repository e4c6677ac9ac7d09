"""The derived tables of a rubric's record: what each column is (SPEC R1.1, R4, R7.1).

Where a rubric's criteria have columns of their own, the class here has those that all rubrics share; `row` makes
the struct.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evalsets.set_parts import PartSaid
from benchbook.evaluators.contract import PairVerdict
from benchbook.evaluators.exact import RepeatSummary
from benchbook.evaluators.gates import DecisionName
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.made import Made
from benchbook.evaluators.panel_rules import PanelRule
from benchbook.evaluators.rubric.aggregates import RubricAggregates
from benchbook.evaluators.rubric.early_stop_gates import ClaimOfGate
from benchbook.record.derived_files import Manifest


class JudgeReply(msgspec.Struct, frozen=True, kw_only=True):
    """One reply of the judge, as it came. `attempt` counts from 1; 2 is the parse retry of R3.5."""

    attempt: int
    text: str | None
    parse_error_reason: str | None = None  # None: it was read
    detail: str | None = None
    seq: int  # the fact in the journal


class RubricRow(Made, frozen=True, kw_only=True):
    """One row of samples.parquet. `evaluator_*` is the judge's; latency and tokens else are the candidate's (R1.1).

    The criteria's scores, `accuracy_score`, come after the answer; what they and the measures are worth as parts of 1,
    `accuracy_norm`, after the reasons.
    """

    __slots__ = ()

    sample: int  # its place in the plan, from 0: repeat * items + item
    repeat: int  # from 0
    item_id: str
    section: str | None
    category: str | None
    difficulty: str | None
    group: str | None
    candidate_answer: str | None
    rationale: str | None
    score_origin: str | None
    evaluator_error: str | None
    parse_error_reason: str | None
    error_detail: str | None  # what a failed call said, keys removed
    sample_score: float | None
    passed: bool
    fail_reasons: list[str]
    latency_e2e_ms: int | None
    latency_model_ms: int | None
    time_to_first_token_ms: int | None
    queue_ms: int | None
    retry_ms: int | None
    timed_out: bool
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    token_efficiency_ratio: float | None
    finish_reason: str | None
    truncated: bool
    model_reported: str | None
    model_fingerprint: str | None
    cached: bool
    transport_retries: int
    parse_retries: int
    judge_replies: list[JudgeReply]
    reasoning: str | None
    evaluator_latency_ms: int | None
    evaluator_input_tokens: int | None
    evaluator_output_tokens: int | None
    evaluator_reported: str | None
    evaluator_fingerprint: str | None
    answer_seq: int | None  # the candidate's fact in the journal
    answer_sha256: str | None

    def judge_of(self, reply: JudgeReply) -> str | None:
        """Whose reply it is, by name; None where there is one judge."""
        del reply
        return None


class CausedRow(RubricRow, frozen=True, kw_only=True):
    """A row of derivation 3 and later: with the cause for which a sample is unanswered (R1.3a)."""

    __slots__ = ()

    candidate_error: str | None  # of `record.facts.FailureCause`, or `not_asked`; None of an answer or a time-out


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """Where every planned sample went. The parts add up: attempted = scored + unscored; scored holds no_answer."""

    n_planned: int
    n_attempted: int
    n_scored: int
    n_unscored: int
    unscored_by_reason: dict[str, int]  # evaluator_error, with the parse_error_reason behind a colon
    n_no_answer: int
    no_answer_by_reason: dict[str, int]  # timeout, provider_error, empty, content_filter, …
    # Before derivation 3 they are among n_no_answer. Of these, too, n_unscored holds all.
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET
    unanswered_by_cause: dict[str, int] | msgspec.UnsetType = msgspec.UNSET


class ItemAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How often the repeats of an item agree (R7.3)."""

    n_items: int  # items with at least two scored repeats
    same_answer: int  # all repeats gave the same text
    same_scores: int  # … the same accuracy and faithfulness
    same_passed: int


class Slice(Made, frozen=True, kw_only=True):
    """The aggregates of the samples that share one value of section, category or difficulty."""

    __slots__ = ()

    field: str
    value: str
    n_samples: int
    n_scored: int
    pass_rate: float | None
    aggregate_score: float | None


class Cases(msgspec.Struct, frozen=True, kw_only=True):
    """An aggregate with every unscored sample taken at 0 and 0, and at 2 and 2 (R6.3)."""

    worst: float | None
    best: float | None


class VarianceSplit(msgspec.Struct, frozen=True, kw_only=True):
    """The variance of samples: how much items differ, and how much one item's repeats do; in squared units.

    `standard_error` is that of the mean over these items and repeats by the two parts, beside what it would be with
    twice the items, or twice the repeats: whichever helps more.
    """

    aggregate: str
    between_items: float | None
    within_item: float | None
    share_within_item: float | None
    standard_error: float | None
    with_twice_the_items: float | None
    with_twice_the_repeats: float | None
    n: int
    n_items: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()


class PairedStop(msgspec.Struct, frozen=True, kw_only=True):
    """The run that this one is held against, and what was shown of that; nulls where nothing was.

    The counts are of the items that showed it: higher here, lower, alike, and those of which that is not known.
    """

    run_id: str
    journal_sha256: str
    verdict: PairVerdict | None
    n_won: int | None
    n_lost: int | None
    n_same: int | None
    n_open: int | None


class EarlyStop(msgspec.Struct, frozen=True, kw_only=True):
    """How a run that may stop once it is decided went. `after_items` is None where all items had to be asked, and
    `decision` where its gates did not decide.

    Numbers elsewhere are over the samples that decided; those that were under way then are facts, and cost.
    """

    decision: DecisionName | None
    after_items: int | None
    n_items: int
    error: float
    seed: int
    method: str
    gates: tuple[ClaimOfGate, ...]
    n_samples_counted: int
    n_samples_after: int  # asked all the same, for they were under way
    n_samples_not_asked: int
    against: PairedStop | msgspec.UnsetType = msgspec.UNSET  # left out where its own gates decide


class AggregatesFile(Made, frozen=True, kw_only=True):
    """aggregates.json."""

    # How often each score was given, `accuracy_counts`, comes after the reasons.

    __slots__ = ()

    spec: str
    ledger: Ledger
    aggregates: RubricAggregates
    intervals: dict[str, Interval]
    fail_reasons: dict[str, int]
    repeats: list[RepeatSummary]
    item_agreement: ItemAgreement | None  # None for a single repeat
    slices: list[Slice]
    evaluator_input_tokens: int
    evaluator_output_tokens: int
    evaluator_latency_p50_ms: float | None
    candidate_cost_usd: str | None  # decimal dollars; null where no price was given
    evaluator_cost_usd: str | None
    transport_retries: int
    parse_retries: int
    cached: int
    warnings: list[str]
    # Left out of records whose first fact names no derivation: they hold what there was when they were made.
    cases: dict[str, Cases] | msgspec.UnsetType = msgspec.UNSET
    variance: list[VarianceSplit] | msgspec.UnsetType = msgspec.UNSET  # empty for a single repeat
    early_stop: EarlyStop | msgspec.UnsetType = msgspec.UNSET  # left out where the plan asks for all items
    unanswered: list[Unanswered] | msgspec.UnsetType = msgspec.UNSET  # from derivation 3 on: why samples are, in words
    n_warnings_first: int | msgspec.UnsetType = msgspec.UNSET  # of the warnings: those that stand before any number


class PanelJudge(msgspec.Struct, frozen=True, kw_only=True):
    """One judge of a panel."""

    name: str
    model_id: str
    model_version: str | None
    generation_params_effective: dict[str, Any]


class PanelManifest(msgspec.Struct, frozen=True, kw_only=True):
    """Who judged together, and how their scores made one."""

    rule: PanelRule
    judges: list[PanelJudge]


class RubricManifest(Manifest, frozen=True, kw_only=True):
    """manifest.json: who, what, when, with what (SPEC R7.1), and the hash that names the record."""

    n_items: int
    benchmark: bool
    model_id: str
    model_version: str | None
    evaluator_model_id: str
    evaluator_model_version: str | None
    prompt_template_id: str | None  # null, as the next, where outputs were made elsewhere and nobody declared it
    prompt_template_version_or_hash: str | None
    evaluator_prompt_template_id: str
    evaluator_prompt_template_version_or_hash: str
    generation_params: dict[str, Any]
    generation_params_effective: dict[str, Any]
    evaluator_generation_params: dict[str, Any]
    evaluator_generation_params_effective: dict[str, Any]
    unmeasured: list[str]
    reasoning_tags: list[str]
    missing_metadata: list[str]  # names of R7.1 that are not known; a run with any is refused a decision
    panel: PanelManifest | msgspec.UnsetType = msgspec.UNSET  # left out where there was one judge
    accepted_unanswered: bool | msgspec.UnsetType = msgspec.UNSET  # set where the user ended the run as it was (R1.3a)
    # Names of R7.1 that nobody declared, of outputs that were made elsewhere; left out where there are none.
    not_known: list[str] | msgspec.UnsetType = msgspec.UNSET
    part: PartSaid | msgspec.UnsetType = msgspec.UNSET  # left out where the whole set was asked


class PanelVote(Made, frozen=True, kw_only=True):
    """One judge's vote on an answer. `reply_seqs` are the facts of its replies, which are in `judge_replies`."""

    __slots__ = ()

    judge: int  # its number in the plan, from 0
    name: str
    rationale: str | None
    passed: bool | None  # whether the sample would pass by this judge alone; None where it gave no score
    evaluator_error: str | None
    parse_error_reason: str | None
    error_detail: str | None
    latency_ms: int | None  # of the last reply
    input_tokens: int | None  # of all replies
    output_tokens: int | None
    model_reported: str | None
    fingerprint: str | None
    reply_seqs: list[int]


class PanelRow(RubricRow, frozen=True, kw_only=True):
    """A row with every judge's vote. Scores are the panel's, by the plan's rule; they are null where a judge who gave
    none might have changed them.

    `rationale` is that of the first judge who gave the panel's scores. `evaluator_*` add up all judges; who answered
    stands in the votes.
    """

    __slots__ = ()

    votes: list[PanelVote]  # one for each judge; none where no answer came
    verdicts_differ: bool  # the sample would pass by some judges and fail by others
    spread: int  # highest less lowest score, of all criteria together; of an item's own 1 for each that they differ on
    n_dissenting: int  # votes with other scores than the panel's; with any, where the panel has none

    def judge_of(self, reply: JudgeReply) -> str | None:
        return next((vote.name for vote in self.votes if reply.seq in vote.reply_seqs), None)


class CausedPanelRow(PanelRow, frozen=True, kw_only=True):
    """The same of derivation 3 and later, as `CausedRow` is of one judge."""

    __slots__ = ()

    candidate_error: str | None
