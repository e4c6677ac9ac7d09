"""The kinds of checks, by their names in a `spec.toml`."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.evaluators.checks.kind import Kind
from benchbook.evaluators.checks.kinds.choices import Choice
from benchbook.evaluators.checks.kinds.json_values import JsonValue
from benchbook.evaluators.checks.kinds.numbers import Number
from benchbook.evaluators.checks.kinds.texts import Contains, ContainsAll, Equals, MaxWords, Regex, TokenF1

__all__ = ["KINDS", "Kind"]

KINDS: Mapping[str, type[Kind]] = {
    "equals": Equals,
    "contains": Contains,
    "contains_all": ContainsAll,
    "regex": Regex,
    "number": Number,
    "choice": Choice,
    "json": JsonValue,
    "max_words": MaxWords,
    "token_f1": TokenF1,
}
