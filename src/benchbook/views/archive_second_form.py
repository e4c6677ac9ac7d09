"""The JSON file of an evaluation since derivation 3: the judge's own fields, and what was found out (SPEC P2, P5).

The fields of source 002, section 5, stand as the judge wrote them, so a valid file is a valid reply when it is read
again. What the judge did not write, or not as the protocol asks, is left out: nothing is invented, and the scores and
the verdict that count are computed from the file when it is read.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from benchbook.canonical import ready
from benchbook.evaluators.protocol.evaluation_rows import EvaluationRow, EvidenceRow, FlagDetail, ReadRow, SpanRow
from benchbook.evaluators.protocol.scores import readable_scores, verdict, written_in
from benchbook.evaluators.protocol.spec import protocol

__all__ = ["SECOND_FORM", "SecondForm", "row_of_second_form", "second_form"]


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the judge was asked (P1), and for which time, from 0."""

    question_id: str
    prompt_variant: str
    target_model: str
    output_id: str
    judge_model: str
    method: str
    repeat: int


class ArchivedEvidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An item as the judge wrote it, with where its quote was found; null where there is no quote."""

    dimension: str | UnsetType = UNSET
    quote: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    located: str | None
    spans: list[SpanRow]


class SecondForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file. `flags` are those that were found; of a valid evaluation the judge's are as empty."""

    asked: Asked
    valid: bool
    flags: list[str]
    details: list[FlagDetail]
    evidence: list[ArchivedEvidence]
    meta: dict[str, str] | UnsetType = UNSET
    scores: dict[str, int] | UnsetType = UNSET
    verdict: str | UnsetType = UNSET
    notes: str | UnsetType = UNSET
    text_sha256: str
    prompt_sha256: str | None
    request_sha256: str | None
    reply_sha256: str  # of the raw reply's bytes
    reply_is_utf8: bool
    fact_seq: int | None
    raw_reply: str | None  # null of an invalid evaluation: it lies beside
    read_as: str | None  # what was read of it, where that is not all of it as it stands


_SAME = ("valid", "flags", "details", "text_sha256", "prompt_sha256", "request_sha256", "fact_seq")
SECOND_FORM = msgspec.json.Decoder(ready(SecondForm))


def second_form(row: EvaluationRow, reply_sha256: str) -> SecondForm:
    """The file's content; `reply_sha256` is of the raw reply's bytes."""
    read_as = row.read_as if isinstance(row, ReadRow) else None
    written = written_in(row.raw_reply if read_as is None else read_as)
    return SecondForm(
        asked=Asked(**_fields(row, Asked.__struct_fields__)),
        meta=_or_unset(written.meta),
        scores=_or_unset(written.scores),
        verdict=_or_unset(written.verdict),
        notes=_or_unset(written.notes),
        evidence=[_archived(item) for item in row.evidence],
        reply_sha256=reply_sha256,
        reply_is_utf8=not isinstance(row, ReadRow) or row.reply_base64 is None,
        raw_reply=row.raw_reply if row.valid else None,
        read_as=read_as,
        **_fields(row, _SAME),
    )


def row_of_second_form(archived: SecondForm, raw_reply: str, reply_base64: str | None) -> EvaluationRow:
    scores = readable_scores(None if isinstance(archived.scores, UnsetType) else archived.scores)
    found = {name: None if scores is None else scores[name] for name in protocol().dimensions}
    fields: dict[str, Any] = {
        **_fields(archived.asked, Asked.__struct_fields__),
        **_fields(archived, _SAME),
        **found,
        "overall_score": None if scores is None else sum(scores.values()),
        "verdict": None if scores is None else verdict(tuple(scores.values())),
        "evidence": [_row(item) for item in archived.evidence],
        "raw_reply": raw_reply,
    }
    if archived.read_as is None and reply_base64 is None:
        return EvaluationRow(**fields)
    return ReadRow(read_as=archived.read_as, reply_base64=reply_base64, **fields)


def _archived(item: EvidenceRow) -> ArchivedEvidence:
    return ArchivedEvidence(
        dimension=_or_unset(item.dimension),
        quote=_or_unset(item.quote),
        reason=_or_unset(item.reason),
        located=item.located,
        spans=item.spans,
    )


def _row(item: ArchivedEvidence) -> EvidenceRow:
    return EvidenceRow(
        dimension=_or_none(item.dimension),
        quote=_or_none(item.quote),
        reason=_or_none(item.reason),
        located=item.located,
        spans=item.spans,
    )


def _or_unset(value: Any) -> Any:
    return UNSET if value is None else value


def _or_none(value: str | UnsetType) -> str | None:
    return None if isinstance(value, UnsetType) else value


def _fields(of: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}
