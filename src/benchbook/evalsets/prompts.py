"""Prompts that are nearly the same, and answers that their prompts give away (SPEC A10)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from array import array
from collections.abc import Iterator
from typing import Any

import msgspec

__all__ = ["Repeats", "near_form", "question", "stands_in"]


# What reads the same with and without it. Operators, signs and brackets are not among them: 5 - 3 is not 5 + 3. A `!`
# or `'` is kept after a digit, where it is a factorial or a foot.
_IDLE = r""".,;:?"`’‘“”„«»–—…¡¿。、，；：？！"""
_IDLE_PUNCTUATION = str.maketrans(dict.fromkeys(_IDLE, " "))
_SIGNS_AFTER_WORDS = re.compile(r"(?<!\d)[!']")

# From here on (CJK radicals) scripts that put no white space between words.
_FIRST_UNSPACED = "\u2e80"


def near_form(prompt: str) -> str:
    """A prompt without what makes no difference: case, punctuation, white space, Unicode forms (NFKC)."""
    text = prompt if prompt.isascii() else unicodedata.normalize("NFKC", prompt)
    text = text.casefold().translate(_IDLE_PUNCTUATION)
    if "!" in text or "'" in text:
        text = _SIGNS_AFTER_WORDS.sub(" ", text)
    return " ".join(text.split())


def question(prompt: str, context: Any) -> str:
    """A prompt, as it is or in its near form, with its context: the same about another text is another question."""
    return prompt if context is None else f"{prompt}\0{msgspec.json.encode(context, order='sorted').decode()}"


def stands_in(answer: str, prompt: str) -> bool:
    """Whether the answer stands in the prompt as words of its own, white space at its ends and case aside.

    4 stands in `Is it 4 or 5?`; it does not in 14, 4.5, 1,400 or -4.
    """
    wanted, text = answer.strip().casefold(), prompt.casefold()
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        if not (_joined_before(text, start) or _joined_after(text, end)):
            return True
        start = text.find(wanted, start + 1)
    return False


def _joined_before(text: str, start: int) -> bool:
    """Whether the word or number that starts here really starts earlier."""
    if not start:
        return False
    before, first = text[start - 1], text[start]
    if _one_word(before, first):
        return True
    if not first.isdigit():
        return False
    earlier = text[start - 2] if start > 1 else " "
    is_sign = before in "-\u2212" and not (earlier.isalnum() or earlier in ")]")
    return is_sign or (before in ".," and earlier.isdigit())


def _joined_after(text: str, end: int) -> bool:
    if end == len(text):
        return False
    last, after = text[end - 1], text[end]
    if _one_word(last, after):
        return True
    return last.isdigit() and after in ".," and text[end + 1 : end + 2].isdigit()


def _one_word(left: str, right: str) -> bool:
    return all((char.isalnum() or char == "_") and char < _FIRST_UNSPACED for char in (left, right))


class Repeats:
    """Notes the hash of each text first; then only lines whose hash came twice are looked at again, and exactly."""

    def __init__(self) -> None:
        self._hashes = array("q")
        self._lines = array("I")
        self._first: dict[bytes, int] = {}  # by digest: a set in which every text comes twice may have long ones

    def note(self, text: str, line: int) -> None:
        """First pass."""
        self._hashes.append(hash(text))
        self._lines.append(line)

    def suspects(self) -> Iterator[int]:
        """The lines to look at again; what was noted is forgotten."""
        import numpy as np

        hashes = np.array(self._hashes, dtype=np.int64)
        lines = np.array(self._lines, dtype=np.uint32)
        self._hashes, self._lines = array("q"), array("I")
        order = np.argsort(hashes, kind="stable")
        twice = hashes[order][1:] == hashes[order][:-1]
        again = np.zeros(len(hashes), dtype=bool)
        again[order[1:]] |= twice
        again[order[:-1]] |= twice
        return iter(lines[again].tolist())

    def n_again(self) -> int:
        """How many of the texts an earlier one is already, by what was noted alone."""
        import numpy as np

        return len(self._hashes) - len(np.unique(np.array(self._hashes, dtype=np.int64)))

    def earlier(self, text: str, line: int) -> int | None:
        """Second pass, the suspects in their order: the first line that has this very text; None for the first."""
        first = self._first.setdefault(_digest(text), line)
        return None if first == line else first


def _digest(text: str) -> bytes:
    """16 bytes, in which two texts do not meet by chance."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
