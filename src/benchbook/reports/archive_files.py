"""One evaluation as the files of an archive, and back (SPEC P5).

The JSON has the shape of a judge's reply (source 002, section 5) with what was found out added: a tool that reads the
one reads the other. `raw_reply` is in it where the evaluation is valid, and beside it where not.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.derivations.evaluation_rows import EvaluationRow, EvidenceRow, FlagDetail, sha256_of
from benchbook.errors import RecordError

__all__ = ["decode_file", "is_evaluation", "pretty", "reply_bytes", "row_bytes", "row_from_bytes"]


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


class ArchivedEvaluation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


_HALF_CHARACTER = re.compile(rb"\\ud[89a-f]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_decoder = msgspec.json.Decoder(ready(ArchivedEvaluation))
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


def row_bytes(row: EvaluationRow) -> bytes:
    """The JSON file: the same row, the same bytes."""
    archived = ArchivedEvaluation(
        meta=Meta(**_fields(row, Meta.__struct_fields__)),
        scores=None if row.overall_score is None else Scores(**_fields(row, Scores.__struct_fields__)),
        reply_sha256=sha256_of(row.raw_reply),
        raw_reply=row.raw_reply if row.valid else None,
        **_fields(row, _SAME),
    )
    return pretty(archived)


def _fields(of: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Fields by name; of None, as many nulls."""
    return {name: None if of is None else getattr(of, name) for name in names}


def reply_bytes(row: EvaluationRow) -> bytes:
    """The raw reply as it came, for the file beside an invalid evaluation."""
    return row.raw_reply.encode("utf-8", "surrogatepass")


def row_from_bytes(where: str, data: bytes, reply: bytes | None) -> EvaluationRow:
    """The row that these files hold; `reply` is the file beside. Raises: RecordError naming the file and its fault."""
    archived = decode_file(where, data, _decoder)
    raw_reply = archived.raw_reply
    if (raw_reply is None) == (reply is None):
        raise RecordError(f"{where}: found {'no raw reply' if reply is None else 'two raw replies'}; expected one")
    if raw_reply is None and reply is not None:
        raw_reply = _decoded(where, reply)
    if raw_reply is None or sha256_of(raw_reply) != archived.reply_sha256:
        raise RecordError(f"{where}: the raw reply is not the one whose hash the evaluation holds")
    return EvaluationRow(
        **_fields(archived.meta, Meta.__struct_fields__),
        **_fields(archived.scores, Scores.__struct_fields__),
        **_fields(archived, _SAME),
        raw_reply=raw_reply,
    )


def is_evaluation(data: bytes) -> bool:
    """Whether this is the JSON file of an evaluation, whatever it says."""
    try:
        decode_json(data, _decoder)
    except msgspec.DecodeError:
        return False
    return True


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
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode() + b"\n"
