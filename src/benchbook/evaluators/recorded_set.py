"""The eval set that a record keeps, as it was read when the record was begun."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from benchbook.canonical import ready
from benchbook.evalsets import EvalSet, Item, open_evalset
from benchbook.evalsets.set_contents import SetContents, doubtful, lacking, unread
from benchbook.evalsets.set_parts import SetPart
from benchbook.evaluators.candidate import candidate_plan_of
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record

__all__ = ["contents_words", "items_of", "part_words", "recorded_evalset", "set_identity", "set_warnings"]


def set_identity(evalset: EvalSet) -> dict[str, Any]:
    """What a record's first fact says of its eval set."""
    known: dict[str, Any] = {"dataset_id": evalset.name, "grouped": evalset.grouped}
    if evalset.form != "jsonl":
        known["evalset_form"] = evalset.form
    if evalset.contents is not None:
        known["evalset_contents"] = msgspec.to_builtins(evalset.contents)
    return known


def recorded_evalset(
    record: Record, started: RunStarted, *, needs_expected_answer: bool = False, keeps_fields: bool = False
) -> EvalSet:
    """The items that a record is about, read from its own copy.

    Raises: InputError where that can't be read; UsageError.
    """
    opened = open_evalset(
        record.input(started.inputs["evalset"]),
        form=started.identity.get("evalset_form", "jsonl"),
        needs_expected_answer=needs_expected_answer,
        is_recorded=True,
        keeps_fields=keeps_fields,
    )
    part = candidate_plan_of(started).part
    return opened.part(part.ranges) if isinstance(part, SetPart) else opened


def items_of(record: Record, samples: Collection[int]) -> Iterator[tuple[int, Item]]:
    """`(sample, item)` for each of these samples, one item at a time.

    Raises: InputError where the record's eval set can't be read; RecordError.
    """
    if not samples:
        return
    with recorded_evalset(record, record.started()) as evalset:
        for sample in sorted(samples):
            yield sample, evalset[sample % len(evalset)]


def contents_words(contents: SetContents | None, *, judge_sees: Collection[str]) -> tuple[list[str], list[str]]:
    """What is to stand before anything else (columns that nobody reads though a field of ours is lacking, references
    that judges will not see), and what may come after it (contexts that they will not see, doubtful prompts).

    `judge_sees` are the fields of an item that a judge is shown; none where nobody judges.
    """
    if contents is None:
        return [], []
    first, later = [reason for _, reason in unread(contents)], list(doubtful(contents))
    if (unseen := lacking(contents, judge_sees)) is not None:
        # Contexts alone are lacking in many a set, and by no mistake.
        if contents.fields["expected_answer"]:
            later.insert(0, unseen)
        else:
            first.append(unseen)
    return [_sentence(one) for one in first], [_sentence(one) for one in later]


def set_warnings(started: RunStarted, *, judge_sees: Collection[str]) -> tuple[list[str], list[str]]:
    """The same by a record's first fact, a part that was asked before all; nothing where it does not say."""
    part = candidate_plan_of(started).part
    words = [] if part is msgspec.UNSET else [part_words(part)]
    noted = started.identity.get("evalset_contents")
    contents = None if noted is None else msgspec.convert(noted, ready(SetContents))
    first, later = contents_words(contents, judge_sees=judge_sees)
    return words + first, later


def part_words(part: SetPart) -> str:
    """What a reader of a part's numbers must know."""
    return f"Only a part of the eval set was asked, {part.words}. It is no benchmark, and no run of the whole set."


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")
