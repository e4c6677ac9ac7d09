"""The little that is kept of each sample, so that claimed numbers can be computed again: a few dozen bytes.

A log is read once, whatever its length. Texts are kept as what they hash to; values stand in plain arrays.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import isfinite, nan
from typing import Any

from benchbook.exchange.log import Claim, LogSample, LogScore, LogScorer

# Of a sample.
FAILED, LIMITED, SILENT, LONG, DOUBLED = 1, 2, 4, 8, 16
# Of a score: there is an entry; with a value; the log says whether it passed; it passed.
ENTRY, SCORED, PASS_KNOWN, PASSED = 1, 2, 4, 8

_SUMMARY = 1024  # characters: longer texts are cut in summaries
_LETTERS = frozenset("CIPN")  # correct, incorrect, partial, no answer: 0 to 1
_OTHER = "other reasons"
_PART = 1 << 15  # items that are numbered at a time


class WordColumn:
    """A word for each sample, of few different ones; None where there is none."""

    def __init__(self) -> None:
        self.codes = array("B")
        self._words: list[str] = []
        self._known: dict[str, int] = {}

    def put(self, at: int, word: str | None) -> None:
        """For sample `at`; those before, of which nothing was said, have none."""
        if word is None:
            return
        self.pad(at)
        code = self._known.get(word)
        if code is None:
            if len(self._words) >= 254:
                word = _OTHER
            code = self._known.setdefault(word, len(self._words) + 1)
            if code > len(self._words):
                self._words.append(word)
        self.codes.append(code)

    def pad(self, n: int) -> None:
        missing = n - len(self.codes)
        if missing > 0:
            self.codes.frombytes(bytes(missing))

    def counts(self, flags: array[int]) -> dict[str, int]:
        """How many samples have each word, most first; of doubled ones the last alone."""
        found = Counter(code for code, flag in zip(self.codes, flags, strict=True) if code and not flag & DOUBLED)
        named = [(self._words[code - 1], n) for code, n in found.items()]
        return dict(sorted(named, key=lambda one: (-one[1], one[0])))


class LabelColumn:
    """A label for each sample, of any number of different ones: a group, or a value of the metadata. 0 is none."""

    def __init__(self) -> None:
        self.codes = array("I")
        self._known: dict[str, int] = {}

    def put(self, at: int, label: str | None) -> None:
        """For sample `at`; those before, of which nothing was said, have none."""
        if label is not None:
            self.pad(at)
            self.codes.append(self._known.setdefault(label, len(self._known) + 1))

    def pad(self, n: int) -> None:
        missing = n - len(self.codes)
        if missing > 0:
            self.codes.frombytes(bytes(missing * self.codes.itemsize))

    def code_of(self, label: str) -> int | None:
        return self._known.get(label)

    @property
    def n(self) -> int:
        """How many different labels there are."""
        return len(self._known)


class ScoreColumn:
    """One scorer's values, NaN where there is none, and what else is known of each."""

    def __init__(self) -> None:
        self.values = array("d")  # of a value in two parts, the first
        self.states = array("B")
        self.why = WordColumn()
        self.has_parts = False
        self.of_letters = True  # each value is a grade that says right, wrong or between
        self._seconds = array("d")

    def put(self, at: int, score: LogScore, passes_at: float | None) -> None:
        self.pad(at)
        value = score.value
        if value is None and score.parts is not None and len(score.parts) == 2:
            value, second = score.parts
            self._pad_seconds(at)
            self._seconds.append(second if isfinite(second) else nan)
            self.has_parts = True
        if value is None or not isfinite(value):
            self.values.append(nan)
            self.states.append(ENTRY)
            self.why.put(at, score.unscored or ("no value" if value is None else "not a finite number"))
            return
        self.of_letters = self.of_letters and score.said in _LETTERS
        passed = score.passed
        if passed is None and passes_at is not None:
            passed = value >= passes_at
        self.values.append(value)
        self.states.append(ENTRY | SCORED | (0 if passed is None else PASS_KNOWN) | (PASSED if passed else 0))

    def scale(self, scorer: LogScorer | None) -> tuple[float, float] | None:
        """The ends of the scale, by the scorer or by what the values are; None where nobody says."""
        if scorer is not None and scorer.lowest is not None and scorer.highest is not None:
            return scorer.lowest, scorer.highest
        return (0.0, 1.0) if self.of_letters and len(self.values) else None

    def put_number(self, at: int, value: object) -> None:
        """A number of the metadata; anything else adds nothing."""
        if isinstance(value, int | float) and isfinite(value):
            self.put(at, LogScore(value=float(value)), None)

    def second(self, at: int) -> float:
        """The second part of a value; NaN where there is none."""
        return self._seconds[at] if at < len(self._seconds) else nan

    def pad(self, n: int) -> None:
        missing = n - len(self.values)
        if missing > 0:
            self.values.extend([nan] * missing)
            self.states.frombytes(bytes(missing))

    def _pad_seconds(self, n: int) -> None:
        missing = n - len(self._seconds)
        if missing > 0:
            self._seconds.extend([nan] * missing)


