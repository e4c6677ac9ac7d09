"""The options by which a command asks a run in shards, all of them at once, by processes of this machine or on Ray."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchbook.cli.output import print_json
from benchbook.cli.shards import join_command, keep_asked_for
from benchbook.errors import UsageError
from benchbook.text import plural, visible
from benchbook.views.progress import shown_progress

if TYPE_CHECKING:
    from benchbook.ask.settings import SittingSettings
    from benchbook.ask.starting import RunResult
    from benchbook.evaluators.contract import Evaluator
    from benchbook.evaluators.in_shards import RunInShards

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OF_A_RECORD = ("gate", "send_to")  # options about a record that is joined


def engine_options(command: _Command) -> _Command:
    """Add the options that say in how many shards a run is asked, and by whom."""
    added = (
        click.option(
            "--shards", type=click.IntRange(min=1), metavar="N", help="Ask in N shards at once, and join them."
        ),
        click.option("--engine", type=click.Choice(["processes", "ray"]), help="With --shards: who asks them."),
        click.option(
            "--ray-address", metavar="ADDRESS", help="The Ray cluster; by default RAY_ADDRESS, else one here."
        ),
        click.option("--no-join", is_flag=True, help="With --shards: leave the shards to `benchbook join`."),
    )
    for option in reversed(added):
        command = option(command)
    return command


def refuse_engine_without_shards(options: Mapping[str, Any]) -> None:
    """Refuse options that only go with --shards, and those that do not go with it. Raises: UsageError."""
    if not options["shards"]:
        for name in ("engine", "ray_address", "no_join"):
            if options[name]:
                raise UsageError(f"--{name.replace('_', '-')}: only with --shards")
        return
    for name in ("resume", "shard", "dry_run", "move_judge"):
        if options[name]:
            raise UsageError(f"--shards asks all of a run; leave out --{name.replace('_', '-')}")
    if options["engine"] == "ray" and options.get("answers_of"):
        raise UsageError("--from: its answers go into files of this machine alone; expected --engine processes")
    for name in _OF_A_RECORD:
        if options["no_join"] and options.get(name):
            raise UsageError(f"--no-join: there is no record yet; leave out --{name.removesuffix('_to')}")


def asked_in_shards_shown(
    evaluator: Evaluator,
    checked: SittingSettings,
    values: Mapping[str, Any],
    source: str | None,
    options: Mapping[str, Any],
) -> RunResult[Any] | None:
    """Ask all shards of a run, with their progress shown, and join them; None where they are not to be joined.

    Raises: as `RunInShards.raise_stopped`, unless a person interrupted it.
    """
    from benchbook.evaluators.in_shards import ShardsWanted, ask_in_shards

    wanted = ShardsWanted(
        shards=options["shards"],
        engine=options["engine"] or "processes",
        at_once=options["at_once"],
        ray_address=options["ray_address"],
        keep=keep_asked_for(options),
    )
    with shown_progress(quiet=options["quiet"] or options["as_json"]) as on_progress:
        run = ask_in_shards(evaluator, checked, values, wanted, on_progress, source)
    run.raise_stopped()
    if not options["no_join"]:
        return run.joined()
    _say_shards(run, options)
    return None


def _say_shards(run: RunInShards, options: Mapping[str, Any]) -> None:
    said = [run.asked.said[number] for number in sorted(run.asked.said)]
    if options["as_json"]:
        shards = [{"path": one.path, "shard": one.number, "n_done": one.n_done, "stopped": one.reason} for one in said]
        print_json({"run": str(run.record.path), "joined": False, "shards": shards})
    elif not options["quiet"]:
        click.echo(visible(f"{run.record.path}: {plural(len(said), 'shard')}, all whole"))
        click.echo(visible(f"Then: {join_command(run.record.path, options)}"))
