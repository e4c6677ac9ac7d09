"""The derived files of a `judge_protocol@v1` record: what each field is (SPEC P2 to P7)."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evaluators.protocol.analysis_results import Analysis
from benchbook.evaluators.protocol.evaluation_rows import CoverageGap, EvaluationRow, ReadRow, row_kind
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.record.derived_files import Manifest

__all__ = ["JudgeLedger", "ProtocolAggregates", "ProtocolManifest", "ProtocolReadRow", "ProtocolRow", "Task"]


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
    """What became of one judge's calls, and what they took. Tokens are null where no reply told them."""

    judge_model: str
    model_id: str
    model_version: str | None  # null: neither declared nor told
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
    """aggregates.json: the counts, and the analysis of P6."""

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
