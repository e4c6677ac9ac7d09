"""`benchbook panel`."""

from __future__ import annotations

import click

from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.errors import UsageError
from benchbook.text import visible

__all__ = ["panel"]


_WIDTH = 160


@click.command()
@run_argument
@click.option("--all", "everything", is_flag=True, help="Every sample that the judges split on, not the first 20.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals by resampling.")
@runs_option
@json_option
def panel(run: str | None, everything: bool, seed: int, runs: str, as_json: bool) -> None:
    """Show RUN's panel of judges: each judge alone, how they agree, and the samples that they split on.

    Those come in the order in which a person should look at them: first where pass or fail hangs on whom one asks.
    """
    from benchbook.cli.summary import rows_of
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.labels.panel import panel_analysis
    from benchbook.views.judges import (
        SPLITS_SHOWN,
        judges_agreement_table,
        judges_table,
        panel_lines,
        panel_notices,
        splits_table,
    )
    from benchbook.views.terminal import table_lines

    record = find_record(run, runs)
    derived = evaluator_of(record).read(record)
    if not hasattr(derived.manifest, "panel"):
        raise UsageError(f"{record.path}: was made under {derived.manifest.spec}; panels are of rubrics")
    found = panel_analysis(derived.manifest, derived.aggregates, rows_of(record)(), seed=seed)
    if as_json:
        print_json(found)
        return
    shown = None if everything else SPLITS_SHOWN
    lines = [*panel_lines(found), ""]
    for table in (judges_table(found, derived.aggregates), judges_agreement_table(found)):
        lines += table_lines(table, _WIDTH)
    lines += [*panel_notices(found), ""]
    lines += table_lines(splits_table(found, shown), _WIDTH)
    if not everything and len(found.splits) > SPLITS_SHOWN:
        lines.append(f"and {len(found.splits) - SPLITS_SHOWN:,} more: --all")
    click.echo("\n".join(visible(line) for line in lines).rstrip("\n"))
