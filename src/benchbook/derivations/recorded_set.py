"""The eval set that a record keeps, as it was read when the record was begun."""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.derivations.plan import candidate_plan_of
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.set_parts import SetPart
from benchbook.records.facts import RunStarted
from benchbook.records.folder import Record

__all__ = ["recorded_evalset", "set_identity"]


def set_identity(evalset: EvalSet) -> dict[str, Any]:
    """What a record's first fact says of its eval set."""
    known: dict[str, Any] = {"dataset_id": evalset.name, "grouped": evalset.grouped}
    if evalset.form != "jsonl":
        known["evalset_form"] = evalset.form
    if evalset.contents is not None:
        known["evalset_contents"] = msgspec.to_builtins(evalset.contents)
    return known


def recorded_evalset(record: Record, started: RunStarted, *, needs_expected_answer: bool = False) -> EvalSet:
    """The items that a record is about, read from its own copy.

    Raises: InputError where that can't be read; UsageError.
    """
    opened = open_evalset(
        record.input(started.inputs["evalset"]),
        form=started.identity.get("evalset_form", "jsonl"),
        needs_expected_answer=needs_expected_answer,
        is_recorded=True,
    )
    part = candidate_plan_of(started).part
    return opened.part(part.ranges) if isinstance(part, SetPart) else opened
