"""`benchbook join` and `prove`, and the option by which a command asks one shard of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_run
from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.errors import RunStoppedError, UsageError
from benchbook.text import plural, sentences, visible

if TYPE_CHECKING:
    from benchbook.ask.keeping import Keep
    from benchbook.ask.settings import SittingSettings
    from benchbook.ask.sharding import ShardResult
    from benchbook.evaluators.contract import Evaluator

shard_option = click.option(
    "--shard", metavar="K/N", help="Record part K of N alone, as one of many; then `benchbook join`."
)
at_once_option = click.option(
    "--at-once",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many shards are asked at once, which share the rates; by default all, of processes one a core.",
)

store_option = click.option(
    "--store",
    metavar="URL",
    help="Keep it in an object store, too, such as s3://bucket/prefix; go on with what is there.",
)
push_seconds_option = click.option(
    "--push-seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="With --store: how often what came is pushed; by default every 30 seconds.",
)


def shard_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options by which a command that asks records one shard."""
    for option in (push_seconds_option, store_option, at_once_option, shard_option):
        command = option(command)
    return command


def refuse_without_shard(options: dict[str, Any]) -> None:
    """Refuse options that are about one shard, where there is none. Raises: UsageError."""
    for name in ("at_once", "store", "push_seconds"):
        if options.get(name) is None or options.get("shards"):
            continue
        either = " or --shards" if "shards" in options else ""
        more = "; a whole record goes there by `benchbook push`" if name == "store" else ""
        raise UsageError(f"--{name.replace('_', '-')}: only with --shard{either}{more}")


def keep_asked_for(options: Mapping[str, Any]) -> Keep | None:
    """The store that shards are kept in. Raises: UsageError."""
    from benchbook.ask.keeping import keep_in

    return keep_in(options["store"], options.get("push_seconds"))


def shard_shown(
    evaluator: Evaluator, checked: SittingSettings, source: str | None, options: dict[str, Any]
) -> ShardResult:
    """Begin a shard, or go on with it, with its progress shown, and say how far it is.

    Raises: RunStoppedError where it stopped early, unless a person interrupted it.
    """
    from benchbook.ask.sharding import ask_shard
    from benchbook.ask.work import run_async
    from benchbook.record.shards import shard_named
    from benchbook.views.progress import shown_progress

    asked = shard_named(options["shard"], options["at_once"])
    with shown_progress(quiet=options["quiet"] or options["as_json"]) as on_progress:
        result = run_async(ask_shard(evaluator, checked, asked, on_progress, source, keep=keep_asked_for(options)))
    say_shard(result, options)
    return result


def say_shard(result: ShardResult, options: dict[str, Any]) -> None:
    """Say how far a shard is, and what comes next. Raises: as `shard_shown`."""
    shard, stop = result.shard, result.stop
    if options["as_json"]:
        said = {"path": str(result.record.path), "shard": shard, "n_done": result.n_done, "stopped": stop.reason}
        print_json(said)
    elif not options["quiet"]:
        done = f"{result.n_done:,} of {plural(shard.n_samples, 'sample')}"
        click.echo(visible(f"{result.record.path}: shard {shard.number}/{shard.of}, {done}"))
        if stop.reason is None:
            click.echo(visible(f"When all {shard.of} are whole: {join_command(result.record.run, options)}"))
    if stop.reason is None:
        return
    said_so = sentences(stop.reason, "The same command goes on.")
    if not stop.interrupted:
        error = UsageError if stop.usage else RunStoppedError
        raise error(f"stopped: {said_so}")
    click.echo(visible(said_so), err=True)


def join_command(run: Path, options: Mapping[str, Any]) -> str:
    """The command that joins a run's shards, where they lie or in the store that keeps them."""
    store = options.get("store")
    return f"benchbook join {run}" if store is None else f"benchbook join {run.name} --store {store}"


def refuse_shard_with(options: dict[str, Any], *names: str) -> None:
    """Refuse options that are about a whole record. Raises: UsageError."""
    for name in names:
        if options.get(name):
            option = name.removesuffix("_to").replace("answers_of", "from").replace("_", "-")
            raise UsageError(f"--shard: one part has no record yet; leave out --{option}")


