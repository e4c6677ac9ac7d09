"""Canonical JSON: sorted keys, no spaces, UTF-8. Everything that is hashed is written this way.

A lone surrogate, which UTF-8 can't hold, is written as its JSON escape and read back as it was: model text is
kept as it came, whatever it holds. What is derived has none (`storable_json`): few readers take it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Lock
from typing import Any, Literal, TypeVar

import jiter
import msgspec

from benchbook.text import all_storable, storable

_encoder = msgspec.json.Encoder(order="sorted")
_Kind = TypeVar("_Kind")
_ready: set[Any] = set()
_making_ready = Lock()


def canonical_json(value: Any) -> bytes:
    """The canonical bytes of a JSON value or a msgspec Struct."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        text = json.dumps(
            msgspec.to_builtins(value),
            ensure_ascii=False,
            sort_keys=True,
            separators=(",", ":"),
            allow_nan=False,
        )
        return storable(text).encode("utf-8")


unicode_json = _encoder.encode
"""The canonical bytes of a value without lone surrogates. Raises: UnicodeEncodeError where one is in it."""


canonical_lines = _encoder.encode_lines
"""The canonical bytes of values without lone surrogates, a line each. Raises: UnicodeEncodeError."""


def storable_json(value: Any) -> bytes:
    """The canonical bytes of a value, each text in it `storable`."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(all_storable(msgspec.to_builtins(value)))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def ready(kind: _Kind) -> _Kind:
    """Return `kind`, made safe for msgspec to decode into from any thread. Every type goes through here.

    msgspec (0.22) works out the types of a struct's fields when it first decodes one. A second thread that decodes
    the same struct meanwhile finds them unfinished, and the process crashes.
    """
    if kind not in _ready:
        with _making_ready:
            msgspec.json.Decoder(kind)
            _ready.add(kind)
    return kind


def decode_json(data: bytes, decoder: msgspec.json.Decoder[Any], *, as_storable: bool = False) -> Any:
    """`data` as `decoder`'s type, lone surrogates allowed in its texts; they are made `storable` where that is asked.

    Raises: msgspec.DecodeError, also for invalid UTF-8 and nesting that is too deep; msgspec.ValidationError.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"no UTF-8 at byte {error.start + 1}") from None
    except RecursionError:
        raise msgspec.DecodeError("nested too deeply") from None
    except msgspec.DecodeError:
        return _decode_with_surrogates(data, decoder, all_storable if as_storable else None)


def _decode_with_surrogates(
    data: bytes, decoder: msgspec.json.Decoder[Any], made: Callable[[Any], Any] | None = None
) -> Any:
    """Decode with `json`, which takes the escaped lone surrogates that msgspec refuses. All else fails here again."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from None
    try:
        return msgspec.convert(value if made is None else made(value), decoder.type)
    except UnicodeEncodeError:
        raise msgspec.ValidationError("a lone surrogate in a key, or where no text belongs") from None


JsonFault = Literal["empty", "truncated", "malformed", "duplicate_key"]

_JSON_WHITE_SPACE = " \t\r\n"


class StrictJsonError(ValueError):
    """A text is not exactly one strict JSON value: `fault` says in which way, `detail` where."""

    def __init__(self, fault: JsonFault, detail: str) -> None:
        super().__init__(fault, detail)
        self.fault = fault
        self.detail = detail


def parse_strict(text: str) -> Any:
    """The one JSON value that `text` is, JSON white space at both ends aside.

    Refused: anything before or after the value, a byte-order mark, NaN and Infinity, comments, single quotes,
    trailing commas, duplicated keys at any depth, lone surrogates. Nesting over 200 levels and numbers of over
    4,300 digits are refused too (RFC 8259, section 9, lets a parser set such limits).

    Raises: StrictJsonError.
    """
    body = text.strip(_JSON_WHITE_SPACE)
    if not body:
        raise StrictJsonError("empty", "the reply is empty")
    try:
        data = body.encode("utf-8")
    except UnicodeEncodeError as error:
        raise StrictJsonError("malformed", f"lone surrogate at character {error.start + 1}") from None
    try:
        return jiter.from_json(data, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise StrictJsonError(_fault_of(data, str(error)), str(error)) from None


def _fault_of(data: bytes, message: str) -> JsonFault:
    if message.startswith("Detected duplicate key"):
        return "duplicate_key" if _is_json_but_for_duplicates(data) else "malformed"
    # Only a text that opens an object or array is recognisably cut off; `tru` is just a word.
    if message.startswith("EOF while parsing") and data[:1] in (b"{", b"["):
        return "truncated"
    return "malformed"


def _is_json_but_for_duplicates(data: bytes) -> bool:
    try:
        jiter.from_json(data, allow_inf_nan=False)
    except ValueError:
        return False
    return True
