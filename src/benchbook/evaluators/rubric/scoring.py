"""One sample under a rubric: what it is worth, and whether it passes (SPEC R1, R5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Literal, NamedTuple

import msgspec

from benchbook.evaluators.exact import NANO, divide
from benchbook.evaluators.rubric.criteria import NOT_ANSWERED
from benchbook.evaluators.rubric.spec import RubricSpec

NO_ANSWER = "rule:no_answer"

EvaluatorError = Literal["parse_error", "provider_error", "timeout", "cancelled"]

Scores = tuple[int | None, ...]  # by criterion, in the rubric's order


class SampleOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one sample: all that its score is computed from. A null was not measured (SPEC C5)."""

    scores: Scores
    evaluator_error: EvaluatorError | None = None
    score_origin: str | None = None  # NO_ANSWER: the candidate gave none (R1.3). None: a judge scored it, or failed to
    latency_e2e_ms: int | None = None
    latency_model_ms: int | None = None
    timed_out: bool = False
    unanswered: bool = False  # nothing came, and not by the model's doing (R1.3a)
    some_do_not_apply: bool = False  # a judge scored it, and gave null for criteria that may not apply
    awaits_judge: bool = False  # an answer came, and no score, for its judge was not reached (R1.3b)
    input_tokens: int | None = None
    output_tokens: int | None = None
    further: Further | None = None  # of rubrics that count more

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    @property
    def cost_nano_usd(self) -> int | None:
        return None if self.further is None else self.further.cost_nano_usd

    @property
    def no_answer(self) -> bool:
        return self.score_origin == NO_ANSWER

    @property
    def unscored(self) -> bool:
        """True if a judge's score is lacking, and no rule stands in for it."""
        return None in self.scores and not self.no_answer and not self.some_do_not_apply


class RubricScore(msgspec.Struct, frozen=True):
    """The worth of a sample, in nano-units; `sample_score_nano` is None where the evaluator failed (R5.2).

    `norms_nano` are the parts of 1 that the criteria are worth, then the measures, in the rubric's order.
    """

    sample_score_nano: int | None
    norms_nano: Scores
    token_efficiency_ratio_nano: int | None
    fail_reasons: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.fail_reasons


def score_sample(outcome: SampleOutcome, spec: RubricSpec) -> RubricScore:
    """Score one sample (SPEC R5.1, R5.2); nothing but `outcome` and the rubric goes in."""
    values = spec.measured(outcome)
    norms = [worth[score] for worth, score in zip(spec.norms_nano, outcome.scores, strict=True)]
    # R5.2 as one fraction over a common denominator, so that it is rounded once (C2).
    worth, whole = _judged(outcome, spec), spec.steps
    for measure, value in zip(spec.measures, values, strict=True):
        if value is None:
            norms.append(None)
            continue
        # min(1, target / max(value, 1)) is target / max(value, target): one division, exact.
        base = max(measure.target, value)
        norms.append(divide(measure.target * NANO, base))
        if worth is not None:
            worth, whole = worth * base + measure.weight * measure.target * whole, whole * base
    score_nano = None if worth is None else divide(worth * NANO, _weight(outcome, spec) * whole)
    reasons = _fail_reasons(outcome, values, spec)
    if spec.pass_rule is not None:
        reasons = spec.pass_rule.reasons(
            reasons, spec.criteria, outcome.scores, score_nano, no_answer=outcome.no_answer
        )
    elif not reasons and outcome.no_answer:  # R1.3: under no rubric does it pass, limits or none
        reasons = (NOT_ANSWERED,)
    return RubricScore(score_nano, tuple(norms), _token_ratio(outcome), reasons)


def _judged(outcome: SampleOutcome, spec: RubricSpec) -> int | None:
    """The sum of what the criteria add, in steps; None where the evaluator failed."""
    worth = 0
    for one, score, weight in zip(spec.criteria, outcome.scores, spec.step_weights, strict=True):
        if score is not None:
            worth += weight * (score - one.lowest)
        elif not outcome.no_answer and not outcome.some_do_not_apply:
            return None  # else R1.3: where nothing was claimed, nothing is rewarded
    return worth


def _weight(outcome: SampleOutcome, spec: RubricSpec) -> int:
    """The sum of the weights of all that applies."""
    if not outcome.some_do_not_apply:
        return spec.whole_weight
    left_out = (one.weight for one, score in zip(spec.criteria, outcome.scores, strict=True) if score is None)
    return spec.whole_weight - sum(left_out)


def _fail_reasons(outcome: SampleOutcome, values: Scores, spec: RubricSpec) -> tuple[str, ...]:
    """The requirements of R5.1 that are not met, in the rubric's order; none for a sample that passes. A null meets
    none, except where the criterion does not apply."""
    reasons: list[str] = []
    for one, score in zip(spec.criteria, outcome.scores, strict=True):
        if score is None and outcome.some_do_not_apply:
            continue
        if score is None:
            reasons.append(f"{one.name}_unscored")
        elif one.at_least is not None and score < one.at_least:
            reasons.append(one.below_minimum)
    for measure, value in zip(spec.measures, values, strict=True):
        if measure.at_most is None:
            continue
        if value is None:
            reasons.append(f"{measure.name}_unmeasured")
        elif value > measure.at_most:
            reasons.append(f"{measure.name}_above_maximum")
    return tuple(reasons)


def _token_ratio(outcome: SampleOutcome) -> int | None:
    if outcome.input_tokens is None or outcome.output_tokens is None:
        return None
    return divide(outcome.output_tokens * NANO, max(outcome.input_tokens, 1))


# ── counted beside scores, under some rubrics alone ──────────────────────────────────────────────────────────


class MetCounts(NamedTuple):
    """How many of items' own criteria have a positive weight, and a negative one, and how many of them are met."""

    positive: int = 0
    positive_met: int = 0
    negative: int = 0
    negative_met: int = 0


_NONE_MET = MetCounts()


class Further(msgspec.Struct, frozen=True, kw_only=True):
    """Further values of one sample. `quotes_found` has, by criterion whose quotes are counted, whether its own was
    found; None where there is none."""

    quotes_found: tuple[bool | None, ...] = ()
    cost_nano_usd: int | None = None
    met: MetCounts | None = None  # of the item's own criteria


@dataclass(slots=True)
class FurtherSums:
    """Counts over samples: `quotes` has, by criterion whose quotes are counted, how many there are, and how many were
    found."""

    quotes: list[tuple[int, int]] = field(default_factory=list)
    n_costs: int = 0  # whose cost is known
    cost_nano_usd: int = 0
    met: MetCounts = _NONE_MET

    @classmethod
    def over(cls, n_quoted: int) -> FurtherSums:
        return cls([(0, 0)] * n_quoted)

    def add(self, more: Further | None) -> None:
        if more is None:
            return
        self._add_quotes(more.quotes_found)
        if more.cost_nano_usd is not None:
            self.n_costs += 1
            self.cost_nano_usd += more.cost_nano_usd
        if more.met is not None:
            self.met = MetCounts(*map(add, self.met, more.met))

    def merge(self, more: FurtherSums) -> None:
        pairs = zip(self.quotes, more.quotes, strict=True)
        self.quotes = [(n + others, n_found + others_found) for (n, n_found), (others, others_found) in pairs]
        self.n_costs += more.n_costs
        self.cost_nano_usd += more.cost_nano_usd
        self.met = MetCounts(*map(add, self.met, more.met))

    def _add_quotes(self, found: Sequence[bool | None]) -> None:
        for number, one in enumerate(found):
            if one is not None:
                n, n_found = self.quotes[number]
                self.quotes[number] = n + 1, n_found + one
