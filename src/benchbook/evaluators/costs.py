"""What a run's replies cost, at the configured prices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from benchbook.evaluators.exact import NANO, divide
from benchbook.record.facts import Reply

__all__ = ["PaidTokens", "Prices", "candidate_cost", "evaluator_cost"]


_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model's tokens cost, exactly: dollars per million."""

    input: Fraction
    output: Fraction

    @classmethod
    def of(cls, input_price: Any, output_price: Any) -> Prices:
        """As settings and records have them."""
        return cls(Fraction(str(input_price)), Fraction(str(output_price)))

    def cost_nano_usd(self, input_tokens: int | None, output_tokens: int | None) -> int | None:
        """Billionths of a dollar, rounded half-even; None where a number of tokens is not known.

        It is what the answer costs whoever asks for it: one from the response cache, too.
        """
        if input_tokens is None or output_tokens is None:
            return None
        exact = (self.input * input_tokens + self.output * output_tokens) * (NANO // 1_000_000)
        return divide(exact.numerator, exact.denominator)


class PaidTokens:
    """Tokens by who wrote them, the model or a judge by its number; but for replies from the response cache: they were
    paid for once."""

    def __init__(self) -> None:
        self._input: Counter[int | Literal["model"]] = Counter()
        self._output: Counter[int | Literal["model"]] = Counter()

    def add(self, who: int | Literal["model"], reply: Reply) -> None:
        if not reply.cached:
            self._input[who] += reply.input_tokens or 0
            self._output[who] += reply.output_tokens or 0

    def cost(self, who: int | Literal["model"], input_price: Any, output_price: Any) -> Decimal | None:
        """In dollars; prices are dollars per million tokens, as they were recorded. None where none was given."""
        if input_price is None and output_price is None:
            return None
        input_cost = Decimal(str(input_price or 0)) * self._input[who]
        return (input_cost + Decimal(str(output_price or 0)) * self._output[who]) / _MILLION


def candidate_cost(config: dict[str, Any], paid: PaidTokens) -> str | None:
    """Decimal dollars, of the candidate's answers."""
    return _shown(paid.cost("model", config.get("model_input_price"), config.get("model_output_price")))


def evaluator_cost(config: dict[str, Any], paid: PaidTokens) -> str | None:
    """Decimal dollars, of the judge's replies, or of a panel's together: None unless something has a price."""
    judges = config.get("judges") or [
        {"input_price": config.get("judge_input_price"), "output_price": config.get("judge_output_price")}
    ]
    costs = [paid.cost(who, one.get("input_price"), one.get("output_price")) for who, one in enumerate(judges)]
    known = [cost for cost in costs if cost is not None]
    return _shown(sum(known, start=Decimal(0))) if known else None


def _shown(cost: Decimal | None) -> str | None:
    return None if cost is None else f"{cost:.6f}"
