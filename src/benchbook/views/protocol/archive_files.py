"""One evaluation as the files of an archive, and back (SPEC P5).

The JSON has the shape of a judge's reply (source 002, section 5) with what was found out added: a tool that reads the
one reads the other. `raw_reply` is in it where the evaluation is valid, and beside it where not.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode, b64encode
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import RecordError
from benchbook.evaluators.protocol.evaluation_rows import (
    EvaluationRow,
    EvidenceRow,
    FlagDetail,
    ReadRow,
    SpanRow,
    row_kind,
    sha256_of,
)
from benchbook.evaluators.protocol.reply import readable_scores, written_in
from benchbook.evaluators.protocol.spec import OVERALL, Protocol
from benchbook.text import storable

_HALF_CHARACTER = re.compile(rb"\\ud[89a-f]")


def row_bytes(row: EvaluationRow, derivation: int, protocol: Protocol) -> bytes:
    """The JSON file: the same row, the same bytes."""
    if derivation < 3:
        return pretty(_first_form(row))
    return pretty(_second_form(row, hashlib.sha256(reply_bytes(row)).hexdigest(), protocol))


def reply_bytes(row: EvaluationRow) -> bytes:
    """The raw reply as it came, for the file beside an invalid evaluation."""
    if isinstance(row, ReadRow) and row.reply_base64 is not None:
        return b64decode(row.reply_base64)
    return row.raw_reply.encode("utf-8", "surrogatepass")


def row_from_bytes(where: str, data: bytes, reply: bytes | None, derivation: int, protocol: Protocol) -> EvaluationRow:
    """The row that these files hold; `reply` is the file beside. Raises: RecordError naming the file and its fault."""
    archived = decode_file(where, data, _FIRST_FORM if derivation < 3 else _SECOND_FORM)
    if (archived.raw_reply is None) == (reply is None):
        raise RecordError(f"{where}: found {'no raw reply' if reply is None else 'two raw replies'}; expected one")
    if isinstance(archived, _SecondForm) and reply is not None and not archived.reply_is_utf8:
        _check_reply(where, hashlib.sha256(reply).hexdigest(), archived.reply_sha256)
        text = storable(reply.decode("utf-8", "surrogateescape"))
        return _row_of_second_form(archived, text, b64encode(reply).decode("ascii"), protocol)
    raw_reply = archived.raw_reply if reply is None else _decoded(where, reply)
    _check_reply(where, sha256_of(raw_reply), archived.reply_sha256)
    if isinstance(archived, _SecondForm):
        return _row_of_second_form(archived, raw_reply, None, protocol)
    return _row_of_first_form(archived, raw_reply, protocol)


def _check_reply(where: str, found: str, expected: str) -> None:
    if found != expected:
        raise RecordError(f"{where}: the raw reply is not the one whose hash the evaluation holds")


def is_evaluation(data: bytes) -> bool:
    """True if `data` is the JSON file of an evaluation, in either form."""
    for decoder in (_SECOND_FORM, _FIRST_FORM):
        try:
            decode_json(data, decoder)
        except msgspec.DecodeError:
            continue
        return True
    return False


def decode_file(where: str, data: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """`data` as the decoder's type. Raises: RecordError naming the file."""
    try:
        return decode_json(data, decoder)
    except msgspec.DecodeError as error:
        raise RecordError(f"{where}: {error}") from None


def _decoded(where: str, reply: bytes) -> str:
    try:
        return reply.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RecordError(f"{where}: the raw reply beside it is no UTF-8 at byte {error.start + 1}") from None


def pretty(value: Any) -> bytes:
    """Canonical JSON, laid out to be read: the same value, the same bytes."""
    data = canonical_json(value)
    if not _HALF_CHARACTER.search(data):
        return msgspec.json.format(data, indent=2) + b"\n"
    # msgspec does not lay out half of a character (a lone surrogate, which canonical JSON escapes); json does.
    text = json.dumps(json.loads(data), ensure_ascii=False, indent=2, sort_keys=True)
    return storable(text).encode() + b"\n"


# ── as archives had it before derivation 3 ───────────────────────────────────────────────────────────────────


