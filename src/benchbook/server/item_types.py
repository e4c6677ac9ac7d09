"""The API's answers about compared items: rows of their list, one of them whole, and what a filtered list comes to."""

from __future__ import annotations

from typing import Literal

import msgspec

from benchbook.comparison.pairing import ItemClass
from benchbook.evaluators.contract import MetricKind
from benchbook.evaluators.inside import Within
from benchbook.views.views import JudgedWords

Field = Literal["section", "category", "difficulty"]


class ItemRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the item table. Texts are cut; `ItemDetail` has them whole.

    `passed_a` and `passed_b` are null where the score itself says so. `contained_a` and `contained_b` are the diagnosis
    of the expected answer in the text, null without a score or where the evaluator has none. `metrics_a` and
    `metrics_b` are what else both runs measured, by its name.
    """

    position: int  # among all items of the comparison
    item_class: ItemClass = msgspec.field(name="class")
    item_id: str
    section: str | None
    category: str | None
    difficulty: str | None
    prompt: str | None
    expected: str | None
    text_a: str | None
    text_b: str | None
    score_a: float | None
    score_b: float | None
    difference: float | None  # of the scores, B - A; null where they are not compared
    miss_reason_a: str | None
    miss_reason_b: str | None
    passed_a: bool | None
    passed_b: bool | None
    contained_a: bool | None
    contained_b: bool | None
    text_changed: bool
    metrics_a: dict[str, float | None]
    metrics_b: dict[str, float | None]


class ItemsPage(msgspec.Struct, frozen=True, kw_only=True):
    """`n` items fit the filter in all; `next_cursor` is null on the last page."""

    items: tuple[ItemRow, ...]
    n: int
    next_cursor: str | None


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of two texts: `same` and `deleted` ones make up A's, `same` and `inserted` ones B's."""

    op: Literal["same", "deleted", "inserted"]
    text: str


class PlaceOfExpected(msgspec.Struct, frozen=True, kw_only=True):
    """Where the expected answer stands in a text: half-open, in UTF-16 code units. `within` says that it is a part of
    something longer there, as 12 is of 12.25; null where it stands by itself.
    """

    start: int
    end: int
    within: Within | None


class NumberOfAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was measured beside the score: a criterion, latency, tokens, cost; the mean of repeats."""

    name: str
    title: str
    kind: MetricKind
    value: float | None


class AnswerOfRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run's answer to the item; of several repeats the first, with the mean score of all `n_scored` that have one.
    `sample` is null where the run has no such item.

    `segments` are the answer's text against that of the first run named, word by word: null for the first itself, and
    where either has no text. `quoted_turn` is the number that the judge's quotes name the answer by, in a conversation.
    """

    run: str
    sample: int | None
    n_scored: int
    text: str | None
    score: float | None
    passed: bool | None
    contained: bool | None
    unanswered_why: str | None
    reasons: tuple[str, ...]
    numbers: tuple[NumberOfAnswer, ...]
    expected_at: tuple[PlaceOfExpected, ...]
    segments: tuple[Segment, ...] | None
    judged: JudgedWords | None
    quoted_turn: int | None
    rationale: str | None


class ItemDetail(ItemRow, frozen=True, kw_only=True):
    """One item, whole. `segments` are the first two texts compared word by word; null where one is missing.

    `answers` are those of all runs that were named, in their order.
    """

    item_id_b: str | None
    context: str | None
    expected_b: str | None
    sample_a: int | None
    sample_b: int | None
    segments: tuple[Segment, ...] | None
    answers: tuple[AnswerOfRun, ...]


# ── what a filtered list comes to ────────────────────────────────────────────────────────────────────────────


class ItemBin(msgspec.Struct, frozen=True, kw_only=True):
    """A bin of numbers, from `start` to `end`; a single number where they are the same. `low` and `high` are the least
    and the greatest that occur in it, null in an empty one: as a filter, they give exactly the items of the bin.
    """

    start: float
    end: float
    low: float | None
    high: float | None
    n: int


class ItemCell(msgspec.Struct, frozen=True, kw_only=True):
    """`n` items lie in this bin of A and that bin of B, by their places."""

    a: int
    b: int
    n: int


class ItemSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The items of one section, category or difficulty, by what became of them."""

    field: Field
    value: str
    lost: int
    won: int
    same: int


class ItemMoves(msgspec.Struct, frozen=True, kw_only=True):
    """How many items B lost or won by one number, of those that are compared."""

    metric: str
    title: str
    kind: MetricKind
    higher_is_better: bool
    lost: int
    won: int
    same: int


class ReasonCount(msgspec.Struct, frozen=True, kw_only=True):
    """A reason for which answers missed, and in how many items of each run."""

    reason: str
    n_a: int
    n_b: int


class ItemsSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The `n` items that fit a filter, as pictures show them: by the number that `metric` names.

    `differences` are bins of B - A; `bins_a` and `bins_b` those of each run's own values, and `cells` counts over both.
    `moves` are of every number that both runs have, and `reasons` those that occur in either run, of all items.
    """

    n: int
    metric: str
    differences: tuple[ItemBin, ...]
    bins_a: tuple[ItemBin, ...]
    bins_b: tuple[ItemBin, ...]
    cells: tuple[ItemCell, ...]
    slices: tuple[ItemSlice, ...]
    moves: tuple[ItemMoves, ...]
    reasons: tuple[ReasonCount, ...]
