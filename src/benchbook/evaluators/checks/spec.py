"""An evaluator that is made of checks, as data; and one item under it: the results of the checks, and the score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from benchbook.errors import ItemError
from benchbook.evaluators.checks.compared import AnswerPart, part_of
from benchbook.evaluators.checks.kind import CheckResult, miss
from benchbook.evaluators.checks.kinds import Kind
from benchbook.evaluators.exact import in_nano

WHOLE = AnswerPart()

ONE = Fraction(1)

_OF_ALL = ("primary_score", "pass_rate", "no_prediction_rate")


def aggregate_names(checks: Iterable[str]) -> tuple[str, ...]:
    """The names that a gate may be set on: the run's own aggregates, and the mean of each check's scores."""
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


# ── one item ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ItemScore:
    """An item's score. `results` has each check's by its name, in the spec's order; `score_nano` is in billionths."""

    results: Mapping[str, CheckResult]
    score_nano: int
    passed: bool


def item_faults(spec: ChecksSpec, item_fields: Mapping[str, Any]) -> tuple[ItemError, ...]:
    """The faults that keep an item from being scored, each once: errors in the eval set, for a validator."""
    faults: dict[tuple[Any, ...], ItemError] = {}
    for check in spec.checks:
        try:
            check.kind.check_item(item_fields)
        except ItemError as error:
            faults.setdefault(error.args, error)
    return tuple(faults.values())


def score_item(spec: ChecksSpec, item_fields: Mapping[str, Any], answer: str | None) -> ItemScore:
    """The item's score: the mean of its checks' scores by their weights, rounded once (SPEC C2).

    It passes when every check that must pass does. `answer` is None where there is none; each check misses then.

    Raises: ItemError where the item lacks what a check needs, answered or not (SPEC A3).
    """
    results = {check.name: _result(check, item_fields, answer) for check in spec.checks}
    passed = all(passes(check, results[check.name]) for check in spec.checks if check.must_pass)
    return ItemScore(results, _weighed(spec, results), passed)


def _weighed(spec: ChecksSpec, results: Mapping[str, CheckResult]) -> int:
    """The mean of the checks' scores by their weights, in billionths."""
    if len(spec.checks) == 1:  # as most have
        return results[spec.checks[0].name].score_nano
    total = sum((check.weight * results[check.name].score for check in spec.checks), Fraction(0))
    return in_nano(total / sum((check.weight for check in spec.checks), Fraction(0)))


def _result(check: CheckSpec, item_fields: Mapping[str, Any], answer: str | None) -> CheckResult:
    compared = None if answer is None else part_of(answer, check.part)
    if compared is None or not compared.strip():
        check.kind.check_item(item_fields)  # what the item lacks is reported whatever the answer
        return miss("no_prediction")
    return check.kind.judge(compared, item_fields)


def passes(check: CheckSpec, result: CheckResult) -> bool:
    """True if a check passes by its result; one that found no answer to look at passes at no limit."""
    limit = check.kind.passes_at
    return limit is not None and result.score >= limit and result.reason != "no_prediction"
