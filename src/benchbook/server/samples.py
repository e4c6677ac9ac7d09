"""Samples of a run: lists, one of them whole, and the table as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.evalsets import EvalSet, Item
from benchbook.evalsets.conversations import turn_head, turn_text, with_answer
from benchbook.evaluators.asked import columns_with_asked, frame_with_asked
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.kept import recorded_items
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.derived_files import reading_derived, reading_frame
from benchbook.record.tables import read_frames
from benchbook.server.operations import Request, Stream, file_stream
from benchbook.server.problems import ProblemError
from benchbook.server.questions import SamplesAsked, SamplesFilter
from benchbook.server.row_lists import SLICES, Page, RowList, all_of, asked_for, contains, page_of_parts
from benchbook.server.sample_types import JudgeReplyRow, SampleDetail, SampleRow, SamplesPage, Turn
from benchbook.server.services import FoundRun, Services
from benchbook.text import storable
from benchbook.views.csv_blocks import SAMPLES, csv_block, csv_head
from benchbook.views.views import JudgedWords, view_of

if TYPE_CHECKING:
    import polars

CUT = 400  # characters of a text in a list
_BLOCK_BYTES = 4 << 20
_AT_ONCE = 1_024  # rows that Python handles at once: others wait for them


def list_samples(call: Request) -> SamplesPage:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "samples")
    question = call.query
    page = _page_before_all(call.services, found, question)
    if page is None:
        page = _filtered_page(call.services, found, question)
    samples = tuple(SampleRow(**row | {"reasons": tuple(row["reasons"])}) for row in page.rows)
    return SamplesPage(samples=samples, n=page.n, next_cursor=page.next_cursor)


def _filtered_page(services: Services, found: FoundRun, question: SamplesAsked) -> Page:
    in_prompt = _in_prompt(services, found, question.text) if question.text else None
    sort = None if question.sort == "sample" else question.sort
    return _row_list(services, found).page(question, _condition(question, in_prompt), sort, _shown_columns())


def get_sample(call: Request) -> SampleDetail:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "sample")
    number = call.number("sample")
    if number is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "a sample is named by its number")
    import polars as pl

    with reading_frame(table := table_of(found)):  # of the others not even all numbers are read
        rows = pl.scan_parquet(table, glob=False, cache=False).filter(pl.col("sample") == number).head(1)
        one = rows.collect()
    if one.is_empty():
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no sample {number}")
    return next(_details(call.services, found, one))


def every_sample(services: Services, found: FoundRun) -> Iterator[SampleDetail]:
    """All samples of a run, each whole, in the order of the table."""
    with reading_frame(table := table_of(found)):
        for frame in _batches(table):
            yield from _details(services, found, frame)


def _details(services: Services, found: FoundRun, rows: polars.DataFrame) -> Iterator[SampleDetail]:
    shown_rows = rows.select(_listed(rows.schema, evaluator_of(found.record))).to_dicts()
    for row, shown in zip(rows.to_dicts(), shown_rows, strict=True):
        values: dict[str, Any] = shown | {"reasons": tuple(shown["reasons"])}
        asked = asked_about(services, found, row, shown["text"])
        yield SampleDetail(**values, **asked, judge_replies=_replies(row), row=row)


def _replies(row: Mapping[str, Any]) -> tuple[JudgeReplyRow, ...]:
    whose = {seq: vote["name"] for vote in row.get("votes") or () for seq in vote["reply_seqs"]}
    return tuple(
        JudgeReplyRow(
            judge=whose.get(one["seq"]),
            attempt=one["attempt"],
            text=one["text"],
            parse_error_reason=one["parse_error_reason"],
            detail=one["detail"],
        )
        for one in row.get("judge_replies") or ()
    )


def sample_lines(call: Request) -> Stream:
    """Every row of samples.parquet with what was asked, one JSON object a line."""
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "samples-ndjson")
    _, batches = _with_asked(call.services, found)
    encoder = msgspec.json.Encoder()
    rows = (part.to_dicts() for frame in batches for part in frame.iter_slices(_AT_ONCE))
    return Stream(map(encoder.encode_lines, rows), f"{found.row.record_path}-samples.ndjson")


def sample_csv(call: Request) -> Stream:
    """The same rows as CSV (RFC 4180). No cell is a formula to a spreadsheet; invisible characters are escaped."""
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "samples-csv")
    columns, batches = _with_asked(call.services, found)

    def pieces() -> Iterator[bytes]:
        yield csv_head(columns, SAMPLES)
        yield from (csv_block(frame, columns, SAMPLES) for frame in batches)

    return Stream(pieces(), f"{found.row.record_path}-samples.csv")


def sample_table(call: Request) -> Stream:
    """samples.parquet as it is."""
    found = call.services.finished(call.path["run_id"])
    table = table_of(found)
    there = table.stat()  # who reads it by parts must see that another file has taken its place
    call.is_of(found.state_id, f"{there.st_mtime_ns:x}", f"{there.st_size:x}", "samples-parquet")
    file = table.open("rb")  # now, so that a new file in its place changes nothing in the answer
    return file_stream(file, f"{found.row.record_path}-samples.parquet", there.st_size)


def _batches(table: Path) -> Iterator[polars.DataFrame]:
    """The rows in blocks of some `_BLOCK_BYTES`: what is made of a block is in memory at once."""
    for frame in read_frames(table):
        yield from frame.iter_slices(max(1, len(frame) * _BLOCK_BYTES // max(int(frame.estimated_size()), 1)))


def _with_asked(services: Services, found: FoundRun) -> tuple[tuple[str, ...], Iterator[polars.DataFrame]]:
    """The columns of a run's samples with what was asked, and the rows, a part of the table in memory at a time."""
    table, record = table_of(found), found.record
    started = record.started()
    row_type = evaluator_of(record).tables(started)["samples.parquet"]
    columns = columns_with_asked(row_type.__struct_fields__, started)
    evalset = _evalset(services, found) if "evalset" in started.inputs else None

    def batches() -> Iterator[polars.DataFrame]:
        with nullcontext() if evalset is None else evalset.copied_to(record.input(started.inputs["evalset"])) as mine:
            for frame in _batches(table):
                yield frame_with_asked(frame, columns, started, mine)

    return columns, batches()


