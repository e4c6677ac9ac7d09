"""The faults of a judge's reply: flags, each with machine-readable details (SPEC P4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from benchbook.errors import ConfigError
from benchbook.text import shorten

# Which reading of P2 and P4 holds. 2 adds what SPEC marks as derivation 3: a date that is one, a reason, quotes that
# are neither too short nor, in text without spaces, too long, and a score that is missing. Old records keep the first.
Edition = Literal[1, 2]
EDITION: Edition = 2

Flag = Literal[
    "INCOMPLETE_COVERAGE",
    "INTERNAL_INCONSISTENCY",
    "JUDGE_REFUSAL_OR_EVASION",
    "PROTOCOL_VIOLATION",
    "UNPARSABLE_OUTPUT",
]
Code = Literal[
    "not_strict_json",
    "not_an_object",
    "missing_field",
    "wrong_type",
    "declined",
    "no_scores",
    "null_score",
    "score_out_of_range",
    "score_missing",
    "dimension_left_out",
    "dimension_unknown",
    "timestamp_no_date",
    "method_unknown",
    "verdict_unknown",
    "flag_unknown",
    "dimension_without_evidence",
    "quote_empty",
    "quote_too_short",
    "quote_too_long",
    "quote_not_found",
    "reason_empty",
    "too_much_evidence",
    "identifier_missing",
    "identifier_empty",
    "not_in_evaluation_set",
    "sum_wrong",
    "verdict_wrong",
    "method_contradicts_models",
    "not_as_asked",
    "self_flagged",
]

# The one place that says which rule of P4 a fault breaks.
FLAG_OF: Mapping[Code, Flag] = {
    "not_strict_json": "UNPARSABLE_OUTPUT",
    "not_an_object": "UNPARSABLE_OUTPUT",
    "missing_field": "UNPARSABLE_OUTPUT",
    "wrong_type": "UNPARSABLE_OUTPUT",
    "declined": "JUDGE_REFUSAL_OR_EVASION",
    "no_scores": "JUDGE_REFUSAL_OR_EVASION",
    "null_score": "JUDGE_REFUSAL_OR_EVASION",
    "score_missing": "JUDGE_REFUSAL_OR_EVASION",
    "score_out_of_range": "PROTOCOL_VIOLATION",
    "dimension_left_out": "PROTOCOL_VIOLATION",
    "dimension_unknown": "PROTOCOL_VIOLATION",
    "timestamp_no_date": "PROTOCOL_VIOLATION",
    "method_unknown": "PROTOCOL_VIOLATION",
    "verdict_unknown": "PROTOCOL_VIOLATION",
    "flag_unknown": "PROTOCOL_VIOLATION",
    "dimension_without_evidence": "PROTOCOL_VIOLATION",
    "quote_empty": "PROTOCOL_VIOLATION",
    "quote_too_short": "PROTOCOL_VIOLATION",
    "quote_too_long": "PROTOCOL_VIOLATION",
    "quote_not_found": "PROTOCOL_VIOLATION",
    "reason_empty": "PROTOCOL_VIOLATION",
    "too_much_evidence": "PROTOCOL_VIOLATION",
    "identifier_missing": "INCOMPLETE_COVERAGE",
    "identifier_empty": "INCOMPLETE_COVERAGE",
    "not_in_evaluation_set": "INCOMPLETE_COVERAGE",
    "sum_wrong": "INTERNAL_INCONSISTENCY",
    "verdict_wrong": "INTERNAL_INCONSISTENCY",
    "method_contradicts_models": "INTERNAL_INCONSISTENCY",
    "not_as_asked": "INTERNAL_INCONSISTENCY",
    "self_flagged": "INTERNAL_INCONSISTENCY",
}

_SINCE_EDITION_2: frozenset[Code] = frozenset({"score_missing", "timestamp_no_date", "quote_too_short", "reason_empty"})


def codes_of(flag: Flag, edition: Edition) -> list[Code]:
    """The faults that raise a flag."""
    codes = [code for code, raised in FLAG_OF.items() if raised == flag]
    return [code for code in codes if edition >= 2 or code not in _SINCE_EDITION_2]


# A reply with 10,000 flags has 10,000 faults; these many are written down, the others are counted.
MAX_DETAILS_PER_CODE = 20
_FIELD_WIDTH = 120
_MESSAGE_WIDTH = 200
_VALUE_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Detail:
    """One fault. `field` is its path in the reply, `evidence[2].quote`; empty where it is the reply as a whole."""

    flag: Flag
    code: Code
    field: str
    message: str


class Findings:
    """Collects the faults of one reply, by an edition of the rules."""

    def __init__(self, edition: Edition = EDITION) -> None:
        self.edition = edition
        self.details: list[Detail] = []
        self.counts: Counter[Code] = Counter()

    def add(self, code: Code, field: str, message: str) -> None:
        self.counts[code] += 1
        if self.counts[code] <= MAX_DETAILS_PER_CODE:
            detail = Detail(FLAG_OF[code], code, shorten(field, _FIELD_WIDTH), shorten(message, _MESSAGE_WIDTH))
            self.details.append(detail)

    @property
    def flags(self) -> set[Flag]:
        return {FLAG_OF[code] for code in self.counts}


def said(value: Any) -> str:
    """A value out of a reply, short enough for a message. A text of a megabyte is not read to its end."""
    if isinstance(value, str):
        return repr(shorten(value[: 4 * _VALUE_WIDTH], _VALUE_WIDTH))
    if isinstance(value, int) and abs(value) >= 10**18:
        return "an integer of more than 18 digits"  # Python refuses to print the longest of them
    return str(value)


class SameModel:
    """A declared table, alias -> model. Nothing is guessed: a name that is not in it means itself alone."""

    def __init__(self, table: Mapping[str, str] | None = None) -> None:
        if table is not None and not isinstance(table, Mapping):
            raise ConfigError("same_model", repr(table), "a table, alias to model")
        self._table = dict(table or {})
        for alias, model in self._table.items():
            if not isinstance(model, str):
                raise ConfigError(f"same_model[{alias!r}]", repr(model), "a model's name")
        for name in self._table:
            self._check_ends(name)

    def name(self, model: str) -> str:
        """The name that all of a model's names come to. An alias may lead to another alias."""
        while model in self._table:
            model = self._table[model]
        return model

    def are_same(self, one: str, other: str) -> bool:
        return self.name(one) == self.name(other)

    def _check_ends(self, name: str) -> None:
        seen = {name}
        at = name
        while at in self._table:
            at = self._table[at]
            if at in seen:
                raise ConfigError(f"same_model[{name!r}]", f"a circle through {at!r}", "a table that ends at a model")
            seen.add(at)


def with_versions(table: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The table, and for each of its names and of `names` that has no `@version`: the version of it that it means.

    It means the one that the table names: `openai/acme` is `openai/acme@1` where that stands there. Of several that the
    table does not call one model it means none, a name with a version is never another's, and what the table says of a
    name goes first. Raises: ConfigError for a table that does not hold.
    """
    whole = dict(table)
    models = SameModel(whole)
    named = {*table, *table.values()}
    for name in sorted({*named, *names} - whole.keys()):
        versions = {models.name(one) for one in named if one.rpartition("@")[0] == name}
        if len(versions) == 1 and name not in versions:
            whole[name] = versions.pop()
            models = SameModel(whole)
    return whole
