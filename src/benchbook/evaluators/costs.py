"""The cost of a run's replies, at the configured prices: in all, and of each answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, Literal

from benchbook.evaluators.contract import COST
from benchbook.evaluators.exact import NANO, divide
from benchbook.record.batches import PriceFactors
from benchbook.record.facts import Reply

if TYPE_CHECKING:
    import polars

_MILLION = Decimal(1_000_000)
_MOST_DOLLARS, _MOST_DECIMALS = 10**12, 18  # of a price: its sums are whole numbers of 128 bits


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of a model's tokens, exactly: dollars per million."""

    input: Fraction
    output: Fraction

    @classmethod
    def of(cls, input_price: Any, output_price: Any) -> Prices:
        """Prices as settings and records have them."""
        return cls(Fraction(str(input_price)), Fraction(str(output_price)))

    def cost_nano_usd(self, input_tokens: int | None, output_tokens: int | None) -> int | None:
        """Billionths of a dollar, rounded half-even; None where a number of tokens is not known.

        It is what the answer costs whoever asks for it: one from the response cache, too.
        """
        if input_tokens is None or output_tokens is None:
            return None
        input_price, output_price, unit = self._whole
        return divide(input_price * input_tokens + output_price * output_tokens, unit)

    def cost_usd(self, input_tokens: polars.Expr, output_tokens: polars.Expr) -> polars.Expr:
        """The same over columns, in dollars."""
        import polars as pl

        input_price, output_price, unit = (pl.lit(one, pl.Int128) for one in self._whole)
        total = input_tokens.cast(pl.Int128) * input_price + output_tokens.cast(pl.Int128) * output_price
        quotient, twice = total // unit, 2 * (total % unit)
        up = (twice > unit) | ((twice == unit) & (quotient % 2 == 1))
        # Polars multiplies by the inverse of a number, and is off by a last digit; rounded, it is what it should be.
        return ((quotient + up.cast(pl.Int128)).cast(pl.Float64) / NANO).round(9)

    @property
    def _whole(self) -> tuple[int, int, int]:
        """The price of a token that is read and of one that is written, as whole numbers; how many make a billionth."""
        a_token = [price * (NANO // 1_000_000) for price in (self.input, self.output)]
        unit = lcm(*(one.denominator for one in a_token))
        input_price, output_price = (int(one * unit) for one in a_token)
        return input_price, output_price, unit


def known_prices(config: Mapping[str, Any]) -> Prices | None:
    """The prices of a run's model, by its settings; None unless both are known, for a part of a cost is none."""
    prices = [config.get(f"model_{name}_price") for name in ("input", "output")]
    return Prices.of(*prices) if all(map(_is_price, prices)) else None


def _is_price(value: Any) -> bool:
    """True for what settings may hold. A record is anybody's, and a number of a million digits takes a machine down."""
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return False
    exponent = amount.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -_MOST_DECIMALS and 0 <= amount < _MOST_DOLLARS


_TOKENS = ("input_tokens", "output_tokens")


def with_costs(rows: polars.LazyFrame, config: Mapping[str, Any]) -> polars.LazyFrame:
    """A samples.parquet with the cost of each answer, unless it has that or nobody knows it.

    Tables did not always have it, and have it only where it is measured (SPEC R1.1): it follows from the tokens, at the
    prices that the run was begun with.
    """
    import polars as pl

    names = rows.collect_schema().names()
    prices = known_prices(config)
    if COST.column in names or prices is None or not {*_TOKENS} <= {*names}:
        return rows
    return rows.with_columns(prices.cost_usd(*(pl.col(name) for name in _TOKENS)).alias(COST.column))


Payer = int | Literal["model"]  # a judge by its number


class PaidTokens:
    """Tokens by who wrote them, the model or a judge; but for replies from the response cache: they were paid for once.
    Of replies that came in batches, as much of them as `factors` say was paid for."""

    def __init__(self, factors: PriceFactors | None = None) -> None:
        self.factors = factors or PriceFactors()
        self._input: Counter[tuple[Payer, str | None]] = Counter()  # by who, and by the batch
        self._output: Counter[tuple[Payer, str | None]] = Counter()

    def add(self, who: Payer, reply: Reply) -> None:
        if not reply.cached:
            self._input[who, reply.batch] += reply.input_tokens or 0
            self._output[who, reply.batch] += reply.output_tokens or 0

    def add_all(self, who: Payer, replies: Sequence[Reply]) -> None:
        for batch in {one.batch for one in replies}:
            paid = [one for one in replies if one.batch == batch and not one.cached]
            self._input[who, batch] += sum([one.input_tokens or 0 for one in paid])
            self._output[who, batch] += sum([one.output_tokens or 0 for one in paid])

    def merge(self, more: PaidTokens) -> None:
        """Add what was paid for other replies."""
        self._input.update(more._input)
        self._output.update(more._output)

    def cost(self, who: Payer, input_price: Any, output_price: Any) -> Decimal | None:
        """The cost in dollars; prices are per million tokens, as they were recorded. None where none was given."""
        if input_price is None and output_price is None:
            return None
        input_cost = Decimal(str(input_price or 0)) * self._paid(self._input, who)
        return (input_cost + Decimal(str(output_price or 0)) * self._paid(self._output, who)) / _MILLION

    def _paid(self, tokens: Counter[tuple[Payer, str | None]], who: Payer) -> Decimal:
        paid = (n * self.factors.of_batch(batch) for (one, batch), n in tokens.items() if one == who)
        return sum(paid, start=Decimal(0))


def candidate_cost(config: dict[str, Any], paid: PaidTokens) -> str | None:
    """The cost of the candidate's answers, in decimal dollars."""
    return _shown(paid.cost("model", config.get("model_input_price"), config.get("model_output_price")))


def evaluator_cost(config: dict[str, Any], paid: PaidTokens) -> str | None:
    """The cost of the judge's replies, or a panel's, in decimal dollars; None unless something has a price."""
    judges = config.get("judges") or [
        {"input_price": config.get("judge_input_price"), "output_price": config.get("judge_output_price")}
    ]
    costs = [paid.cost(who, one.get("input_price"), one.get("output_price")) for who, one in enumerate(judges)]
    known = [cost for cost in costs if cost is not None]
    return _shown(sum(known, start=Decimal(0))) if known else None


def _shown(cost: Decimal | None) -> str | None:
    return None if cost is None else f"{cost:.6f}"
