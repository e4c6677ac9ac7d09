"""`benchbook runs`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from benchbook.cli.output import json_option, print_json, runs_option
from benchbook.text import shorten

__all__ = ["runs"]


@click.command()
@runs_option
@json_option
def runs(runs: str, as_json: bool) -> None:
    """List the records in a folder, the newest first."""
    rows = [_row(path) for path in sorted(Path(runs).glob("[!.]*"), reverse=True) if (path / "journal").is_dir()]
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo(f"{runs}: no records", err=True)
        return
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
        "model": shorten(str(manifest.get("model_id") or "-"), 40),
        "judge": shorten(str(manifest.get("evaluator_model_id") or "-"), 40),
        "eval set": shorten(str(manifest.get("dataset_id") or "-"), 30),
        "hash": str(manifest.get("journal_sha256") or "-")[:12],
    }


def _read(path: Path) -> dict[str, Any]:
    import msgspec

    try:
        value = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}
