"""Ids that no item has, and what is said of one that only looks like an item's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from unicodedata import normalize

from benchbook.errors import InputError
from benchbook.text import looks_like, quoted

__all__ = ["KnownIds", "other_expected"]


class KnownIds:
    """The ids that there are, to be asked about others. `what` says whose they are."""

    def __init__(self, ids: Iterable[str], what: str = "the eval set's") -> None:
        self._ids = ids
        self._what = what
        self._by_look: dict[str, str] | None = None  # only where some id is none of them
        self._n = 0

    def unknown(self, path: str | Path, line: int | None, found: str, *, field: str = "item_id") -> InputError:
        """The error for an id that is none of them: what can't be seen in it is shown, and the item that was meant."""
        if self._by_look is None:
            self._by_look = {}
            for one in self._ids:
                self._n += 1
                self._by_look.setdefault(looks_like(one), one)
        meant = self._by_look.get(looks_like(found))
        if meant is None:
            expected = f"the id of one of {self._what} {self._n} items"
            return InputError(path, line=line, field=field, found=quoted(found), expected=expected)
        shown = quoted(found), quoted(meant)
        if normalize("NFC", shown[0]) == normalize("NFC", shown[1]):  # the same characters, composed in another way
            shown = ascii(found), ascii(meant)
        return InputError(path, line=line, field=field, found=f"found {shown[0]}; an item {shown[1]} is there")


def other_expected(path: str | Path, line: int | None, item_id: str, theirs: str, ours: str) -> InputError:
    """The error for a row that was made for another expected answer than its item has."""
    found = f"{quoted(theirs)} for {quoted(item_id)}"
    return InputError(
        path, line=line, field="expected", found=found, expected=f"{quoted(ours)}, as the eval set has it"
    )
