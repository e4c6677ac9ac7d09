"""What every kind of check is: its settings as data, and a pure function of an answer and an item."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from benchbook.evaluators.checks.expected import Expected, read_expected
from benchbook.evaluators.checks.result import CheckResult
from benchbook.evaluators.checks.text_rules import read_unicode
from benchbook.specs.fields import read_truth

__all__ = ["TEXT_SETTINGS", "Kind", "Reader"]

Reader = Callable[[Any], Any]

TEXT_SETTINGS: Mapping[str, Reader] = {
    "expected": read_expected,
    "ignore_case": read_truth,
    "strip": read_truth,
    "ignore_punctuation": read_truth,
    "unicode": read_unicode,
}


@dataclass(frozen=True, slots=True)
class Kind(ABC):
    """A kind's settings are its fields; their defaults are the defaults of `spec.toml`.

    `SETTINGS` has for each setting what reads it from TOML (raises `WrongValueError`); `NEEDED` those that must be
    there; `FROM_FILE` those whose value may be the name of a JSON file beside the spec. `IS_GRADED`: its score may lie
    between 0 and 1.
    """

    SETTINGS: ClassVar[Mapping[str, Reader]]
    NEEDED: ClassVar[tuple[str, ...]] = ()
    FROM_FILE: ClassVar[frozenset[str]] = frozenset()
    IS_GRADED: ClassVar[bool] = False

    @abstractmethod
    def judge(self, answer: str, item: Mapping[str, Any], /) -> CheckResult:
        """What the check says of the compared part of an answer, which is not blank.

        Raises: ItemError, as `check_item`.
        """

    def check_item(self, item: Mapping[str, Any]) -> None:  # noqa: B027 - most kinds that need nothing of it say so by this
        """Finds out whether the item has what this check needs. Raises: ItemError."""

    @property
    def item_fields(self) -> frozenset[str]:
        """The fields of an item that it asks for."""
        values = (getattr(self, one.name) for one in fields(self))
        return frozenset(one.field for one in values if isinstance(one, Expected) and one.field is not None)

    @property
    def passes_at(self) -> Fraction | None:
        """The score from which on the check passes; None where nobody said."""
        return Fraction(1)
