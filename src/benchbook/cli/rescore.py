"""`benchbook rescore`."""

from __future__ import annotations

import click

from benchbook.cli.output import find_record, json_option, run_argument, runs_option
from benchbook.cli.summary import print_run
from benchbook.errors import UsageError

__all__ = ["rescore"]


@click.command()
@run_argument
@click.option("--spec", help="The evaluator's version; by default the one that the run was made under.")
@click.option("--reports", default="reports", show_default=True, help="Where reports go; `none` for none.")
@runs_option
@json_option
def rescore(run: str | None, spec: str | None, reports: str, runs: str, as_json: bool) -> None:
    """Compute every number of RUN again from its journal, without calling a model."""
    from benchbook.evaluators.registry import evaluator_of

    record = find_record(run, runs)
    made_under = record.started().spec
    if spec is not None and spec != made_under:
        raise UsageError(f"{record.path}: was made under {made_under}; its replies hold no scores by {spec}")
    derived = evaluator_of(record).derive(record, record.path)
    print_run(record, derived, reports=None if reports == "none" else reports, as_json=as_json)
