"""What makes INCONCLUSIVE the best possible decision, the gates aside: a code for programs, and its text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

__all__ = ["Cap", "CapCode", "is_incomplete"]

CapCode = Literal["incomplete", "snapshot_changed", "unmeasured", "another_model", "few_repeats"]


class Cap(msgspec.Struct, frozen=True):
    """One cap. `incomplete` keeps a run from NOT_READY, too: the rest of it is not known."""

    code: CapCode
    text: str


def is_incomplete(caps: Iterable[Cap]) -> bool:
    return any(cap.code == "incomplete" for cap in caps)
