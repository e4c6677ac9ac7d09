"""Labels where items bring all criteria themselves: of each answer, whether it meets each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.evaluators.contract import LabelCriterion, LabelRows
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.rubric.reply import ITEM_CRITERIA
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows

MET = LabelCriterion("met", (0, 1), "met", grades=("not met", "met"))  # people are asked it in each criterion's words

_NUMBERS = 1_000  # an item has fewer criteria


class ItemCriterionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One of an item's criteria, and whether the judge found that the answer meets it. All that is said of one item, or
    of one group, rises and falls together."""

    sample: int  # the answer's, times 1,000, and the criterion's number
    item_id: str
    section: str | None
    category: str | None
    difficulty: str | None
    group: str
    prompt: str
    context: Any
    expected_answer: str | None
    answer: str
    asked: str  # the criterion's text
    met: bool
    passed: bool  # the answer does


def item_label_rows(kind: type[RubricRow]) -> LabelRows:
    """The rows to be labelled, from rows of `kind` in samples.parquet."""

    def rows(record: Record, started: RunStarted, samples: Path) -> Iterator[ItemCriterionRow]:
        with recorded_evalset(record, started) as evalset:
            for row in read_rows(samples, kind):
                item = evalset[row.sample % started.n_items]
                for one in getattr(row, ITEM_CRITERIA):
                    yield ItemCriterionRow(
                        sample=row.sample * _NUMBERS + one.number,
                        item_id=row.item_id,
                        section=row.section,
                        category=row.category,
                        difficulty=row.difficulty,
                        group=f"item {row.item_id}" if row.group is None else row.group,
                        prompt=item.prompt,
                        context=item.context,
                        expected_answer=item.expected_answer,
                        answer=row.candidate_answer or "",
                        asked=one.text,
                        met=one.met,
                        passed=row.passed,
                    )

    slices = ("section", "category", "difficulty")
    hidden = ("met", "rationale", "item_criteria_score", "sample_score", "passed", "model_id", "labels of others")
    return LabelRows(rows, {name: name for name in slices}, hidden)
