"""Two answers as one text, as a judge of pairs is shown them; and that text taken apart again.

Each answer stands between marks that are longer than anything like them in either, so that no answer can end early, or
begin another.
"""

from __future__ import annotations

import re

_SIGN, _LEAST = "=", 5
_RUNS = re.compile(f"{_SIGN}+")
_BEGINS = re.compile(rf"({_SIGN}{{{_LEAST},}}) ANSWER 1 \1\n")


def shown_pair(first: str, second: str) -> str:
    """The text in which a judge sees `first` before `second`."""
    longest = max((len(run) for run in _RUNS.findall(first + "\n" + second)), default=0)
    mark = _SIGN * max(_LEAST, longest + 1)
    return f"{_title(mark, 'ANSWER 1')}\n{first}\n{_title(mark, 'ANSWER 2')}\n{second}\n{_title(mark, 'END')}"


def pair_in(text: str) -> tuple[str, str] | None:
    """The two answers in a text that `shown_pair` made; None for any other text."""
    begins = _BEGINS.match(text)
    if begins is None:
        return None
    mark, ends = begins[1], f"\n{_title(begins[1], 'END')}"
    answers = text[begins.end() :].removesuffix(ends).split(f"\n{_title(mark, 'ANSWER 2')}\n")
    if len(answers) != 2 or shown_pair(*answers) != text:
        return None
    return answers[0], answers[1]


def _title(mark: str, words: str) -> str:
    return f"{mark} {words} {mark}"
