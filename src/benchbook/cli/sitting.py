"""The steps that commands which ask models share: begin or resume a record, show it, and say how it ended."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from benchbook.cli.engines import asked_in_shards_shown, refuse_engine_without_shards
from benchbook.cli.output import find_record
from benchbook.cli.settings import given_settings
from benchbook.cli.shards import refuse_shard_with, refuse_without_shard, shard_shown
from benchbook.cli.summary import print_dry_run, print_run
from benchbook.errors import RunStoppedError, UsageError
from benchbook.evaluators.settings import SETTINGS
from benchbook.text import one_line, sentences
from benchbook.views.progress import shown_progress

if TYPE_CHECKING:
    from benchbook.ask.limits import Stop
    from benchbook.ask.settings import SittingSettings
    from benchbook.ask.starting import RunResult
    from benchbook.ask.work import ProgressHandler
    from benchbook.evaluators.contract import Evaluator
    from benchbook.exchange.records_sitting import OnPart
    from benchbook.record.folder import Record

_Result = TypeVar("_Result")
JUDGE_SETTINGS = ("judge", "judges", "panel_rule", "spec", *SETTINGS["The judge"])
MOVED_SETTINGS = ("judge_base_url", "judge_api_key_env", "judge_path")  # that a later sitting may change

# The evaluator that settings name, and the settings, checked; errors call them by the text.
AskedFor = Callable[[dict[str, Any], str], "tuple[Evaluator, SittingSettings]"]


def begun_or_resumed(
    config: str | None, settings: dict[str, Any], options: dict[str, Any], command: str, asked_for: AskedFor
) -> RunResult[Any] | None:
    """Begin a record, or what `--resume`, `--move-judge`, `--shard`, `--shards` and `--dry-run` ask for; None after a
    dry run, a shard, or shards that are not joined, once shown.

    Raises: UsageError for options that do not go together, and what beginning or resuming raises.
    """
    quiet = options["quiet"] or options["as_json"]
    refuse_engine_without_shards(options)
    if options["shard"]:
        refuse_shard_with(options, "resume", "gate", "send_to", "dry_run")
    else:
        refuse_without_shard(options)
    if options["resume"] and options["dry_run"]:
        raise UsageError("--dry-run looks at a new run; for how far a record is, `benchbook show RUN`")
    if options["move_judge"] and not options["resume"]:
        raise UsageError("--move-judge: only with --resume; a new run takes addresses from its settings")
    if options["resume"]:
        from benchbook.ask.settings import moved_judges
        from benchbook.ask.starting import refuse_shards
        from benchbook.evaluators.registry import evaluator_of

        if config is not None:
            raise UsageError("--resume takes its settings from the record; give no CONFIG.toml")
        record = find_record(options["resume"], settings.get("runs", "runs"))
        refuse_shards(record)
        changes = {name: value for name, value in settings.items() if name != "runs"}
        if options["move_judge"]:
            changes["judges"] = moved_judges(record.started().config.get("judges"), options["move_judge"])
        return resume_shown(evaluator_of(record), record, changes, command, quiet=quiet)
    from benchbook.evaluators.settings import values_of

    values = values_of(config, settings)
    evaluator, checked = asked_for(values, config or "options")
    if options["dry_run"]:
        from benchbook.ask.starting import prepared_to_ask

        print_dry_run(prepared_to_ask(evaluator, checked), as_json=options["as_json"])
        return None
    if options["shard"]:
        shard_shown(evaluator, checked, config, options)
        return None
    if options["shards"]:
        return asked_in_shards_shown(evaluator, checked, values, config, options)
    return start_shown(evaluator, checked, config, quiet=quiet)


def start_shown(evaluator: Evaluator, checked: SittingSettings, source: str | None, *, quiet: bool) -> RunResult[Any]:
    """Begin a record, with its progress shown."""
    from benchbook.ask.starting import start
    from benchbook.ask.work import run_async

    with shown_progress(quiet=quiet) as on_progress:
        return run_async(start(evaluator, checked, on_progress, source))


def resume_shown(
    evaluator: Evaluator, record: Record, changes: dict[str, Any], command: str, *, quiet: bool
) -> RunResult[Any]:
    """Go on with a record that `command` makes, with its progress shown. Raises: UsageError for another command's."""
    from benchbook.ask.starting import resume
    from benchbook.ask.work import run_async

    if evaluator.command != command:
        resumes = f"`benchbook {evaluator.command} --resume` goes on with it"
        raise UsageError(f"{record.path}: was made under {evaluator.id}; {resumes}")
    with shown_progress(quiet=quiet) as on_progress:
        return run_async(resume(evaluator, record, changes, on_progress))


def print_result(result: RunResult[Any], settings: dict[str, Any], options: dict[str, Any]) -> None:
    """Write the reports, where the settings or the record say, and print the summary."""
    reports = settings["reports"] if "reports" in settings else result.record.started().config.get("reports")
    print_run(result.record, result.derived, reports=reports, as_json=options["as_json"], quiet=options["quiet"])


def resumable(result: RunResult[Any], command: str) -> str:
    """The reason why a run was stopped, and the command that resumes it."""
    return _resumes(result.stop, f"benchbook {command} --resume {result.record.path}")


def _resumes(stop: Stop, resumes: str) -> str:
    return f"{sentences(stop.reason or '')} Resume: {resumes}"


def say_stopped(result: RunResult[Any], command: str) -> None:
    """Say why a run was stopped, and which `command` resumes it; nothing for one that was not.

    Raises: RunStoppedError, or UsageError where it was set up wrong, unless a person interrupted it.
    """
    if result.stop.reason is None:
        return
    said = result.stop.reason if result.stop.usage else resumable(result, command)
    if not result.stop.interrupted:
        error = UsageError if result.stop.usage else RunStoppedError
        raise error(f"stopped: {said}")
    click.echo(said, err=True)


# ── several records in one folder: an audit of a judge, runs in pairs ────────────────────────────────────────────────


def settings_given(options: dict[str, Any], *names: Iterable[str]) -> dict[str, Any]:
    """Those of the named settings that the command line gives."""
    wanted = {name: options[name] for some in names for name in some if name in options}
    return given_settings(wanted)


def asking_parts(
    path: Path, go_on: Callable[[ProgressHandler | None, OnPart], Coroutine[Any, Any, _Result]], *, quiet: bool
) -> _Result:
    """Go on with a folder of records, with progress and the name of each record, unless `quiet`."""
    from benchbook.ask.work import run_async

    def say(name: str) -> None:
        if not quiet:
            click.echo(one_line(f"{path}: {name}"), err=True)

    with shown_progress(quiet=quiet) as on_progress:
        return run_async(go_on(on_progress, say))


def stopped_early(ctx: click.Context, stop: Stop, resumes: str) -> NoReturn:
    """End the command where a folder of records is not complete, with the command that goes on."""
    said = _resumes(stop, resumes)
    if not stop.interrupted:
        raise RunStoppedError(f"stopped: {said}")
    click.echo(said, err=True)
    ctx.exit(3)
