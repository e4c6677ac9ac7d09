"""`benchbook gate`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from benchbook.cli.output import find_record, json_option, run_argument, runs_option
from benchbook.cli.summary import print_decision

__all__ = ["gate"]


@click.command()
@run_argument
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    help="Ask that the gates' confidence bounds hold too, such as 0.95.",
)
@runs_option
@json_option
@click.pass_context
def gate(ctx: click.Context, run: str | None, confidence: float | None, runs: str, as_json: bool) -> None:
    """Exit 0 only if RUN is READY; 1 where it is not, or where nothing can be said.

    The decision is derived again from the journal: a file that was edited changes nothing.
    """
    from benchbook.derivations.rubric_tables import derive

    record = find_record(run, runs)
    with tempfile.TemporaryDirectory(prefix="benchbook-gate-") as folder:
        derived = derive(record, Path(folder), confidence=confidence)
    print_decision(record, derived, as_json=as_json)
    ctx.exit(0 if derived.decision is not None and derived.decision.release_ready else 1)
