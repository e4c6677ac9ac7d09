"""`benchbook runs`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from benchbook.cli.output import json_option, newest_first, print_json, runs_option
from benchbook.errors import UsageError
from benchbook.text import shorten

__all__ = ["runs"]

_WIDTHS = {"model": 40, "judge": 40, "eval set": 30, "hash": 13}  # on a terminal; JSON has them whole


@click.command()
@runs_option
@json_option
def runs(runs: str, as_json: bool) -> None:
    """List the records in a folder, the newest first."""
    if Path(runs).exists() and not Path(runs).is_dir():
        raise UsageError(f"{runs}: not a folder; expected the one with the records")
    rows = [_row(path) for path in newest_first(runs)]
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo(f"{runs}: no records", err=True)
        return
    rows = [{name: shorten(value, _WIDTHS.get(name, 100)) for name, value in row.items()} for row in rows]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    click.echo("  ".join(name.ljust(width) for name, width in widths.items()).rstrip())
    for row in rows:
        click.echo("  ".join(row[name].ljust(width) for name, width in widths.items()).rstrip())


def _row(path: Path) -> dict[str, str]:
    manifest, decision = _read(path / "manifest.json"), _read(path / "decision.json")
    return {
        "run": path.name,
        "decision": str(decision.get("decision") or decision.get("verdict") or "-"),
        "state": str(manifest.get("state") or "open"),
        "model": str(manifest.get("model_id") or "-"),
        "judge": str(manifest.get("evaluator_model_id") or "-"),
        "eval set": str(manifest.get("dataset_id") or "-"),
        "hash": str(manifest.get("journal_sha256") or "-"),
    }


def _read(path: Path) -> dict[str, Any]:
    import msgspec

    try:
        value = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}
