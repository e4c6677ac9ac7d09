"""`answer_correctness@v1` for a run: the scorecard, and whether form keeps it at the floor (SPEC A4, A7, C2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from benchbook.evaluators.correctness.scoring import REASONS, SPEC_ID, AnswerFormat, MissReason, has_prediction, reason
from benchbook.evaluators.exact import NANO, as_float, ratio, sample_sd
from benchbook.specs import load_spec

if TYPE_CHECKING:
    import polars

__all__ = [
    "GROUPINGS",
    "MOCK_JUDGE",
    "UNANSWERED",
    "Answer",
    "MockJudge",
    "Scorecard",
    "ScorecardTally",
    "Slice",
    "Unavailable",
    "failed_scorecard",
    "floor_warning",
    "scorecard",
    "tally_columns",
]


GROUPINGS = ("section", "category", "difficulty")
UNANSWERED = (
    "unanswered"  # the reason of an item that counts 0.0 because its run was ended without an answer (A3, R1.3b)
)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What one item's score is computed from. `predicted` is None where the run has no prediction (SPEC A3)."""

    expected: str
    predicted: str | None
    answer_format: AnswerFormat | None = None
    section: str | None = None
    category: str | None = None
    difficulty: str | None = None


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """The items of one section, category or difficulty; `value` is None for those that name none."""

    value: str | None
    n_items: int
    n_scored: int
    mean: float | None  # of correctness over its items; those that are not answered yet are left out
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET  # where a model was asked, from derivation 3 on


class Scorecard(msgspec.Struct, frozen=True, kw_only=True):
    """SPEC A4. Means are over all items, an item without a prediction counting 0.0; null where there are no items.

    `stddev` is of correctness over the items, ddof = 1, null for fewer than two (C4). `misses` counts, for each
    reason of A7, the items that have it. Slices stand in the frozen spec's order, other values after it, null last.

    Every item is in one of `n_scored`, `n_skipped` and `n_unanswered`. The last are those of a model that no answer
    came from, for a reason that is not its own (R1.3a): of no mean while the run may go on, and 0.0 with a reason of
    their own once it was ended as it is (A3).
    """

    n_items: int
    n_scored: int
    n_skipped: int
    primary_score: float | None
    stddev: float | None
    metrics: dict[str, float | None]
    misses: dict[str, int]
    section: tuple[Slice, ...]
    category: tuple[Slice, ...]
    difficulty: tuple[Slice, ...]
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET  # from derivation 3 on


@dataclass(slots=True)
class _Counts:
    n_items: int = 0
    n_scored: int = 0
    n_correct: int = 0
    n_unanswered: int = 0
    n_left_out: int = 0  # of no mean

    def add(self, n_items: int, n_scored: int, n_correct: int) -> None:
        self.n_items += n_items
        self.n_scored += n_scored
        self.n_correct += n_correct

    @property
    def mean(self) -> float | None:
        return as_float(ratio(self.n_correct, self.n_items - self.n_left_out))


