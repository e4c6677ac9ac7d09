"""The scorecard of a run of answers, whatever scores them, by exact sums (SPEC A4, C2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import add
from typing import Literal

import msgspec

from benchbook.evalsets.requirements import vocabulary
from benchbook.evaluators.exact import NANO, as_float, mean, ratio, sample_sd, sd_of_sums
from benchbook.evaluators.intervals import Interval, bounded_mean, interval_of, rate_interval

GROUPINGS = ("section", "category", "difficulty")
CONFIDENCE = 0.95
NO_PREDICTION = "no_prediction"  # the reason of an item without a text to compare (A7)
# The reason of an item that counts 0.0 because its run was ended without an answer (A3, R1.3b).
UNANSWERED = "unanswered"


class ScoreSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The items of one section, category or difficulty; `value` is None for those that name none."""

    value: str | None
    n_items: int
    n_scored: int
    mean: float | None  # of the score over its items; those that are not answered yet are left out
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET  # where a model was asked, from derivation 3 on
    n_unscored: int | msgspec.UnsetType = msgspec.UNSET  # as the scorecard's


class Scorecard(msgspec.Struct, frozen=True, kw_only=True):
    """SPEC A4. Means are over all items, an item without a prediction counting 0.0; null where there are no items.

    `stddev` is of correctness over the items, ddof = 1, null for fewer than two (C4). `misses` counts, for each
    reason of A7, the items that have it. Slices stand in the frozen spec's order, other values after it, null last.

    Every item is in one of `n_scored`, `n_skipped`, `n_unanswered` and `n_unscored`. Unanswered are those that a model
    gave no answer to, for a reason that is not its own (R1.3a): in no mean while the run may go on, and 0.0 with a
    reason of their own once it was ended as it is (A3). Unscored are those that have an answer, but no score, by no
    fault of the model's: in no mean.
    """

    n_items: int
    n_scored: int
    n_skipped: int
    primary_score: float | None
    stddev: float | None
    metrics: dict[str, float | None]
    misses: dict[str, int]
    section: tuple[ScoreSlice, ...]
    category: tuple[ScoreSlice, ...]
    difficulty: tuple[ScoreSlice, ...]
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET  # from derivation 3 on
    n_unscored: int | msgspec.UnsetType = msgspec.UNSET  # left out where the metric scores every answer


@dataclass(slots=True)
class _Counts:
    n_items: int = 0
    n_scored: int = 0
    n_passed: int = 0
    n_unanswered: int = 0
    n_left_out: int = 0  # of these, of no mean
    n_unscored: int = 0
    sum_nano: int = 0
    squares: int = 0

    def add(self, n_items: int, n_scored: int, score_nano: int, *, passed: bool) -> None:
        self.n_items += n_items
        self.n_scored += n_scored
        self.n_passed += n_items if passed else 0
        self.sum_nano += n_items * score_nano
        self.squares += n_items * score_nano * score_nano

    def merge(self, more: _Counts) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(more, one.name))

    @property
    def mean(self) -> float | None:
        return as_float(mean(self.sum_nano, self.n_counted))

    @property
    def n_counted(self) -> int:
        """The number of items that are in the mean."""
        return self.n_items - self.n_left_out - self.n_unscored


@dataclass(slots=True)
class ScorecardTally:
    """Counts and exact sums, and nothing else, so no order or partition of the items can matter (C2).

    `metric` is the score's name among the scorecard's `metrics`; `reasons` are the metric's, in their order.
    `shows_all`: reasons that no item has are shown, too. `asked`: a model was asked, so items may be unanswered; their
    number is shown even if it is 0. So is, with `may_lack`, the number of those with an answer and no score.
    """

    metric: str
    reasons: tuple[str, ...]
    shows_all: bool = True
    asked: bool = False
    may_lack: bool = False
    whole: _Counts = field(default_factory=_Counts)
    misses: Counter[str] = field(default_factory=Counter)
    slices: dict[str, dict[str | None, _Counts]] = field(default_factory=lambda: {name: {} for name in GROUPINGS})

    def add(
        self,
        values: Mapping[str, str | None],
        why: str | None,
        *,
        score_nano: int | None = None,
        n_items: int = 1,
        n_scored: int | None = None,
    ) -> None:
        """Count items that share `values` (section, category, difficulty) and their reason; None: they pass.

        `score_nano` is the score of each; by default all or nothing, by the reason. `n_scored`: the number with a
        prediction; by default all, or none where the reason says so.
        """
        if score_nano is None:
            score_nano = NANO if why is None else 0
        if n_scored is None:
            n_scored = 0 if why == NO_PREDICTION else n_items
        for counts in self._counts(values):
            counts.add(n_items, n_scored, score_nano, passed=why is None)
        if why is not None:
            self.misses[why] += n_items

    def add_unanswered(self, values: Mapping[str, str | None], *, counts_zero: bool) -> None:
        """Count an item that no answer came for; `counts_zero`: its run was ended as it is (A3)."""
        for counts in self._counts(values):
            counts.n_items += 1
            counts.n_unanswered += 1
            counts.n_left_out += not counts_zero
        if counts_zero:
            self.misses[UNANSWERED] += 1

    def add_unscored(self, values: Mapping[str, str | None]) -> None:
        """Count an item that was answered and has no score."""
        for counts in self._counts(values):
            counts.n_items += 1
            counts.n_unscored += 1

    def _counts(self, values: Mapping[str, str | None]) -> Iterator[_Counts]:
        yield self.whole
        for name in GROUPINGS:
            yield self.slices[name].setdefault(values.get(name), _Counts())

    def merge(self, more: ScorecardTally) -> None:
        """Add the counts of other items of the same run."""
        self.whole.merge(more.whole)
        self.misses.update(more.misses)
        for name, slices in more.slices.items():
            for value, counts in slices.items():
                self.slices[name].setdefault(value, _Counts()).merge(counts)

    def scorecard(self) -> Scorecard:
        """The scorecard of the items added so far."""
        whole = self.whole
        score = whole.mean
        return Scorecard(
            n_items=whole.n_items,
            n_scored=whole.n_scored,
            n_skipped=whole.n_items - whole.n_scored - whole.n_unanswered - whole.n_unscored,
            primary_score=score,
            stddev=as_float(sd_of_sums(whole.n_counted, whole.sum_nano, whole.squares)),
            metrics={self.metric: score},
            misses={name: self.misses[name] for name in self._reasons()},
            section=self._slices("section"),
            category=self._slices("category"),
            difficulty=self._slices("difficulty"),
            n_unanswered=whole.n_unanswered if self.asked else msgspec.UNSET,
            n_unscored=whole.n_unscored if self.may_lack else msgspec.UNSET,
        )

    def _reasons(self) -> list[str]:
        known = (*self.reasons, UNANSWERED)
        return [name for name in known if name in self.misses or (self.shows_all and name != UNANSWERED)]

    def _slices(self, name: str) -> tuple[ScoreSlice, ...]:
        known = vocabulary(name)

        def place(value: str | None) -> tuple[int, int, str]:
            if value is None:
                return (2, 0, "")
            return (0, known.index(value), "") if value in known else (1, 0, value)

        counted = self.slices[name]
        return tuple(
            ScoreSlice(
                value=value,
                n_items=counted[value].n_items,
                n_scored=counted[value].n_scored,
                mean=counted[value].mean,
                n_unanswered=counted[value].n_unanswered if self.asked else msgspec.UNSET,
                n_unscored=counted[value].n_unscored if self.may_lack else msgspec.UNSET,
            )
            for value in sorted(counted, key=place)
        )


