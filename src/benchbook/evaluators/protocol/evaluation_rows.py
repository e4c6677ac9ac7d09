"""One evaluation: a judge's reply about one output with all that was found out about it (SPEC P1 to P4).

A row is a pure function of what was asked, the judge's raw reply and the judged text, by a protocol. Of a cell that
nobody evaluated there is no row: that is a gap of the set (`coverage_gaps`, P4 INCOMPLETE_COVERAGE).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal, TypeVar

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.evidence_text import NormalisedText
from benchbook.evaluators.made import Made, made
from benchbook.evaluators.protocol.findings import Detail, SameModel, said
from benchbook.evaluators.protocol.reply import Evidence
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.evaluators.protocol.validity import Evaluation, EvaluationSet, Options, validate


@dataclass(frozen=True, slots=True, order=True)
class CellId:
    """One sample of P1: which output of which model, for which question under which variant of the prompt."""

    question_id: str
    prompt_variant: str
    target_model: str
    output_id: str


@dataclass(frozen=True, slots=True, order=True)
class Asked:
    """One question to a judge: the cell, who judges, by which method, and for which time (from 0)."""

    cell: CellId
    judge_model: str
    method: str  # cross_judge or self_judge
    repeat: int = 0

    def meta(self) -> dict[str, str]:
        """The `meta` that a reply must have (P2)."""
        cell = self.cell
        return {
            "judge_model": self.judge_model,
            "target_model": cell.target_model,
            "question_id": cell.question_id,
            "prompt_variant": cell.prompt_variant,
            "output_id": cell.output_id,
            "method": self.method,
        }


class JudgedText:
    """An output's text as the judge saw it, with its hash; normalised once for all replies about it."""

    def __init__(self, text: str) -> None:
        self.normalised = NormalisedText(text)
        self.sha256 = sha256_of(text)

    @property
    def text(self) -> str:
        return self.normalised.text


class SpanRow(msgspec.Struct, frozen=True):
    """A part of the judged text, half-open, in code points."""

    start: int
    end: int


class EvidenceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a reply's evidence. A null could not be read as a string."""

    dimension: str | None
    quote: str | None
    reason: str | None
    located: str | None  # exact, normalised, fragments, not_found, empty (P4.1); null where there is no quote
    spans: list[SpanRow]


class FlagDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One fault of a reply: the flag it raises, its code, the field it is in, and words for people."""

    flag: str
    code: str
    field: str
    message: str


class EvaluationRow(Made, frozen=True, kw_only=True):
    """One evaluation. The identifiers are those that were asked about, never those that the reply claims.

    After `verdict` stand the protocol's dimensions, each with its score: see `row_kind`.
    """

    question_id: str
    prompt_variant: str
    target_model: str
    output_id: str
    judge_model: str
    method: str  # cross_judge or self_judge
    repeat: int  # from 0
    valid: bool
    flags: list[str]
    details: list[FlagDetail]  # a bounded number
    verdict: str | None  # the one that follows from the scores (P3)
    overall_score: int | None  # the sum; null, like the dimensions, unless each of them is of its scale
    evidence: list[EvidenceRow]
    text_sha256: str  # of the judged text
    raw_reply: str
    prompt_sha256: str | None = None  # of the judge prompt's template; null where an import does not know it
    request_sha256: str | None = None  # of what was sent for this evaluation
    fact_seq: int | None = None  # the reply's fact in the journal

    @property
    def cell(self) -> CellId:
        return CellId(self.question_id, self.prompt_variant, self.target_model, self.output_id)

    @property
    def asked(self) -> Asked:
        return Asked(self.cell, self.judge_model, self.method, self.repeat)


class ReadRow(EvaluationRow, frozen=True, kw_only=True):
    """A row of which the raw reply alone does not say what was validated, or which bytes it was (derivation 3)."""

    read_as: str | None  # what was read: without declared thoughts (R3.7), or put into the protocol's form by a mapping
    reply_base64: str | None  # the bytes of an imported reply that is no UTF-8: its text can't hold them


_Row = TypeVar("_Row", bound=EvaluationRow)


def row_kind(base: type[_Row], protocol: Protocol) -> type[_Row]:
    """A kind of row with the columns of a protocol's dimensions."""
    return _row_kind(base, protocol.names)


@cache
def _row_kind(base: type[_Row], dimensions: tuple[str, ...]) -> type[_Row]:
    return made(base, {"verdict": [(name, int | None) for name in dimensions]})


GapReason = Literal["no_text", "not_judged", "unanswered", "not_asked"]


