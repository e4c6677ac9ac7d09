"""The one place where numbers become text.

A rate always comes with its n, a null is a dash with its reason (SPEC C5), and a value is never rounded onto a limit
that it does not reach: 0.84996 against a gate of 85 % is `84.996 %`. What is shown here is rounded for reading; the
exact values are in aggregates.json.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from benchbook.comparison.difference import Difference
from benchbook.evaluators.document import Cell, Column, Kind, Reach, Share, Span, Table, Value
from benchbook.evaluators.intervals import Interval
from benchbook.statistics.ground import REASONS
from benchbook.text import one_line

DASH = "–"
_MINUS = "−"
DECIMALS: dict[Kind, int] = {
    "rate": 1, "score": 4, "grade": 3, "ratio": 3, "ms": 0, "tokens": 0, "count": 0, "p": 3, "usd": 2,
}  # fmt: skip
_UNITS: dict[Kind, str] = {"rate": " %", "ms": " ms"}
# Why two runs' difference has no interval, short enough for a cell of a table.
NO_INTERVAL: dict[str, str] = {
    "no_data": "no items",
    "one_value": "one item",
    "one_cluster": "one cluster",
    "no_variance": "all differ alike",
    "no_discordant_pairs": "no pair differs",
}
_WEIGHTS = re.compile(r"sha256:([0-9a-f]{64})")
MOST_DECIMALS = 9  # what an aggregate is rounded to (C2)


def cells(table: Table) -> list[list[str]]:
    """The rows of a table as text on one line a cell: whoever shows a table takes them from here."""
    return [[cell(column, one) for column, one in zip(table.columns, row, strict=True)] for row in table.rows]


def cell(column: Column, found: Cell) -> str:
    """A cell as text on one line."""
    match found:
        case str():
            return one_line(found)
        case Value():
            return _value(found)
        case Share():
            return f"{found.k:,} of {found.n:,}, {show('rate', found.k / found.n)}" if found.n else nothing("no data")
        case Span():
            low, high = _value(found.low), _value(found.high)
            return low if found.low.value == found.high.value else f"{low} to {high}"
        case Reach():
            return interval(found.kind, found.interval, bare=found.bare)
        case None if column.kind == "text" or column.kind == "number":
            return nothing()
        case _:
            return show("count" if column.kind == "text" or column.kind == "number" else column.kind, found)


def _value(found: Value) -> str:
    if isinstance(found.value, str) or (found.kind == "usd" and not found.signed):
        return money(None if found.value is None else str(found.value), found.unknown or "no price given")
    if found.signed:
        return signed(found.value, found.kind)
    return show(found.kind, found.value, n=found.n, apart_from=found.apart_from, unknown=found.unknown)


def nothing(reason: str | None = None) -> str:
    """`–`, or `– (not measured)`: a value that is not there, and why."""
    return f"{DASH} ({reason})" if reason else DASH


def score(value: float | None, unknown: str | None = None) -> str:
    """A score between 0 and 1 with four decimals."""
    return show("score", value, unknown=unknown)


def reported(kind: Kind, value: float | None) -> float | None:
    """A number of a whole run, as far as it is known.

    No call takes no tokens: a total of 0 is of calls that did not report how many.
    """
    return None if kind == "tokens" and value == 0 else value


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
    if kind == "p":
        return p_value(value)
    if kind == "usd":
        return money(str(value))
    scale = 100 if kind == "rate" else 1
    exact = Decimal(repr(value)) * scale
    never = [] if apart_from is None else [Decimal(repr(apart_from)) * scale]
    if kind in ("rate", "score"):
        never += [Decimal(0), Decimal(scale)]  # "100.0 %" is for all of them, and "0.0 %" for none
    shown = _fixed(exact, DECIMALS[kind], never) + _UNITS.get(kind, "")
    return shown if n is None else f"{shown} (n = {n:,})"


def limit(kind: Kind, value: float) -> str:
    """A gate's limit, without decimals that say nothing: `85 %`, `0.80`, `10,000 ms`."""
    if kind == "usd":
        return money(str(value))
    exact = Decimal(repr(value)) * (100 if kind == "rate" else 1)
    least = 2 if kind == "score" else 0
    shown = next(text for d in range(least, 10) if _number(text := _places(exact, d)) == exact or d == 9)
    return shown + _UNITS.get(kind, "")