def failed_scorecard(card: Scorecard) -> Scorecard:
    """The scorecard of a run that crashed or timed out: the same counts, and 0.0 in every mean (SPEC A3).

    `misses` still shows what its texts were like.
    """

    def failed(slices: tuple[ScoreSlice, ...]) -> tuple[ScoreSlice, ...]:
        return tuple(msgspec.structs.replace(one, mean=as_float(ratio(0, one.n_items))) for one in slices)

    score = as_float(ratio(0, card.n_items))
    return msgspec.structs.replace(
        card,
        primary_score=score,
        stddev=as_float(sample_sd([0] * card.n_items)),
        metrics=dict.fromkeys(card.metrics, score),
        section=failed(card.section),
        category=failed(card.category),
        difficulty=failed(card.difficulty),
    )


MOCK_JUDGE = "MockJudge"


class Unavailable(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why there is no per-item table."""

    status: Literal["unavailable"] = "unavailable"
    reason: str


class MockJudge(msgspec.Struct, frozen=True):
    """The judge of a dry run under `spec`."""

    spec: str

    def predictions(self) -> Unavailable:
        """The per-item table: there is none."""
        return Unavailable(
            reason=f"this was a dry run ({MOCK_JUDGE} in the place of {self.spec}): it makes no predictions"
        )


@dataclass(slots=True)
class Sums:
    """One measure of the items that count: 0 or 1 of a share (`is_rate`), else billionths; exact.

    A cluster, a group or an item that was asked more than once, has its size, its sum and its squares. `least` and
    `most` are of the answers alone, without what counts 0 for want of one.
    """

    is_rate: bool
    n: int = 0
    total: int = 0
    squares: int = 0
    least: int | None = None
    most: int | None = None
    clusters: dict[str, list[int]] = field(default_factory=dict)

    def add(self, value: int, cluster: str | None, *, is_answered: bool = True) -> None:
        if is_answered:
            self.least = value if self.least is None else min(self.least, value)
            self.most = value if self.most is None else max(self.most, value)
        parts = (1, value, value * value)
        self.n, self.total, self.squares = self.n + 1, self.total + value, self.squares + parts[2]
        if cluster is not None:
            sums = self.clusters.setdefault(cluster, [0, 0, 0])
            for place, part in enumerate(parts):
                sums[place] += part

    def add_all(self, values: Sequence[int]) -> None:
        """Add answers, each of which is in no cluster with others."""
        if values:
            self.least = min(values) if self.least is None else min(self.least, *values)
            self.most = max(values) if self.most is None else max(self.most, *values)
        self.n, self.total = self.n + len(values), self.total + sum(values)
        self.squares += sum([value * value for value in values])

    def merge(self, more: Sums) -> None:
        """Add the sums of items that come after these."""
        self.n, self.total, self.squares = self.n + more.n, self.total + more.total, self.squares + more.squares
        self.least = min((one for one in (self.least, more.least) if one is not None), default=None)
        self.most = max((one for one in (self.most, more.most) if one is not None), default=None)
        for cluster, parts in more.clusters.items():
            sums = self.clusters.setdefault(cluster, [0, 0, 0])
            sums[:] = map(add, sums, parts)

    @property
    def mean(self) -> float | None:
        return as_float(mean(self.total * (NANO if self.is_rate else 1), self.n))

    def interval(self, derivation: int) -> Interval:
        """The interval: Wilson's for a share, Jeffreys' for other means; by clusters where there are some."""
        if self.is_rate:
            pairs = [(size, total) for size, total, _ in self.clusters.values()]
            return rate_interval(self.total, self.n, pairs, CONFIDENCE, derivation)
        clusters = ((size, total, squares) for size, total, squares in self.clusters.values())
        sums = (self.n, self.total, self.squares)
        return interval_of(bounded_mean(sums, clusters if self.clusters else None, NANO, CONFIDENCE), unit=NANO)