class Tokens:
    """The sum of a count of tokens, and of how many samples it is not known."""

    def __init__(self) -> None:
        self.counts = array("q")  # -1: not known

    def put(self, tokens: int | None) -> None:
        self.counts.append(-1 if tokens is None else min(tokens, 1 << 62))

    def total(self, flags: array[int]) -> tuple[int, int]:
        """`(sum, unknown)`, doubled samples counted once."""
        held = [one for one, flag in zip(self.counts, flags, strict=True) if not flag & DOUBLED]
        return sum(one for one in held if one >= 0), sum(one < 0 for one in held)


class KeptSamples:
    """All that is kept of a log's samples, in its order. To be read once `finish` was called."""

    def __init__(self, claims: Iterable[Claim], scorers: Iterable[LogScorer]) -> None:
        self.n = 0
        self.flags = array("B")
        self.scores: dict[str, ScoreColumn] = {}
        self.groups = LabelColumn()
        self.failures, self.limits = WordColumn(), WordColumn()
        self.input_tokens, self.output_tokens = Tokens(), Tokens()
        claims = tuple(claims)
        fields = {one.clusters for one in claims} | {one.only[0] for one in claims if one.only}
        self.fields = {name: LabelColumn() for name in fields if name is not None}
        self.numbers = {one.field: ScoreColumn() for one in claims if one.field is not None}
        self.items = array("I")  # of each sample, its item's number from 0
        self.n_items = 0
        self.repeats = array("q")  # of each sample, what its number hashes to
        self.remembered: dict[Any, Any] = {}  # the values that a number was last made of
        self._ids = array("q")
        self._counts_tokens = any("tokens" in (one.formula or "") for one in claims)
        self._passes_at = {one.name: one.passes_at for one in scorers}

    def add(self, sample: LogSample, part: int = 0) -> None:
        """Keep a sample of a log; of several logs together, `part` tells their samples apart."""
        at = self.n
        self.n += 1
        self._ids.append(hash((part, sample.id)))
        if sample.repeat:
            self._pad_repeats(at)
            self.repeats.append(hash(sample.repeat))
        is_long = len(sample.answer or "") > _SUMMARY or len(sample.prompt) > _SUMMARY
        for name, score in sample.scores.items():
            column = self.scores.get(name)
            if column is None:
                column = self.scores[name] = ScoreColumn()
            column.put(at, score, self._passes_at.get(name))
            is_long = is_long or len(score.explanation or "") > _SUMMARY or len(score.said or "") > _SUMMARY
        self.flags.append(
            (FAILED if sample.failure is not None else 0)
            | (LIMITED if sample.limit is not None else 0)
            | (SILENT if not sample.answer else 0)
            | (LONG if is_long else 0)
        )
        self.failures.put(at, None if sample.failure is None else sample.failure.kind)
        self.limits.put(at, sample.limit)
        self.groups.put(at, sample.group)
        if self._counts_tokens:
            self.input_tokens.put(sample.input_tokens)
            self.output_tokens.put(sample.output_tokens)
        for name, numbers in self.numbers.items():
            numbers.put_number(at, sample.metadata.get(name))
        for name, labels in self.fields.items():
            labels.put(at, as_label(sample.metadata[name]) if name in sample.metadata else None)

    def finish(self) -> None:
        """Number the items, mark all but the last of each doubled sample, and make columns of one length."""
        for words in (self.failures, self.limits):
            words.pad(self.n)
        for labels in (self.groups, *self.fields.values()):
            labels.pad(self.n)
        self._pad_repeats(self.n)
        for column in (*self.scores.values(), *self.numbers.values()):
            column.pad(self.n)
            column.why.pad(self.n)
        self.items, self.n_items = numbered(self._ids)
        del self._ids[:]
        if self.n_items < self.n:
            for places in self.by_item:
                if len(places) > 1:
                    self._mark_doubled(places)

    def _pad_repeats(self, n: int) -> None:
        self.repeats.frombytes(bytes(self.repeats.itemsize * max(0, n - len(self.repeats))))

    def _mark_doubled(self, places: Sequence[int]) -> None:
        last = {self.repeats[at]: at for at in places}
        if len(last) < len(places):
            for at in places:
                if last[self.repeats[at]] != at:
                    self.flags[at] |= DOUBLED

    @cached_property
    def by_item(self) -> Grouped:
        """The samples of each item."""
        return Grouped(self.items, self.n_items)

    @cached_property
    def by_repeat(self) -> Grouped:
        """The samples of each repeat."""
        return Grouped(*numbered(self.repeats))

    @cached_property
    def n_held(self) -> int:
        """Samples, doubled ones counted once."""
        return self.n - self.count(DOUBLED)

    def count(self, flag: int) -> int:
        """Samples with this mark; but for DOUBLED itself, of doubled ones the last alone."""
        if flag == DOUBLED:
            return sum(one & DOUBLED != 0 for one in self.flags)
        return sum(one & flag != 0 and not one & DOUBLED for one in self.flags)

    @cached_property
    def most_repeats(self) -> int:
        """How many samples the item with the most has, doubled ones counted once."""
        if self.n_items == self.n:
            return min(self.n, 1)
        counts = array("I", bytes(4 * self.n_items))
        for item, flag in zip(self.items, self.flags, strict=True):
            counts[item] += not flag & DOUBLED
        return max(counts, default=0)


