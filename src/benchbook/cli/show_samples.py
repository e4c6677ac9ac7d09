"""Samples of a record for `benchbook show`: one of them or an item's repeats in full, or all in lines or as CSV."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from benchbook.cli.output import json_text, print_json, terminal_width
from benchbook.errors import UsageError
from benchbook.record.folder import Record
from benchbook.text import nearest, quoted, shorten, visible

_MOST_IDS = 10_000  # that a mistyped one is held against


def refuse_without_samples(record: Record) -> None:
    """Raises: UsageError where a record has no samples to show; RecordError for one that is damaged."""
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.record.derived_files import check_whole

    check_whole(record)
    started = record.started()
    if (reason := evaluator_of(record).unavailable(started)) is not None:
        raise UsageError(f"{record.path}: its samples are unavailable: {reason}")
    if not record.samples.exists():
        raise UsageError(f"{record.samples}: not there; resume the run, or `benchbook rescore` it")


# ── some, in full ────────────────────────────────────────────────────────────────────────────────────────────


def print_samples(record: Record, named: str, repeat: int | None, *, as_json: bool) -> None:
    """Print the sample of a number, or those of an item, all its repeats or one; as JSON an object, or of several
    repeats a list.

    Raises: UsageError where there is no such sample.
    """
    rows = _named(record, named, repeat)
    if as_json:
        columns = _columns(record)
        found = list(_asked(record, rows, columns))
        print_json(found[0] if len(found) == 1 else found)
        return
    for place, row in enumerate(rows):
        if place:
            click.echo()
        click.echo("\n".join(_sample_lines(row, _item_lines(record, row))))


def _named(record: Record, named: str, repeat: int | None) -> list[Any]:
    """The rows that are meant: a number is a sample's where there is one, unless a repeat is asked for; else it is an
    item's id."""
    from benchbook.evaluators.registry import samples_type
    from benchbook.record.tables import rows_where

    row_type = samples_type(record)
    is_number = named.isascii() and named.isdigit() and len(named) < 19
    ids = "item_id" if "item_id" in row_type.__struct_fields__ else "question_id"
    of_item = list(rows_where(record.samples, row_type, ids, named))
    if is_number and repeat is None and (found := list(rows_where(record.samples, row_type, "sample", int(named)))):
        others = [row.sample for row in of_item if row.sample != int(named)]
        if others:
            numbers = ", ".join(map(str, others[:10]))
            click.echo(f"note: {named} is also an item's id, of sample {numbers}: --repeat 0 takes it as one", err=True)
        return found
    if not of_item:
        raise UsageError(_unknown(record, ids, named, is_number=is_number))
    chosen = [row for row in of_item if repeat in (None, row.repeat)]
    if not chosen:
        there = ", ".join(str(row.repeat) for row in of_item)
        raise UsageError(f"{record.path}: item {quoted(named)} has no repeat {repeat}; expected one of {there}")
    return chosen


def _unknown(record: Record, ids: str, named: str, *, is_number: bool) -> str:
    from benchbook.record.tables import column_of

    if is_number:
        return f"{record.path}: no sample {named} was attempted, and no item has this id"
    near = nearest(named, dict.fromkeys(column_of(record.samples, ids, _MOST_IDS)))
    meant = "" if near is None else f"did you mean {quoted(near)}? "
    return f"{record.path}: no item {quoted(named)}; {meant}expected an item's id, or a sample's number"


def _item_lines(record: Record, row: Any) -> Iterator[str]:
    """The lines of a sample's item, of what its row does not have itself."""
    from benchbook.evaluators.asked import asked_of
    from benchbook.evaluators.kept import items_of

    if "evalset" not in record.started().inputs:
        return
    lacking = set(_columns(record)) - set(row.__struct_fields__)
    for _, item in items_of(record, [row.sample]):
        for name, value in ((name, value) for name, value in asked_of(item).items() if name in lacking):
            yield f"{name}:" if value is not None else f"{name}: –"
            if value is not None:
                yield from _indented(value)


def _sample_lines(row: Any, asked: Iterator[str]) -> Iterator[str]:
    """Every field of a row, with its item before the answer.

    Texts keep their line ends, and hold nothing that a terminal would act upon.
    """
    from benchbook.evaluators.asked import ANSWERS

    for name in row.__struct_fields__:
        if name in ANSWERS:
            yield from asked
        value = getattr(row, name)
        if name == "judge_replies":
            for reply in value:
                fault = (
                    f", rejected: {reply.parse_error_reason} ({visible(reply.detail or '')})" if reply.detail else ""
                )
                judge = row.judge_of(reply)
                whose = "judge reply" if judge is None else f"reply of judge {visible(judge)},"
                yield f"{whose} {reply.attempt} (fact {reply.seq}{fault}):"
                yield from _indented(reply.text)
        elif isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
            yield f"{name}:"
            yield from (f"    {visible(json_text(one))}" for one in value)
        elif isinstance(value, str) and ("\n" in value or len(value) > 80):
            yield f"{name}:"
            yield from _indented(value)
        else:
            yield f"{name}: {'–' if value is None else visible(str(value))}"


def _indented(text: str | None) -> Iterator[str]:
    for line in visible(text if text is not None else "(no text)").split("\n"):
        yield f"    {line}"


# ── all ──────────────────────────────────────────────────────────────────────────────────────────────────────


def print_failed(record: Record, *, as_json: bool) -> None:
    """Print a line for each sample that did not pass, with why."""
    from benchbook.cli.summary import rows_of
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.views.views import view_of

    why = view_of(evaluator_of(record)).fail_reasons
    rows = (row for row in rows_of(record)() if why(row))
    if as_json:
        print_json(list(rows))
        return
    for row in rows:
        click.echo(f"{row.sample:6}  {shorten(row.item_id, 30):30}  {', '.join(why(row))}")


def print_all(record: Record, *, as_json: bool) -> None:
    """Print a line for each sample: its number, item, score, and how prompt and answer begin. As JSON a list of rows
    with what was asked."""
    from benchbook.cli.summary import rows_of
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.views import numbers
    from benchbook.views.terminal import encodable

    columns, compared = _columns(record), evaluator_of(record).compared
    if as_json or compared is None:
        print_json(list(_asked(record, rows_of(record)(), columns)))
        return
    width = max((terminal_width(140) - 50) // 2, 20)
    for row in _asked(record, rows_of(record)(), columns):
        score = numbers.score(row[compared.score])
        prompt, answer = (shorten(row.get(name) or numbers.DASH, width) for name in ("prompt", compared.answer))
        line = f"{row['sample']:6}  {shorten(row['item_id'], 24):24}  {score:>8}  {prompt:{width}}  {answer}"
        click.echo(encodable(line.rstrip(), sys.stdout.encoding))


def print_csv(record: Record) -> None:
    """Print all samples as CSV, each with what was asked."""
    from benchbook.cli.summary import rows_of
    from benchbook.views.csv_files import samples_csv

    for line in samples_csv(record, rows_of(record)()):
        click.echo(line.encode(), nl=False)


def _columns(record: Record) -> tuple[str, ...]:
    from benchbook.evaluators.asked import columns_with_asked
    from benchbook.evaluators.registry import samples_type

    return columns_with_asked(samples_type(record).__struct_fields__, record.started())


def _asked(record: Record, rows: Any, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    from benchbook.evaluators.asked import rows_with_asked

    return rows_with_asked(record, map(msgspec.structs.asdict, rows), columns)