@click.command()
@run_argument
@click.option("--incomplete", is_flag=True, help="Join also where shards are missing, or have not ended.")
@click.option("--store", metavar="URL", help="The object store with the shards of RUN, an id: pull, join, and push.")
@click.option("--reports", default="reports", show_default=True, help="Where reports go; `none` for none.")
@runs_option
@click.option("--quiet", is_flag=True, help="No summary: only what goes wrong.")
@json_option
@click.pass_context
def join(ctx: click.Context, /, run: str | None, runs: str, **options: Any) -> None:
    """Check all shards of RUN, name them in one file, and compute the record's numbers from them.

    Nothing is changed in any shard, and it can be done again at any time. Ends with 1 where a sample is in two shards
    or in none, a shard is of another plan, was changed or has not ended: each is named, and nothing is joined.
    """
    from benchbook.cli.summary import print_run
    from benchbook.evaluators.joining import join as join_shards
    from benchbook.evaluators.joining import join_kept
    from benchbook.stores.address import store_address

    as_json, reports = options["as_json"], options["reports"]
    if options["store"] is None:
        found = join_shards(find_record(run, runs, says_name=False), incomplete=options["incomplete"])
    else:
        found = join_kept(store_address(options["store"]), run or "", runs, incomplete=options["incomplete"])
    record = found.record
    if found.derived is None:
        if as_json:
            findings = [{"file": one.file, "line": one.line, "what": one.what} for one in found.findings]
            print_json({"run": str(record.path), "joined": False, "findings": findings})
        for finding in () if as_json else found.findings:
            click.echo(visible(str(finding)))
        click.echo(visible(f"{record.path}: not joined ({plural(len(found.findings), 'finding')})"), err=True)
        ctx.exit(1)
    print_run(
        record, found.derived, reports=None if reports == "none" else reports, as_json=as_json, quiet=options["quiet"]
    )


@click.command()
@click.argument("run", shell_complete=complete_run)
@click.argument("sample", type=click.IntRange(min=0))
@click.option("--out", metavar="FILE", help="Where the proof goes; by default standard output.")
@click.option("--facts", metavar="FILE", help="Write the lines that it is about, too.")
@runs_option
@json_option
def prove(run: str, sample: int, out: str | None, facts: str | None, runs: str, as_json: bool) -> None:
    """Write a proof that SAMPLE, by its number, is in the joined record RUN: at most two kilobytes, as a rule.

    `benchbook verify --proof FILE --expect ROOT` holds it against the root that was published, without the record.
    """
    from benchbook.record.proofs import proof_bytes
    from benchbook.record.proofs import prove as make_proof
    from benchbook.writing import write_file

    found = make_proof(find_record(run, runs), sample)
    if facts is not None:
        write_file(Path(facts), found.lines)
    if out is not None:
        write_file(Path(out), proof_bytes(found.proof))
    if as_json:
        print_json({"proof": found.proof, "out": out, "facts": facts})
    elif out is None:
        click.echo(proof_bytes(found.proof), nl=False)
    else:
        click.echo(visible(f"{out}: sample {sample} of {found.proof.head.run_id}, under the root {found.proof.root}"))


def verify_proof(path: str, facts: str | None, run: str | None, expect: str | None, runs: str, *, as_json: bool) -> int:
    """Hold a proof against a root, and say whether it holds: 0, or 1 where it does not.

    Raises: UsageError where no root is named, or two that differ; InputError for what is no proof.
    """
    from benchbook.record.proofs import faults_of, read_proof
    from benchbook.record.sets import newest_set

    root = None if expect is None else expect.removeprefix("sha256:")
    if run is not None:
        record = find_record(run, runs)
        newest = newest_set(record.path) if record.is_sharded else None
        if newest is None:
            raise UsageError(f"{record.path}: only records that were joined have a root over their samples")
        if root not in (None, newest.root):
            raise UsageError(f"{record.path}: has the root {newest.root}, and --expect is {root}")
        root = newest.root
    if root is None:
        raise UsageError("--proof: found no root to hold it against; expected --expect ROOT, or RUN")
    proof = read_proof(path)
    faults = list(faults_of(proof, root, None if facts is None else Path(facts).read_bytes()))
    if as_json:
        said = {"proof": path, "holds": not faults, "root": root, "run_id": proof.head.run_id, "sample": proof.sample}
        print_json(said | {"findings": faults})
        return int(bool(faults))
    for fault in faults:
        click.echo(visible(f"{path}: {fault}"))
    if not faults:
        about = "" if facts is None else f", and {facts} has its facts"
        click.echo(visible(f"{path}: holds. Sample {proof.sample} of {proof.head.run_id} is in the record{about}"))
        click.echo(f"record hash: {root}")
    return int(bool(faults))
