"""The derived files of a record under a protocol, field by field (SPEC P2 to P7)."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evaluators.protocol.evaluation_rows import CoverageGap, EvaluationRow, ReadRow, row_kind
from benchbook.evaluators.protocol.probes import ProbeResult
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.record.derived_files import Manifest

# ── what the analysis says: plain data, exact to nine decimals (C2) ──────────────────────────────────────────


class Minimums(msgspec.Struct, frozen=True, kw_only=True):
    """The least numbers for a statement: below, the value is shown as seen, without an interval, and says so."""

    outputs: int = 5  # distinct outputs: of a target under a variant, or that two judges have in common
    questions: int = 5  # over which two variants are compared
    evaluations: int = 20  # cross-judging ones of a judge, for a place in the league


class LeagueRules(msgspec.Struct, frozen=True, kw_only=True):
    """When a judge can be used. Each compares a value of its card with a limit; `None` leaves a rule out."""

    valid_share_at_least: float | None = 0.9
    found_share_at_least: float | None = 0.9
    severity_at_most: float | None = (
        1.0  # an eighth of the points that there are, up or down, away from the other judges on the same outputs
    )
    agreement_at_least: float | None = 0.4  # mean of Gwet's AC2 of verdicts with each other judge
    failed_probe_share_at_most: float | None = 0.1  # of the probes that showed something


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A mean, a share, a difference or a coefficient, with its interval.

    `n` counts what it was computed over; `n_units` what varies independently of each other (outputs, questions), and
    `at_least` is the minimum that this is held against. `reason` says why there is no value or no interval: `too_few`,
    or one of `statistics.REASONS`.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    n_units: int
    at_least: int
    method: str
    reason: str | None
    warnings: list[str]

    @property
    def too_few(self) -> bool:
        return self.reason == "too_few"


class MethodCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many evaluations there are by one method, and what became of them (the invalid ones are counted, too)."""

    method: str
    n: int
    n_valid: int
    flags: dict[str, int]  # evaluations that a flag applies to; several may apply to one


class TargetVariant(msgspec.Struct, frozen=True, kw_only=True):
    """One target under one variant, by its valid cross-judging evaluations."""

    target_model: str
    prompt_variant: str
    n: int
    n_valid: int
    n_outputs: int  # that have a valid evaluation
    valid_share: Measured
    dimensions: dict[str, Measured]  # means
    overall: Measured  # mean of the sum
    verdicts: dict[str, int]
    verdict_shares: dict[str, float | None]


class QuestionDrift(msgspec.Struct, frozen=True, kw_only=True):
    """How one question's overall score differs between two variants, b - a: the mean over judges."""

    question_id: str
    difference: float
    n_pairs: int


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """How a target's overall score drifts from one variant to another, b - a: paired by question and judge."""

    target_model: str
    variant_a: str
    variant_b: str
    difference: Measured
    questions: list[QuestionDrift]


class EvaluationValidity(msgspec.Struct, frozen=True, kw_only=True):
    """How many of a judge's evaluations count, why the others do not, and where its quotes were found."""

    n: int
    n_valid: int
    valid_share: Measured
    flags: dict[str, int]
    flag_shares: dict[str, float | None]
    evidence: dict[str, int]  # by how it was located; `no_quote` is an item without one
    found_share: Measured  # of all items


class JudgeResults(msgspec.Struct, frozen=True, kw_only=True):
    """One judge. `severity`: its overall score minus the other judges' on the same outputs; below 0 it is harsher."""

    judge_model: str
    cross_judge: EvaluationValidity
    self_judge: EvaluationValidity
    severity: Measured
    agreement: (
        float | None
    )  # mean of Gwet's AC2 of verdicts with each other judge; null where there are too few outputs
    n_agreement_judges: int
    n_probes_passed: int
    n_probes_failed: int
    n_probes_open: int


class JudgePair(msgspec.Struct, frozen=True, kw_only=True):
    """How two judges agree on the outputs that both validly judged (cross-judging)."""

    judge_a: str
    judge_b: str
    n_outputs: int
    same_verdict: float | None
    verdict_kappa: Measured  # Cohen's kappa, linear weights over FAIL, PARTIAL, PASS
    verdict_ac: Measured  # Gwet's AC2 with the same weights: does not collapse where nearly all verdicts are alike
    overall_kappa: Measured  # Cohen's kappa, quadratic weights over the sums that there are


