"""Our own mark in other tools' forms: what a form has no place for stands under it in metadata, and is read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from benchbook.canonical import ready

OURS = "benchbook"  # the key
_Said = TypeVar("_Said", bound=msgspec.Struct)


def said_of(metadata: Any, form: type[_Said]) -> _Said | None:
    """The words under our own mark in metadata; None for what others wrote."""
    own = metadata.get(OURS) if isinstance(metadata, Mapping) else None
    try:
        return None if own is None else msgspec.convert(own, ready(form))
    except msgspec.ValidationError:
        return None
