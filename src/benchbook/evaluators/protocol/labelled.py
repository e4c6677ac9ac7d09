"""A judged experiment as people label it: what they label is an output, and each judge's scores are held against that.

Rows of samples.parquet are evaluations, several for each output. Here each that counts stands beside what people see of
its output, so that a draw takes one an output, and a judge's scores are those of its own evaluations.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchbook.evaluators.contract import LabelCriterion, SideBySide
from benchbook.evaluators.made import Made, made
from benchbook.evaluators.protocol.plan import protocol_plan_of
from benchbook.evaluators.protocol.rows import ProtocolRow
from benchbook.evaluators.protocol.samples import open_samples
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.evaluators.protocol.tables import row_type_of
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows

__all__ = ["JudgedAnswer", "criteria_of_labels", "judges_side_by_side"]


class JudgedAnswer(Made, frozen=True, kw_only=True):
    """An evaluation that counts, by the names that whoever handles labels knows: after `passed` stand the dimensions.

    People are shown the question, not the cell: that would name the model that answered. What is said of one question
    rises and falls together: it is a group.
    """

    sample: int  # the evaluation's
    judge_model: str
    method: str
    item_id: str  # the question
    prompt: str  # what the target was asked; empty where nobody knows (P4.3)
    answer: str  # the text that was judged
    section: str  # the target
    category: str  # the variant of the prompt
    difficulty: None = None
    group: str  # the question
    passed: bool


def criteria_of_labels(protocol: Protocol) -> tuple[LabelCriterion, ...]:
    """People are asked what judges are asked, on the same scales."""
    return tuple(
        LabelCriterion(one.name, tuple(one.scores), one.name, f"{one.name}: {one.question}")
        for one in protocol.dimensions
    )


def judges_side_by_side(started: RunStarted, protocol: Protocol) -> SideBySide:
    return SideBySide(
        judges=tuple(judge.name for judge in protocol_plan_of(started).judges),
        rows=partial(_judged_answers, protocol=protocol),
        strata={"question_id": "item_id", "prompt_variant": "category", "target_model": "section"},
        hidden=(*protocol.names, "verdict", "evidence", "judge_model", "target_model", "labels of others"),
    )


def _judged_answers(record: Record, started: RunStarted, samples: Path, protocol: Protocol) -> Iterator[JudgedAnswer]:
    """All evaluations that count, in their order, from a record's samples.parquet; an invalid one says nothing (P4.2).

    Raises: RecordError, InputError.
    """
    planned = open_samples(record, started, protocol_plan_of(started))
    kind = made(JudgedAnswer, {"passed": [(name, int) for name in protocol.names]})
    for row in read_rows(samples, row_type_of(started, protocol)):
        if row.valid:
            sample = planned[row.sample]
            fields = _of_row(row) | {name: getattr(row, name) for name in protocol.names}
            yield kind(prompt=planned.task_of(sample), answer=planned.text_of(sample).text, **fields)


def _of_row(row: ProtocolRow) -> dict[str, Any]:
    return {
        "sample": row.sample,
        "judge_model": row.judge_model,
        "method": row.method,
        "item_id": row.question_id,
        "section": row.target_model,
        "category": row.prompt_variant,
        "group": row.question_id,
        "passed": row.verdict == "PASS",
    }
