"""`benchbook runs`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from benchbook.cli.output import json_option, print_json, runs_option
from benchbook.errors import RecordError, UsageError
from benchbook.record.folder import Record, records_in
from benchbook.text import one_line, shorten

__all__ = ["runs"]


_WIDTHS = {"model": 40, "judge": 40, "eval set": 30, "hash": 13}  # on a terminal; JSON has them whole


@click.command()
@runs_option
@json_option
def runs(runs: str, as_json: bool) -> None:
    """List the records in a folder, the newest first."""
    if Path(runs).exists() and not Path(runs).is_dir():
        raise UsageError(f"{runs}: not a folder; expected the one with the records")
    rows = [_row(record) for record in records_in(runs)]
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo(f"{runs}: no records", err=True)
        return
    _print_table([_shown(row) for row in rows])
    for row in rows:
        if "error" in row:
            click.echo(f"! {row['run']}: {one_line(row['error'])}")


def _row(record: Record) -> dict[str, str]:
    """A record as its derived files have it; of one that is damaged `error` says what is wrong, and nothing more."""
    from benchbook.record.derived_files import check_whole, inside

    try:
        check_whole(record)
        return _whole_row(record)
    except RecordError as error:
        nothing = dict.fromkeys(("model", "judge", "eval set", "hash"), "-")
        told = {"error": inside(record, str(error))}
        return {"run": record.run_id, "decision": "-", "state": "damaged"} | nothing | told


def _whole_row(record: Record) -> dict[str, str]:
    manifest, decision = _read(record.manifest), _read(record.decision)
    return {
        "run": record.run_id,
        "decision": str(decision.get("decision") or decision.get("verdict") or "-"),
        "state": str(manifest.get("state") or "open"),
        "model": str(manifest.get("model_id") or "-"),
        "judge": str(manifest.get("evaluator_model_id") or "-"),
        "eval set": str(manifest.get("dataset_id") or "-"),
        "hash": str(manifest.get("journal_sha256") or "-"),
    }


def _read(path: Path) -> dict[str, Any]:
    """A derived file; empty for one that is not there: the run goes on, or its spec has none.

    Raises: RecordError for one that can't be read.
    """
    import msgspec

    from benchbook.record.reading import why_unreadable

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise RecordError(f"{path}: can't be read ({error.strerror})") from None
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = why_unreadable(path, f"can't be read ({error}); `benchbook rescore` it")
        raise RecordError(f"{path}: {why}") from None


def _shown(row: dict[str, str]) -> dict[str, str]:
    from benchbook.views.words import outcome_word

    shown = {name: shorten(value, _WIDTHS.get(name, 100)) for name, value in row.items() if name != "error"}
    return shown | {"decision": shorten(outcome_word(row["decision"]), 100)}


def _print_table(rows: list[dict[str, str]]) -> None:
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    click.echo("  ".join(name.ljust(width) for name, width in widths.items()).rstrip())
    for row in rows:
        click.echo("  ".join(row[name].ljust(width) for name, width in widths.items()).rstrip())
