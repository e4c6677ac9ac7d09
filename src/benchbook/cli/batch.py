"""`benchbook batch`: runs whose requests go out in vendors' batches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchbook.cli.completion import complete_file, complete_folder
from benchbook.cli.help import SectionedCommand
from benchbook.cli.output import find_record, json_option, print_json, print_table, run_argument, runs_option
from benchbook.cli.settings import given_settings, resume_option, setting_options
from benchbook.errors import RunStoppedError, UsageError
from benchbook.text import one_line, plural, sentences

if TYPE_CHECKING:
    from benchbook.ask.batches.running import BatchRun, Waiting
    from benchbook.ask.batches.standing import BatchStanding
    from benchbook.ask.starting import RunResult

_Command = TypeVar("_Command", bound=Callable[..., Any])

_VENDORS = click.Choice(["openai", "anthropic", "gemini"])
_OPTIONS = {
    "vendor": "whose calls the model's address takes; by default as the address says, else OpenAI's",
    "judge_vendor": "the same of the judge",
    "price_factor": "the part of the price that tokens in a batch cost; by default the vendor's, 0.5",
    "max_requests": "requests in one batch, at most; by default the vendor's limit",
    "max_bytes": "bytes of one batch, at most; by default the vendor's limit",
}
_EXAMPLES = (
    ("benchbook batch submit benchbook.toml", "send the model's requests; the process ends, and they go on"),
    ("benchbook batch collect RUN --wait", "wait for the answers, send the judge's requests, wait, decide"),
    (
        "benchbook batch submit benchbook.toml --to-files requests",
        "write the files alone, for vLLM's run-batch or whoever carries them",
    ),
    ("benchbook batch collect RUN results.jsonl", "take what came of them"),
)
_to_files_option = click.option(
    "--to-files",
    metavar="FOLDER",
    help="Write files of requests there, and send nothing.",
    shell_complete=complete_folder,
)
_wait_option = click.option("--wait", is_flag=True, help="Wait until nothing is out; Ctrl-C ends the waiting alone.")
_scorer_option = click.option(
    "--scorer", metavar="FILE.py:function", help="A function of your own that scores the answers, without a judge."
)
_every_option = click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="With --wait: how often to look; by default every 5 seconds at first, every 5 minutes later.",
)
_quiet_option = click.option("--quiet", is_flag=True, help="No progress, no summary: only what goes wrong.")


def _batch_options(command: _Command) -> _Command:
    for name, meaning in reversed(_OPTIONS.items()):
        kind: dict[str, Any] = {"metavar": "NUMBER"}
        if name.endswith("vendor"):
            kind = {"type": _VENDORS}
        elif name.startswith("max_"):
            kind = {"type": click.IntRange(min=1)}
        help_ = f"{meaning[0].upper()}{meaning[1:]}."
        command = click.option(f"--{name.replace('_', '-')}", name, help=help_, **kind)(command)
    return command


@click.group()
def batch() -> None:
    """Ask by vendors' batches: within a day, at about half the price, and the process may end meanwhile."""


@batch.command(cls=SectionedCommand, examples=_EXAMPLES)
@click.argument("config", required=False, metavar="[CONFIG.toml]", shell_complete=complete_file)
@setting_options
@_batch_options
@_scorer_option
@_to_files_option
@resume_option
@_wait_option
@_every_option
@_quiet_option
@json_option
@click.pass_context
def submit(ctx: click.Context, /, config: str | None, **options: Any) -> None:
    """Begin a run, and send its requests in files within the vendor's limits.

    Settings are those of `benchbook run`, and a table [batch]. --resume sends what a run lacks that ended with samples
    unanswered. What follows, the judge's requests among it, is sent by `collect`.
    """
    from benchbook.ask.batches.running import submit as begin

    settings, own = given_settings(options), _own(options)
    if options["resume"]:
        if config is not None:
            raise UsageError("--resume takes its settings from the record; give no CONFIG.toml")
        record = find_record(options["resume"], settings.get("runs", "runs"))
        changes = {name: value for name, value in settings.items() if name != "runs"}
        if own:
            changes["batch"] = {**(record.started().config.get("batch") or {}), **own}
        _go_on(ctx, str(record.path), options, changes=changes, resumes=True, files=())
        return
    from benchbook.evaluators.registry import settings_for_batch
    from benchbook.evaluators.settings import values_of
    from benchbook.views.progress import shown_progress

    values = values_of(config, settings)
    evaluator, checked = settings_for_batch(values, own, config or "options", _scorer(options))
    with shown_progress(quiet=_is_quiet(options)) as on_progress:
        result = begin(
            evaluator, checked, config, to_files=_folder(options), on_progress=on_progress, waiting=_waiting(options)
        )
    _show(ctx, result, options)


