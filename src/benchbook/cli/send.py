"""`benchbook send`, and `--send` of the commands that make runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.errors import BenchbookError
from benchbook.integrations.trackers.kinds import TRACKERS, tracker_named
from benchbook.record.folder import Record
from benchbook.text import visible

send_option = click.option(
    "--send",
    "send_to",
    multiple=True,
    type=click.Choice(list(TRACKERS)),
    help="Send the results there once the run has come to its end, as `benchbook send` does; may be given again.",
)


@click.command()
@run_argument
@click.option(
    "--to", required=True, multiple=True, type=click.Choice(list(TRACKERS)), help="Where; may be given again."
)
@click.option(
    "--endpoint", help="Its address; for mlflow a tracking URI, for wandb a folder. Default: its environment."
)
@click.option("--texts", is_flag=True, help="Send prompts, answers, explanations and the whole report, too.")
@runs_option
@json_option
def send(run: str | None, to: tuple[str, ...], endpoint: str | None, texts: bool, runs: str, as_json: bool) -> None:
    """Send RUN's scores and decision to OpenTelemetry, Langfuse, MLflow or W&B.

    Its run must have come to its end. Prompts and answers stay here unless --texts is given. Keys are read from the
    environment by each tracker's own client. What is sent again replaces what was sent, or has the same ids.
    """
    from benchbook.integrations.trackers.sending import send as send_to

    if endpoint is not None and len(to) > 1:
        raise click.UsageError("--endpoint is of one tracker: give --to once")
    record = find_record(run, runs)
    sent = [send_to(record, name, endpoint=endpoint, texts=texts) for name in to]
    if as_json:
        print_json([one._asdict() for one in sent])
        return
    for one in sent:
        unscored = f", {one.n_unscored:,} without a score" if one.n_unscored else ""
        click.echo(visible(f"{one.to}: {one.n_samples:,} samples{unscored}: {one.where}"))


def check_trackers(names: Sequence[str]) -> None:
    """Raises: UsageError where one could not be sent to, for want of its client or a key: before a run, not after."""
    for name in names:
        tracker_named(name).check()


def send_ended(path: Path, names: Sequence[str]) -> None:
    """Send a run that has ended, and say on standard error where, or why it was not. The run stands all the same."""
    if not names:
        return
    from benchbook.integrations.trackers.sending import send as send_to

    for name in names:
        try:
            click.echo(visible(f"sent: {name}: {send_to(Record(path), name).where}"), err=True)
        except BenchbookError as error:
            click.echo(visible(f"not sent: {error}"), err=True)
