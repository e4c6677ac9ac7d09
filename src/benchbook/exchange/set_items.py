"""The items of a log as the eval set has them that was asked: samples are joined with them by id.

What the set says counts: its prompts, right answers, contexts and groups. Where the log says otherwise, that is told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from benchbook.errors import InputError
from benchbook.evalsets import EvalSet, Item
from benchbook.evalsets.items import KnownIds
from benchbook.exchange.first_look import LookedItems, item_id
from benchbook.exchange.log import LogSample
from benchbook.text import plural, quoted, storable

_REPEATED = re.compile(r"(.+)#([1-9][0-9]{0,3})", re.DOTALL)  # as the requests of a batch name repeats: `item#2`
_MOST_NAMED = 3


class _Differing:
    """Samples of which the log says something else than the set: how many, and the first one's words."""

    def __init__(self) -> None:
        self.n = 0
        self._first = ""

    def add(self, item: Item, theirs: str, ours: str) -> None:
        if not self.n:
            self._first = f"of {quoted(item.id)} {quoted(theirs)}, and the set {quoted(ours)}"
        self.n += 1

    def words(self, what: str) -> Iterator[str]:
        if self.n:
            which = plural(self.n, "sample")
            yield f"{which}: the log has another {what} than the eval set, which counts; {self._first}."


class SetItems(LookedItems):
    """The items of an eval set, and what a log's samples say of them."""

    def __init__(self, evalset: EvalSet) -> None:
        self._evalset = evalset
        self._places = {item.id: place for place, item in enumerate(evalset)}
        self._unknown: list[str] = []  # the first few
        self._n_unknown = 0
        self._n_silent = self._n_within = 0  # samples that don't say what was asked, or asked it within a longer text
        self._prompts, self._answers = _Differing(), _Differing()

    @property
    def n(self) -> int:
        return len(self._places)

    def add(self, sample: LogSample) -> tuple[int, int] | None:
        found = self._found(sample)
        if found is None:
            self._n_unknown += 1
            if len(self._unknown) <= _MOST_NAMED:
                self._unknown.append(item_id(sample))
            return None
        self._hold(sample, self._evalset[found[0]])
        return found

    def place_of(self, sample: LogSample) -> tuple[int, int]:
        found = self._found(sample)
        assert found is not None  # noqa: S101 - `check` refuses a log that has another
        return found

    def check(self, path: str | Path) -> None:
        """Check that the set has every id of the log. Raises: InputError naming the log and some that it has not."""
        if not self._unknown:
            return
        first, *others = self._unknown
        error = KnownIds(self._places).unknown(path, None, first, field="id")
        if not others:
            raise error
        names = ", ".join(map(quoted, others)) + (", …" if self._n_unknown > len(self._unknown) else "")
        more = f"{error.found}; {plural(self._n_unknown - 1, 'further sample')} of no item: {names}"
        raise InputError(path, field="id", found=more, expected=error.expected)

    def asks_another_text(self, sample: LogSample) -> bool:
        asked = storable(sample.prompt).strip()
        return bool(asked) and asked != self._evalset[self.place_of(sample)[0]].prompt.strip()

    def notes(self, held: Collection[tuple[int, int]]) -> Iterator[str]:
        there = {place for place, _ in held}
        if lacking := self.n - len(there):
            first = (item.id for place, item in enumerate(self._evalset) if place not in there)
            names = ", ".join(quoted(name) for name, _ in zip(first, range(_MOST_NAMED), strict=False))
            dots = ", …" if lacking > _MOST_NAMED else ""
            which = f"{lacking:,} of the eval set's {plural(self.n, 'item')}"
            yield f"{which} {'is' if lacking == 1 else 'are'} not in the log, and unanswered: {names}{dots}."
        yield from self._prompts.words("prompt")
        yield from self._answers.words("right answer")
        if n := self._n_within:
            yield f"{plural(n, 'sample')}: the item's prompt was asked within a longer text, which the log has."
        if n := self._n_silent:
            yield f"{plural(n, 'sample')}: the log does not say what was asked; the prompt is the eval set's."

    def _found(self, sample: LogSample) -> tuple[int, int] | None:
        name = item_id(sample)
        place = self._places.get(name)
        if place is not None:
            return place, sample.repeat
        again = None if sample.repeat else _REPEATED.fullmatch(name)
        place = self._places.get(again[1]) if again is not None else None
        return None if again is None or place is None else (place, int(again[2]) - 1)

    def _hold(self, sample: LogSample, item: Item) -> None:
        asked = storable(sample.prompt)
        if not asked.strip():
            self._n_silent += 1
        elif asked.strip() != item.prompt.strip():
            if item.prompt.strip() in asked:
                self._n_within += 1
            else:
                self._prompts.add(item, asked, item.prompt)
        answers = [storable(one) for one in sample.references if one.strip()]
        if answers and item.expected_answer is not None and item.expected_answer not in answers:
            self._answers.add(item, answers[0], item.expected_answer)
