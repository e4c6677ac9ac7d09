"""Whether a reply is about what was asked: its identifiers, the evaluation set, its method (SPEC P1, P4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from benchbook.errors import ConfigError
from benchbook.evaluators.protocol.findings import Findings, SameModel, said
from benchbook.evaluators.protocol.reply import ABSENT, absent, typed_field
from benchbook.evaluators.protocol.spec import form

__all__ = ["Cell", "EvaluationSet", "check_meta", "is_calendar_date"]


Cell = tuple[str, ...]  # question_id, prompt_variant, target_model, output_id: one sample (P1)

_MODELS = frozenset({"judge_model", "target_model"})
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


class EvaluationSet:
    """The samples to be judged. Build it once for many replies; a cell that is listed twice counts once."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], same_model: SameModel | None = None) -> None:
        """`rows` hold the four identifiers each. Raises: ConfigError naming the row that lacks one."""
        models = same_model or SameModel()
        self.cells: frozenset[Cell] = frozenset(_cell_of(row, at, models) for at, row in enumerate(rows))

    def holds(self, cell: Cell) -> bool:
        return cell in self.cells

    def may_hold(self, known: Mapping[int, str]) -> bool:
        """Some cell has these identifiers at these places."""
        return any(all(cell[at] == value for at, value in known.items()) for cell in self.cells)


def _cell_of(row: Mapping[str, Any], at: int, models: SameModel) -> Cell:
    if not isinstance(row, Mapping):
        raise ConfigError(f"evaluation_set[{at}]", repr(row), "an object with the four identifiers")
    for name in form().identifiers:
        if not isinstance(row.get(name), str):
            raise ConfigError(f"evaluation_set[{at}].{name}", repr(row.get(name)), "a string")
    return tuple(_canonical(name, row[name], models) for name in form().identifiers)


def _canonical(name: str, value: str, models: SameModel) -> str:
    return models.name(value) if name in _MODELS else value


def check_meta(
    reply: Mapping[str, Any],
    asked: Mapping[str, str],
    evaluation_set: EvaluationSet | None,
    models: SameModel,
    findings: Findings,
) -> dict[str, str]:
    """The strings that `meta` holds, under the names of P2; all that is wrong with them is added to `findings`.

    What is of another type is UNPARSABLE_OUTPUT alone: nothing more is concluded from it. Of `timestamp` it is asked
    that it be a date, not which: when the reply came is the runner's to say, not the judge's.
    """
    if absent(reply.get("meta", ABSENT)):
        for name in form().identifiers:
            findings.add("identifier_missing", f"meta.{name}", f"{name} is missing")
    meta = typed_field(reply, "meta", dict, "meta", findings)
    if meta is None:
        return {}
    given = {
        name: value
        for name in form().meta
        if (value := typed_field(meta, name, str, f"meta.{name}", findings)) is not None
    }
    _check_identifiers(meta, given, evaluation_set, models, findings)
    if "judge_model" not in asked and not given.get("judge_model", "unread").strip():
        # The source's list of identifiers leaves the judge out, for whoever asked knows it. Here nobody does.
        findings.add("identifier_empty", "meta.judge_model", "judge_model is empty")
    _check_as_asked(given, asked, models, findings)
    _check_method(given, models, findings)
    if findings.edition >= 2 and "timestamp" in given and not is_calendar_date(given["timestamp"]):
        found = f"found {said(given['timestamp'])}; expected a date of the calendar, YYYY-MM-DD"
        findings.add("timestamp_no_date", "meta.timestamp", found)
    return given


def is_calendar_date(text: str) -> bool:
    """`YYYY-MM-DD`, and a day that there is (P2)."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _check_identifiers(
    meta: Mapping[str, Any],
    given: Mapping[str, str],
    evaluation_set: EvaluationSet | None,
    models: SameModel,
    findings: Findings,
) -> None:
    known: dict[int, str] = {}
    for at, name in enumerate(form().identifiers):
        if absent(meta.get(name, ABSENT)):
            findings.add("identifier_missing", f"meta.{name}", f"{name} is missing")
        elif name in given and not given[name].strip():
            findings.add("identifier_empty", f"meta.{name}", f"{name} is empty")
        elif name in given:
            known[at] = _canonical(name, given[name], models)
    if evaluation_set is not None and not _in_set(known, evaluation_set):
        # The four together name a sample (P1). Four names of which each is in the set, but no cell has them all, are
        # not in the set: such an evaluation would belong nowhere.
        names = ", ".join(f"{form().identifiers[at]} {said(value)}" for at, value in known.items())
        findings.add("not_in_evaluation_set", "meta", f"no cell of the evaluation set has {names}")


def _in_set(known: Mapping[int, str], evaluation_set: EvaluationSet) -> bool:
    if len(known) == len(form().identifiers):
        return evaluation_set.holds(tuple(known.values()))
    # What could not be read is flagged already; the rest must still fit some cell.
    return not known or evaluation_set.may_hold(known)


def _check_as_asked(given: Mapping[str, str], asked: Mapping[str, str], models: SameModel, findings: Findings) -> None:
    """P4: identifiers differ from the ones asked about.

    What is missing or of another type differs from nothing, and an unknown method is just that. An empty identifier
    does differ.
    """
    for name in ("judge_model", *form().identifiers, "method"):
        if name not in given or name not in asked or (name == "method" and given[name] not in form().methods):
            continue
        if _canonical(name, given[name], models) != _canonical(name, asked[name], models):
            message = f"found {said(given[name])}; asked about {said(asked[name])}"
            findings.add("not_as_asked", f"meta.{name}", message)


def _check_method(given: Mapping[str, str], models: SameModel, findings: Findings) -> None:
    method = given.get("method")
    if method is None:
        return
    if method not in form().methods:
        expected = ", ".join(sorted(form().methods))
        findings.add("method_unknown", "meta.method", f"found {said(method)}; expected {expected}")
        return
    judge, target = given.get("judge_model"), given.get("target_model")
    if judge is None or target is None:
        return
    fitting = "self_judge" if models.are_same(judge, target) else "cross_judge"
    if method != fitting:
        message = f"found {method}; {said(judge)} judging {said(target)} is {fitting}"
        findings.add("method_contradicts_models", "meta.method", message)