class CoverageGap(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of the evaluation set with no evaluation (`INCOMPLETE_COVERAGE` of the set).

    Where it is merely not there yet, because the judge was not reached (`unanswered`) or not asked so far, it has no
    flag (R1.3b).
    """

    question_id: str
    prompt_variant: str
    target_model: str
    output_id: str
    judge_model: str | None  # null: no judge at all
    flag: str | None = "INCOMPLETE_COVERAGE"
    why: GapReason | msgspec.UnsetType = msgspec.UNSET


def cell_of(gap: CoverageGap) -> CellId:
    return CellId(gap.question_id, gap.prompt_variant, gap.target_model, gap.output_id)


def sha256_of(text: str) -> str:
    """The hash of the text's UTF-8; a lone surrogate counts as the three bytes that it would be."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def asked_about(cell: CellId, judge_model: str, same_model: SameModel, repeat: int = 0) -> Asked:
    """The question to `judge_model` about `cell`; two names of one model are the same model (P1)."""
    method = "self_judge" if same_model.are_same(judge_model, cell.target_model) else "cross_judge"
    return Asked(cell, judge_model, method, repeat)


def evaluation_row(
    asked: Asked,
    raw_reply: str,
    text: JudgedText,
    *,
    options: Options | None = None,
    evaluation_set: EvaluationSet | None = None,
    prompt_sha256: str | None = None,
    request_sha256: str | None = None,
    fact_seq: int | None = None,
) -> EvaluationRow:
    """The row of one reply. The same arguments give the same row; nothing but them is looked at."""
    options = options or Options()
    found = validate(
        raw_reply,
        output_text=text.normalised,
        asked=asked.meta(),
        evaluation_set=evaluation_set,
        options=options,
    )
    return row_of(
        found,
        options.protocol,
        asked,
        raw_reply,
        text,
        prompt_sha256=prompt_sha256,
        request_sha256=request_sha256,
        fact_seq=fact_seq,
    )


def row_of(
    found: Evaluation,
    protocol: Protocol,
    asked: Asked,
    raw_reply: str,
    text: JudgedText,
    *,
    prompt_sha256: str | None,
    request_sha256: str | None,
    fact_seq: int | None,
) -> EvaluationRow:
    """The row of a reply that is validated already: `found` is what came out."""
    cell = asked.cell
    scores = found.scores or {}
    return row_kind(EvaluationRow, protocol)(
        question_id=cell.question_id,
        prompt_variant=cell.prompt_variant,
        target_model=cell.target_model,
        output_id=cell.output_id,
        judge_model=asked.judge_model,
        method=asked.method,
        repeat=asked.repeat,
        valid=found.valid,
        flags=list(found.flags),
        details=[_detail(one) for one in found.details],
        verdict=found.verdict,
        overall_score=found.overall_score,
        evidence=[_evidence(item) for item in found.evidence],
        text_sha256=text.sha256,
        raw_reply=raw_reply,
        prompt_sha256=prompt_sha256,
        request_sha256=request_sha256,
        fact_seq=fact_seq,
        **{name: scores.get(name) for name in protocol.names},
    )


def _detail(one: Detail) -> FlagDetail:
    return FlagDetail(flag=one.flag, code=one.code, field=one.field, message=one.message)


def _evidence(item: Evidence) -> EvidenceRow:
    located = item.located
    return EvidenceRow(
        dimension=item.dimension,
        quote=item.quote,
        reason=item.reason,
        located=located.kind if located else None,
        spans=[SpanRow(start, end) for start, end in (located.spans if located else ())],
    )


def sorted_rows(rows: Iterable[EvaluationRow]) -> list[EvaluationRow]:
    """The rows in the one order that depends on nothing but what was asked (C2).

    Raises: UsageError where two evaluations answer the same: what counts is one a judge, an output and a repeat.
    """
    ordered = sorted(((row.asked, row) for row in rows), key=lambda pair: pair[0])
    for (one, _), (next_one, _) in pairwise(ordered):
        if one == next_one:
            what = ", ".join(f"{name} {said(value)}" for name, value in one.meta().items())
            raise UsageError(f"two evaluations of one output: {what}, repeat {one.repeat}; expected one")
    return [row for _, row in ordered]


def coverage_gaps(
    cells: Iterable[CellId], rows: Iterable[EvaluationRow], judges: Collection[str] = ()
) -> list[CoverageGap]:
    """The cells of the set that lack an evaluation, in order: by each of `judges`, or by any where none is named."""
    evaluated = {(row.cell, row.judge_model) for row in rows}
    evaluated_at_all = {cell for cell, _ in evaluated}
    gaps = []
    for cell in sorted(set(cells)):
        if judges:
            gaps += [_gap(cell, judge) for judge in sorted(set(judges)) if (cell, judge) not in evaluated]
        elif cell not in evaluated_at_all:
            gaps.append(_gap(cell, None))
    return gaps


def _gap(cell: CellId, judge_model: str | None) -> CoverageGap:
    return CoverageGap(
        question_id=cell.question_id,
        prompt_variant=cell.prompt_variant,
        target_model=cell.target_model,
        output_id=cell.output_id,
        judge_model=judge_model,
    )
