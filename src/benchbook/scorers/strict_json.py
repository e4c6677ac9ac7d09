"""One JSON text by RFC 8259 and nothing else (SPEC R3.1)."""

from __future__ import annotations

from typing import Any, Literal

import jiter

__all__ = ["JsonFault", "StrictJsonError", "parse_strict"]

JsonFault = Literal["empty", "truncated", "malformed", "duplicate_key"]

_JSON_WHITE_SPACE = " \t\r\n"


class StrictJsonError(ValueError):
    """A text is not one strict JSON value: `fault` says in which way, `detail` where."""

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
    # Only a text that opens an object or array can be told to have been cut; `tru` is just a word.
    if message.startswith("EOF while parsing") and data[:1] in (b"{", b"["):
        return "truncated"
    return "malformed"


def _is_json_but_for_duplicates(data: bytes) -> bool:
    try:
        jiter.from_json(data, allow_inf_nan=False)
    except ValueError:
        return False
    return True
