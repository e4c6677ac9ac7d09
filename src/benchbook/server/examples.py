"""Examples in the API's document: what a server answered about real records, cut down; a test makes and holds them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from benchbook.canonical import ready


class AnswerExample(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer: JSON, or the text of another media type. `of` names it among the examples of its operation."""

    of: str
    answer: Any


class OperationExamples(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to one operation: parameters by name, and the body; and its answers."""

    asked: dict[str, Any] = {}
    body: Any = None
    answers: tuple[AnswerExample, ...] = ()


_NONE = OperationExamples()


@cache
def examples() -> dict[str, OperationExamples]:
    """The examples of each operation, by its name."""
    data = files("benchbook.server").joinpath("examples.json").read_bytes()
    return msgspec.json.decode(data, type=ready(dict[str, OperationExamples]))


def parameter_example(operation: str, name: str) -> dict[str, Any]:
    """The parameter's part of a document that has its example; nothing where there is none."""
    asked = examples().get(operation, _NONE).asked
    return {"example": asked[name]} if name in asked else {}


def body_example(operation: str) -> dict[str, Any]:
    """The same of a body."""
    body = examples().get(operation, _NONE).body
    return {} if body is None else {"example": body}


def answer_examples(operation: str) -> dict[str, Any]:
    """The same of an answer, which may have several."""
    answers = examples().get(operation, _NONE).answers
    return {"examples": {one.of: {"value": one.answer} for one in answers}} if answers else {}
