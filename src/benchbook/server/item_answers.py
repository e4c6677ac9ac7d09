"""One item whole: what each of the compared runs answered, and what was said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

from benchbook.comparison.items import ComparedRun, compared_columns
from benchbook.comparison.pairing import paired_items
from benchbook.comparison.records import compared_part
from benchbook.comparison.text_difference import text_difference
from benchbook.evaluators.contract import ComparedColumns
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.inside import places_of
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.derived_files import reading_frame
from benchbook.server.compared_items import item_list, item_values, known_rows, row_columns
from benchbook.server.comparisons import compared, found_runs
from benchbook.server.item_numbers import numbers_of
from benchbook.server.item_types import AnswerOfRun, ItemDetail, NumberOfAnswer, PlaceOfExpected, Segment
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.samples import asked_about, table_of
from benchbook.server.services import FoundRun, Services
from benchbook.views.comparison_tables import metric_word
from benchbook.views.views import JudgedWords, text_spans, view_of

_WHOLE = ("item_id_b", "context", "expected_b", "sample_a", "sample_b")


def get_item(call: Request) -> ItemDetail:
    runs = found_runs(call, "item")
    services, pair = call.services, runs[:2]
    rows = item_list(services, pair)
    position = call.number("position")
    if position is None or position >= len(rows.frame):
        raise ProblemError(
            HTTPStatus.NOT_FOUND, f"these runs have {len(rows.frame)} items; there is none of this number"
        )
    row = rows.frame[position]
    values = row.select(*row_columns(numbers_of(pair, rows.frame), None), *_WHOLE).to_dicts()[0]
    answers = tuple(_answers(services, runs, row.to_dicts()[0]))
    return ItemDetail(**item_values(values), segments=answers[1].segments, answers=answers)


# ── the item in each run ─────────────────────────────────────────────────────────────────────────────────────

_Row = dict[str, Any]


def _items(services: Services, runs: Sequence[FoundRun], row: _Row) -> Iterator[_Row | None]:
    """The item in each run, by the names of `compared_items`; None where a run has none. `row` is that of the first
    two's list.
    """
    for side in "ab":
        own = {name[:-2]: value for name, value in row.items() if name.endswith(f"_{side}")}
        yield None if own["sample"] is None else own
    base, side = (runs[1], "b") if row["class"] == "only_in_b" else (runs[0], "a")
    rows = known_rows(services, base)
    for other in runs[2:]:
        if rows is not None and rows == known_rows(services, other):
            place = row[f"sample_{side}"]
            yield compared_part(other.record, rows.evaluator, place, place + 1).to_dicts()[0]
        else:
            yield _same_item(compared(services, base), compared(services, other), row, side)


def _same_item(run: ComparedRun, other: ComparedRun, row: _Row, side: str) -> _Row | None:
    """The item of another run that a comparison of the two would put beside this one of `run`.

    Items are one by id or by what was asked, so no others need to be looked at.
    """
    import polars as pl

    item_id = row["item_id" if side == "a" else "item_id_b"]
    maybe = (pl.col("item_id") == item_id) | (pl.col("prompt") == row["prompt"])
    theirs = other.items.filter(maybe)
    by_ids = run.columns.asked_elsewhere and other.columns.asked_elsewhere
    pairs, _ = paired_items(run.items.filter(maybe), theirs, by_ids=by_ids)
    sample = pairs.filter(pl.col("sample_a") == row[f"sample_{side}"])["sample_b"].to_list()
    return next((one for one in theirs.iter_rows(named=True) if [one["sample"]] == sample), None)


# ── its answers ──────────────────────────────────────────────────────────────────────────────────────────────


def _answers(services: Services, runs: Sequence[FoundRun], row: _Row) -> Iterator[AnswerOfRun]:
    first: str | None = None
    for place, (found, item) in enumerate(zip(runs, _items(services, runs, row), strict=True)):
        expected = row["expected_b"] if place == 1 and row["class"] == "expected_changed" else row["expected"]
        answer = _answer(services, found, item, expected, first if place else None)
        first = first if place else answer.text
        yield answer


def _answer(
    services: Services, found: FoundRun, item: _Row | None, expected: str | None, first: str | None
) -> AnswerOfRun:
    columns = compared_columns(evaluator_of(found.record))
    own = item or {}
    row = {} if item is None else _row_of(found, item["sample"])
    text: str | None = own.get("text")
    judged, turn = (None, None) if item is None else _judged(services, found, row, text)
    score, rationale = own.get("score_nano"), row.get("rationale")
    return AnswerOfRun(
        run=found.row.run_id,
        sample=own.get("sample"),
        n_scored=own.get("n_scored") or 0,
        text=text,
        score=None if score is None else score / NANO,
        passed=own.get("correct"),
        contained=own.get("contained") if columns.tells_containment else None,
        unanswered_why=own.get("unanswered_why"),
        reasons=tuple(_reasons(columns, row)),
        numbers=tuple(_numbers(columns, own, row)),
        expected_at=_expected_at(expected, text) if columns.tells_containment else (),
        segments=_segments(first, text),
        judged=judged,
        quoted_turn=turn,
        rationale=rationale if isinstance(rationale, str) else None,
    )


def _row_of(found: FoundRun, sample: int) -> _Row:
    """The sample's row of samples.parquet, which nearly always stands at its number; of one that nobody judged, what
    is shown of it alone.
    """
    import polars as pl

    evaluator = evaluator_of(found.record)
    with reading_frame(table := table_of(found)):
        rows = pl.scan_parquet(table, glob=False)
        if view_of(evaluator).judged is None:
            columns = compared_columns(evaluator)
            wanted = ("sample", "rationale", *columns.reasons, *(one.column for one in columns.metrics))
            rows = rows.select(name for name in rows.collect_schema() if name in wanted)
        there = rows.slice(sample, 1).collect()
        if len(there) != 1 or there["sample"][0] != sample:
            there = rows.filter(pl.col("sample") == sample).collect()
    row: _Row = there.to_dicts()[0]
    return row


def _reasons(columns: ComparedColumns, row: _Row) -> Iterator[str]:
    """Why this answer missed or did not pass, in the codes of its own evaluator."""
    for name in columns.reasons:
        match row.get(name):
            case str(reason):
                yield reason
            case list(reasons):
                yield from reasons


def _numbers(columns: ComparedColumns, item: _Row, row: _Row) -> Iterator[NumberOfAnswer]:
    """The measures beside the score: the mean over repeats, where both of the first two runs measured it."""
    for one in columns.metrics:
        value = item.get(one.name, row.get(one.column))
        if one.name in item or one.column in row:
            yield NumberOfAnswer(name=one.name, title=metric_word(one), kind=one.kind, value=value)


def _expected_at(expected: str | None, text: str | None) -> tuple[PlaceOfExpected, ...]:
    places = places_of(expected or "", text or "")
    spans = text_spans(text or "", [(one.start, one.end) for one in places])
    return tuple(
        PlaceOfExpected(start=span.start, end=span.end, within=one.within)
        for span, one in zip(spans, places, strict=True)
    )


def _segments(first: str | None, text: str | None) -> tuple[Segment, ...] | None:
    if first is None or text is None:
        return None
    return tuple(Segment(op=one.op, text=one.text) for one in text_difference(first, text))


def _judged(
    services: Services, found: FoundRun, row: dict[str, Any], text: str | None
) -> tuple[JudgedWords | None, int | None]:
    """The judge's word on an answer, and the turn that its quotes name the answer by; nothing where nobody judged."""
    if view_of(evaluator_of(found.record)).judged is None or "evalset" not in found.record.started().inputs:
        return None, None
    asked = asked_about(services, found, row, text)
    judged, turns = asked["judged"], asked["turns"]
    is_turn = isinstance(turns, tuple) and text is not None
    return (judged if isinstance(judged, JudgedWords) else None), (len(turns) if is_turn else None)
