"""`benchbook judge archive`."""

from __future__ import annotations

from pathlib import Path

import click

from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.errors import UsageError
from benchbook.text import one_line

__all__ = ["archive"]


@click.command()
@run_argument
@click.option("--out", metavar="FOLDER", help="Where it goes; by default reports/RUN_ID/archive.")
@click.option("--check", metavar="FOLDER", help="Write nothing: say how the archive in FOLDER differs from RUN's.")
@runs_option
@json_option
@click.pass_context
def archive(ctx: click.Context, run: str | None, out: str | None, check: str | None, runs: str, as_json: bool) -> None:
    """Write RUN's archive: valid and invalid evaluations apart, the prompts, and an analysis made from it alone.

    With --check it ends with 1 where a file was changed, is missing, or does not belong to it.
    """
    from benchbook.cli.summary import rows_of
    from benchbook.evaluators.derivation import derivation_of
    from benchbook.evaluators.protocol.spec import SPEC_ID
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.views.protocol import archive_of, declared_prompts_of, differences, write_archive_of

    record = find_record(run, runs)
    spec = record.started().spec
    if spec != SPEC_ID:
        raise UsageError(f"{record.path}: was made under {spec}; only {SPEC_ID} has an archive")
    derived = evaluator_of(record).read(record)
    derivation, prompts = derivation_of(record.started()), declared_prompts_of(record)
    made = archive_of(derived.manifest, derived.aggregates, rows_of(record)(), derivation, prompts)
    if check is not None:
        if out is not None:
            raise click.UsageError("--out and --check: one of them")
        if not Path(check).is_dir():
            raise UsageError(f"{check}: no folder")
        found = list(differences(made, Path(check)))
        if as_json:
            print_json({"run": str(record.path), "archive": check, "differences": found})
        else:
            click.echo("\n".join(map(one_line, found)) or f"{one_line(check)}: is the archive of {record.run_id}")
        ctx.exit(int(bool(found)))
    folder = write_archive_of(made, out or Path("reports") / record.run_id / "archive")
    if as_json:
        print_json({"run": str(record.path), "archive": str(folder), "n_evaluations": len(made.rows)})
    else:
        click.echo(one_line(f"{folder}: {len(made.rows)} evaluations; read results_analysis.md"))
