"""`rubric@v1` for one sample: what it is worth, and whether it passes (SPEC R1, R5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import msgspec

from benchbook.errors import ConfigError
from benchbook.evaluators.exact import NANO, divide
from benchbook.specs import load_spec

__all__ = [
    "CRITERIA",
    "NO_ANSWER",
    "EvaluatorError",
    "FailReason",
    "Outcome",
    "RubricScale",
    "RubricScore",
    "Unmeasured",
    "rubric_scale",
    "score_sample",
]


SPEC_ID = "rubric@v1"
NO_ANSWER = "rule:no_answer"
CRITERIA = ("accuracy", "faithfulness", "latency", "tokens")

EvaluatorError = Literal["parse_error", "provider_error", "timeout", "cancelled"]
Unmeasured = Literal["latency", "tokens"]
FailReason = Literal[
    "accuracy_below_minimum",
    "accuracy_unscored",
    "faithfulness_below_minimum",
    "faithfulness_unscored",
    "latency_above_maximum",
    "latency_unmeasured",
    "tokens_above_maximum",
    "tokens_unmeasured",
]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one sample: all that its score is computed from. A null was not measured (SPEC C5)."""

    accuracy_score: int | None = None
    faithfulness_score: int | None = None
    evaluator_error: EvaluatorError | None = None
    score_origin: str | None = None  # NO_ANSWER: the candidate gave none (R1.3). None: a judge scored it, or failed to
    latency_e2e_ms: int | None = None
    latency_model_ms: int | None = None
    timed_out: bool = False
    unanswered: bool = False  # nothing came, and not by the model's doing (R1.3a)
    awaits_judge: bool = False  # an answer came, and no score, for its judge was not reached (R1.3b)
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    @property
    def no_answer(self) -> bool:
        return self.score_origin == NO_ANSWER

    @property
    def unscored(self) -> bool:
        """No judge's score, and no rule that stands in for one."""
        return self.accuracy_score is None


@dataclass(frozen=True, slots=True)
class RubricScale:
    """The numbers of R5 out of the frozen spec. Weights are hundredths; an unmeasured criterion has weight 0."""

    min_accuracy_score: int
    min_faithfulness_score: int
    max_latency_e2e_ms: int
    max_total_tokens: int
    accuracy_weight: int
    faithfulness_weight: int
    latency_weight: int
    token_weight: int
    target_latency_ms: int
    target_tokens: int
    unmeasured: frozenset[str]

    @property
    def whole_weight(self) -> int:
        """What the weights add up to: 100, less where a criterion is declared unmeasured (R1.4)."""
        return self.accuracy_weight + self.faithfulness_weight + self.latency_weight + self.token_weight


class RubricScore(msgspec.Struct, frozen=True):
    """What a sample is worth, in nano-units; `sample_score_nano` is None where the evaluator failed (R5.2)."""

    sample_score_nano: int | None
    accuracy_norm_nano: int | None
    faithfulness_norm_nano: int | None
    latency_norm_nano: int | None
    token_efficiency_norm_nano: int | None
    token_efficiency_ratio_nano: int | None
    fail_reasons: tuple[FailReason, ...]

    @property
    def passed(self) -> bool:
        return not self.fail_reasons


@cache
def rubric_scale(unmeasured: frozenset[str] = frozenset()) -> RubricScale:
    """The scale of `rubric@v1`, with criteria declared unmeasured left out (SPEC R1.4).

    Raises: ConfigError for a criterion that can't be declared unmeasured.
    """
    if unknown := unmeasured - {"latency", "tokens"}:
        raise ConfigError("unmeasured", ", ".join(sorted(unknown)), "latency, tokens, or both")
    settings = load_spec(SPEC_ID).settings
    limits, weights, targets = settings["pass"], settings["weights"], settings["targets"]
    return RubricScale(
        min_accuracy_score=limits["min_accuracy_score"],
        min_faithfulness_score=limits["min_faithfulness_score"],
        max_latency_e2e_ms=limits["max_latency_e2e_ms"],
        max_total_tokens=limits["max_total_tokens"],
        accuracy_weight=weights["accuracy"],
        faithfulness_weight=weights["faithfulness"],
        latency_weight=0 if "latency" in unmeasured else weights["latency"],
        token_weight=0 if "tokens" in unmeasured else weights["token_efficiency"],
        target_latency_ms=targets["latency_e2e_ms"],
        target_tokens=targets["total_tokens"],
        unmeasured=unmeasured,
    )