class SelfMinusCross(msgspec.Struct, frozen=True, kw_only=True):
    """A diagnostic, apart from all else (P6): how a model scores its own outputs, minus how others score them."""

    model: str
    n_outputs: int
    overall: Measured
    dimensions: dict[str, Measured]


class RuleOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of the league, held against one judge."""

    rule: str
    holds: bool | None  # null: not known
    found: float | None
    limit: float


class LeagueEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's standing: usable, not_usable, or too_few evaluations to say."""

    judge_model: str
    standing: str
    n: int
    outcomes: list[RuleOutcome]


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is computed from an experiment's rows. The same rows give the same analysis, in any order."""

    confidence: float
    minimums: Minimums
    rules: LeagueRules
    methods: list[MethodCounts]
    n_gaps: int
    targets: list[TargetVariant]
    drifts: list[Drift]
    judges: list[JudgeResults]
    pairs: list[JudgePair]
    self_minus_cross: list[SelfMinusCross]
    league: list[LeagueEntry]
    probes: list[ProbeResult]


# ── the files ────────────────────────────────────────────────────────────────────────────────────────────────

_Row = TypeVar("_Row", bound=EvaluationRow)


class ProtocolRow(EvaluationRow, frozen=True, kw_only=True):
    """One row of samples.parquet: an evaluation, and its place in the plan."""

    sample: int

    @property
    def item_id(self) -> str:
        """The cell in one line, for people."""
        return " / ".join((self.question_id, self.prompt_variant, self.target_model, self.output_id))

    def evaluation(self, protocol: Protocol) -> EvaluationRow:
        """The row as the archive and the analysis take it."""
        return _as_kind(self, row_kind(EvaluationRow, protocol))


class ProtocolReadRow(ProtocolRow, frozen=True, kw_only=True):
    """The same since derivation 3, with what was read where that is not the raw reply as it stands."""

    read_as: str | None
    reply_base64: str | None

    def evaluation(self, protocol: Protocol) -> EvaluationRow:
        if self.read_as is None and self.reply_base64 is None:
            return super().evaluation(protocol)
        return _as_kind(self, row_kind(ReadRow, protocol))


def _as_kind(row: ProtocolRow, kind: type[_Row]) -> _Row:
    return kind(**{name: getattr(row, name) for name in kind.__struct_fields__})


Task = Literal["known", "unknown"]  # whether what the targets were asked is in the record (P4.3)


class JudgeLedger(msgspec.Struct, frozen=True, kw_only=True):
    """The results and tokens of one judge's calls. Tokens are null where no reply reported them."""

    judge_model: str
    model_id: str
    model_version: str | None  # null: neither declared nor reported
    n_replies: int
    failures: dict[str, int]  # samples that ended without a reply, by error
    n_truncated: int
    transport_retries: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: str | None  # decimal dollars; null where no price was given
    latency_p50_ms: float | None
    unanswered: dict[str, int] | msgspec.UnsetType = msgspec.UNSET  # samples that wait for a reply, by cause (R1.3b)


class ProtocolAggregates(msgspec.Struct, frozen=True, kw_only=True):
    """aggregates.json: the counts, and the analysis."""

    spec: str
    n_outputs: int  # of the set
    n_without_text: int
    n_planned: int
    n_attempted: int
    n_evaluations: int
    n_valid: int
    n_invalid: int
    judges: list[JudgeLedger]
    gaps: list[CoverageGap]  # cells that lack an evaluation, by judge
    analysis: Analysis
    warnings: list[str]
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET  # samples, probes among them, whose judge was not reached
    unanswered: list[Unanswered] | msgspec.UnsetType = msgspec.UNSET  # by cause, in words
    n_warnings_first: int | msgspec.UnsetType = msgspec.UNSET  # of the warnings: those that stand before any number
    task: Task | msgspec.UnsetType = msgspec.UNSET


class ProtocolManifest(Manifest, frozen=True, kw_only=True):
    """manifest.json: who judged what, when, by which rules, and the hash that names the record."""

    prompt_sha256: str  # of the judge prompt's template
    n_outputs: int
    evidence: str
    same_model: dict[str, str]
    judges: dict[str, dict[str, Any]]  # name -> model id, version, parameters
    judged_elsewhere: bool
    task: Task | msgspec.UnsetType = msgspec.UNSET
    evaluated_from: str | msgspec.UnsetType | None = msgspec.UNSET  # of judgements made elsewhere: their first date
    evaluated_to: str | msgspec.UnsetType | None = msgspec.UNSET  # and their last; null: none has one (P7)
