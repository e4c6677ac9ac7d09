"""What a run's replies cost, at the configured prices."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any, Literal

from benchbook.record.facts import Reply

__all__ = ["PaidTokens", "candidate_cost", "evaluator_cost"]


_MILLION = Decimal(1_000_000)


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
