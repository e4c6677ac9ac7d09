"""An evaluator that is made of checks, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from benchbook.evaluators.checks.compared import AnswerPart
from benchbook.evaluators.checks.kinds import Kind

__all__ = ["ONE", "WHOLE", "CheckSpec", "ChecksSpec", "GateSpec", "aggregate_names", "column_names"]

WHOLE = AnswerPart()
ONE = Fraction(1)
_OF_ALL = ("primary_score", "pass_rate", "no_prediction_rate")


def aggregate_names(checks: Iterable[str]) -> tuple[str, ...]:
    """What a gate may be set on: the run's own aggregates, and the mean of each check's scores."""
    return (*_OF_ALL, *(f"{name}_mean" for name in checks))


def column_names(check: str) -> tuple[str, str, str]:
    """The columns that a check makes: its score, the reason that it is not full, what was found."""
    return check, f"{check}_reason", f"{check}_found"


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One check. `weight` is its share in the item's score, beside the others' weights."""

    name: str
    kind: Kind
    part: AnswerPart = WHOLE
    weight: Fraction = ONE
    must_pass: bool = True


@dataclass(frozen=True, slots=True)
class GateSpec:
    """A limit on an aggregate; one of the two bounds is set, or both."""

    aggregate: str
    at_least: Fraction | None = None
    at_most: Fraction | None = None


@dataclass(frozen=True, slots=True)
class ChecksSpec:
    name: str
    version: int
    about: str
    checks: tuple[CheckSpec, ...]
    gates: tuple[GateSpec, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.name}@v{self.version}"
