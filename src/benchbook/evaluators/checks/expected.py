"""What is expected: a text or texts of the spec's own, or a field of the item."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchbook.errors import UsageError
from benchbook.specs.fields import WrongValueError, said, text_of
from benchbook.text import quoted

__all__ = ["EXPECTED_ANSWER", "NO_ITEM", "Expected", "ItemError", "field_named", "read_expected"]

_ONE_OR_MORE = 'text, a number, a list of these, or one field of the item such as "{{item.expected_answer}}"'
_REFERENCE = re.compile(r"\{\{\s*item\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")

NO_ITEM: Mapping[str, Any] = {}


class ItemError(UsageError):
    """An item's field is not what a check needs: an error in the eval set, not a score (SPEC A3)."""

    def __init__(self, field: str | None, found: str, expected: str) -> None:
        super().__init__(field, found, expected)
        self.field = field
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return f"{where}found {self.found}; expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Expected:
    """Either an item's `field`, or, where that is None, `literal` values."""

    field: str | None
    literal: tuple[Any, ...] = ()

    def values(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """The texts, numbers and truth values, at least one. Raises: ItemError."""
        if self.field is None:
            return self.literal
        value = item.get(self.field)
        values = tuple(value) if isinstance(value, list | tuple) else (value,)
        if not values or any(text_of(one) is None for one in values):
            raise self.fault(_said(value), "text, a number, or a list of these")
        return values

    def texts(self, item: Mapping[str, Any]) -> tuple[str, ...]:
        """The same, each as text. Raises: ItemError."""
        return tuple(text_of(one) or "" for one in self.values(item))

    def fault(self, found: str, expected: str) -> ItemError:
        return ItemError(self.field, found, expected)


EXPECTED_ANSWER = Expected("expected_answer")


def field_named(text: str) -> str | None:
    """The field that `{{item.NAME}}` names; None for any other text."""
    found = _REFERENCE.fullmatch(text)
    return found[1] if found else None


def _said(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case str():
            return quoted(value)
        case list() | tuple():
            return "a list of other things" if value else "an empty list"
        case _:
            return f"a value of type {type(value).__name__}"


def read_expected(value: Any) -> Expected:
    if isinstance(value, str) and (field := field_named(value)) is not None:
        return Expected(field)
    values = value if isinstance(value, list) else [value]
    if not values or any(text_of(one) is None for one in values):
        raise WrongValueError(said(value), _ONE_OR_MORE)
    for text in values:
        if isinstance(text, str) and re.search(r"\{\{\s*item\b", text):
            raise WrongValueError(quoted(text), 'one field and nothing else, such as "{{item.expected_answer}}"')
    return Expected(None, tuple(values))
