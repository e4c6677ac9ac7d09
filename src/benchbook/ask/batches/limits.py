"""How large a batch may be, by vendor, and which part of the price its tokens cost."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from pathlib import Path

import msgspec

from benchbook.ask.settings import BatchSettings
from benchbook.canonical import ready
from benchbook.errors import ConfigError
from benchbook.record.batches import is_price_factor
from benchbook.record.facts import BatchForm
from benchbook.specs.faults import toml_values


class BatchLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of one batch. `seen` is the month in which `source` said so."""

    max_requests: int
    max_bytes: int
    price_factor: Decimal
    seen: str
    source: str


@cache
def _known() -> dict[str, BatchLimits]:
    text = (Path(__file__).parent / "limits.toml").read_text("utf-8")
    return msgspec.convert(toml_values(text), ready(dict[str, BatchLimits]), strict=False)


def limits_of(form: BatchForm, settings: BatchSettings) -> BatchLimits:
    """The limits of a vendor, those replaced that settings have. Raises: ConfigError."""
    factor = settings.price_factor
    if factor is not None and not is_price_factor(factor):
        raise ConfigError("batch.price_factor", str(factor), "the part of a price, between 0 and 1: 0.5")
    own = {
        name: value
        for name in ("max_requests", "max_bytes", "price_factor")
        if (value := getattr(settings, name)) is not None
    }
    return msgspec.structs.replace(_known()[form], **own)
