"""Repeats within one experiment (SPEC R7.3): spread of two aggregates, and how often repeats agree."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchbook.evalsets import Item
from benchbook.evaluators.exact import NANO, RepeatSummary, as_float, mean, percentile, ratio, summary_of
from benchbook.evaluators.rubric.plain import PlainSamples
from benchbook.evaluators.rubric.row import slice_type
from benchbook.evaluators.rubric.rows import ItemAgreement, Slice, VarianceSplit
from benchbook.evaluators.rubric.scoring import Scores
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.statistics.means import VarianceComponents, variance_components_of_sums

# What is known of an item over its repeats so far.
_NEVER, _ONCE, _AGAIN = 0, 1, 2


class RepeatRow(NamedTuple):
    """The part of a sample that is compared between repeats."""

    repeat: int
    item: int
    answer_hash: int
    passed: bool
    latency_e2e_ms: int | None
    scores: Scores
    score_nano: int | None


@dataclass(slots=True)
class SumsOfRepeat:
    """The sums over some samples of one repeat."""

    n_scored: int = 0
    score_nano: int = 0
    latencies_ms: Counter[int] = field(default_factory=Counter)


class RepeatRows:
    """Some samples of a run, to be added to others; where there is one repeat, their sums alone."""

    def __init__(self, repeats: int) -> None:
        self._keeps_rows = repeats > 1
        self.rows: list[RepeatRow] = []
        self.sums: defaultdict[int, SumsOfRepeat] = defaultdict(SumsOfRepeat)

    def add(self, row: RepeatRow) -> None:
        if self._keeps_rows:
            self.rows.append(row)
            return
        sums = self.sums[row.repeat]
        if row.latency_e2e_ms is not None:
            sums.latencies_ms[row.latency_e2e_ms] += 1
        if row.score_nano is not None:
            sums.n_scored += 1
            sums.score_nano += row.score_nano

    def add_scored(self, repeat: int, latencies_ms: Iterable[int], scores_nano: Sequence[int]) -> None:
        """Add samples that all have a score, where there is one repeat."""
        sums = self.sums[repeat]
        sums.latencies_ms.update(latencies_ms)
        sums.n_scored += len(scores_nano)
        sums.score_nano += sum(scores_nano)


class RepeatCounts:
    """Counts rows by repeat and by item; about 60 bytes an item."""

    def __init__(self, n_items: int, repeats: int) -> None:
        self.n_repeats = repeats
        self._score_nano = [0] * repeats
        self._n_scored = [0] * repeats
        self._latencies_ms: list[Counter[int]] = [Counter() for _ in range(repeats)]
        size = n_items if repeats > 1 else 0
        self._seen = bytearray(size)
        self._answers = array("q", bytes(8 * size))
        self._first = array("q", bytes(8 * size))  # the scores of the first scored repeat, by their number
        self._first_passed = bytearray(size)
        self._numbers: dict[Scores, int] = {}  # of all scores that were seen
        self._same_answer, self._same_scores, self._same_passed = (bytearray(b"\1" * size) for _ in range(3))
        self._n_items = n_items
        self._times, self._times_scored, self._times_passed = (array("H", bytes(2 * size)) for _ in range(3))
        self._item_nano = array("q", bytes(8 * size))
        self._nano_squared = 0

    def add(self, row: RepeatRow) -> None:
        if row.latency_e2e_ms is not None:
            self._latencies_ms[row.repeat][row.latency_e2e_ms] += 1
        if self.n_repeats > 1:
            self._count(row)
        if row.score_nano is None:
            return
        self._n_scored[row.repeat] += 1
        self._score_nano[row.repeat] += row.score_nano
        if self.n_repeats > 1:
            self._compare(row)

    def merge(self, more: RepeatRows) -> None:
        """Add samples that come after these."""
        for row in more.rows:
            self.add(row)
        for repeat, sums in more.sums.items():
            self._latencies_ms[repeat].update(sums.latencies_ms)
            self._n_scored[repeat] += sums.n_scored
            self._score_nano[repeat] += sums.score_nano

    def _count(self, row: RepeatRow) -> None:
        item = row.item
        self._times[item] += 1
        self._times_passed[item] += row.passed
        if row.score_nano is not None:
            self._times_scored[item] += 1
            self._item_nano[item] += row.score_nano
            self._nano_squared += row.score_nano**2

    def _compare(self, row: RepeatRow) -> None:
        item, answer = row.item, row.answer_hash
        number = self._numbers.setdefault(row.scores, len(self._numbers))
        if self._seen[item] == _NEVER:
            self._seen[item], self._answers[item] = _ONCE, answer
            self._first[item], self._first_passed[item] = number, row.passed
            return
        self._seen[item] = _AGAIN
        self._same_answer[item] &= self._answers[item] == answer
        self._same_scores[item] &= self._first[item] == number
        self._same_passed[item] &= self._first_passed[item] == row.passed

    def agreement(self) -> ItemAgreement | None:
        """How often repeats agree; None for a single repeat."""
        if self.n_repeats < 2:
            return None
        again = [item for item, seen in enumerate(self._seen) if seen == _AGAIN]
        return ItemAgreement(
            n_items=len(again),
            same_answer=sum(self._same_answer[item] for item in again),
            same_scores=sum(self._same_scores[item] for item in again),
            same_passed=sum(self._same_passed[item] for item in again),
        )

    def summaries(self) -> list[RepeatSummary]:
        scores = [mean(total, n) for total, n in zip(self._score_nano, self._n_scored, strict=True)]
        latencies = [percentile(ms, 95) for ms in self._latencies_ms]
        return [summary_of("aggregate_score", scores), summary_of("latency_e2e_p95_ms", latencies)]

    def variance(self) -> list[VarianceSplit]:
        """The variance of the sample score and of passing, by its parts; nothing for a single repeat."""
        if self.n_repeats < 2:
            return []
        scores = zip(self._times_scored, self._item_nano, strict=True)
        passes = zip(self._times, self._times_passed, strict=True)
        return [
            self._split("aggregate_score", variance_components_of_sums(scores, self._nano_squared, NANO)),
            self._split("pass_rate", variance_components_of_sums(passes, sum(self._times_passed))),
        ]

    def _split(self, aggregate: str, found: VarianceComponents) -> VarianceSplit:
        n_items, repeats = max(found.n_items, 1), self.n_repeats
        return VarianceSplit(
            aggregate=aggregate,
            between_items=_rounded(found.between),
            within_item=_rounded(found.within),
            share_within_item=_rounded(found.share_within),
            standard_error=_rounded(found.standard_error(n_items, repeats)),
            with_twice_the_items=_rounded(found.standard_error(2 * n_items, repeats)),
            with_twice_the_repeats=_rounded(found.standard_error(n_items, 2 * repeats)),
            n=found.n,
            n_items=found.n_items,
            reason=found.reason,
            warnings=found.warnings,
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


def hash_of_answer(sha256: str | None) -> int:
    """The number by which answers are compared, of their hash; None: there is none."""
    return -1 if sha256 is None else int.from_bytes(bytes.fromhex(sha256[:16]), "big", signed=True)


FIELDS = ("section", "category", "difficulty")
MAX_VALUES = 200  # of one field; a field with more is free text, and is not sliced


class _Sums:
    __slots__ = ("n_given", "n_passed", "n_samples", "n_scored", "score_nano", "scores")

    def __init__(self, n_criteria: int) -> None:
        self.n_samples = self.n_passed = self.n_scored = self.score_nano = 0
        self.n_given = [0] * n_criteria  # by criterion, how many scores, and their sum
        self.scores = [0] * n_criteria

    def merge(self, more: _Sums) -> None:
        self.n_samples += more.n_samples
        self.n_passed += more.n_passed
        self.n_scored += more.n_scored
        self.score_nano += more.score_nano
        self.n_given = [n + others for n, others in zip(self.n_given, more.n_given, strict=True)]
        self.scores = [total + others for total, others in zip(self.scores, more.scores, strict=True)]


class Slices:
    """Sums over the samples that share one value of a field."""

    def __init__(self, spec: RubricSpec) -> None:
        self._spec = spec
        self._sums: dict[str, dict[str, _Sums]] = {field: {} for field in FIELDS}

    def add(self, item: Item, scores: Scores, score_nano: int | None, *, passed: bool) -> None:
        for name, sums in self._sums.items():
            value = getattr(item, name)
            if value is None or (len(sums) > MAX_VALUES and value not in sums):
                continue
            one = sums.get(value)
            if one is None:
                one = sums[value] = _Sums(len(self._spec.criteria))
            one.n_samples += 1
            one.n_passed += passed
            if score_nano is not None:
                one.n_scored += 1
                one.score_nano += score_nano
            for number, score in enumerate(scores):
                if score is not None:
                    one.n_given[number] += 1
                    one.scores[number] += score

    def add_plain(self, samples: PlainSamples) -> None:
        """Count samples that went as planned."""
        items, worths = samples.calls.items, samples.worths
        if any(item.section or item.category or item.difficulty for item in items):
            of_each = zip(items, samples.scores, worths.score_nanos, worths.fail_reasons, strict=True)
            for item, scores, score_nano, reasons in of_each:
                self.add(item, scores, score_nano, passed=not reasons)

    def merge(self, more: Slices) -> None:
        """Add the sums of other samples."""
        for name, others in more._sums.items():
            sums = self._sums[name]
            for value, other in others.items():
                if value in sums:
                    sums[value].merge(other)
                elif len(sums) <= MAX_VALUES:
                    sums[value] = other

    def rows(self) -> list[Slice]:
        return [
            self._row(field, value, sums)
            for field, by_value in self._sums.items()
            if len(by_value) <= MAX_VALUES
            for value, sums in sorted(by_value.items())
        ]

    def _row(self, field: str, value: str, sums: _Sums) -> Slice:
        means = {
            f"{one.name}_mean": as_float((mean if one.by_item else ratio)(total, n))
            for one, total, n in zip(self._spec.criteria, sums.scores, sums.n_given, strict=True)
        }
        return slice_type(self._spec)(
            field=field,
            value=value,
            n_samples=sums.n_samples,
            n_scored=sums.n_scored,
            pass_rate=as_float(ratio(sums.n_passed, sums.n_samples)),
            **means,
            aggregate_score=as_float(mean(sums.score_nano, sums.n_scored)),
        )
