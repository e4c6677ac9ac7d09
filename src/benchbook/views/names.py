"""The names of what was measured, each with the version that tells it from another of that name."""

from __future__ import annotations

import re

from benchbook.views import numbers

_DIGITS = 8  # of a hash: as many as tell the versions of one name apart
_HASH = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def set_name(dataset_id: str | None, version: str | None) -> str:
    """An eval set and its version: `sums@334e4011`, by the hash of its content; `sums@v2` where it names its own."""
    name = dataset_id or numbers.DASH
    if not version:
        return name
    found = _HASH.fullmatch(version)
    return f"{name}@{found[1][:_DIGITS] if found else version}"
