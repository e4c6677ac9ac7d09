"""The baseline: the run that others are held against, named so that no other record can take its place."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError

__all__ = ["BASELINE_FILE", "Baseline", "baseline_from_json", "baseline_json"]

BASELINE_FILE = "baseline.json"


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """baseline.json in the folder of records: a run's id, and the last hash of its journal."""

    run_id: str
    journal_sha256: str


def baseline_json(baseline: Baseline) -> bytes:
    """The file's bytes."""
    return msgspec.json.format(msgspec.json.encode(baseline), indent=2) + b"\n"


def baseline_from_json(data: bytes, path: str | Path) -> Baseline:
    """Raises: InputError naming `path` for anything but such a file."""
    try:
        return msgspec.json.decode(data, type=ready(Baseline))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            path, found=f"no baseline ({error})", expected="what `benchbook baseline set RUN` writes"
        ) from None
