"""The parts of a rubric: criteria that a judge gives scores for, measures, its messages; and when a sample passes.

Where a user's own rubric has no rule for that, simply every limit has to hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Shown = Literal["mean", "full_credit_rate", "failure_rate"]
QuoteRule = Literal["must_be_found", "report"]
MeasureName = Literal["latency", "tokens", "cost"]


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that the judge gives a score for: an integer from `lowest` to `highest`, or by its name in `grades`."""

    name: str
    question: str
    lowest: int
    highest: int
    weight: int  # beside those of the others: only their proportion counts
    at_least: int | None = None  # the least that passes; None where any score does
    no_answer: int | None = None  # what no answer is worth (R1.3); None: nothing, and it is left out of its own means
    shown: tuple[Shown, ...] = ("mean", "full_credit_rate", "failure_rate")
    grades: tuple[str, ...] = ()  # what the judge calls each score, lowest first; none: it gives the number
    may_not_apply: bool = False  # the judge may give null: the sample is then scored by the others
    quote: QuoteRule | None = None  # the judge quotes what shows it; what if that is not found. None: it need not
    from_transcript: bool = False  # it quotes any turn of the conversation, and says which; else the answer
    by_item: bool = False  # its score is what an item's own criteria come to, in nano-units: no judge gives it as one
    score_key: str = ""  # what the judge's reply, and the column of a row, calls its score
    norm: str = ""  # what a row calls the part of 1 that it is worth

    def __post_init__(self) -> None:
        object.__setattr__(self, "score_key", f"{self.name}_score")
        object.__setattr__(self, "norm", f"{self.name}_norm")

    @property
    def below_minimum(self) -> str:
        """The reason for which a sample with a score below `at_least` does not pass."""
        return f"{self.name}_below_minimum"

    @property
    def quote_key(self) -> str:
        """The key of the quote in the judge's reply."""
        return f"{self.name}_quote"

    @property
    def turn_key(self) -> str:
        """The key of the number of the turn that holds the quote."""
        return f"{self.name}_turn"

    @property
    def reply_keys(self) -> tuple[str, ...]:
        """The criterion's keys in a judge's reply."""
        if self.by_item:
            return (self.name,)
        if self.quote is None:
            return (self.score_key,)
        return (self.score_key, self.quote_key, *((self.turn_key,) if self.from_transcript else ()))

    @property
    def span(self) -> int:
        """How many steps the scale has."""
        return self.highest - self.lowest

    @property
    def scores(self) -> range:
        return range(self.lowest, self.highest + 1)

    @property
    def given(self) -> tuple[int, ...] | tuple[str, ...]:
        """The scores, or the grades, that the judge may give, the lowest first."""
        return self.grades or tuple(self.scores)

    @property
    def shown_in_reply(self) -> tuple[str, ...]:
        """The same as it stands in a reply's JSON."""
        found = [f'"{one}"' if self.grades else str(one) for one in self.given]
        return (*found, "null") if self.may_not_apply else tuple(found)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of measure of an answer. `field` is its place in an outcome, `norm` the name of its share in a row."""

    field: str
    norm: str


MEASURES: Mapping[MeasureName, _Kind] = {
    "latency": _Kind("latency_e2e_ms", "latency_norm"),
    "tokens": _Kind("total_tokens", "token_efficiency_norm"),
    "cost": _Kind("cost_nano_usd", "cost_norm"),  # in billionths of a dollar, as are its target and limit
}


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that is measured: worth its whole weight up to `target`, and `target / value` of it beyond."""

    name: MeasureName
    target: int
    at_most: int | None  # the most that passes
    weight: int

    @property
    def field(self) -> str:
        return MEASURES[self.name].field

    @property
    def norm(self) -> str:
        return MEASURES[self.name].norm


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of those that the judge is asked with; `{{item.NAME}}` and `{{answer}}` are replaced (R2.2)."""

    role: Literal["system", "user", "assistant"]
    text: str


# ── when a sample passes ─────────────────────────────────────────────────────────────────────────────────────


NOT_ANSWERED = "no_answer"
SCORE_BELOW_MINIMUM = "score_below_minimum"
TOO_FEW_CRITERIA = "too_few_criteria"


@dataclass(frozen=True, slots=True)
class PassRule:
    """One of the two: a least sample score, beside all limits that there are; or how many criteria must be at their
    `at_least`, instead of all of them. Limits of measures hold by either. By none of them all limits have to hold, and
    an answer must have come."""

    min_score_nano: int | None = None
    at_least: int | None = None

    def reasons(
        self,
        limits: Sequence[str],
        criteria: Sequence[Criterion],
        scores: Sequence[int | None],
        score_nano: int | None,
        *,
        no_answer: bool,
    ) -> tuple[str, ...]:
        """The reasons for which a sample does not pass; none where it does. `limits` are the limits that do not hold.

        What does not apply asks for nothing: of three criteria to be met where two apply, two are. No answer never
        passes (R1.3).
        """
        found = list(limits)
        if self.at_least is not None:
            found = self._of_count(limits, criteria, scores)
        elif self.min_score_nano is not None and score_nano is not None and score_nano < self.min_score_nano:
            found.append(SCORE_BELOW_MINIMUM)
        if no_answer and not found:
            found.append(NOT_ANSWERED)
        return tuple(found)

    def _of_count(
        self, limits: Sequence[str], criteria: Sequence[Criterion], scores: Sequence[int | None]
    ) -> list[str]:
        given = [
            (one, score)
            for one, score in zip(criteria, scores, strict=True)
            if one.at_least is not None and score is not None
        ]
        below = [one.below_minimum for one, score in given if one.at_least is not None and score < one.at_least]
        if len(given) - len(below) < min(self.at_least or 0, len(given)):
            return [TOO_FEW_CRITERIA, *limits]
        return [one for one in limits if one not in below]
