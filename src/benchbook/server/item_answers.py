"""One item whole: what each of the compared runs answered, and what was said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from benchbook.comparison.items import ComparedRun
from benchbook.comparison.pairing import paired_items
from benchbook.comparison.text_difference import text_difference
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.inside import places_of
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.derived_files import reading_frame
from benchbook.server.compared_items import item_list, item_values, row_columns
from benchbook.server.comparisons import compared, found_runs
from benchbook.server.item_numbers import numbers_of
from benchbook.server.item_types import AnswerOfRun, ItemDetail, NumberOfAnswer, PlaceOfExpected, Segment
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.samples import asked_about, table_of
from benchbook.server.services import FoundRun, Services
from benchbook.views.comparison_tables import metric_word
from benchbook.views.views import JudgedWords, text_spans, view_of

if TYPE_CHECKING:
    import polars

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
    answers = tuple(_answers(services, runs, _samples(services, runs, row), values))
    return ItemDetail(**item_values(values), segments=answers[1].segments, answers=answers)


# ── the item's sample in each run ────────────────────────────────────────────────────────────────────────────


def _samples(services: Services, runs: Sequence[FoundRun], row: polars.DataFrame) -> list[int | None]:
    """The number of the item's sample in each run; None where it has none. `row` is that of the first two's list."""
    found: list[int | None] = [row["sample_a"][0], row["sample_b"][0]]
    side, base = ("b", 1) if row["class"][0] == "only_in_b" else ("a", 0)
    for other in runs[2:]:
        run, against = compared(services, runs[base]), compared(services, other)
        found.append(_same_item(run, against, row, side))
    return found


def _same_item(run: ComparedRun, other: ComparedRun, row: polars.DataFrame, side: str) -> int | None:
    """The sample of another run that a comparison of the two would put beside this one of `run`.

    Items are one by id or by what was asked, so no others need to be looked at.
    """
    import polars as pl

    item_id = row["item_id" if side == "a" else "item_id_b"][0]
    maybe = (pl.col("item_id") == item_id) | (pl.col("prompt") == row["prompt"][0])
    by_ids = run.columns.asked_elsewhere and other.columns.asked_elsewhere
    pairs, _ = paired_items(run.items.filter(maybe), other.items.filter(maybe), by_ids=by_ids)
    found = pairs.filter(pl.col("sample_a") == row[f"sample_{side}"][0])["sample_b"]
    sample: int | None = found[0] if len(found) else None
    return sample


# ── its answers ──────────────────────────────────────────────────────────────────────────────────────────────


def _answers(
    services: Services, runs: Sequence[FoundRun], samples: Sequence[int | None], item: dict[str, Any]
) -> Iterator[AnswerOfRun]:
    first: str | None = None
    for place, (found, sample) in enumerate(zip(runs, samples, strict=True)):
        expected = item["expected_b"] if place == 1 and item["class"] == "expected_changed" else item["expected"]
        answer = _answer(services, found, sample, expected, first if place else None)
        first = first if place else answer.text
        yield answer


def _answer(
    services: Services, found: FoundRun, sample: int | None, expected: str | None, first: str | None
) -> AnswerOfRun:
    run = compared(services, found)
    item = {} if sample is None else _item_of(run, sample)
    row = {} if sample is None else _row_of(found, sample)
    text: str | None = item.get("text")
    judged, turn = (None, None) if sample is None else _judged(services, found, row, text)
    rationale = row.get("rationale")
    score = item.get("score_nano")
    return AnswerOfRun(
        run=found.row.run_id,
        sample=sample,
        n_samples=item.get("n_samples", 0),
        text=text,
        score=None if score is None else score / NANO,
        passed=item.get("correct"),
        contained=item.get("contained") if run.columns.tells_containment else None,
        unanswered_why=item.get("unanswered_why"),
        reasons=tuple(_reasons(found, row)) if row else (),
        numbers=tuple(_numbers(run, item)),
        expected_at=_expected_at(expected, text) if run.columns.tells_containment else (),
        segments=_segments(first, text),
        judged=judged,
        quoted_turn=turn,
        rationale=rationale if isinstance(rationale, str) else None,
    )


def _item_of(run: ComparedRun, sample: int) -> dict[str, Any]:
    import polars as pl

    found: dict[str, Any] = run.items.filter(pl.col("sample") == sample).to_dicts()[0]
    return found


def _row_of(found: FoundRun, sample: int) -> dict[str, Any]:
    """The sample's row of samples.parquet, which nearly always stands at its number."""
    import polars as pl

    with reading_frame(table := table_of(found)):
        rows = pl.scan_parquet(table, glob=False)
        there = rows.slice(sample, 1).collect()
        if len(there) != 1 or there["sample"][0] != sample:
            there = rows.filter(pl.col("sample") == sample).collect()
    row: dict[str, Any] = there.to_dicts()[0]
    return row


def _reasons(found: FoundRun, row: dict[str, Any]) -> Iterator[str]:
    """Why this answer missed or did not pass, in the codes of its own evaluator."""
    columns = evaluator_of(found.record).compared
    for name in () if columns is None else columns.reasons:
        match row.get(name):
            case str(reason):
                yield reason
            case list(reasons):
                yield from reasons


def _numbers(run: ComparedRun, item: dict[str, Any]) -> Iterator[NumberOfAnswer]:
    for one in run.columns.metrics:
        if one.name in run.items.columns:
            yield NumberOfAnswer(name=one.name, title=metric_word(one), kind=one.kind, value=item.get(one.name))


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
