"""The samples as CSV (RFC 4180, UTF-8 without a byte-order mark), every text whole.

A text is always in quotes and a number never, so that an empty text (`""`) and a null (nothing) are told apart. A text
that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.text import visible

__all__ = ["csv_report", "inert"]


_RUN = frozenset("=+-@")
_PASSED_OVER = frozenset("'\"`‘’“”„«»")
_LINE_END = "\r\n"  # RFC 4180, whatever the platform


def csv_report(rows: Iterable[RubricRow], row_type: type[RubricRow] = RubricRow) -> Iterator[str]:
    """The lines, the header first. `judge_replies` is a column of JSON, `fail_reasons` a list with `; `."""
    columns = row_type.__struct_fields__
    yield ",".join(_quoted(name) for name in columns) + _LINE_END
    for row in rows:
        yield ",".join(_cell(getattr(row, name)) for name in columns) + _LINE_END


def inert(words: str) -> str:
    """`words`, with an apostrophe in front where a spreadsheet might take them for a formula.

    It looks behind white space, quotes and invisible characters, and at full-width forms too.
    """
    if words[:1] in ("\t", "\r"):
        return f"'{words}"
    for character in words:
        if character.isspace() or character in _PASSED_OVER or unicodedata.category(character) == "Cf":
            continue
        runs = character == "−" or unicodedata.normalize("NFKC", character) in _RUN
        return f"'{words}" if runs else words
    return words


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if all(isinstance(part, str) for part in value):
        return _quoted("; ".join(value))
    return _quoted(canonical_json(msgspec.to_builtins(value)).decode("utf-8"))


def _quoted(words: str) -> str:
    return '"' + visible(inert(words)).replace('"', '""') + '"'
