"""An evaluator's word on runs that are asked by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ByBatch:
    """A part of the contract: an evaluator that measures times says so."""

    def settings_by_batch(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a run that is asked by batch, with what no batch measures declared unmeasured (R1.4)."""
        return dict(values)
