"""`benchbook show`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from benchbook.cli.output import find_record, json_option, json_text, print_json, run_argument, runs_option
from benchbook.errors import UsageError
from benchbook.text import shorten, visible

__all__ = ["show"]


@click.command()
@run_argument
@click.option("--sample", type=click.IntRange(min=0), help="One sample in full, by its number.")
@click.option("--failed", is_flag=True, help="A line for each sample that did not pass.")
@runs_option
@json_option
def show(run: str | None, sample: int | None, failed: bool, runs: str, as_json: bool) -> None:
    """Show RUN's decision, gates and ledger; or one of its samples with every raw reply."""
    from benchbook.cli.summary import rows_of
    from benchbook.evaluators.registry import evaluator_of, samples_type
    from benchbook.record.tables import row_of_sample
    from benchbook.views.views import view_of

    record = find_record(run, runs)
    if sample is not None or failed:
        _refuse_without_samples(record)
    if sample is not None:
        row = row_of_sample(record.samples, samples_type(record), sample)
        if row is None:
            raise UsageError(f"{record.path}: no sample {sample} was attempted")
        if as_json:
            print_json(row)
        else:
            click.echo("\n".join(_sample_lines(row, _item_lines(record, row))))
    elif failed:
        why = view_of(evaluator_of(record)).fail_reasons
        rows = (row for row in rows_of(record)() if why(row))
        if as_json:
            print_json(list(rows))
        else:
            for row in rows:
                click.echo(f"{row.sample:6}  {shorten(row.item_id, 30):30}  {', '.join(why(row))}")
    else:
        _show_run(record, as_json)


def _refuse_without_samples(record: Any) -> None:
    from benchbook.evaluators.registry import evaluator_of

    started = record.started()
    if (reason := evaluator_of(record).unavailable(started)) is not None:
        raise UsageError(f"{record.path}: its samples are unavailable: {reason}")
    if not record.samples.exists():
        raise UsageError(f"{record.samples}: not there; resume the run, or `benchbook rescore` it")


def _show_run(record: Any, as_json: bool) -> None:
    """What is on disk, as it was derived; `verify` tells whether it holds, `gate` derives it anew."""
    from benchbook.cli.summary import print_decision
    from benchbook.evaluators.registry import evaluator_of

    print_decision(record, evaluator_of(record).read(record), as_json=as_json)


def _item_lines(record: Any, row: Any) -> Iterator[str]:
    """What a sample was asked, where its row does not have it itself."""
    from benchbook.evaluators.recorded_set import items_of
    from benchbook.specs.frozen import as_text

    if hasattr(row, "prompt") or "evalset" not in record.started().inputs:
        return
    for _, item in items_of(record, [row.sample]):
        for name in ("prompt", "context", "expected_answer"):
            value = getattr(item, name)
            yield f"{name}:" if value is not None else f"{name}: –"
            if value is not None:
                yield from _indented(as_text(value))


def _sample_lines(row: Any, asked: Iterator[str]) -> Iterator[str]:
    """Every field of a row, with what was asked before the answer.

    Texts keep their line ends, and hold nothing that a terminal would act upon.
    """
    from benchbook.evaluators.rubric.rows import judge_of_reply

    for name in row.__struct_fields__:
        if name == "candidate_answer":
            yield from asked
        value = getattr(row, name)
        if name == "judge_replies":
            for reply in value:
                fault = (
                    f", rejected: {reply.parse_error_reason} ({visible(reply.detail or '')})" if reply.detail else ""
                )
                judge = judge_of_reply(row, reply)
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