class ArchivedCell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The cell that an evaluation fills: what the judge was asked (P1, P2), and the repeat, from 0."""

    question_id: str
    prompt_variant: str
    target_model: str
    output_id: str
    judge_model: str
    method: str
    repeat: int


class Scores(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The four dimensions, each 0, 1 or 2, and their sum: of old there was `judge_protocol@v1` alone."""

    FORMAT_COMPLIANCE: int
    INSTRUCTION_COMPLIANCE: int
    SEMANTIC_FIDELITY: int
    COMPLETENESS: int
    overall_score: int


class _FirstForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The JSON file of one evaluation."""

    meta: ArchivedCell
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


_SAME = ("valid", "flags", "details", "text_sha256", "prompt_sha256", "request_sha256", "fact_seq")
_SAME_FIRST = (*_SAME, "verdict", "evidence")
_FIRST_FORM = msgspec.json.Decoder(ready(_FirstForm))


def _first_form(row: EvaluationRow) -> _FirstForm:
    return _FirstForm(
        meta=ArchivedCell(**_fields(row, ArchivedCell.__struct_fields__)),
        scores=None if row.overall_score is None else Scores(**_fields(row, Scores.__struct_fields__)),
        reply_sha256=sha256_of(row.raw_reply),
        raw_reply=row.raw_reply if row.valid else None,
        **_fields(row, _SAME_FIRST),
    )


def _row_of_first_form(archived: _FirstForm, raw_reply: str, protocol: Protocol) -> EvaluationRow:
    return row_kind(EvaluationRow, protocol)(
        **_fields(archived.meta, ArchivedCell.__struct_fields__),
        **_fields(archived.scores, Scores.__struct_fields__),
        **_fields(archived, _SAME_FIRST),
        raw_reply=raw_reply,
    )


def _fields(of: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Fields by name; of None, as many nulls."""
    return {name: None if of is None else getattr(of, name) for name in names}


# ── since derivation 3: the judge's own fields, and what was found out (P2, P5) ──────────────────────────────


class ArchivedEvidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An item as the judge wrote it, with where its quote was found; null where there is no quote."""

    dimension: str | UnsetType = UNSET
    quote: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    located: str | None
    spans: list[SpanRow]


class _SecondForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file. `flags` are those that were found; of a valid evaluation the judge's are as empty."""

    asked: ArchivedCell
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


_SECOND_FORM = msgspec.json.Decoder(ready(_SecondForm))


def _second_form(row: EvaluationRow, reply_sha256: str, protocol: Protocol) -> _SecondForm:
    """The file's content; `reply_sha256` is of the raw reply's bytes."""
    read_as = row.read_as if isinstance(row, ReadRow) else None
    written = written_in(row.raw_reply if read_as is None else read_as, protocol)
    return _SecondForm(
        asked=ArchivedCell(**_fields(row, ArchivedCell.__struct_fields__)),
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


def _row_of_second_form(
    archived: _SecondForm, raw_reply: str, reply_base64: str | None, protocol: Protocol
) -> EvaluationRow:
    scores = readable_scores(None if isinstance(archived.scores, UnsetType) else archived.scores, protocol)
    found = {name: None if scores is None else scores[name] for name in protocol.names}
    fields: dict[str, Any] = {
        **_fields(archived.asked, ArchivedCell.__struct_fields__),
        **_fields(archived, _SAME),
        **found,
        OVERALL: None if scores is None else sum(scores.values()),
        "verdict": None if scores is None else protocol.verdict(tuple(scores.values())),
        "evidence": [_row(item) for item in archived.evidence],
        "raw_reply": raw_reply,
    }
    if archived.read_as is None and reply_base64 is None:
        return row_kind(EvaluationRow, protocol)(**fields)
    return row_kind(ReadRow, protocol)(read_as=archived.read_as, reply_base64=reply_base64, **fields)


_WRITTEN = ("dimension", "quote", "reason")  # of evidence, by the judge


def _archived(item: EvidenceRow) -> ArchivedEvidence:
    written = {name: _or_unset(getattr(item, name)) for name in _WRITTEN}
    return ArchivedEvidence(located=item.located, spans=item.spans, **written)


def _row(item: ArchivedEvidence) -> EvidenceRow:
    written = {name: None if (one := getattr(item, name)) is UNSET else one for name in _WRITTEN}
    return EvidenceRow(located=item.located, spans=item.spans, **written)


def _or_unset(value: Any) -> Any:
    return UNSET if value is None else value
