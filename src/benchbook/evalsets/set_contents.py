"""What an eval set has and lacks as a whole: who will see a reference, a context, and columns that nobody reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from benchbook.evalsets.field_names import ALIASES, FIELD_NAMES, FIELD_OF, field_meant
from benchbook.evalsets.prompts import Repeats, near_form, question, stands_in
from benchbook.text import quoted, shorten

__all__ = ["SHOWN_TO_JUDGES", "SetContents", "SetTally", "doubtful", "lacking", "unread"]


_MOST_NAMES = 100  # of columns that nobody reads; a set with more of them has ids for names
_LACKED = {
    "expected_answer": "a reference: the judge does not see what a right answer is",
    "context": "a context: the judge does not see what an answer should be faithful to",
}


SHOWN_TO_JUDGES = tuple(_LACKED)


class SetContents(msgspec.Struct, frozen=True, kw_only=True):
    """`fields` counts the items that have each of our fields, `unread` those that have each other column.

    `n_prompts_again` items ask what an earlier one asks, but for case, white space and punctuation; the prompt of
    `n_answers_in_prompt` holds the expected answer.
    """

    n_items: int
    fields: dict[str, int]
    unread: dict[str, int]
    n_prompts_again: int = 0
    n_answers_in_prompt: int = 0


class SetTally:
    """Counts while a set's lines go by. `texts`: looks into prompts, too, as `evalset validate` does line by line."""

    def __init__(self, *, texts: bool = True) -> None:
        self._texts = texts
        self._questions = Repeats()
        self._n_answers_in_prompt = 0
        self._n = 0
        self._fields = dict.fromkeys(FIELD_NAMES, 0)
        self._unread: dict[str, int] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """`row` has the fields under the file's own names."""
        self._n += 1
        known: dict[str, Any] = {}
        for name, value in row.items():
            if value is None:  # as if it were not there
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
    """`(column, what to say of it)` for each that nobody reads, and that is likely to hold what its items lack."""
    for name, n in contents.unread.items():
        field = field_meant(name)
        if field in (None, "id", "prompt"):  # without these an item is at fault, and it is said there
            continue
        if contents.fields[field] + n <= contents.n_items:
            have = "1 item has" if n == 1 else f"{n:,} items have"
            yield name, f"nobody reads the column {quoted(name, 40)}, which {have}; did you mean {_called(field)}?"


def lacking(contents: SetContents, judge_sees: Collection[str] = SHOWN_TO_JUDGES) -> str | None:
    """What a judge will not see, since no item has it; None where some item has each field that `judge_sees`."""
    lacks = [word for field, word in _LACKED.items() if field in judge_sees and not contents.fields[field]]
    if not lacks:
        return None
    if len(lacks) == 2:
        return "no item has a reference or a context: the judge sees the prompt and the answer alone"
    (what,) = lacks
    return f"no item has {what}"


def doubtful(contents: SetContents) -> Iterator[str]:
    """What `evalset validate` warns of line by line, counted."""
    n_items = contents.n_items
    if n := contents.n_prompts_again:
        ask = "asks" if n == 1 else "ask"
        yield f"{n:,} of {n_items:,} items {ask} what an earlier one asks, but for case, white space and punctuation"
    if n := contents.n_answers_in_prompt:
        yield f"{n:,} of {n_items:,} prompts {'holds' if n == 1 else 'hold'} the expected answer"


def _called(field: str) -> str:
    names = ALIASES.get(field, (field,))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
