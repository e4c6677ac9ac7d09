"""`benchbook import`: another tool's logs as records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.output import json_option, print_json
from benchbook.cli.shards import keep_asked_for, refuse_without_shard, say_shard, shard_option, store_option
from benchbook.cli.summary import print_run, reported_json
from benchbook.errors import ConfigError, InputError
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.exchange.importing import Wanted
    from benchbook.exchange.tools import Tool


@click.command("import")
@click.argument("path", shell_complete=complete_file)
@click.option("--tool", help="The tool whose log it is, where the file alone does not say it.")
@click.option("--scorer", help="The scorer whose values are the record's score; by default the first on a known scale.")
@click.option("--scale", metavar="LOW:HIGH", help="That scorer's scale, where the log does not say it; 0:1 by default.")
@click.option("--model", help="Who was asked, where the log does not say it: provider/name@version.")
@click.option("--requests", metavar="FILE", help="The requests of a batch; by default those beside its results.")
@click.option("--evalset", help="The eval set that was asked, which samples are joined with by id; @NAME for our own.")
@click.option("--runs", "--out", "runs", default="runs", show_default=True, help="The folder with the records.")
@click.option("--run-id", help="The record's name, of a single log; by default the time and six hexadecimal digits.")
@shard_option
@store_option
@click.option("--reports", default="reports", show_default=True, help="Where reports go; `none` for none.")
@click.option("--quiet", is_flag=True, help="No summary: only what goes wrong.")
@json_option
@click.pass_context
def import_log(ctx: click.Context, /, path: str, **options: Any) -> None:
    """Make a record of each log in PATH, a file or folder of another tool.

    Whatever the log says becomes a fact, and its file stands among the record's inputs. A sample that the other tool
    could not score is unscored, and never 0. --json prints a list, one of each record. Then `show`, `compare`,
    `leaderboard`, `label` and `calibrate` work on it.

    Logs without samples are left out, and said. Ends with 2 where a log makes no sense, though others are imported.
    """
    from benchbook.exchange.importing import EmptyLogError, Wanted, import_logs
    from benchbook.exchange.tools import tool_named

    left_out: list[InputError] = []
    tool = None if options["tool"] is None else tool_named(options["tool"])
    wanted = Wanted(
        runs=options["runs"],
        run_id=options["run_id"],
        scorer=options["scorer"],
        scale=_scale(options["scale"]),
        model=options["model"],
        requests=options["requests"],
        evalset=options["evalset"],
    )
    if options["shard"]:
        _import_shard(path, wanted, tool, options)
        return
    refuse_without_shard(options)
    reports = None if options["reports"] == "none" else options["reports"]
    found: list[dict[str, Any]] = []
    try:
        for one in import_logs(path, wanted, tool, left_out.append):
            if options["as_json"]:
                found.append(reported_json(one.record, one.derived, reports=reports))
            else:
                print_run(one.record, one.derived, reports=reports, as_json=False, quiet=options["quiet"])
    except InputError as error:  # nothing was imported, or no more: it is said last, by whoever called
        left_out = [one for one in left_out if one is not error]
        raise
    finally:
        if found:
            print_json(found)
        for wrong in left_out:
            click.echo(f"not imported: {visible(str(wrong))}", err=True)
    if not all(isinstance(one, EmptyLogError) for one in left_out):
        ctx.exit(2)


def _import_shard(path: str, wanted: Wanted, tool: Tool | None, options: dict[str, Any]) -> None:
    """Import one part of a log, as one of many. Raises: UsageError where there are several logs."""
    from benchbook.ask.keeping import kept_shard
    from benchbook.exchange.importing import import_shard, one_log
    from benchbook.record.shards import shard_named

    asked = shard_named(options["shard"])
    with (
        one_log(path, wanted, tool) as log,
        kept_shard(keep_asked_for(options), wanted.runs, wanted.run_id, asked.number),
    ):
        result = import_shard(log, wanted, asked)
    say_shard(result, options)


def _scale(words: str | None) -> tuple[float, float] | None:
    """`0:10` as two numbers. Raises: ConfigError."""
    if words is None:
        return None
    low, colon, high = words.partition(":")
    try:
        found = (float(low), float(high))
    except ValueError:
        found = (0.0, 0.0)
    if not colon or not found[0] < found[1] or not all(abs(one) < 1e9 for one in found):
        raise ConfigError("--scale", repr(words), "LOW:HIGH, two numbers, such as 0:10")
    return found
