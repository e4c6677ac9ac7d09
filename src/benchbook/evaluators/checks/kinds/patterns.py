"""The kind `regex`: a pattern that matches somewhere, in time linear in the text.

Patterns are those of Rust's crate `regex`, through Polars, which Benchbook has anyway: no backtracking, so that no text
can make a pattern slow, and what would need it (look-around, backreferences) is refused when a spec is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from benchbook.evaluators.checks.kinds.kind import Kind, Reader
from benchbook.evaluators.checks.result import CheckResult, hit, miss
from benchbook.specs.fields import WrongValueError, read_text
from benchbook.text import quoted, storable

__all__ = ["LONGEST_PATTERN", "Regex", "first_match", "read_pattern"]

LONGEST_PATTERN = 2000
_NEEDS_LINEAR = re.compile(r"look-around|backreferences")


def first_match(pattern: str, text: str) -> str | None:
    """What the pattern matches first; None where it matches nowhere. A lone surrogate is matched as its escape.

    Raises: ValueError for what is no pattern, with the reason.
    """
    import polars as pl  # starting is a feature

    try:
        found: str | None = pl.Series([storable(text)]).str.extract(storable(pattern), 0)[0]
    except pl.exceptions.ComputeError as error:
        raise ValueError(_why(str(error))) from None
    return found


def _why(message: str) -> str:
    """The reason in Polars' message, which shows the pattern too, and where in it the fault is."""
    said = message.split("\n\n")[0].removeprefix("regex error: ")
    reason = said.rpartition("\nerror: ")[2]
    if _NEEDS_LINEAR.search(reason):
        return f"{reason}: no text may make a pattern slow"
    return " ".join(reason.split())


def read_pattern(value: Any) -> str:
    pattern = read_text(value)
    if len(pattern) > LONGEST_PATTERN:
        raise WrongValueError(f"{len(pattern)} characters", f"a pattern of at most {LONGEST_PATTERN}")
    try:
        first_match(pattern, "")
    except ValueError as error:
        raise WrongValueError(f"{quoted(pattern)} ({error})", "a regular expression of Rust's crate regex") from None
    return pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex(Kind):
    """The pattern matches somewhere in the compared part. Case counts, but where the pattern says `(?i)`."""

    SETTINGS: ClassVar[Mapping[str, Reader]] = {"pattern": read_pattern}
    NEEDED: ClassVar[tuple[str, ...]] = ("pattern",)

    pattern: str

    def judge(self, answer: str, _item: Mapping[str, Any], /) -> CheckResult:
        found = first_match(self.pattern, answer)
        return miss("no_match", answer) if found is None else hit(found)
