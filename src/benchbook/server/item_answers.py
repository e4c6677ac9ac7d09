"""One item whole: what each of the compared runs answered, and what was said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    import polars

_WHOLE = ("item_id_b", "context", "expected_b", "sample_a", "sample_b")


def get_item(call: Request) -> ItemDetail:
    runs = found_runs(call, "item")
    rows = item_list(call.services, runs[:2]).frame
    position = call.number("position")
    if position is None or position >= len(rows):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"these runs have {len(rows)} items; there is none of this number")
    return next(item_details(call.services, runs, rows[position]))


def item_details(services: Services, runs: Sequence[FoundRun], rows: polars.DataFrame) -> Iterator[ItemDetail]:
    """Items whole, with the answers of all `runs`; `rows` are those of the first two's list, and best neighbours."""
    columns = row_columns(numbers_of(runs[:2], rows), None)
    values = rows.select(*columns, *_WHOLE).to_dicts()
    named = rows.to_dicts()
    sides = [_Side(services, found, place) for place, found in enumerate(runs)]
    items = list(_items(services, runs, named))
    for side, own in zip(sides, items, strict=True):
        side.read([item["sample"] for item in own if item is not None])
    for row, value, of_runs in zip(named, values, zip(*items, strict=True), strict=True):
        answers: list[AnswerOfRun] = []
        for side, item in zip(sides, of_runs, strict=True):
            answers.append(side.answer(row, item, answers[0].text if answers else None))
        yield ItemDetail(**item_values(value), segments=answers[1].segments, answers=tuple(answers))


# ── the item in each run ─────────────────────────────────────────────────────────────────────────────────────

_Row = dict[str, Any]


def _items(services: Services, runs: Sequence[FoundRun], rows: Sequence[_Row]) -> Iterator[list[_Row | None]]:
    """Each item in each run, by the names of `compared_items`; None where a run has none."""
    for side in "ab":
        named = [{name[:-2]: value for name, value in row.items() if name.endswith(f"_{side}")} for row in rows]
        yield [None if own["sample"] is None else own for own in named]
    for other in runs[2:]:
        found: dict[int, _Row | None] = {}
        for place, side in enumerate("ab"):
            mine = [at for at, row in enumerate(rows) if (row["class"] == "only_in_b") is (side == "b")]
            there = _in_other(services, runs[place], other, [rows[at] for at in mine], side)
            found |= dict(zip(mine, there, strict=True))
        yield [found[at] for at in range(len(rows))]


def _in_other(
    services: Services, run: FoundRun, other: FoundRun, rows: Sequence[_Row], side: str
) -> Iterator[_Row | None]:
    """The items of `run`, whose samples stand in the rows on this side, in another run."""
    known = known_rows(services, run) if rows else None
    if known is not None and known == known_rows(services, other):
        samples = [row[f"sample_{side}"] for row in rows]
        first = min(samples)
        part = compared_part(other.record, known.evaluator, first, max(samples) + 1).to_dicts()
        yield from (part[sample - first] for sample in samples)
    else:
        for row in rows:
            yield _same_item(compared(services, run), compared(services, other), row, side)


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


class _Side:
    """The answers of one run to some items, in the `place` that it was named at."""

    def __init__(self, services: Services, found: FoundRun, place: int) -> None:
        self._services = services
        self._found = found
        self._place = place
        self._columns = compared_columns(evaluator := evaluator_of(found.record))
        self._is_judged = view_of(evaluator).judged is not None and "evalset" in found.record.started().inputs
        self._samples: dict[int, _Row] = {}

    def read(self, samples: Sequence[int]) -> None:
        """Read the samples' rows of samples.parquet, which nearly always stand at their numbers; of what nobody judged,
        what is shown of it alone.
        """
        import polars as pl

        if not samples:
            return
        first, end = min(samples), max(samples) + 1
        with reading_frame(table := table_of(self._found)):
            rows = pl.scan_parquet(table, glob=False)
            if not self._is_judged:
                columns = self._columns
                shown = ("sample", "rationale", *columns.reasons, *(one.column for one in columns.metrics))
                rows = rows.select(name for name in rows.collect_schema() if name in shown)
            wanted = pl.col("sample").is_in(samples)
            there = rows.slice(first, end - first).filter(wanted).collect()
            if len(there) != len(samples):
                there = rows.filter(wanted).collect()
        self._samples = {row["sample"]: row for row in there.to_dicts()}

    def answer(self, listed: _Row, item: _Row | None, first: str | None) -> AnswerOfRun:
        """The run's answer to an item; `listed` is its row of the first two's list, `first` the first run's text."""
        columns = self._columns
        own = item or {}
        row = {} if item is None else self._samples[item["sample"]]
        text: str | None = own.get("text")
        judged, turn = (None, None) if item is None else self._judged(row, text)
        score, rationale = own.get("score_nano"), row.get("rationale")
        expects_other = self._place == 1 and listed["class"] == "expected_changed"
        expected = listed["expected_b"] if expects_other else listed["expected"]
        return AnswerOfRun(
            run=self._found.row.run_id,
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

    def _judged(self, row: _Row, text: str | None) -> tuple[JudgedWords | None, int | None]:
        """The judge's word on an answer, and the turn that its quotes name it by; nothing where nobody judged."""
        if not self._is_judged:
            return None, None
        asked = asked_about(self._services, self._found, row, text)
        judged, turns = asked["judged"], asked["turns"]
        is_turn = isinstance(turns, tuple) and text is not None
        return (judged if isinstance(judged, JudgedWords) else None), (len(turns) if is_turn else None)


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
