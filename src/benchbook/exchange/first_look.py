"""A first look through a log: its items, which samples count, and what its scorers gave."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from benchbook.canonical import canonical_json
from benchbook.evalsets.conversations import MessageError, check_messages
from benchbook.exchange.log import LogSample
from benchbook.text import all_storable, plural, storable


@dataclass(slots=True)
class Values:
    """One scorer's values over all samples."""

    n: int = 0
    least: float = 0.0
    most: float = 0.0
    distinct: set[float] = field(default_factory=set)  # the first three

    def add(self, value: float) -> None:
        self.least = min(self.least, value) if self.n else value
        self.most = max(self.most, value) if self.n else value
        self.n += 1
        if len(self.distinct) < 3:
            self.distinct.add(value)


class LookedItems(ABC):
    """The items that a log's samples are of: those that it holds itself, or those of an eval set that was asked."""

    @property
    @abstractmethod
    def n(self) -> int:
        """How many there are."""

    @abstractmethod
    def add(self, sample: LogSample) -> tuple[int, int] | None:
        """Note a sample, and return its item and repeat; None where it is of no item."""

    @abstractmethod
    def place_of(self, sample: LogSample) -> tuple[int, int]:
        """A sample's item, by its place among all, and repeat, once every sample was noted."""

    @abstractmethod
    def asks_another_text(self, sample: LogSample) -> bool:
        """True if a sample has another prompt than the item that it is of."""

    @abstractmethod
    def notes(self, held: Collection[tuple[int, int]]) -> Iterator[str]:
        """Sentences that readers should know; `held` are the items and repeats of the samples."""


class OwnItems(LookedItems):
    """The items as the log has them; their lines wait in a file.

    Items stand in the order of their ids, numbers by their size: a log has its samples as they were ready, and two of
    one task would have no eval set in common.
    """

    def __init__(self, spool: BinaryIO) -> None:
        self._spool = spool
        self._starts = array("Q")  # of each item's line, and where the next will stand
        self._starts.append(0)
        self._found: dict[str, int] = {}  # the items, by id, in the order of the log
        self._places: list[int] = []
        self._prompts: list[int] = []  # of each item, the hash of its prompt
        self._n_other_prompts = 0

    @property
    def n(self) -> int:
        return len(self._found)

    def add(self, sample: LogSample) -> tuple[int, int]:
        name = item_id(sample)
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = len(self._found)
            self._prompts.append(hash(sample.prompt))
            self._starts.append(self._starts[-1] + self._spool.write(_item_line(name, sample) + b"\n"))
        elif self._prompts[found] != hash(sample.prompt):
            self._n_other_prompts += 1
        return found, sample.repeat

    def write(self, target: BinaryIO) -> None:
        """Write the items' lines, in their order."""
        in_order = sorted(self._found, key=_natural)
        self._places = [0] * len(in_order)
        for place, name in enumerate(in_order):
            found = self._found[name]
            self._places[found] = place
            self._spool.seek(self._starts[found])
            target.write(self._spool.read(self._starts[found + 1] - self._starts[found]))

    def place_of(self, sample: LogSample) -> tuple[int, int]:
        return self._places[self._found[item_id(sample)]], sample.repeat

    def asks_another_text(self, sample: LogSample) -> bool:
        return self._prompts[self._found[item_id(sample)]] != hash(sample.prompt)

    def notes(self, held: Collection[tuple[int, int]]) -> Iterator[str]:
        del held
        if self._n_other_prompts:
            which = plural(self._n_other_prompts, "sample")
            yield (
                f"{which} ask something else than the first of the same id: the item has the first one's text, and the "
                "facts theirs."
            )


class FirstLook:
    """Which of a log's samples count, of how many repeats, and what its scorers gave."""

    def __init__(self, items: LookedItems) -> None:
        self.repeats = 1
        self.values: dict[str, Values] = {}  # by scorer
        self._items = items
        self._last: dict[tuple[int, int], int] = {}
        self._counts = array("b")  # 1 of each sample that counts, in the log's order
        self._n_doubled = 0

    def add(self, sample: LogSample) -> None:
        """Count a sample. Of two of one item and repeat, the last counts."""
        key, order = self._items.add(sample), len(self._counts)
        if key is None:
            self._counts.append(0)
            return
        self.repeats = max(self.repeats, key[1] + 1)
        if key in self._last:
            self._n_doubled += 1
            self._counts[self._last[key]] = 0
        self._last[key] = order
        self._counts.append(1)
        for scorer, score in sample.scores.items():
            values = self.values.setdefault(storable(scorer), Values())
            if score.value is not None:
                values.add(score.value)

    @property
    def n_items(self) -> int:
        return self._items.n

    @property
    def n_held(self) -> int:
        """The samples that count."""
        return len(self._last)

    def number_of(self, sample: LogSample) -> int:
        """The sample's place in the plan, once all were added and the items stand in their order."""
        place, repeat = self._items.place_of(sample)
        return repeat * self.n_items + place

    def asks_another_text(self, sample: LogSample) -> bool:
        return self._items.asks_another_text(sample)

    def counts(self, order: int) -> bool:
        """True if the n-th sample of the log is the last of its item and repeat."""
        return bool(self._counts[order])

    def notes(self) -> Iterator[str]:
        if self._n_doubled:
            stand = "stands" if self._n_doubled == 1 else "stand"
            yield f"{plural(self._n_doubled, 'sample')} of the log {stand} in it again later: the last counts."
        yield from self._items.notes(self._last.keys())


_DIGITS = re.compile(r"(\d{1,18})", re.ASCII)


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which `item 9` comes before `item 10`."""
    return [(int(part), "") if part.isascii() and part.isdecimal() else (-1, part) for part in _DIGITS.split(name)]


def item_id(sample: LogSample) -> str:
    """A sample's id as an item can have it."""
    return storable(sample.id) if sample.id.strip() else "(no id)"


def unknown_prompt(name: str) -> str:
    """The prompt of an item of which the log does not say what was asked."""
    return f"not known (item {name})"


def _item_line(name: str, sample: LogSample) -> bytes:
    item: dict[str, Any] = {"id": name, "prompt": sample.prompt}
    if not sample.prompt.strip():
        item["prompt"] = unknown_prompt(name)
    if sample.references and sample.references[0].strip():
        item["expected_answer"] = sample.references[0]
    if len(sample.references) > 1:
        item["references"] = list(sample.references)
    if sample.choices:
        item["choices"] = list(sample.choices)
    for name in ("context", "category", "group"):
        if (value := getattr(sample, name)) is not None and value.strip():
            item[name] = value
    if sample.messages is not None and (messages := _messages(sample.messages)) is not None:
        item["messages"] = messages
    return canonical_json(all_storable(item))


def _messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The conversation, where it is one that could be asked again; the item's prompt is its transcript otherwise."""
    try:
        return check_messages(messages)
    except MessageError:
        return None
