"""The contents of an eval set as a whole: references and contexts, unread columns, prompts that are nearly the same,
and answers that their prompts give away (SPEC A10).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.evalsets.items import ALIASES, FIELD_NAMES, FIELD_OF, field_meant
from benchbook.spilled import SpilledNumbers
from benchbook.text import quoted, shorten

if TYPE_CHECKING:
    import numpy as np

# Punctuation that makes no difference. Operators, signs and brackets are not among it: 5 - 3 is not 5 + 3. A `!` or
# `'` is kept after a digit, where it is a factorial or a foot.
_IDLE = r""".,;:?"`’‘“”„«»–—…¡¿。、，；：？！"""
_IDLE_PUNCTUATION = str.maketrans(dict.fromkeys(_IDLE, " "))
_SIGNS_AFTER_WORDS = re.compile(r"(?<!\d)[!']")

# From here on (CJK radicals), scripts put no white space between words.
_FIRST_UNSPACED = "\u2e80"


def near_form(prompt: str) -> str:
    """A prompt without differences of case, punctuation, white space and Unicode forms (NFKC)."""
    text = prompt if prompt.isascii() else unicodedata.normalize("NFKC", prompt)
    text = text.casefold().translate(_IDLE_PUNCTUATION)
    if "!" in text or "'" in text:
        text = _SIGNS_AFTER_WORDS.sub(" ", text)
    return " ".join(text.split())


def question(prompt: str, context: Any) -> str:
    """A prompt (as it is, or in its near form) with its context: on another text it is another question."""
    return prompt if context is None else f"{prompt}\0{msgspec.json.encode(context, order='sorted').decode()}"


def stands_in(answer: str, prompt: str) -> bool:
    """True if the answer stands in the prompt as whole words, case and white space at its ends aside.

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
    """True if the word or number at this place really starts earlier."""
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


class RepeatedTexts:
    """Finds repeated texts in two passes: it notes the hash of each, then compares only lines whose hash came twice."""

    def __init__(self) -> None:
        self._hashes = array("q")
        self._lines = array("Q")
        self._earlier = SpilledNumbers(), SpilledNumbers()  # hashes, and the line of each
        self._first: dict[bytes, int] = {}  # by digest: a set in which every text comes twice may have long ones

    def note(self, text: str, line: int) -> None:
        """First pass: note a text."""
        self.note_all((text,), line)

    def note_all(self, texts: Sequence[str], first_line: int) -> None:
        """First pass: note the texts of lines that follow each other."""
        self._hashes.extend(map(hash, texts))
        self._lines.extend(range(first_line, first_line + len(texts)))
        if len(self._hashes) >= _NOTED_AT_ONCE:
            self._put_by()

    def _put_by(self) -> None:
        for numbers, noted in zip(self._earlier, (self._hashes, self._lines), strict=True):
            numbers.extend(noted)
        self._hashes, self._lines = array("q"), array("Q")

    def suspects(self) -> Iterator[int]:
        """The lines to look at again, in their order; the notes are dropped."""
        import numpy as np

        found = [lines[_are_again(hashes)] for hashes, lines in self._by_hash()]
        self._earlier = SpilledNumbers(), SpilledNumbers()
        return iter(np.sort(np.concatenate(found)).tolist() if found else [])

    def n_again(self) -> int:
        """The number of texts that repeat an earlier one, by the hashes alone."""
        import numpy as np

        return sum(len(hashes) - len(np.unique(hashes)) for hashes, _ in self._by_hash())

    def _by_hash(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All notes, some at a time: those with equal hashes come together. Hashes, and the line of each."""
        import numpy as np

        self._put_by()
        all_hashes, all_lines = self._earlier
        n_parts = len(all_hashes) // _NOTED_AT_ONCE + 1
        for part in range(n_parts):
            hashes, lines = [], []
            for start in range(0, len(all_hashes), _NOTED_AT_ONCE):
                end = start + _NOTED_AT_ONCE
                some = np.frombuffer(all_hashes.some(start, end), np.uint64)
                are_of_part = some % np.uint64(n_parts) == part
                hashes.append(some[are_of_part])
                lines.append(np.frombuffer(all_lines.some(start, end), np.uint64)[are_of_part])
            if hashes:
                yield np.concatenate(hashes), np.concatenate(lines)

    def earlier(self, text: str, line: int) -> int | None:
        """Second pass, over the suspects in order: the first line with this very text; None if it is this one."""
        first = self._first.setdefault(_digest(text), line)
        return None if first == line else first