def as_label(value: object) -> str:
    """A value of the metadata as the name that a claim calls it by."""
    return value if isinstance(value, str) else str(value)


def numbered(hashes: array[int]) -> tuple[array[int], int]:
    """Equal hashes as equal numbers from 0 on, and how many there are. Of very many, a part is looked at at a time."""
    found = array("I", bytes(4 * len(hashes)))
    n = 0
    parts = 1 + len(hashes) // _PART
    for places in _parts(hashes, parts):
        seen: dict[int, int] = {}
        for at in places:
            found[at] = seen.setdefault(hashes[at], n + len(seen))
        n += len(seen)
    return found, n


def _parts(hashes: array[int], parts: int) -> Iterator[Sequence[int]]:
    if parts == 1:
        yield range(len(hashes))
        return
    shares = [array("I") for _ in range(parts)]
    for at, one in enumerate(hashes):
        shares[one % parts].append(at)
    yield from shares


class Grouped:
    """The places of each code, in the log's order; codes are numbers from 0 on."""

    def __init__(self, codes: array[int], n_codes: int) -> None:
        self._ends = array("I", bytes(4 * (n_codes + 1)))
        for code in codes:
            self._ends[code + 1] += 1
        for code in range(n_codes):
            self._ends[code + 1] += self._ends[code]
        starts = array("I", self._ends)
        self._order = array("I", bytes(4 * len(codes)))
        for at, code in enumerate(codes):
            self._order[starts[code]] = at
            starts[code] += 1

    def __iter__(self) -> Iterator[array[int]]:
        start = 0
        for end in self._ends[1:]:
            yield self._order[start:end]
            start = end
