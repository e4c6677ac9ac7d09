"""The dollars that a run by batch may spend: a file goes out if what it may cost at most fits, too.

Nobody knows what a batch costs before it is back. So a limit holds for what replies have cost, and for what the
requests that are out would cost if every answer were as long as allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from benchbook.ask.batches.facts_held import HeldFactsOfBatches
from benchbook.ask.batches.targets import BatchTarget
from benchbook.ask.forecast import BYTES_PER_TOKEN, longest_answer
from benchbook.record.facts import BatchPrepared

_MILLION = Decimal(1_000_000)


class BatchBudget:
    """Looks at each file before it goes out. `limit_usd` is None where there is no limit."""

    def __init__(
        self, limit_usd: Decimal | None, held: HeldFactsOfBatches, targets: Mapping[str, BatchTarget | None]
    ) -> None:
        self.limit_usd = limit_usd
        self._held = held
        self._targets = targets

    def most_usd(self, target: BatchTarget, n_requests: int, n_bytes: int) -> Decimal | None:
        """The most that a file of requests costs; None where no price is known."""
        config = target.role.config
        if config.input_price is None and config.output_price is None:
            return None
        read = (config.input_price or 0) * (n_bytes // BYTES_PER_TOKEN)
        written = (config.output_price or 0) * (longest_answer(target.plan) * n_requests)
        return (read + written) * target.limits.price_factor / _MILLION

    def why_not(self, most_usd: Decimal | None) -> str | None:
        """The words for a file that may cost more than is left; None where it may go out."""
        if self.limit_usd is None or most_usd is None:
            return None
        spent, out = self.spent_usd(), self._out_usd()
        if spent + out + most_usd <= self.limit_usd:
            return None
        return (
            f"the cost limit: {spent:.4f} of {self.limit_usd} dollars are spent, what is out may cost {out:.4f}, "
            f"and the next batch {most_usd:.4f}"
        )

    def spent_usd(self) -> Decimal:
        """The cost of all replies."""
        spent = Decimal(0)
        for name, (read, written) in self._held.tokens.items():
            target = self._targets.get(name)
            if target is not None:
                config = target.role.config
                spent += (config.input_price or 0) * Decimal(read) + (config.output_price or 0) * Decimal(written)
        return spent / _MILLION

    def _out_usd(self) -> Decimal:
        """The most that requests cost which are out."""
        most = Decimal(0)
        for batch in self._held.ledger.open:
            most += _most_of(batch.prepared) * batch.n_out / batch.prepared.n_requests
        return most


def _most_of(prepared: BatchPrepared) -> Decimal:
    try:
        return Decimal(prepared.most_cost_usd or 0)
    except InvalidOperation:
        return Decimal(0)
