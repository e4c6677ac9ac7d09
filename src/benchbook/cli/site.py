"""`benchbook site`: the page over chosen records as files, which open from a folder or any web server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbook.cli.completion import complete_folder
from benchbook.cli.output import json_option, print_json
from benchbook.cli.server import needs_server_extra
from benchbook.errors import UsageError
from benchbook.record.folder import record_named, records_in
from benchbook.text import plural, visible

if TYPE_CHECKING:
    from benchbook.record.folder import Record


@click.command()
@click.argument("runs", required=False, default="runs", shell_complete=complete_folder)
@click.option("--run", "chosen", multiple=True, metavar="RUN", help="Only this run; give it once for each.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder to write: new, or empty.")
@click.option("--check", is_flag=True, help="Write nothing: hold the site in --out against the records, byte by byte.")
@json_option
def site(runs: str, chosen: tuple[str, ...], out: Path, check: bool, as_json: bool) -> None:
    """Write the page over the records in RUNS as static files: lists, runs, comparisons, judges.

    They open from a folder or from any web server, below a path too, and ask nobody anything. site.json names the
    records by their hashes; with the records, --check says whether the site shows them and nothing else.
    """
    with needs_server_extra():
        from benchbook.server.site.writing import site_findings, write_site

    records = _chosen(runs, chosen)
    if check:
        findings = site_findings(Path(runs), records, out)
        if as_json:
            print_json({"holds": not findings, "findings": findings})
        else:
            click.echo(visible("\n".join(findings) or f"{out}: every byte is what the records give"))
        sys.exit(1 if findings else 0)
    written, size = write_site(Path(runs), records, out)
    if as_json:
        print_json({"folder": str(out), "runs": written.runs, "n_files": len(written.files) + 1, "n_bytes": size})
        return
    click.echo(visible(f"{out / 'index.html'}: {plural(len(written.runs), 'run')}, {size / 1e6:.1f} MB"))


def _chosen(runs: str, names: tuple[str, ...]) -> dict[str, Record]:
    """The records by their ids; all of them where none is named. Raises: UsageError for one that isn't there."""
    if not Path(runs).is_dir():
        raise UsageError(f"{runs}: not a folder; expected the one with the records")
    found = [record_named(name, runs) for name in names] or records_in(runs)
    return {record.run_id: record for record in found}
