"""The kind `json`: one strict JSON value, held against a JSON Schema if the spec has one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from benchbook.canonical import StrictJsonError, parse_strict
from benchbook.evaluators.checks.kind import CheckResult, Kind, Reader, hit, miss
from benchbook.specs.fields import WrongValueError, of_these, said
from benchbook.text import shorten

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

Value = Literal["object", "any"]


def read_value(value: Any) -> Value:
    values: tuple[Value, ...] = ("object", "any")
    return of_these(value, values)


def read_schema(value: Any) -> str:
    """A schema as JSON text. Raises: WrongValueError where it is none, or points outside of itself."""
    if not isinstance(value, dict | bool):
        raise WrongValueError(
            said(value), "a table that is a JSON Schema, or the name of a file beside the spec that is one"
        )
    try:
        text = json.dumps(_as_json(value), sort_keys=True, allow_nan=False)
        _validator(text)
    except (ValueError, RecursionError) as error:
        reason = shorten(str(error).partition("\n\n")[0], 200) or "nested too deeply"
        raise WrongValueError(f"no schema ({reason})", "a JSON Schema that needs no other document") from None
    return text


def _as_json(value: Any) -> Any:
    """A TOML value as JSON; numbers with a fraction are doubles. Raises: ValueError for a type that JSON lacks."""
    match value:
        case dict():
            return {name: _as_json(one) for name, one in value.items()}
        case list():
            return [_as_json(one) for one in value]
        case Decimal():
            return float(value)
        case str() | bool() | int() | float() | None:
            return value
        case _:
            raise ValueError(f"JSON has no {type(value).__name__}")


def _refuse(_uri: str) -> Any:
    raise ValueError("nothing is fetched")


@lru_cache(maxsize=64)
def _validator(schema: str) -> Validator:
    """The validator of a schema: no reference leaves it, and its patterns match in linear time."""
    import jsonschema_rs  # starting is a feature

    return jsonschema_rs.validator_for(
        json.loads(schema),
        retriever=_refuse,
        pattern_options=jsonschema_rs.RegexOptions(),
        validate_formats=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonValue(Kind):
    """The compared part is one strict JSON object, or with `value = "any"` one value; `schema` must allow it."""

    SETTINGS: ClassVar[Mapping[str, Reader]] = {"value": read_value, "schema": read_schema}
    FROM_FILE: ClassVar[frozenset[str]] = frozenset({"schema"})

    value: Value = "object"
    schema: str | None = None

    def judge(self, answer: str, _item: Mapping[str, Any], /) -> CheckResult:
        try:
            parsed = parse_strict(answer)
        except StrictJsonError:
            return miss("malformed_json", answer)
        if self.value == "object" and not isinstance(parsed, dict):
            return miss("not_an_object", answer)
        fault = None if self.schema is None else _fault(parsed, self.schema)
        return hit(answer) if fault is None else miss("schema", fault)


def _fault(parsed: Any, schema: str) -> str | None:
    """The place where a value first breaks its schema, and the keyword that it breaks; None where it holds.

    In our own words: the validator's may change with its version, and a record must be derived to the same bytes.
    """
    if not _is_finite(parsed):
        return "a number beyond a double"
    validator = _validator(schema)
    if validator.is_valid(parsed):
        return None
    place, keyword = min((_pointer(error.instance_path), _keyword(error)) for error in validator.iter_errors(parsed))
    return f"{place or 'the whole'}: {keyword}"


def _keyword(error: ValidationError) -> str:
    """The keyword that a value breaks; `false` where the schema there is false, which has none."""
    import jsonschema_rs

    is_false = isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema)
    return "false" if is_false or not error.schema_path else str(error.schema_path[-1])


def _is_finite(parsed: Any) -> bool:
    match parsed:
        case float():
            return math.isfinite(parsed)
        case dict():
            return all(map(_is_finite, parsed.values()))
        case list():
            return all(map(_is_finite, parsed))
        case _:
            return True


def _pointer(path: list[str | int]) -> str:
    """A JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