def score_sample(outcome: Outcome, scale: RubricScale) -> RubricScore:
    """Score one sample (SPEC R5.1, R5.2); nothing but `outcome` and the frozen scale goes in."""
    tokens = outcome.total_tokens
    # min(1, target / max(value, 1)) is target / max(value, target): one division, exact.
    latency_base = None if outcome.latency_e2e_ms is None else max(outcome.latency_e2e_ms, scale.target_latency_ms)
    token_base = None if tokens is None else max(tokens, scale.target_tokens)
    return RubricScore(
        sample_score_nano=_sample_score(outcome, scale, latency_base, token_base),
        accuracy_norm_nano=_half(outcome.accuracy_score),
        faithfulness_norm_nano=_half(outcome.faithfulness_score),
        latency_norm_nano=None if latency_base is None else divide(scale.target_latency_ms * NANO, latency_base),
        token_efficiency_norm_nano=None if token_base is None else divide(scale.target_tokens * NANO, token_base),
        token_efficiency_ratio_nano=_token_ratio(outcome),
        fail_reasons=fail_reasons(outcome, scale),
    )


def _sample_score(outcome: Outcome, scale: RubricScale, latency_base: int | None, token_base: int | None) -> int | None:
    """R5.2 as one fraction over a common denominator, so that it is rounded once (C2)."""
    if outcome.accuracy_score is None:
        return None
    faithfulness = outcome.faithfulness_score
    if faithfulness is None:
        if not outcome.no_answer:
            return None
        faithfulness = 0  # R1.3: no claim was made, and none is rewarded
    latency, tokens = latency_base or 1, token_base or 1
    judged = scale.accuracy_weight * outcome.accuracy_score + scale.faithfulness_weight * faithfulness
    numerator = judged * latency * tokens
    if latency_base is not None:
        numerator += 2 * scale.latency_weight * scale.target_latency_ms * tokens
    if token_base is not None:
        numerator += 2 * scale.token_weight * scale.target_tokens * latency
    return divide(numerator * NANO, 2 * scale.whole_weight * latency * tokens)


def fail_reasons(outcome: Outcome, scale: RubricScale) -> tuple[FailReason, ...]:
    """The criteria of R5.1 that are not met, in their order; none for a sample that passes. A null is not met."""
    reasons: list[FailReason] = []
    if outcome.accuracy_score is None:
        reasons.append("accuracy_unscored")
    elif outcome.accuracy_score < scale.min_accuracy_score:
        reasons.append("accuracy_below_minimum")
    if outcome.faithfulness_score is None:
        reasons.append("faithfulness_unscored")
    elif outcome.faithfulness_score < scale.min_faithfulness_score:
        reasons.append("faithfulness_below_minimum")
    if "latency" not in scale.unmeasured:
        if outcome.latency_e2e_ms is None:
            reasons.append("latency_unmeasured")
        elif outcome.latency_e2e_ms > scale.max_latency_e2e_ms:
            reasons.append("latency_above_maximum")
    if "tokens" not in scale.unmeasured:
        tokens = outcome.total_tokens
        if tokens is None:
            reasons.append("tokens_unmeasured")
        elif tokens > scale.max_total_tokens:
            reasons.append("tokens_above_maximum")
    return tuple(reasons)


def _half(score: int | None) -> int | None:
    return None if score is None else score * (NANO // 2)


def _token_ratio(outcome: Outcome) -> int | None:
    if outcome.input_tokens is None or outcome.output_tokens is None:
        return None
    return divide(outcome.output_tokens * NANO, max(outcome.input_tokens, 1))
