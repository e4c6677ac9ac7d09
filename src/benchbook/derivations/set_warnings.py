"""What is said first of an eval set that may not be what it looks like: in runs as in `evalset validate`."""

from __future__ import annotations

import msgspec

from benchbook.canonical import ready
from benchbook.derivations.plan import candidate_plan_of
from benchbook.evalsets.set_contents import SetContents, doubtful, lacking, unread
from benchbook.evalsets.set_parts import SetPart
from benchbook.records.facts import RunStarted

__all__ = ["contents_words", "part_words", "set_warnings"]


def contents_words(contents: SetContents | None, *, judged: bool) -> tuple[list[str], list[str]]:
    """What is to stand before anything else (columns that nobody reads though a field of ours is lacking, references
    that judges will not see), and what may come after it (contexts that they will not see, doubtful prompts)."""
    if contents is None:
        return [], []
    first, later = [reason for _, reason in unread(contents)], list(doubtful(contents))
    if judged and (unseen := lacking(contents)) is not None:
        # Contexts alone are lacking in many a set, and by no mistake.
        if contents.fields["expected_answer"]:
            later.insert(0, unseen)
        else:
            first.append(unseen)
    return [_sentence(one) for one in first], [_sentence(one) for one in later]


def set_warnings(started: RunStarted, *, judged: bool) -> tuple[list[str], list[str]]:
    """The same by a record's first fact, a part that was asked before all; nothing where it does not say."""
    part = candidate_plan_of(started).part
    words = [] if part is msgspec.UNSET else [part_words(part)]
    noted = started.identity.get("evalset_contents")
    contents = None if noted is None else msgspec.convert(noted, ready(SetContents))
    first, later = contents_words(contents, judged=judged)
    return words + first, later


def part_words(part: SetPart) -> str:
    """What a reader of a part's numbers must know."""
    return f"Only a part of the eval set was asked, {part.words}. It is no benchmark, and no run of the whole set."


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")
