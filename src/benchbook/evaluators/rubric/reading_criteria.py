"""Reads what a user's own rubric judges and measures: each criterion's scale and what passes, and measures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal, get_args, get_type_hints

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.rubric.aggregates import RubricAggregates
from benchbook.evaluators.rubric.criteria import MEASURES, Criterion, Measure, MeasureName, QuoteRule, Shown
from benchbook.evaluators.rubric.reply import ITEM_CRITERIA
from benchbook.evaluators.rubric.rows import CausedPanelRow, PanelVote
from benchbook.specs.faults import SpecTable
from benchbook.specs.fields import (
    MOST_STEPS,
    NAME_WORDS,
    WrongValueError,
    as_fraction,
    of_these,
    read_count,
    read_name,
    read_steps,
    read_text,
    read_truth,
    read_weight,
    said,
)
from benchbook.text import quoted

_GRADE = re.compile(r"[^\W_][\w -]{0,47}")
_SHOWN: tuple[Shown, ...] = get_args(Shown)
_SOURCES: tuple[Literal["answer", "transcript"], ...] = ("answer", "transcript")
# Columns of every rubric's tables: no criterion's own may be called so. Cost is measured by some alone.
_TAKEN = {*get_type_hints(CausedPanelRow), *get_type_hints(PanelVote), *get_type_hints(RubricAggregates)} | {
    one.norm for name, one in MEASURES.items() if name != "cost"
}


def read_criteria(table: SpecTable, tables: Sequence[SpecTable]) -> tuple[list[Criterion], list[Fraction]]:
    """The criteria that are asked of every answer, in the order of their `tables`, with their weights."""
    if table.raw("criteria") in (None, []) and ITEM_CRITERIA not in table:
        table.fault("criteria", "nothing", f"at least one [[criteria]] table, or [{ITEM_CRITERIA}]")
    found = [_read_criterion(one) for one in tables]
    taken: set[str] = set()
    for one, (criterion, _) in zip(tables, found, strict=True):
        if criterion.name in taken:
            one.fault("name", f"{quoted(criterion.name)} a second time", "a name of its own for each criterion")
        taken.add(criterion.name)
    return [criterion for criterion, _ in found], [weight for _, weight in found]


def read_item_criteria(table: SpecTable, tables: Sequence[SpecTable]) -> tuple[Criterion, Fraction, bool] | None:
    """The criterion that stands for all those that items bring themselves; its weight, and whether the judge gives a
    reason for each. None where items are not scored by criteria of their own."""
    inner = table.table(ITEM_CRITERIA)
    if inner is None:
        return None
    weight = inner.read("weight", read_weight)
    at_least = inner.read("at_least", _read_share)
    rationale = inner.read("rationale", read_truth)
    inner.say_unknown()
    for one in tables:
        if one.raw("name") == ITEM_CRITERIA:
            one.fault("name", quoted(ITEM_CRITERIA), f"another name: it is that of [{ITEM_CRITERIA}]")
    made = Criterion(ITEM_CRITERIA, "", 0, NANO, 0, at_least, no_answer=0, by_item=True)
    return made, weight or Fraction(1), rationale or False


def _read_share(value: Any) -> int:
    exact = as_fraction(value)
    if exact is None or not 0 < exact <= 1 or (exact * NANO).denominator != 1:
        raise WrongValueError(said(value), "a number above 0, at most 1, of at most nine decimals; or no at_least")
    return int(exact * NANO)


def _read_criterion(table: SpecTable) -> tuple[Criterion, Fraction]:
    name = table.read("name", _read_criterion_name, needed=NAME_WORDS)
    question = table.read("question", read_text, needed="what the judge is asked about an answer")
    scale = table.read("scale", _read_scale, needed='a scale such as [0, 1, 2], or ["no", "yes"]')
    lowest, highest, grades = scale or (0, 1, ())
    weight = table.read("weight", read_weight)
    at_least = table.read("at_least", partial(_read_score, lowest=lowest, highest=highest, grades=grades))
    no_answer = table.read("no_answer", _read_no_answer)
    may_not_apply = table.read("not_applicable", read_truth)
    shown = table.read("show", _read_shown)
    quote = table.read("quote", _read_quote)
    source = table.read("quote_from", partial(of_these, words=_SOURCES))
    if source is not None and quote is None:
        table.fault("quote", "nothing", 'true or "report", for there is a quote_from')
    table.say_unknown()
    made = Criterion(
        name=name or "",
        question=question or "",
        lowest=lowest,
        highest=highest,
        weight=0,
        at_least=at_least,
        no_answer=None if no_answer == "nothing" else lowest,
        shown=shown or _SHOWN,
        grades=grades,
        may_not_apply=may_not_apply or False,
        quote=quote,
        from_transcript=source == "transcript",
    )
    return made, weight or Fraction(1)


def _read_criterion_name(value: Any) -> str:
    name = read_name(value)
    own = {f"{name}_{what}" for what in ("score", "norm", "counts", "quote_found_rate", *_SHOWN)}
    if meets := sorted(own & _TAKEN):
        raise WrongValueError(f"{quoted(name)}, whose column {meets[0]} every record has", "another name")
    return name


def _read_scale(value: Any) -> tuple[int, int, tuple[str, ...]]:
    """The lowest and the highest score, and what each is called where they have names: `["bad", "poor", "good"]`."""
    expected = 'whole numbers one after the other, or names of grades; lowest first, such as [0, 1, 2] or ["no", "yes"]'
    if not isinstance(value, list) or not value:
        raise WrongValueError(said(value), expected)
    if all(isinstance(one, str) for one in value):
        return 0, len(value) - 1, _read_grades(value)
    return *read_steps(value, expected), ()


def _read_grades(value: list[str]) -> tuple[str, ...]:
    for one in value:
        if not _GRADE.fullmatch(one):
            raise WrongValueError(quoted(one), "a grade of at most 48 letters, digits, spaces, _ and -")
    if len(value) < 2 or len(set(value)) < len(value) or len(value) > MOST_STEPS + 1:
        raise WrongValueError(
            f"[{', '.join(map(quoted, value[:8]))}]", "at least two grades, no two alike, lowest first"
        )
    return tuple(value)


def _read_score(value: Any, lowest: int, highest: int, grades: tuple[str, ...]) -> int:
    if grades:
        if value not in grades[1:]:
            raise WrongValueError(said(value), f"a grade above the lowest: {', '.join(grades[1:])}; or no at_least")
        return grades.index(value)
    if type(value) is not int or not lowest <= value <= highest:
        raise WrongValueError(said(value), f"a score of its scale, {lowest} to {highest}")
    if value == lowest:
        raise WrongValueError(f"{value}, which every score is at least", f"{lowest + 1} to {highest}, or no at_least")
    return int(value)


def _read_no_answer(value: Any) -> Literal["lowest", "nothing"]:
    words: tuple[Literal["lowest", "nothing"], ...] = ("lowest", "nothing")
    return of_these(value, words)


def _read_quote(value: Any) -> QuoteRule | None:
    if value == "report":
        return "report"
    if not isinstance(value, bool):
        raise WrongValueError(said(value), 'true, false, or "report", which counts what is not found')
    return "must_be_found" if value else None


def _read_shown(value: Any) -> tuple[Shown, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise WrongValueError(said(value), f"a list of {', '.join(_SHOWN)}")
    found = [of_these(one, _SHOWN) for one in value]
    return tuple(one for one in _SHOWN if one in found)


# ── measures ─────────────────────────────────────────────────────────────────────────────────────────────────


def read_measures(table: SpecTable) -> tuple[list[Measure], list[Fraction]]:
    measures, weights = [], []
    inner = table.table("measures")
    for name in MEASURES if inner is not None else ():
        one = inner.table(name) if inner is not None else None
        if one is not None:
            measure, weight = _read_measure(one, name)
            measures.append(measure)
            weights.append(weight)
    if inner is not None:
        inner.say_unknown()
    return measures, weights


def check_names(tables: Sequence[SpecTable], criteria: Sequence[Criterion], measures: Sequence[Measure]) -> None:
    """Refuse a criterion whose column would be named like that of a measure which not every record has."""
    norms = {one.norm for one in measures}
    for one, criterion in zip(tables, criteria, strict=False):
        if criterion.norm in norms:
            one.fault("name", f"{quoted(criterion.name)}, which is measured, too", "another name")


def _read_measure(table: SpecTable, name: MeasureName) -> tuple[Measure, Fraction]:
    read_amount = _read_usd if name == "cost" else read_count
    at_most = table.read("at_most", read_amount)
    weight = table.read("weight", read_weight)
    target = table.read("target", read_amount)
    table.say_unknown()
    if "at_most" not in table and "weight" not in table:
        table.fault(None, "neither at_most nor weight", "at_most, or target and weight, or all three")
    for key, other in (("target", "weight"), ("weight", "target")):
        if key in table and other not in table:
            table.fault(other, "nothing", f"a {other}, for there is a {key}")
    if target is not None and at_most is not None and target > at_most:
        table.fault(
            "target", f"{said(table.raw('target'))}, more than at_most", f"at most {said(table.raw('at_most'))}"
        )
    return Measure(name, target or at_most or 1, at_most, 0), weight or Fraction(0)


def _read_usd(value: Any) -> int:
    """Dollars, in billionths."""
    exact = as_fraction(value)
    if exact is None or not 0 < exact <= 1_000_000 or (exact * NANO).denominator != 1:
        raise WrongValueError(said(value), "US dollars for one answer, above 0, of at most nine decimals")
    return int(exact * NANO)
