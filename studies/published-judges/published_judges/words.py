"""Figures as the page writes them: never a share without its n and its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
NOTHING = "–"


def percent(share: float) -> str:
    """`3.9`; what is not nothing is at least `< 0.1`, and what is not all at most `> 99.9`."""
    if 0 < share < 0.0005 or 0.9995 <= share < 1:
        return "< 0.1" if share < 0.5 else "> 99.9"
    return f"{100 * share:.1f}"


def rate(found: Json) -> str:
    """`3.9 % (66 of 1,684; 2.4 to 6.0)`."""
    if not found["n"]:
        return NOTHING
    between = f"{percent(found['low'])} to {percent(found['high'])}"
    return f"{percent(found['share'])} % ({found['k']:,} of {found['n']:,}; {between})"


def rate_in_table(found: Json) -> str:
    """`66 of 1,684: 3.9 % (2.4 to 6.0)`; of fewer than ten the counts alone."""
    if not found["n"]:
        return NOTHING
    counts = f"{found['k']:,} of {found['n']:,}"
    if found["n"] < 10:
        return counts
    return f"{counts}: {percent(found['share'])} % ({percent(found['low'])} to {percent(found['high'])})"


def mean(found: Json, digits: int = 3) -> str:
    """`0.284 (0.282 to 0.286)`."""
    if found["mean"] is None or found["low"] is None:
        return NOTHING
    return f"{found['mean']:.{digits}f} ({found['low']:.{digits}f} to {found['high']:.{digits}f})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table of Markdown; from column `left` on, cells stand at the right."""
    rule = ["---" if place < left else "---:" for place in range(len(head))]
    return "\n".join([_row(head), _row(rule), *(_row([cell(one) for one in row]) for row in rows)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def cell(words: str) -> str:
    """Names of judges and models are their authors': in a cell they are text, and nothing else."""
    return "".join(f"\\{one}" if one in "|_*<>[`\\" else one for one in words)
