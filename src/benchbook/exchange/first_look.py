"""A first look through a log: its items as an eval set, which samples count, and what its scorers gave."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

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


@dataclass(slots=True)
class FirstLook:
    """The items of a log in their order, which of its samples count, and what its scorers gave."""

    places: dict[str, int] = field(default_factory=dict)  # of items, by id
    repeats: int = 1
    n_held: int = 0  # samples, of which the last counts where there are two of one item and repeat
    values: dict[str, Values] = field(default_factory=dict)
    n_doubled: int = 0
    n_other_prompts: int = 0
    _prompts: list[int] = field(default_factory=list)  # of each item, the hash of its prompt
    _last: dict[tuple[int, int], int] = field(default_factory=dict)
    _counts: array[int] = field(default_factory=lambda: array("b"))  # 1 of each sample that counts, in the log's order

    def add(self, sample: LogSample) -> bytes | None:
        """Count a sample; the line of its item, where that is a new one."""
        place = self.places.get(sample.id)
        line = None
        if place is None:
            place = self.places[sample.id] = len(self.places)
            self._prompts.append(hash(sample.prompt))
            line = _item_line(sample)
        elif self._prompts[place] != hash(sample.prompt):
            self.n_other_prompts += 1
        self.repeats = max(self.repeats, sample.repeat + 1)
        key, order = (place, sample.repeat), len(self._counts)
        if key in self._last:
            self.n_doubled += 1
            self._counts[self._last[key]] = 0
        self._last[key] = order
        self._counts.append(1)
        self.n_held = len(self._last)
        for name, score in sample.scores.items():
            found = self.values.setdefault(storable(name), Values())
            if score.value is not None:
                found.add(score.value)
        return line

    def counts(self, order: int) -> bool:
        """True if the n-th sample of the log is the last of its item and repeat."""
        return bool(self._counts[order])

    def notes(self) -> Iterator[str]:
        if self.n_doubled:
            yield f"{plural(self.n_doubled, 'sample')} of the log stand in it again later: the last counts."
        if self.n_other_prompts:
            what = plural(self.n_other_prompts, "sample")
            yield f"{what} ask something else than the first of the same id: the item has the first one's text."


def _item_line(sample: LogSample) -> bytes:
    item: dict[str, Any] = {"id": _storable_id(sample.id), "prompt": sample.prompt}
    if not sample.prompt.strip():
        item["prompt"] = f"not known (item {item['id']})"
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


def _storable_id(text: str) -> str:
    return storable(text) if text.strip() else "(no id)"


def _messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The conversation, where it is one that could be asked again; the item's prompt is its transcript otherwise."""
    try:
        return check_messages(messages)
    except MessageError:
        return None
