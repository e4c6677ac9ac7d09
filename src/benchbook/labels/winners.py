"""Winners of two answers, as judges and tables write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from benchbook.errors import InputError
from benchbook.evalsets.table_columns import is_missing, shown

Winner = Literal[0, 1, 2]
TIE: Winner = 0  # a verdict too: neither answer is better

# As judges and tables write them, without case, brackets and spaces. Letters and numbers name an answer, whatever place
# it was shown in; `first` and `second` could mean a place, and 0 either answer: they are refused.
_ANSWERS: tuple[tuple[str, Winner], ...] = (("1", 1), ("2", 2), ("a", 1), ("b", 2))
_BOTH_BAD = ("equallybad", "bothbad", "tiebothbad")
_SPELLINGS: dict[str, Winner] = {
    **{
        f"{prefix}{name}": winner
        for prefix in ("", "answer", "model", "assistant", "output", "response")
        for name, winner in _ANSWERS
    },
    "1.0": 1,
    "2.0": 2,
    **dict.fromkeys(
        (
            "tie", "ties", "tied", "draw", "drawn", "equal", "equallygood", "even", "same", "c", "0.5", "=", "both",
            "bothgood", "tiebothgood",
        ),
        TIE,
    ),
    **dict.fromkeys(_BOTH_BAD, TIE),
}  # fmt: skip
_IGNORED = re.compile(r"[\s_\[\](){}\"']+|(?<=[A-Za-z])-")


def winner_at(path: str | Path, line: int, field: str, value: Any) -> Winner | None:
    """The answer that won, whatever place it was shown in; None where nothing is said. Raises: InputError."""
    if is_missing(value) or value == "":
        return None
    winner = _SPELLINGS.get(_spelt(value))
    if winner is None:
        expected = "1 or 2, A or B, tie (or C, equal, 0.5), or nothing"
        raise InputError(path, line=line, field=field, found=shown(value), expected=expected)
    return winner


def says_both_bad(value: Any) -> bool:
    """True for a tie that says of both answers that they are bad."""
    return _spelt(value) in _BOTH_BAD


def _spelt(value: Any) -> str:
    known = isinstance(value, str | int | float) and not isinstance(value, bool)
    return _IGNORED.sub("", str(value)[:80]).casefold() if known else ""
