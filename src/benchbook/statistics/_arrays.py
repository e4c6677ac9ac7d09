"""Names of the arrays that this room takes and makes. Modules that must load fast import them for type checks alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Ints", "Labels", "Values"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]
Values: TypeAlias = Sequence[float] | NDArray[Any]
"""What callers hand in for numbers, one a sample."""
Labels: TypeAlias = Sequence[Hashable] | NDArray[Any]
"""What callers hand in for clusters or items, one a sample."""
