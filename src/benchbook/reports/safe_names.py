"""File names for ids that others chose: model text never names a path (SPEC P5).

A plain id (letters and digits of ASCII, `.`, `_`, `-`, short, no device of another system) is its own name. Every other
one, and every one that differs from another by case alone, is what is legible of it, a `~`, and digits of its hash:
`Q3`, `nimbus-writer-4~9f86d081884c`. A `~` stands in no plain name, so the two kinds can't meet.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable

__all__ = ["MAX_LENGTH", "safe_names"]

MAX_LENGTH = 54  # four names, a repeat and two endings fit the 255 bytes that file systems allow
_FEWEST_DIGITS = 12
_LEGIBLE = 32
# No `__` and no `_` at either end: names are joined by `__`, and must come apart again.
_PLAIN = re.compile(r"(?!.*__)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9-])?")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_ILLEGIBLE = re.compile(r"[^A-Za-z0-9]+")


def safe_names(ids: Iterable[str]) -> dict[str, str]:
    """A name for each id: unlike every other one, on file systems that fold case and normal forms too.

    Names are ASCII, at most `MAX_LENGTH` long, and depend on the set of ids alone.
    """
    wanted = sorted(set(ids))
    folded = Counter(one.lower() for one in wanted if _is_plain(one))
    hashed = [one for one in wanted if not _is_plain(one) or folded[one.lower()] > 1]
    names = {one: one for one in wanted} | _hashed_names(hashed)
    return {one: names[one] for one in wanted}


def _is_plain(one: str) -> bool:
    return len(one) <= MAX_LENGTH and _PLAIN.fullmatch(one) is not None and not _DEVICE.fullmatch(one)


def _hashed_names(ids: Collection[str]) -> dict[str, str]:
    """With as many digits of the hash as tell them apart: nobody gains by searching for a short collision."""
    digests = {one: hashlib.sha256(one.encode("utf-8", "surrogatepass")).hexdigest() for one in ids}
    digits = _FEWEST_DIGITS
    while len({digest[:digits] for digest in digests.values()}) < len(digests):
        digits += 4
    return {one: (_legible(one, digits) or "id") + "~" + digest[:digits] for one, digest in digests.items()}


def _legible(one: str, digits: int) -> str:
    room = max(min(_LEGIBLE, MAX_LENGTH - 1 - digits), 0)
    return _ILLEGIBLE.sub("-", one[: 4 * _LEGIBLE]).strip("-")[:room].rstrip("-")
