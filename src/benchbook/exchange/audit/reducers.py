"""An item's repeats as one value, by the reducer that a log names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import comb, fsum

_COUNTING = re.compile(r"(at_least|pass_at|pass_k)_([1-9][0-9]{0,5})")

# A mode where several values are equally common: no log names these.
LEAST_MODE, GREATEST_MODE = "least_mode", "greatest_mode"
_NAMED = ("mean", "median", "mode", "max", "min", "majority")


def is_known(name: str) -> bool:
    return name in _NAMED or _COUNTING.fullmatch(name) is not None


def has_threshold(name: str | None) -> bool:
    """True if a value counts as right from a threshold on."""
    return name is not None and _COUNTING.fullmatch(name) is not None


def others(reducer: str | None, most_repeats: int) -> list[str]:
    """The reducers that a number may have been made by instead, the commonest first."""
    counting = [
        f"{kind}_{k}" for kind in ("pass_at", "at_least", "pass_k") for k in range(1, min(most_repeats, 16) + 1)
    ]
    return [one for one in (*_NAMED, *counting) if one != reducer]


def reduced(values: Sequence[float], reducer: str, n: int, threshold: float = 1.0) -> float | None:
    """One value of an item's scored repeats, in their order, of `n` that there are; None where there is none.

    `reducer` is one that `is_known`.
    """
    if not values:
        return None
    found = _COUNTING.fullmatch(reducer)
    if found is not None:
        return _COUNTS[found[1]](sum(one >= threshold for one in values), len(values), int(found[2]))
    return _REDUCED[reducer](values, n)


def _mean(values: Sequence[float], n: int) -> float:
    del n
    return fsum(values) / len(values)


def _majority(values: Sequence[float], n: int) -> float | None:
    """The value of more than half of all, those without a score too."""
    value, times = Counter(values).most_common(1)[0]
    return value if 2 * times > n else None


def _common(values: Sequence[float]) -> list[float]:
    """The most common values, in the order of their first appearance."""
    counts = Counter(values)
    most = max(counts.values())
    return [value for value, times in counts.items() if times == most]


_REDUCED: dict[str, Callable[[Sequence[float], int], float | None]] = {
    "mean": _mean,
    "median": lambda values, _: median(values),
    "mode": lambda values, _: _common(values)[0],
    LEAST_MODE: lambda values, _: min(_common(values)),
    GREATEST_MODE: lambda values, _: max(_common(values)),
    "majority": _majority,
    "max": lambda values, _: max(values),
    "min": lambda values, _: min(values),
}


def median(values: Sequence[float]) -> float:
    """The middle value, or half way between the two."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _at_least(right: int, n: int, k: int) -> float:
    del n
    return float(right >= k)


def _pass_at(right: int, n: int, k: int) -> float | None:
    """The share of all draws of k that have a right one among them (Chen and others 2021): without bias."""
    return None if n < k else 1 - comb(n - right, k) / comb(n, k)


def _pass_k(right: int, n: int, k: int) -> float | None:
    """The share of all draws of k that are all right."""
    return None if n < k else comb(right, k) / comb(n, k)


_COUNTS: dict[str, Callable[[int, int, int], float | None]] = {
    "at_least": _at_least,
    "pass_at": _pass_at,
    "pass_k": _pass_k,
}
