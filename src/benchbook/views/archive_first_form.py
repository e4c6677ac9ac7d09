"""The JSON file of an evaluation as archives had it before derivation 3, and the way back.

It holds what was asked instead of what the judge wrote under `meta`, and no `timestamp` and `notes`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.canonical import ready
from benchbook.evaluators.protocol.evaluation_rows import EvaluationRow, EvidenceRow, FlagDetail, sha256_of

__all__ = ["FIRST_FORM", "first_form", "row_of_first_form"]


class Meta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the judge was asked (P2), and for which time, from 0."""

    question_id: str
    prompt_variant: str
    target_model: str
    output_id: str
    judge_model: str
    method: str
    repeat: int


class Scores(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The four dimensions, each 0, 1 or 2, and their sum."""

    FORMAT_COMPLIANCE: int
    INSTRUCTION_COMPLIANCE: int
    SEMANTIC_FIDELITY: int
    COMPLETENESS: int
    overall_score: int


class FirstForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The JSON file of one evaluation."""

    meta: Meta
    valid: bool
    flags: list[str]
    details: list[FlagDetail]
    scores: Scores | None  # null where they can't be read
    verdict: str | None
    evidence: list[EvidenceRow]
    text_sha256: str
    prompt_sha256: str | None
    request_sha256: str | None
    reply_sha256: str
    fact_seq: int | None
    raw_reply: str | None


_SAME = (
    "valid",
    "flags",
    "details",
    "verdict",
    "evidence",
    "text_sha256",
    "prompt_sha256",
    "request_sha256",
    "fact_seq",
)
FIRST_FORM = msgspec.json.Decoder(ready(FirstForm))


def first_form(row: EvaluationRow) -> FirstForm:
    return FirstForm(
        meta=Meta(**_fields(row, Meta.__struct_fields__)),
        scores=None if row.overall_score is None else Scores(**_fields(row, Scores.__struct_fields__)),
        reply_sha256=sha256_of(row.raw_reply),
        raw_reply=row.raw_reply if row.valid else None,
        **_fields(row, _SAME),
    )


def row_of_first_form(archived: FirstForm, raw_reply: str) -> EvaluationRow:
    return EvaluationRow(
        **_fields(archived.meta, Meta.__struct_fields__),
        **_fields(archived.scores, Scores.__struct_fields__),
        **_fields(archived, _SAME),
        raw_reply=raw_reply,
    )


def _fields(of: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Fields by name; of None, as many nulls."""
    return {name: None if of is None else getattr(of, name) for name in names}