@dataclass(slots=True)
class ScorecardTally:
    """Counts, and nothing else: correctness is 0 or 1, so no order or partition of the items can matter (C2).

    `asked`: a model was asked, so items may be unanswered; that is said where there are none, too.
    """

    asked: bool = False
    whole: _Counts = field(default_factory=_Counts)
    misses: Counter[str] = field(default_factory=Counter)
    slices: dict[str, dict[str | None, _Counts]] = field(default_factory=lambda: {name: {} for name in GROUPINGS})

    def add(
        self,
        values: Mapping[str, str | None],
        why: MissReason | None,
        *,
        n_items: int = 1,
        n_scored: int | None = None,
    ) -> None:
        """Count items that share `values` (section, category, difficulty) and their reason; None: they are correct.

        `n_scored` is for records of before derivation 3, in which a blank text was a prediction.
        """
        n_correct = n_items if why is None else 0
        if n_scored is None:
            n_scored = n_items if has_prediction(why) else 0
        for counts in self._counts(values):
            counts.add(n_items, n_scored, n_correct)
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

    def _counts(self, values: Mapping[str, str | None]) -> Iterator[_Counts]:
        yield self.whole
        for name in GROUPINGS:
            yield self.slices[name].setdefault(values.get(name), _Counts())

    def scorecard(self) -> Scorecard:
        """The scorecard of the items added so far."""
        whole = self.whole
        score = whole.mean
        n_wrong = whole.n_items - whole.n_left_out - whole.n_correct
        spread = sample_sd([NANO] * whole.n_correct + [0] * n_wrong)
        return Scorecard(
            n_items=whole.n_items,
            n_scored=whole.n_scored,
            n_skipped=whole.n_items - whole.n_scored - whole.n_unanswered,
            primary_score=score,
            stddev=as_float(spread),
            metrics={"answer_correctness": score},
            misses={name: self.misses[name] for name in self._reasons()},
            section=self._slices("section"),
            category=self._slices("category"),
            difficulty=self._slices("difficulty"),
            n_unanswered=whole.n_unanswered if self.asked else msgspec.UNSET,
        )

    def _reasons(self) -> tuple[str, ...]:
        return (*REASONS, UNANSWERED) if UNANSWERED in self.misses else REASONS

    def _slices(self, name: str) -> tuple[Slice, ...]:
        known: Sequence[str] = _settings()["items"][name]

        def place(value: str | None) -> tuple[int, int, str]:
            if value is None:
                return (2, 0, "")
            return (0, known.index(value), "") if value in known else (1, 0, value)

        counted = self.slices[name]
        return tuple(
            Slice(
                value=value,
                n_items=counted[value].n_items,
                n_scored=counted[value].n_scored,
                mean=counted[value].mean,
                n_unanswered=counted[value].n_unanswered if self.asked else msgspec.UNSET,
            )
            for value in sorted(counted, key=place)
        )


def scorecard(answers: Iterable[Answer]) -> Scorecard:
    """Score and count `answers`, row by row.

    Raises: UsageError where an expected answer is blank (SPEC A3).
    """
    tally = ScorecardTally()
    for answer in answers:
        why = reason(answer.expected, answer.predicted, answer.answer_format)
        values = {name: getattr(answer, name) for name in GROUPINGS}
        tally.add(values, why)
    return tally.scorecard()


def failed_scorecard(card: Scorecard) -> Scorecard:
    """The scorecard of a run that crashed or timed out: the same counts, and 0.0 in every mean (SPEC A3).

    `misses` still tells what its texts were like.
    """

    def failed(slices: tuple[Slice, ...]) -> tuple[Slice, ...]:
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


def tally_columns(frame: polars.DataFrame) -> ScorecardTally:
    """The same counts out of a table of scored items: `reason`, and those of GROUPINGS that it has.

    `reason` is what `score_columns` gives: null where the item is correct.
    """
    import polars as pl

    names = [name for name in GROUPINGS if name in frame.columns]
    grouped = frame.lazy().group_by([*names, "reason"])
    # The streaming engine counts a million rows at a third of the cost; in which order groups come does not matter.
    counts = grouped.agg(n_items=pl.len()).collect(engine="streaming")
    tally = ScorecardTally()
    for row in counts.iter_rows(named=True):
        tally.add(row, row["reason"], n_items=row["n_items"])
    return tally


def floor_warning(card: Scorecard) -> str | None:
    """What to say where a run is at the floor because of form (SPEC A7); None where it is not.

    It stands beside the score and changes nothing in it.
    """
    floor = _settings()["floor"]
    unanswered = card.n_unanswered if isinstance(card.n_unanswered, int) else 0
    n_items = card.n_items - unanswered + card.misses.get(UNANSWERED, 0)  # those that count
    if not n_items:
        return None
    counts = {name: card.misses[name] for name in floor["form_reasons"]}
    n_correct = n_items - sum(card.misses.values())
    is_low = n_correct <= Decimal(floor["correct_at_most"]) * n_items
    is_form = sum(counts.values()) >= Decimal(floor["form_at_least"]) * n_items
    if not (is_low and is_form):
        return None
    return (
        f"{n_correct} of {n_items} items are correct, but form keeps the score at its floor: {SPEC_ID} compares "
        f"the whole answer, and in {counts['expected_inside_longer_text']} items the expected answer stands inside a "
        f"longer text, in {counts['numerically_equal']} the number is right and written otherwise. Ask for the answer "
        "alone, or give the items an answer_format."
    )


@cache
def _settings() -> Mapping[str, Any]:
    return load_spec(SPEC_ID).settings


MOCK_JUDGE = "MockJudge"


class Unavailable(msgspec.Struct, frozen=True, kw_only=True):
    """In the place of a per-item table that does not exist."""

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