# ── the table behind the list ────────────────────────────────────────────────────────────────────────────────


def table_of(found: FoundRun) -> Path:
    path = found.record.samples
    if not path.is_file():
        raise ProblemError(
            HTTPStatus.CONFLICT, f"this run has no samples: {found.row.predictions_unavailable or 'none'}"
        )
    return path


def _row_list(services: Services, found: FoundRun) -> RowList:
    path = table_of(found)
    key = ("samples", found.name)

    def make() -> RowList:
        return RowList(_frame(path, evaluator_of(found.record)), found.name)

    return services.kept.get(key, make, lambda rows: rows.n_bytes)


def _frame(path: Path, evaluator: Evaluator) -> polars.DataFrame:
    """The columns of `SampleRow`, in the order of samples."""
    import polars as pl

    with reading_frame(path):
        table = pl.scan_parquet(path, glob=False)
        return table.select(_listed(table.collect_schema(), evaluator)).sort("sample").collect()


def _listed(types: polars.Schema, evaluator: Evaluator) -> list[polars.Expr]:
    """The columns of `SampleRow`."""
    import polars as pl

    shown = evaluator.listed(types)
    shown["reasons"] = shown["reasons"].list.drop_nulls().list.unique(maintain_order=True)
    columns = ("item_id", "section", "category", "difficulty", "score", "passed", "reasons", "text")
    return [pl.col("sample", "repeat"), *(shown[name].alias(name) for name in columns)]


def _page_before_all(services: Services, found: FoundRun, question: SamplesAsked) -> Page | None:
    """A page of the unfiltered list, made of its own rows alone: possible where the table is in the order of samples.
    None where the whole list is at hand already, or has to be made."""
    import polars as pl

    asks_for_all = question == SamplesAsked(limit=question.limit, offset=question.offset, cursor=question.cursor)
    if not asks_for_all or services.kept.peek(("samples", found.name)) is not None:
        return None
    table = table_of(found)

    def rows_in_order() -> int | None:
        with reading_frame(table):
            numbers = pl.read_parquet(table, columns=["sample"], glob=False)["sample"]
        return len(numbers) if numbers.is_sorted() else None

    n = services.kept.get(("samples in order", found.name), rows_in_order, lambda _: 100)
    if n is None:
        return None

    def part(first: int, end: int) -> polars.DataFrame:
        with reading_frame(table):
            rows = pl.scan_parquet(table, glob=False, cache=False).slice(first, end - first)
            return (
                rows.select(_listed(rows.collect_schema(), evaluator_of(found.record)))
                .select(_shown_columns())
                .collect()
            )

    return page_of_parts(found.name, question, n, part)


def _shown_columns() -> list[Any]:
    import polars as pl

    return [pl.all().exclude("text"), pl.col("text").str.slice(0, CUT)]


