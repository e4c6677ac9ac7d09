"""Texts that an earlier line has: found in two passes, with 12 bytes a text in between (SPEC A10)."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator

__all__ = ["Repeats"]


class Repeats:
    """Notes the hash of each text first; then only lines whose hash came twice are looked at again, and exactly."""

    def __init__(self) -> None:
        self._hashes = array("q")
        self._lines = array("I")
        self._first: dict[bytes, int] = {}  # by digest: a set in which every text comes twice may have long ones

    def note(self, text: str, line: int) -> None:
        """First pass."""
        self._hashes.append(hash(text))
        self._lines.append(line)

    def suspects(self) -> Iterator[int]:
        """The lines to look at again; what was noted is forgotten."""
        import numpy as np

        hashes = np.array(self._hashes, dtype=np.int64)
        lines = np.array(self._lines, dtype=np.uint32)
        self._hashes, self._lines = array("q"), array("I")
        order = np.argsort(hashes, kind="stable")
        twice = hashes[order][1:] == hashes[order][:-1]
        again = np.zeros(len(hashes), dtype=bool)
        again[order[1:]] |= twice
        again[order[:-1]] |= twice
        return iter(lines[again].tolist())

    def n_again(self) -> int:
        """How many of the texts an earlier one is already, by what was noted alone."""
        import numpy as np

        return len(self._hashes) - len(np.unique(np.array(self._hashes, dtype=np.int64)))

    def earlier(self, text: str, line: int) -> int | None:
        """Second pass, the suspects in their order: the first line that has this very text; None for the first."""
        first = self._first.setdefault(_digest(text), line)
        return None if first == line else first


def _digest(text: str) -> bytes:
    """16 bytes, in which two texts do not meet by chance."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
