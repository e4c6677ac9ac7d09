"""What makes INCONCLUSIVE the best possible decision, the gates aside: a code for programs, and its text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

__all__ = ["Cap", "CapCode", "is_incomplete", "is_of_a_part"]

CapCode = Literal["incomplete", "snapshot_changed", "unmeasured", "another_model", "few_repeats", "part_of_items"]

_REST_UNKNOWN = frozenset({"incomplete", "part_of_items"})


class Cap(msgspec.Struct, frozen=True):
    """One cap. `incomplete` and `part_of_items` (ended by a comparison) keep a run from NOT_READY, too: the rest of it
    is not known."""

    code: CapCode
    text: str


def is_incomplete(caps: Iterable[Cap]) -> bool:
    return is_of_a_part(cap.code for cap in caps)


def is_of_a_part(codes: Iterable[CapCode]) -> bool:
    """Whether items are missing of which nobody knows whether they would change the decision."""
    return not _REST_UNKNOWN.isdisjoint(codes)
