"""What is said first of an eval set that may not be what it looks like: in runs as in `evalset validate`."""

from __future__ import annotations

import msgspec

from benchbook.canonical import ready
from benchbook.evalsets.set_contents import SetContents, lacking, unread
from benchbook.records.facts import RunStarted

__all__ = ["contents_words", "set_warnings"]


def contents_words(contents: SetContents | None, *, judged: bool) -> list[str]:
    """Columns that nobody reads though a field of ours is lacking, and what judges will not see, if any judge."""
    if contents is None:
        return []
    found = [reason for _, reason in unread(contents)]
    if judged and (unseen := lacking(contents)) is not None:
        found.append(unseen)
    return [_sentence(one) for one in found]


def set_warnings(started: RunStarted, *, judged: bool) -> list[str]:
    """The same by a record's first fact; nothing of one that was begun before it was noted."""
    noted = started.identity.get("evalset_contents")
    return [] if noted is None else contents_words(msgspec.convert(noted, ready(SetContents)), judged=judged)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")
