"""The one place where numbers become text.

A rate always comes with its n, a null is a dash with its reason (SPEC C5), and a value is never rounded onto a limit
that it does not reach: 0.84996 against a gate of 85 % is `84.996 %`. What is shown here is rounded for reading; the
exact values are in aggregates.json.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Literal, assert_never

from benchbook.evaluators.intervals import Interval
from benchbook.statistics.results import REASONS

__all__ = [
    "DASH",
    "Kind",
    "count",
    "interval",
    "limit",
    "milliseconds",
    "money",
    "nothing",
    "rate",
    "score",
    "seconds",
    "short_hash",
    "short_model",
    "show",
    "tokens",
]


DASH = "–"
# rate: a share of samples. score: 0 to 1. grade: a mean of 0, 1, 2. ratio: any quotient.
Kind = Literal["rate", "score", "grade", "ratio", "ms", "tokens", "count"]
_DECIMALS: dict[Kind, int] = {"rate": 1, "score": 4, "grade": 3, "ratio": 3, "ms": 0, "tokens": 0, "count": 0}
_WEIGHTS = re.compile(r"sha256:([0-9a-f]{64})")
_MOST_DECIMALS = 9  # what an aggregate is rounded to (C2)


def nothing(reason: str | None = None) -> str:
    """`–`, or `– (not measured)`: a value that is not there, and why."""
    return f"{DASH} ({reason})" if reason else DASH


def rate(value: float | None, n: int) -> str:
    """`87.0 % (n = 100)`, or `– (no data)` where nothing was counted."""
    return show("rate", value, n=n, unknown="no data")


def score(value: float | None, unknown: str | None = None) -> str:
    """A score between 0 and 1 with four decimals."""
    return show("score", value, unknown=unknown)


def milliseconds(value: float | None, unknown: str | None = "not measured") -> str:
    """`1,234 ms`."""
    return show("ms", value, unknown=unknown)


def tokens(value: float | None, unknown: str | None = "not reported") -> str:
    """`1,234`."""
    return show("tokens", value, unknown=unknown)


def count(value: float | None) -> str:
    """`1,234`."""
    return show("count", value)


def show(
    kind: Kind,
    value: float | None,
    *,
    n: int | None = None,
    apart_from: float | None = None,
    unknown: str | None = None,
) -> str:
    """`value` as text. `n` is what it was counted over; `apart_from` is a limit it must not be rounded onto."""
    if value is None:
        return nothing(unknown or ("no data" if kind == "rate" else None))
    scale = 100 if kind == "rate" else 1
    exact = Decimal(repr(value)) * scale
    never = [] if apart_from is None else [Decimal(repr(apart_from)) * scale]
    if kind in ("rate", "score"):
        never += [Decimal(0), Decimal(scale)]  # "100.0 %" is for all of them, and "0.0 %" for none
    shown = _unit(kind, _fixed(exact, _DECIMALS[kind], never))
    return shown if n is None else f"{shown} (n = {n:,})"


def limit(kind: Kind, value: float) -> str:
    """A gate's limit, without decimals that say nothing: `85 %`, `0.80`, `10,000 ms`."""
    exact = Decimal(repr(value)) * (100 if kind == "rate" else 1)
    least = 2 if kind == "score" else 0
    return _unit(kind, next(text for d in range(least, 10) if _number(text := _places(exact, d)) == exact or d == 9))


def interval(kind: Kind, found: Interval | None, *, bare: bool = False) -> str:
    """`0.7910 to 0.8740 (95 % confidence)`; `bare` leaves the confidence out."""
    if found is None:
        return nothing("not computed")
    if found.low is None and found.high is None:
        return nothing(REASONS.get(found.reason or "", found.reason or "can't be computed"))
    if found.low is None:
        span = f"up to {show(kind, found.high)}"
    elif found.high is None:
        span = f"from {show(kind, found.low)}"
    else:
        span = f"{show(kind, found.low)} to {show(kind, found.high)}"
    return span if bare else f"{span} ({limit('rate', found.confidence)} confidence)"


def money(usd: str | None, unknown: str = "no price given") -> str:
    """Decimal dollars, exact: `$1,234.5678`, with at least two decimals."""
    if usd is None:
        return nothing(unknown)
    try:
        amount = Decimal(usd).normalize()
    except InvalidOperation:
        return nothing(f"not an amount: {usd}")
    _, _, exponent = amount.as_tuple()
    decimals = max(2, -exponent) if isinstance(exponent, int) else 2
    return f"${amount:,.{decimals}f}"


def seconds(ms: int | None) -> str:
    """Milliseconds as decimal seconds, for JUnit: `1.234`; `0` where it was not measured."""
    return "0" if ms is None else f"{Decimal(ms) / 1000:.3f}"


def short_hash(digest: str | None, unknown: str = "not known") -> str:
    """The first twelve digits of a hash and an ellipsis, without `sha256:`; what is hardly longer stays whole."""
    if digest is None:
        return nothing(unknown)
    digits = digest.removeprefix("sha256:")
    return digits if len(digits) <= 16 else f"{digits[:12]}…"


def short_model(model_id: str) -> str:
    """A model's id with the hash of its weights cut as `short_hash` does: `local/small@sha256:5a1395716f79…`."""
    return _WEIGHTS.sub(lambda found: f"sha256:{short_hash(found[1])}", model_id)


def _unit(kind: Kind, number: str) -> str:
    match kind:
        case "rate":
            return f"{number} %"
        case "ms":
            return f"{number} ms"
        case "score" | "grade" | "ratio" | "tokens" | "count":
            return number
        case _:
            assert_never(kind)


def _fixed(exact: Decimal, decimals: int, never: Sequence[Decimal]) -> str:
    """`exact` with the fewest decimals, from `decimals` on, that do not land on a value in `never` by rounding."""
    for places in range(decimals, _MOST_DECIMALS + 1):
        text = _places(exact, places)
        if (shown := _number(text)) == exact or shown not in never:
            return text
    return f"{exact:,f}"


def _places(exact: Decimal, decimals: int) -> str:
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)
    return f"{rounded:,.{decimals}f}"


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))