def _in_prompt(services: Services, found: FoundRun, text: str) -> polars.Expr | None:
    """The condition that a sample's prompt contains `text`; None where no eval set was asked."""
    import polars as pl

    started = found.record.started()
    if "evalset" not in started.inputs:
        return None

    def prompts() -> polars.DataFrame:
        with _evalset(services, found).copied_to(found.record.input(started.inputs["evalset"])) as mine:
            return pl.DataFrame({"prompt": [storable(item.prompt) for item in mine]}, {"prompt": pl.String})

    key = ("prompts", found.row.dataset_sha256 or "")
    asked: polars.DataFrame = services.kept.get(key, prompts, lambda frame: int(frame.estimated_size()))
    places = asked.select(pl.arg_where(contains(text, "prompt"))).to_series()
    return (pl.col("sample") % len(asked)).is_in(places.cast(pl.Int64).implode())


def _condition(wanted: SamplesFilter, in_prompt: polars.Expr | None) -> polars.Expr | None:
    """The condition that a sample fits; `in_prompt` is that its prompt has the text that is asked for."""
    import polars as pl

    found = asked_for(wanted, SLICES)
    match wanted.outcome:
        case "passed":
            found.append(pl.col("passed") & pl.col("score").is_not_null())
        case "failed":
            found.append(~pl.col("passed") & pl.col("score").is_not_null())
        case "unscored":
            found.append(pl.col("score").is_null())
        case None:
            pass
    if wanted.reason:
        found.append(pl.col("reasons").list.contains(wanted.reason))
    if wanted.text:
        in_row = contains(wanted.text, "item_id", "text")
        found.append(in_row if in_prompt is None else in_row | in_prompt)
    return all_of(found)


# ── what was asked ───────────────────────────────────────────────────────────────────────────────────────────


def asked_about(services: Services, found: FoundRun, row: dict[str, Any], answer: str | None) -> dict[str, Any]:
    """Prompt, context and expected answer of a sample, from the eval set that the record keeps; the turns of a
    conversation, and the judge's view of the answer."""
    if "evalset" not in found.record.started().inputs:  # judges of outputs got something else
        return {"prompt": None, "context": None, "expected": None}
    item = _item(services, found, row["sample"])
    context = item.context
    shown = context if context is None or isinstance(context, str) else canonical_json(context).decode("utf-8")
    judged = _judged(found, row, item)
    names_turns = judged is not None and any(one.quote and one.quote.turn for one in judged.criteria)
    return {
        "prompt": item.prompt,
        "context": shown,
        "expected": item.expected_answer,
        "turns": _turns(item, answer) if item.messages is not None or names_turns else msgspec.UNSET,
        "judged": msgspec.UNSET if judged is None else judged,
    }


def _judged(found: FoundRun, row: dict[str, Any], item: Item) -> JudgedWords | None:
    evaluator = evaluator_of(found.record)
    judged = view_of(evaluator).judged
    if judged is None:
        return None
    row_type = evaluator.tables(found.record.started())["samples.parquet"]
    with reading_derived(found.record):
        typed = msgspec.convert(row, ready(row_type))
    return judged(found.record, typed, item)


def _turns(item: Item, answer: str | None) -> tuple[Turn, ...]:
    """The turns of the transcript that a judge is shown. The last is the answer, where there is one."""
    turns = with_answer(item.messages, item.prompt, answer or "")
    shown = turns if answer is not None else turns[:-1]
    return tuple(
        Turn(number=number, head=turn_head(one), text=turn_text(one)) for number, one in enumerate(shown, start=1)
    )


def _item(services: Services, found: FoundRun, sample: int) -> Item:
    evalset = _evalset(services, found)
    path = found.record.input(found.record.started().inputs["evalset"])
    with evalset.copied_to(path) as mine:  # with a file of its own: other threads read, too
        return mine[sample % len(mine)]


def _evalset(services: Services, found: FoundRun) -> EvalSet:
    """The items that a run is about; to be read from a copy, since others have it, too."""
    sha256 = found.row.dataset_sha256 or ""
    started = found.record.started()  # of a part of a set, the row names the part
    path = found.record.input(started.inputs.get("evalset", ""))
    if not sha256 or not path.is_file():
        raise ProblemError(HTTPStatus.CONFLICT, "the record's eval set is missing")
    evalset: EvalSet = services.kept.get(
        ("evalset", sha256),
        lambda: recorded_items(found.record, started),
        lambda one: 16 * len(one) + 1_000,
    )
    return evalset