@batch.command()
@run_argument
@click.argument("files", nargs=-1, metavar="[FILE]...", shell_complete=complete_file)
@_scorer_option
@_to_files_option
@_wait_option
@_every_option
@click.option("--reports", metavar="FOLDER", help="The folder with the reports; none for no reports.")
@runs_option
@_quiet_option
@json_option
@click.pass_context
def collect(ctx: click.Context, /, run: str | None, files: tuple[str, ...], runs: str, **options: Any) -> None:
    """Fetch what is there of RUN, record it, and send what follows: the judge's requests, and what has to go again.

    FILEs are results that you have: of files that --to-files wrote, or of any vendor's console. Once nothing is out the
    run ends, and is derived and shown as by `benchbook run`.
    """
    _go_on(ctx, str(find_record(run, runs).path), options, changes={}, resumes=False, files=files)


@batch.command()
@run_argument
@click.option("--offline", is_flag=True, help="Say what the record has alone, and ask no vendor.")
@runs_option
@json_option
def status(run: str | None, offline: bool, runs: str, as_json: bool) -> None:
    """Say where each batch of RUN stands, by the record and by its vendor. Nothing is recorded."""
    from benchbook.ask.batches.standing import status as standings
    from benchbook.evaluators.registry import evaluator_of

    record = find_record(run, runs)
    found = standings(evaluator_of(record), record, ask=not offline)
    if as_json:
        print_json({"run": str(record.path), "batches": found})
        return
    _print_batches(found)
    for one in found:
        if one.n_doubled:
            click.echo(
                f"! batch {one.batch}: {plural(one.n_doubled, 'line')} more than one of a request: the first counts"
            )
        if one.n_strange:
            click.echo(f"! batch {one.batch}: {plural(one.n_strange, 'line')} of results that answer no request of it")
        if one.vendor_said is not None:
            click.echo(one_line(f"! batch {one.batch}: {one.vendor_said}"), err=True)


@batch.command()
@run_argument
@click.argument("batches", nargs=-1, metavar="[BATCH]...")
@runs_option
@json_option
def cancel(run: str | None, batches: tuple[str, ...], runs: str, as_json: bool) -> None:
    """Ask the vendors to end RUN's batches now, or those named. What was carried out comes with `collect`.

    A batch of files that you carry, or that its vendor does not know, is given up: its requests may be sent again.
    """
    from benchbook.ask.batches.standing import cancel as end_now
    from benchbook.evaluators.registry import evaluator_of

    record = find_record(run, runs)
    found = end_now(evaluator_of(record), record, batches)
    if as_json:
        print_json({"run": str(record.path), "batches": found})
    else:
        _print_batches(found)


# ── what they share ──────────────────────────────────────────────────────────────────────────────────────────


