"""`benchbook runs`, `show`, `verify` and `rescore`: the records, and their verification."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from benchbook.cli.output import (
    find_record,
    json_option,
    json_text,
    print_json,
    run_argument,
    runs_option,
    terminal_width,
)
from benchbook.cli.run_list import Order, in_order, listed_run, run_lines
from benchbook.errors import UsageError
from benchbook.record.folder import Record, is_of_labels, records_in
from benchbook.text import one_line, shorten, visible


@click.command()
@click.option(
    "--sort", type=click.Choice(("newest", "score", "run")), default="newest", show_default=True, help="The order."
)
@runs_option
@json_option
def runs(sort: Order, runs: str, as_json: bool) -> None:
    """List the records in a folder: what was decided, the score with its interval, when, and who was asked what.

    Names that don't fit the terminal are cut in their middle; --json has them whole.
    """
    if Path(runs).exists() and not Path(runs).is_dir():
        raise UsageError(f"{runs}: not a folder; expected the one with the records")
    rows = in_order([listed_run(record) for record in records_in(runs)], sort)
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo(f"{runs}: no records", err=True)
        return
    from benchbook.views.terminal import encodable

    for line in run_lines(rows, terminal_width(120)):
        click.echo(encodable(line, sys.stdout.encoding))
    for row in rows:
        for words in (row.error, row.misnamed):
            if isinstance(words, str):
                click.echo(f"! {one_line(row.run)}: {one_line(words)}")


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
    from benchbook.record.derived_files import check_whole

    check_whole(record)
    started = record.started()
    if (reason := evaluator_of(record).unavailable(started)) is not None:
        raise UsageError(f"{record.path}: its samples are unavailable: {reason}")
    if not record.samples.exists():
        raise UsageError(f"{record.samples}: not there; resume the run, or `benchbook rescore` it")


def _show_run(record: Any, as_json: bool) -> None:
    """Print the derived files as they are on disk; `verify` checks them, `gate` derives them anew."""
    from benchbook.cli.summary import print_decision
    from benchbook.evaluators.registry import evaluator_of

    print_decision(record, evaluator_of(record).read(record), as_json=as_json)


def _item_lines(record: Any, row: Any) -> Iterator[str]:
    """The lines of a sample's item, where its row does not have them itself."""
    from benchbook.evaluators.kept import items_of
    from benchbook.specs.folders import as_text

    if hasattr(row, "prompt") or "evalset" not in record.started().inputs:
        return
    for _, item in items_of(record, [row.sample]):
        for name in ("prompt", "context", "expected_answer"):
            value = getattr(item, name)
            yield f"{name}:" if value is not None else f"{name}: –"
            if value is not None:
                yield from _indented(as_text(value))


def _sample_lines(row: Any, asked: Iterator[str]) -> Iterator[str]:
    """Every field of a row, with its item before the answer.

    Texts keep their line ends, and hold nothing that a terminal would act upon.
    """
    for name in row.__struct_fields__:
        if name == "candidate_answer":
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


@click.command()
@run_argument
@click.option("--expect", metavar="HASH", help="The hash that was published for this record.")
@click.option("--against", metavar="RUN", help="Of labels: the run that they name, if it is not among the records.")
@runs_option
@json_option
@click.pass_context
def verify(
    ctx: click.Context, run: str | None, expect: str | None, against: str | None, runs: str, as_json: bool
) -> None:
    """Re-derive everything in RUN from its journal, offline, and name every byte that was changed.

    RUN is a record's folder or its id, of a run or of people's labels; by default the newest run. Ends with 1 where
    something does not hold.
    """
    from benchbook.labels.verify import verify_record

    record = find_record(run, runs, says_name=False)
    held_against = None if against is None else find_record(against, runs)
    result = verify_record(record, expect=expect, against=held_against, runs=runs)
    if as_json:
        findings = [{"file": one.file, "line": one.line, "what": one.what} for one in result.findings]
        said = {
            "run": str(record.path),
            "holds": result.holds,
            "sha256": result.sha256,
            "facts": result.n_facts,
            "state": result.state,
            "findings": findings,
        }
        said |= {} if result.not_computed is None else {"not_computed": result.not_computed}
        print_json(said | ({"notes": result.notes} if result.notes else {}))
    elif result.holds:
        what = "people's labels" if is_of_labels(record) else f"the run is {result.state}"
        click.echo(visible(f"{record.path}: verified. {result.n_facts} facts, {what}"))
        click.echo(f"record hash: {result.sha256}")
        if result.not_computed is not None:
            click.echo(visible(f"{result.not_computed}."))
        for note in result.notes:
            click.echo(visible(f"note: {note}"))
    else:
        from benchbook.text import plural

        for finding in result.findings:
            click.echo(visible(str(finding)))
        count = plural(len(result.findings), "finding")
        click.echo(f"{record.path}: does not hold ({count})", err=True)
    ctx.exit(0 if result.holds else 1)


@click.command()
@run_argument
@click.option("--spec", help="The evaluator's version; by default the one that the run was made under.")
@click.option("--reports", default="reports", show_default=True, help="Where reports go; `none` for none.")
@runs_option
@json_option
def rescore(run: str | None, spec: str | None, reports: str, runs: str, as_json: bool) -> None:
    """Compute every number of RUN again from its journal, without calling a model.

    Of people's labels, write the anchor again that names their last one, where it is missing.
    """
    from benchbook.cli.summary import print_run
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.record.derived_files import deriving

    record = find_record(run, runs)
    if is_of_labels(record):
        _write_anchor(record, as_json)
        return
    made_under = record.started().spec
    if spec is not None and spec != made_under:
        raise UsageError(f"{record.path}: was made under {made_under}; its replies hold no scores by {spec}")
    with deriving(record):
        derived = evaluator_of(record).derive(record, record.path)
    print_run(record, derived, reports=None if reports == "none" else reports, as_json=as_json)


def _write_anchor(record: Record, as_json: bool) -> None:
    """Of labels nothing is computed; their anchor may be missing."""
    from benchbook.record.anchor import read_anchor, write_missing_anchor

    write_missing_anchor(record)
    anchor = read_anchor(record)
    if as_json:
        print_json({"path": str(record.path), "anchor": anchor})
    elif anchor is not None:
        click.echo(
            visible(f"{record.anchor}: names {anchor.journal_facts} facts, the last with hash {anchor.journal_sha256}")
        )
