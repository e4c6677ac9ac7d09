r"""The part of an answer that is compared.

whole       all of it
last_line   the last line that is not blank
after       what follows the last such mark at a line's start, up to that line's end (SPEC A2, for any mark)
tag         inside the last `<tag>`, up to its `</tag>`, else to the end
boxed       inside the last `\boxed{…}` or `\fbox{…}` whose braces are balanced
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

PartName = Literal["whole", "last_line", "after", "tag", "boxed"]
Otherwise = Literal["whole", "nothing"]

PARTS: tuple[PartName, ...] = get_args(PartName)

# The part compared where the mark is missing. A2 takes the whole text; to ask for a tag or a box is to ask for form.
OTHERWISE: dict[PartName, Otherwise] = {"after": "whole", "tag": "nothing", "boxed": "nothing"}


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """`mark` is the text of `after` or the name of `tag`, else empty.

    `otherwise` says what is compared where the mark is missing: the whole answer, or nothing, which counts as no
    prediction. `whole` and `last_line` are always there.
    """

    name: PartName = "whole"
    mark: str = ""
    otherwise: Otherwise = "whole"


def part_of(answer: str, part: AnswerPart) -> str | None:
    """The part of an answer that is compared; None where it is not there, and nothing is compared instead."""
    found = _found(answer, part)
    if found is None and part.otherwise == "whole":
        return answer
    return found


def _found(answer: str, part: AnswerPart) -> str | None:
    match part.name:
        case "whole":
            return answer
        case "last_line":
            return next((line for line in reversed(answer.splitlines()) if line.strip()), "")
        case "after":
            return _after(answer, part.mark)
        case "tag":
            return _inside_tag(answer, part.mark)
        case "boxed":
            return _inside_box(answer)


def _after(answer: str, mark: str) -> str | None:
    wanted = mark.casefold()
    for line in reversed(answer.splitlines()):
        rest = _without(line.lstrip(), wanted)
        if rest is not None:
            return rest
    return None


def _without(line: str, folded_mark: str) -> str | None:
    """`line` after the mark that it starts with, in any case; None where it starts with something else.

    Folding may make a text longer (`ß` is `ss`), so the mark's length in the line is found out, not assumed.
    """
    folded = ""
    for place, character in enumerate(line):
        folded += character.casefold()
        if folded == folded_mark:
            return line[place + 1 :]
        if not folded_mark.startswith(folded):
            return None
    return None


@lru_cache(maxsize=64)
def _tags(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    escaped = re.escape(name)
    flags = re.IGNORECASE | re.ASCII
    return re.compile(f"<{escaped}>", flags), re.compile(f"</{escaped}>", flags)


def _inside_tag(answer: str, name: str) -> str | None:
    opening, closing = _tags(name)
    start = None
    for start in opening.finditer(answer):  # noqa: B007 - the last one is wanted
        pass
    if start is None:
        return None
    end = closing.search(answer, start.end())
    return answer[start.end() : end.start() if end else len(answer)]


# A backslash takes the next character with it, so that `\{` is no brace.
_BRACES = re.compile(r"\\(?:boxed|fbox)\s*+\{|\\.|[{}]", re.DOTALL)


def _inside_box(answer: str) -> str | None:
    """The text in a box; of boxes within boxes, the innermost: it opens last. One pass, however many stay open."""
    opened: list[int | None] = []
    start, end = -1, -1
    for found in _BRACES.finditer(answer):
        piece = found.group()
        if piece == "}":
            begun = opened.pop() if opened else None
            if begun is not None and begun > start:
                start, end = begun, found.start()
        elif piece.endswith("{") and piece != "\\{":
            opened.append(None if piece == "{" else found.end())
    return answer[start:end] if start >= 0 else None
