"""What is said first of an eval set that may not be what it looks like: in runs as in `evalset validate`."""

from __future__ import annotations

import msgspec

from benchbook.canonical import ready
from benchbook.derivations.plan import candidate_plan_of
from benchbook.evalsets.set_contents import SetContents, doubtful, lacking, unread
from benchbook.evalsets.set_parts import SetPart
from benchbook.records.facts import RunStarted

__all__ = ["contents_words", "part_words", "set_warnings"]


def contents_words(contents: SetContents | None, *, judged: bool) -> list[str]:
    """Columns that nobody reads though a field of ours is lacking, what judges will not see, if any judge, and what
    is doubtful of prompts."""
    if contents is None:
        return []
    found = [reason for _, reason in unread(contents)]
    if judged and (unseen := lacking(contents)) is not None:
        found.append(unseen)
    found += doubtful(contents)
    return [_sentence(one) for one in found]


def set_warnings(started: RunStarted, *, judged: bool) -> tuple[list[str], list[str]]:
    """The same by a record's first fact: what is to stand before anything else, and what may come after it.

    Nothing of a record that was begun before it was noted.
    """
    part = candidate_plan_of(started).part
    words = [] if part is msgspec.UNSET else [part_words(part)]
    noted = started.identity.get("evalset_contents")
    if noted is None:
        return words, []
    contents = msgspec.convert(noted, ready(SetContents))
    found = contents_words(contents, judged=judged)
    # Contexts alone are lacking in many a set, and by no mistake.
    n_first = sum(1 for _ in unread(contents)) + (judged and not contents.fields["expected_answer"])
    return words + found[:n_first], found[n_first:]


def part_words(part: SetPart) -> str:
    """What a reader of a part's numbers must know."""
    return f"Only a part of the eval set was asked, {part.words}. It is no benchmark, and no run of the whole set."


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")
