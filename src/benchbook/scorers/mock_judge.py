"""`MockJudge`: what stands in a dry run's place for a scorer (source 004; SPEC A6).

It makes no predictions and gives no scores. Whoever asks for its per-item table is told why there is none.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["MOCK_JUDGE", "MockJudge", "Unavailable"]

MOCK_JUDGE = "MockJudge"


class Unavailable(msgspec.Struct, frozen=True, kw_only=True):
    """In the place of a per-item table that does not exist."""

    status: Literal["unavailable"] = "unavailable"
    reason: str


class MockJudge(msgspec.Struct, frozen=True):
    """The judge of a dry run under `spec`."""

    spec: str

    def predictions(self) -> Unavailable:
        """The per-item table: there is none."""
        return Unavailable(
            reason=f"this was a dry run ({MOCK_JUDGE} in the place of {self.spec}): it makes no predictions"
        )
