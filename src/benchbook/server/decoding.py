"""Queries and bodies as the types of `questions`. What does not fit is a 4xx that names it."""

from __future__ import annotations

import typing
from functools import cache
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from benchbook.canonical import decode_json, ready
from benchbook.server.problems import ProblemError
from benchbook.text import shorten

__all__ = ["decoded_body", "decoded_query"]


_Type = TypeVar("_Type", bound=msgspec.Struct)
_MOST_PARAMETERS = 100


def decoded_query(raw: bytes, kind: type[_Type]) -> _Type:
    """The parameters of a query string.

    Raises: ProblemError (400) for one that is not known, is given twice, or is not what it must be.
    """
    if not raw:
        return _converted({}, kind, "query")
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except (UnicodeDecodeError, ValueError):
        raise ProblemError(HTTPStatus.BAD_REQUEST, "the query can't be read: expected name=value, in UTF-8") from None
    lists = _list_fields(kind)
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise ProblemError(HTTPStatus.BAD_REQUEST, f"query: {shorten(name, 60)} is there more than once")
        else:
            values[name] = value
    return _converted(values, kind, "query")


def decoded_body(data: bytes, kind: type[_Type]) -> _Type:
    """A JSON body. Raises: ProblemError (400) for one that is no JSON, (422) for one of another form."""
    try:
        found: _Type = decode_json(data, _decoder(kind))
    except msgspec.ValidationError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"body: {shorten(str(error), 300)}") from None
    except msgspec.DecodeError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"body: no JSON ({shorten(str(error), 200)})") from None
    return found


def _converted(values: dict[str, Any], kind: type[_Type], where: str) -> _Type:
    try:
        return msgspec.convert(values, ready(kind), strict=False)
    except msgspec.ValidationError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"{where}: {shorten(str(error), 300)}") from None
    except UnicodeEncodeError:  # a lone surrogate can't come out of UTF-8; a name of one can't be looked up
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"{where}: no valid Unicode") from None


@cache
def _decoder(kind: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(ready(kind))


@cache
def _list_fields(kind: type[msgspec.Struct]) -> frozenset[str]:
    """Parameters that may be given more than once."""
    return frozenset(one.encode_name for one in msgspec.structs.fields(kind) if _is_list(one.type))


def _is_list(hint: Any) -> bool:
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    return typing.get_origin(hint) in (tuple, list)