def interval(kind: Kind, found: Interval | None, *, bare: bool = False) -> str:
    """`0.7910 to 0.8740 (95 % confidence)`; `bare` leaves the confidence out."""
    if found is None:
        return nothing("not computed")
    if found.low is None and found.high is None:
        return nothing(REASONS.get(found.reason or "", found.reason or "can't be computed"))
    shown = bounds(kind, found.low, found.high)
    return shown if bare else f"{shown} ({limit('rate', found.confidence)} confidence)"


def bounds(kind: Kind, low: float | None, high: float | None) -> str:
    """`0.7910 to 0.8740`, `from 12 ms`, `up to 3.2 %`, or a dash."""
    if low is None:
        return nothing() if high is None else f"up to {show(kind, high)}"
    return f"from {show(kind, low)}" if high is None else f"{show(kind, low)} to {show(kind, high)}"


def signed(value: float | None, kind: Kind = "score") -> str:
    """`+0.0700`, `−0.0120`, `0.0000`; a score is never rounded onto 0."""
    if value is None:
        return nothing()
    shown = show(kind, abs(value))
    return shown if not value else f"{'+' if value > 0 else _MINUS}{shown}"


def points(found: Difference) -> str:
    """`0.2 points`: how far a difference of scores from 0 to 1 may lie from 0, either way."""
    reach = 100 * max(abs(found.low or 0.0), abs(found.high or 0.0))
    digits = 1 if reach >= 0.05 else 4
    return f"{Decimal(repr(reach)):.{digits}f} points"


def p_value(p: float | None) -> str:
    """`0.118`; `< 0.001` for what is smaller, since no test here is that exact."""
    if p is None:
        return nothing()
    return "< 0.001" if p < 0.001 else _places(Decimal(repr(p)), DECIMALS["p"])


def p_equals(p: float | None) -> str:
    """`p = 0.118`, `p < 0.001`."""
    shown = p_value(p)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def difference_interval(found: Difference, kind: Kind = "score") -> str:
    """`−0.0067 to +0.1467`, or why there is none."""
    if found.low is None or found.high is None:
        return nothing(None if found.reason is None else NO_INTERVAL.get(found.reason, found.reason))
    return f"{signed(found.low, kind)} to {signed(found.high, kind)}"


def items_moved(found: Difference) -> str:
    """`4 lost, 11 won of 100`."""
    return f"{found.n_lost:,} lost, {found.n_won:,} won of {found.n:,}"


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


def about(seconds: int) -> str:
    """A stretch of time, as long as people need to know it: `45 s`, `5 min`, `1 h 15 min`, `3 days`."""
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours = seconds // 60, seconds // 3600
    if hours >= 48:
        return f"{hours // 24} days"
    rest = f" {minutes % 60} min" if hours and minutes % 60 else ""
    return f"{hours} h{rest}" if hours else f"{minutes} min"


def seconds(ms: int | None) -> str:
    """Milliseconds as decimal seconds, for JUnit: `1.234`; `0` where it was not measured."""
    return "0" if ms is None else f"{Decimal(ms) / 1000:.3f}"


def short_hash(digest: str | None) -> str:
    """The first twelve digits of a hash and an ellipsis, without `sha256:`; what is hardly longer stays whole."""
    if digest is None:
        return nothing("not known")
    digits = digest.removeprefix("sha256:")
    return digits if len(digits) <= 16 else f"{digits[:12]}…"


def short_model(model_id: str) -> str:
    """A model's id with the hash of its weights cut as `short_hash` does: `local/small@sha256:5a1395716f79…`."""
    return _WEIGHTS.sub(lambda found: f"sha256:{short_hash(found[1])}", model_id)


def _fixed(exact: Decimal, decimals: int, never: Sequence[Decimal]) -> str:
    """`exact` with the fewest decimals, from `decimals` on, that do not land on a value in `never` by rounding."""
    for places in range(decimals, MOST_DECIMALS + 1):
        text = _places(exact, places)
        if (shown := _number(text)) == exact or shown not in never:
            return text
    return f"{exact.normalize():,f}"


def _places(exact: Decimal, decimals: int) -> str:
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)
    return f"{rounded:,.{decimals}f}"


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))
