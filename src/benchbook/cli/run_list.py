"""The list of `benchbook runs`: each record in a line, by its derived files; its state is the catalog's."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import structs

from benchbook.cli.output import table_rows
from benchbook.errors import RecordError
from benchbook.record.folder import Record, records_in
from benchbook.record.marks import NO_MARKS, MarkFile, Marks, searched
from benchbook.record.standing import RunState, last_sign, quiet_s, seconds_of
from benchbook.text import one_line, shorten

Order = Literal["newest", "score", "run"]
Archived = Literal["no", "only", "any"]
_DATE = "date (UTC)"
_LONGEST = 300  # characters of a name: the rest tells nobody anything


class ListedRun(
    msgspec.Struct, frozen=True, kw_only=True, rename={"eval_set": "eval set", "eval_set_version": "eval set version"}
):
    """A record as its derived files have it. What is not known is null, and all but `error` of one that is damaged, or
    that a `later` version made.

    `score` is the aggregate called `score_name`, with its interval. `outcome` is the decision in words: of a run
    without gates, how the run itself went. `misnamed`: a whole record stands under another name than its own. `marks`
    are there where people wrote any.
    """

    run: str
    decision: str | None = None
    outcome: str | None = None
    state: RunState
    last_sign_utc: str | msgspec.UnsetType = msgspec.UNSET  # of one that runs
    date: str | None = None
    evaluator: str | None = None
    model: str | None = None
    judge: str | None = None
    eval_set: str | None = None
    eval_set_version: str | None = None
    score_name: str | None = None
    score: float | None = None
    low: float | None = None
    high: float | None = None
    hash: str | None = None
    error: str | msgspec.UnsetType = msgspec.UNSET
    misnamed: str | msgspec.UnsetType = msgspec.UNSET
    marks: Marks | msgspec.UnsetType = msgspec.UNSET

    def fits(self, tags: Sequence[str], text: str, archived: Archived) -> bool:
        """True if it has all the tags, each word of `text` somewhere, and is in that part of the list."""
        marks = NO_MARKS if isinstance(self.marks, msgspec.UnsetType) else self.marks
        if (archived == "no" and marks.archived) or (archived == "only" and not marks.archived):
            return False
        names = (self.run, self.evaluator, self.model, self.judge, self.eval_set)
        told = "\n".join([name.casefold() for name in names if name is not None] + [searched(marks)])
        return {*tags} <= {*marks.tags} and all(word in told for word in text.casefold().split())


def listed_runs(runs: str) -> list[ListedRun]:
    """The lines of all records in a folder, the newest first, with what people wrote on them."""
    marks = MarkFile(runs).all()
    rows = [listed_run(record) for record in records_in(runs)]
    return [
        structs.replace(row, marks=marks[row.run]) if marks.get(row.run, NO_MARKS) != NO_MARKS else row for row in rows
    ]


def listed_run(record: Record) -> ListedRun:
    """The record's line. Nothing is derived; `benchbook verify` tells whether the journal's facts make these files."""
    from benchbook.catalog.observing import observe
    from benchbook.record.derived_files import check_whole, inside, misnamed_words

    try:
        row = {} if (found := observe(record)) is None else found.row
        if row.get("state") in ("damaged", "later"):
            wrong = row["error"] or row["predictions_unavailable"]
            return ListedRun(run=record.run_id, state=row["state"], error=wrong)
        if record.is_sharded and row["error"] is not None:
            return ListedRun(run=record.run_id, state=row["state"], error=row["error"])
        first = check_whole(record)
        wrong = misnamed_words(record, first)
        return _whole(record, first, row["state"], misnamed=msgspec.UNSET if wrong is None else wrong)
    except (RecordError, OSError) as error:  # it was changed, or removed, in between
        return ListedRun(run=record.run_id, state="damaged", error=inside(record, str(error)))


def in_order(rows: Sequence[ListedRun], order: Order) -> list[ListedRun]:
    """The rows, which come newest first, by their score (the highest first, those without at the end) or their name."""
    match order:
        case "newest":
            return list(rows)
        case "score":
            return sorted(rows, key=lambda row: (row.score is None, -(row.score or 0.0)))
        case "run":
            return sorted(rows, key=lambda row: row.run)


def run_lines(rows: Sequence[ListedRun], width: int) -> Iterator[str]:
    """The table in `width` characters, its head first.

    Where it is too wide, dates have no time of day, and names are cut; where these could not be told apart then, who
    was asked what stands below each run.
    """
    from benchbook.views.narrow_table import narrow_columns

    names = [_names(row) for row in rows]
    said = [_said(row) for row in rows]
    for characters, may_be_cut in ((len("2026-11-29 05:08"), ()), (len("2026-11-29"), tuple(names[0]))):
        said = [one | {_DATE: one[_DATE][:characters]} for one in said]
        head = (*said[0], *names[0])
        whole = [[*one.values(), *other.values()] for one, other in zip(said, names, strict=True)]
        if (cut := narrow_columns(head, whole, width, may_be_cut)) is not None:
            yield from _with_more_below(table_rows(head, cut), [_marked(row) for row in rows])
            return
    below = [[", ".join(one.values()), *_marked(row)] for one, row in zip(names, rows, strict=True)]
    yield from _with_more_below(table_rows(tuple(said[0]), (one.values() for one in said)), below)


def _with_more_below(lines: Iterator[str], below: Sequence[Sequence[str]]) -> Iterator[str]:
    yield next(lines)
    for line, more in zip(lines, below, strict=True):
        yield line
        yield from (f"    {one}" for one in more)


def _marked(row: ListedRun) -> list[str]:
    """A line of what people wrote on it; none where they wrote nothing."""
    if isinstance(row.marks, msgspec.UnsetType):
        return []
    marks = row.marks
    tags = [f"tags {', '.join(map(one_line, marks.tags))}"] if marks.tags else []
    texts = [shorten(one_line(text), _LONGEST) for text in (marks.name, marks.note) if text]
    return [" · ".join([*texts, *tags, *(["archived"] if marks.archived else [])])]


def _said(row: ListedRun) -> dict[str, str]:
    """The cells that are never cut. The state stands with the decision, where it is not that of a whole run."""
    from benchbook.views import numbers
    from benchbook.views.words import aggregate_word, standing_words

    kind = "score" if row.score_name is None else aggregate_word(row.score_name).kind
    state = [] if row.state == "complete" else [standing_words(row.state, _quiet_s(row))]
    return {
        "run": shorten(row.run, _LONGEST),
        "decision": shorten(", ".join([*([row.outcome] if row.outcome else []), *state]) or numbers.DASH, 40),
        "score": numbers.score(row.score) if kind == "score" else numbers.show(kind, row.score),
        "interval": numbers.bounds(kind, row.low, row.high),
        _DATE: numbers.DASH if row.date is None else one_line(row.date.replace("T", " ")),
    }


def _names(row: ListedRun) -> dict[str, str]:
    """The cells that may be cut: by whom was scored, who was asked, and what."""
    from benchbook.views import numbers
    from benchbook.views.names import set_name

    model = None if row.model is None else numbers.short_model(row.model)
    asked_set = None if row.eval_set is None else set_name(row.eval_set, row.eval_set_version)
    found = {"evaluator": row.evaluator, "model": model, "eval set": asked_set}
    return {name: shorten(value or numbers.DASH, _LONGEST) for name, value in found.items()}


def _quiet_s(row: ListedRun) -> int | None:
    return quiet_s(seconds_of(row.last_sign_utc), time.time()) if isinstance(row.last_sign_utc, str) else None


def _last_sign(record: Record) -> str | msgspec.UnsetType:
    from benchbook.record.journal import utc_now

    last = last_sign(record)
    return msgspec.UNSET if last is None else utc_now(last)


def _whole(record: Record, first: Any, state: RunState, misnamed: str | msgspec.UnsetType) -> ListedRun:
    from benchbook.catalog.numbers import aggregates_of, headline_of
    from benchbook.evaluators.measured import scorer_said
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.views.words import outcome_word

    manifest, decision, aggregates = map(_read, (record.manifest, record.decision, record.aggregates))
    primary = evaluator_of(record).primary
    found = headline_of(primary, aggregates, aggregates_of(aggregates))
    decided = _text(decision.get("decision") or decision.get("verdict"))
    return ListedRun(
        run=record.run_id,
        decision=decided,
        outcome=None if decided is None else outcome_word(decided),
        state=state,
        last_sign_utc=_last_sign(record) if state == "running" else msgspec.UNSET,
        date=_text(manifest.get("timestamp_utc")) or first.at,
        evaluator=scorer_said(manifest) if manifest.get("spec") else first.spec,
        model=_text(manifest.get("model_id")),
        judge=_text(manifest.get("evaluator_model_id")),
        eval_set=_text(manifest.get("dataset_id")),
        eval_set_version=_text(manifest.get("dataset_version_or_hash")),
        score_name=primary,
        score=_share(found.primary_nano),
        low=_share(found.primary_low_nano),
        high=_share(found.primary_high_nano),
        hash=_text(manifest.get("journal_sha256")),
        misnamed=misnamed,
    )


def _share(nano: int | None) -> float | None:
    from benchbook.evaluators.exact import as_float

    return as_float(nano)


def _text(value: Any) -> str | None:
    """A value of a file that may hold anything, as text; None for what says nothing."""
    return str(value) if value else None


def _read(path: Path) -> dict[str, Any]:
    """A derived file; empty where there is none: the run still goes on, or its spec has no such file.

    Raises: RecordError for one that can't be read.
    """
    from benchbook.record.reading import why_unreadable

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise RecordError(f"{path}: can't be read ({error.strerror})") from None
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = why_unreadable(path, f"can't be read ({error}); `benchbook rescore` it")
        raise RecordError(f"{path}: {why}") from None