_NOTED_AT_ONCE = 1 << 19


def _are_again(hashes: np.ndarray) -> np.ndarray:
    """Of each hash, whether it came twice."""
    import numpy as np

    order = np.argsort(hashes, kind="stable")
    twice = hashes[order][1:] == hashes[order][:-1]
    again = np.zeros(len(hashes), dtype=bool)
    again[order[1:]] |= twice
    again[order[:-1]] |= twice
    return again


def _digest(text: str) -> bytes:
    """A hash of 16 bytes, in which two texts do not collide by chance."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_MOST_NAMES = 100  # of unread columns; a set with more of them uses ids as names
_LACKED = {
    "expected_answer": "a reference: the judge does not see what a right answer is",
    "context": "a context: the judge does not see what an answer should be faithful to",
}


SHOWN_TO_JUDGES = tuple(_LACKED)


class SetContents(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a set. `fields` counts the items with each of our fields, `unread` those with any other column.

    `n_prompts_again` items repeat an earlier question, except for case, white space and punctuation; in
    `n_answers_in_prompt` the prompt holds the expected answer.
    """

    n_items: int
    fields: dict[str, int]
    unread: dict[str, int]
    n_prompts_again: int = 0
    n_answers_in_prompt: int = 0


class SetTally:
    """Counts while a set's lines go by. `texts`: prompts are examined too, as `evalset validate` does line by line."""

    def __init__(self, *, texts: bool = True) -> None:
        self._texts = texts
        self._questions = RepeatedTexts()
        self._n_answers_in_prompt = 0
        self._n = 0
        self._fields = dict.fromkeys(FIELD_NAMES, 0)
        self._unread: dict[str, int] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row, whose fields have the file's own names."""
        self._n += 1
        known: dict[str, Any] = {}
        for name, value in row.items():
            if value is None:  # counts as missing
                continue
            if (field := FIELD_OF.get(name)) is not None:
                self._fields[field] += 1
                known[field] = value
            elif (short := shorten(name, 100)) in self._unread or len(self._unread) < _MOST_NAMES:
                self._unread[short] = self._unread.get(short, 0) + 1
        if self._texts and isinstance(prompt := known.get("prompt"), str):
            self._questions.note(question(near_form(prompt), known.get("context")), self._n)
            answer = known.get("expected_answer")
            self._n_answers_in_prompt += isinstance(answer, str) and stands_in(answer, prompt)

    def contents(self) -> SetContents:
        return SetContents(
            n_items=self._n,
            fields=self._fields,
            unread=dict(sorted(self._unread.items())),
            n_prompts_again=self._questions.n_again() if self._texts else 0,
            n_answers_in_prompt=self._n_answers_in_prompt,
        )


def unread(contents: SetContents) -> Iterator[tuple[str, str]]:
    """`(column, words)` for each unread column that is likely to hold a field which its items lack."""
    for name, n in contents.unread.items():
        field = field_meant(name)
        if field in (None, "id", "prompt"):  # without these an item is faulty, which is reported there
            continue
        if contents.fields[field] + n <= contents.n_items:
            have = "1 item has" if n == 1 else f"{n:,} items have"
            yield name, f"nobody reads the column {quoted(name, 40)}, which {have}; did you mean {_called(field)}?"


def lacking(contents: SetContents, judge_sees: Collection[str] = SHOWN_TO_JUDGES) -> str | None:
    """The fields among `judge_sees` that no item has, in words; None if some item has each."""
    lacks = [word for field, word in _LACKED.items() if field in judge_sees and not contents.fields[field]]
    if not lacks:
        return None
    if len(lacks) == 2:
        return "no item has a reference or a context: the judge sees the prompt and the answer alone"
    (what,) = lacks
    return f"no item has {what}"


def doubtful(contents: SetContents) -> Iterator[str]:
    """The warnings that `evalset validate` gives line by line, as counts in words."""
    n_items = contents.n_items
    if n := contents.n_prompts_again:
        ask = "asks" if n == 1 else "ask"
        yield f"{n:,} of {n_items:,} items {ask} what an earlier one asks, but for case, white space and punctuation"
    if n := contents.n_answers_in_prompt:
        yield f"{n:,} of {n_items:,} prompts {'holds' if n == 1 else 'hold'} the expected answer"


def _called(field: str) -> str:
    names = ALIASES.get(field, (field,))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
