"""One evaluation as the files of an archive, and back (SPEC P5).

    archive_first_form     the JSON before derivation 3       archive_second_form    since

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

from benchbook.canonical import canonical_json, decode_json
from benchbook.errors import RecordError
from benchbook.evaluators.protocol.evaluation_rows import EvaluationRow, ReadRow, sha256_of
from benchbook.text import storable
from benchbook.views.archive_first_form import FIRST_FORM, first_form, row_of_first_form
from benchbook.views.archive_second_form import SECOND_FORM, SecondForm, row_of_second_form, second_form

__all__ = ["decode_file", "is_evaluation", "pretty", "reply_bytes", "row_bytes", "row_from_bytes"]


_HALF_CHARACTER = re.compile(rb"\\ud[89a-f]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def row_bytes(row: EvaluationRow, derivation: int) -> bytes:
    """The JSON file: the same row, the same bytes."""
    if derivation < 3:
        return pretty(first_form(row))
    return pretty(second_form(row, hashlib.sha256(reply_bytes(row)).hexdigest()))


def reply_bytes(row: EvaluationRow) -> bytes:
    """The raw reply as it came, for the file beside an invalid evaluation."""
    if isinstance(row, ReadRow) and row.reply_base64 is not None:
        return b64decode(row.reply_base64)
    return row.raw_reply.encode("utf-8", "surrogatepass")


def row_from_bytes(where: str, data: bytes, reply: bytes | None, derivation: int) -> EvaluationRow:
    """The row that these files hold; `reply` is the file beside. Raises: RecordError naming the file and its fault."""
    archived = decode_file(where, data, FIRST_FORM if derivation < 3 else SECOND_FORM)
    if (archived.raw_reply is None) == (reply is None):
        raise RecordError(f"{where}: found {'no raw reply' if reply is None else 'two raw replies'}; expected one")
    if isinstance(archived, SecondForm) and reply is not None and not archived.reply_is_utf8:
        _check_reply(where, hashlib.sha256(reply).hexdigest(), archived.reply_sha256)
        text = storable(reply.decode("utf-8", "surrogateescape"))
        return row_of_second_form(archived, text, b64encode(reply).decode("ascii"))
    raw_reply = archived.raw_reply if reply is None else _decoded(where, reply)
    _check_reply(where, sha256_of(raw_reply), archived.reply_sha256)
    if isinstance(archived, SecondForm):
        return row_of_second_form(archived, raw_reply, None)
    return row_of_first_form(archived, raw_reply)


def _check_reply(where: str, found: str, expected: str) -> None:
    if found != expected:
        raise RecordError(f"{where}: the raw reply is not the one whose hash the evaluation holds")


def is_evaluation(data: bytes) -> bool:
    """Whether this is the JSON file of an evaluation, whatever it says."""
    for decoder in (SECOND_FORM, FIRST_FORM):
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
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode() + b"\n"