def _own(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of batches that were given."""
    found = {name: options[name] for name in _OPTIONS if options[name] is not None}
    return found | ({"by_hand": True} if options["to_files"] is not None else {})


def _is_quiet(options: dict[str, Any]) -> bool:
    return bool(options["quiet"] or options["as_json"])


def _scorer(options: dict[str, Any]) -> Any:
    """The scorer that is named, whose file is run; None where none is. Raises: UsageError for another name."""
    if options["scorer"] is None:
        return None
    from benchbook.evaluators.registry import scorer_or_name

    found = scorer_or_name(options["scorer"])
    if isinstance(found, str):
        raise UsageError(f"--scorer {found}: expected FILE.py:function; an evaluator's name is --spec")
    return found


def _folder(options: dict[str, Any]) -> Path | None:
    return None if options["to_files"] is None else Path(options["to_files"])


def _waiting(options: dict[str, Any]) -> Waiting:
    from benchbook.ask.batches.running import Waiting

    if (every := options["every"]) is None:
        return Waiting(until_over=options["wait"])
    if not options["wait"]:
        raise UsageError("--every: only with --wait")
    return Waiting(until_over=True, first_s=every, longest_s=every)


def _go_on(
    ctx: click.Context,
    run: str,
    options: dict[str, Any],
    *,
    changes: dict[str, Any],
    resumes: bool,
    files: tuple[str, ...],
) -> None:
    from benchbook.ask.batches.running import go_on
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.views.progress import shown_progress

    record = find_record(run, "runs", says_name=False)
    folder = _folder(options) or (Path(files[0]).parent if files else None)
    with shown_progress(quiet=_is_quiet(options)) as on_progress:
        result = go_on(
            evaluator_of(record, _scorer(options)),
            record,
            changes=changes,
            files=[Path(one) for one in files],
            to_files=folder,
            resumes=resumes,
            on_progress=on_progress,
            waiting=_waiting(options),
        )
    _show(ctx, result, options)


def _show(ctx: click.Context, result: BatchRun[Any], options: dict[str, Any]) -> None:
    """Show how a run stands; once it is over, as `benchbook run` does."""
    if result.is_over:
        _show_end(ctx, result, options)
        return
    from benchbook.ask.batches.standing import standing_of

    standings = standing_of(result.batches)
    if options["as_json"]:
        told = {"run": str(result.record.path), "n_samples": result.n_samples, "n_done": result.n_done}
        print_json(told | {"n_out": result.n_out, "refused": result.refused, "batches": standings})
    elif not options["quiet"]:
        _print_batches([one for one in standings if one.n_out])
        done = f"{result.n_done:,} of {plural(result.n_samples, 'sample')} done"
        click.echo(one_line(f"{result.record.path}: {plural(result.n_out, 'request')} out, {done}"))
        unwritten = any(one.n_out and one.address is None for one in standings) and result.has_files
        more = " --to-files FOLDER" if unwritten else ""
        click.echo(one_line(f"Go on: benchbook batch collect {result.record.path}{more}"))
    if result.stop.reason is not None:
        click.echo(one_line(f"! {sentences(result.stop.reason)} Nothing more is sent."), err=True)
    if result.refused is not None:
        raise RunStoppedError(f"{result.refused}; nothing is lost: `benchbook batch collect {result.record.path}`")


def _show_end(ctx: click.Context, result: BatchRun[Any], options: dict[str, Any]) -> None:
    from benchbook.ask.starting import RunResult
    from benchbook.cli.sitting import print_result
    from benchbook.evaluators.registry import evaluator_of

    derived: Any = result.derived
    ended: RunResult[Any] = RunResult(result.record, derived, result.stop)
    print_result(ended, given_settings(options), options)
    if result.stop.reason is not None:
        resumes = f"Send what is left: benchbook batch submit --resume {result.record.path}"
        raise RunStoppedError(f"stopped: {sentences(result.stop.reason)} {resumes}")
    ctx.exit(0 if evaluator_of(result.record).tells_something(derived) else 1)


def _print_batches(found: list[BatchStanding]) -> None:
    """A line for each batch."""
    head = ("batch", "asks", "at", "requests", "replies", "failures", "out", "state")
    print_table(
        head,
        [
            (
                one.batch,
                one.role if one.role == "candidate" or not one.judge else f"judge {one.judge}",
                one_line(one.vendor_id or ("a file" if one.address is None else "not known yet")),
                f"{one.n_requests:,}",
                f"{one.n_replies:,}",
                f"{one.n_failures:,}",
                f"{one.n_out:,}",
                one_line(one.state if one.vendor_state is None else one.vendor_state),
            )
            for one in found
        ],
    )
