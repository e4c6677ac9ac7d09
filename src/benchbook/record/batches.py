"""The batches of a run, by its journal: what went out, what came back, and what a reply in one cost.

A batch is prepared, then submitted, then collected. Its replies and failures come in between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from benchbook.record.facts import (
    BatchCollected,
    BatchPrepared,
    BatchSubmitted,
    Fact,
    Failure,
    Reply,
    RunStarted,
    SampleFact,
)
from benchbook.record.format import SHARDS_OR_BATCHES
from benchbook.text import quoted

if TYPE_CHECKING:
    from benchbook.record.state import JournalState

BATCHES = "batches"  # a record's folder for files on their way; nothing in it can't be had again
WHOLE_PRICE = Decimal(1)
_MOST_DECIMALS = 6  # of the part of a price


def is_price_factor(factor: Decimal) -> bool:
    """True for a part of a price, between 0 and 1."""
    exponent = factor.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -_MOST_DECIMALS and 0 <= factor <= 1


def factor_of(prepared: BatchPrepared) -> Decimal:
    """The part of the price that a batch's tokens cost; all of it where the fact makes no sense: `verify` says so."""
    try:
        factor = Decimal(prepared.price_factor)
    except InvalidOperation:
        return WHOLE_PRICE
    return factor if is_price_factor(factor) else WHOLE_PRICE


class PriceFactors:
    """The part of the price that a reply's tokens cost, by the batch that it came in."""

    def __init__(self) -> None:
        self._factors: dict[str | None, Decimal] = {}

    def add(self, prepared: BatchPrepared) -> None:
        self._factors[prepared.batch] = factor_of(prepared)

    def of(self, reply: Reply) -> Decimal:
        return self.of_batch(reply.batch)

    def of_batch(self, batch: str | None) -> Decimal:
        """The same by the batch itself; all of the price where there is none."""
        return self._factors.get(batch, WHOLE_PRICE)


def files_on_their_way(state: JournalState) -> tuple[str, ...]:
    """The folder with files of requests and results that a record may have until its end."""
    return (BATCHES,) if state.ended is None and state.started.config.get("batch") is not None else ()


def samples_in(prepared: BatchPrepared) -> Iterator[int]:
    """The samples whose requests a batch has, in order."""
    for first, count in prepared.samples:
        yield from range(first, first + count)


def runs_of(samples: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending samples as runs of neighbours: `[(first, how many), …]`."""
    runs: list[tuple[int, int]] = []
    first, count = 0, 0
    for sample in samples:
        if count and sample == first + count:
            count += 1
            continue
        if count:
            runs.append((first, count))
        first, count = sample, 1
    return [*runs, (first, count)] if count else runs


@dataclass(slots=True)
class HeldBatch:
    """One batch, as far as the journal has come, and how many of its requests have a reply or a failure there."""

    prepared: BatchPrepared
    submitted: BatchSubmitted | None = None
    collected: BatchCollected | None = None
    n_replies: int = 0
    n_failures: int = 0

    @property
    def n_back(self) -> int:
        return self.n_replies + self.n_failures

    @property
    def id(self) -> str:
        return self.prepared.batch

    @property
    def n_out(self) -> int:
        """How many of its requests are waited for."""
        return 0 if self.collected is not None else self.prepared.n_requests - self.n_back

    def __contains__(self, sample: int) -> bool:
        runs = self.prepared.samples
        place = bisect_right(runs, sample, key=lambda run: run[0]) - 1
        return place >= 0 and sample < sum(runs[place])


class BatchLedger:
    """The batches that a journal names, by their ids, while its facts go by in order."""

    def __init__(self) -> None:
        self.batches: dict[str, HeldBatch] = {}
        self._n_samples = 0
        self._format = 0

    @property
    def open(self) -> list[HeldBatch]:
        """Those that are not over, in the order of the journal."""
        return [one for one in self.batches.values() if one.collected is None]

    def note(self, fact: Fact) -> str | None:
        """Take the next fact; the words for one that does not follow from those before, which is then left out."""
        match fact:
            case RunStarted():
                self._n_samples, self._format = fact.n_items * fact.repeats, fact.format
            case Reply() | Failure():
                return None if fact.batch is None else self._come_back(fact)
            case BatchPrepared():
                return self._prepare(fact)
            case BatchSubmitted() | BatchCollected():
                return self._go_on(fact)
            case _:
                pass
        return None

    def _prepare(self, fact: BatchPrepared) -> str | None:
        if (what := self._fault_of(fact)) is None:
            self.batches[fact.batch] = HeldBatch(fact)
        return what

    def _fault_of(self, fact: BatchPrepared) -> str | None:
        if self._format < SHARDS_OR_BATCHES:
            return f"is a fact of format {SHARDS_OR_BATCHES}, and the first fact names none"
        if fact.batch in self.batches:
            return f"batch: found {quoted(fact.batch)} again; expected an id of its own"
        end = 0
        for first, count in fact.samples:
            if first < end or count < 1:
                return f"samples: found {[first, count]}; expected runs of samples, in order"
            end = first + count
        if end > self._n_samples:
            return f"samples: found sample {end - 1}; the plan has {self._n_samples}"
        if (n := sum(count for _, count in fact.samples)) != fact.n_requests or not n:
            return f"n_requests: found {fact.n_requests}, and the requests of {n} samples"
        if str(factor_of(fact)) != fact.price_factor:
            return f"price_factor: found {quoted(fact.price_factor)}; expected a decimal between 0 and 1"
        return None

    def _go_on(self, fact: BatchSubmitted | BatchCollected) -> str | None:
        batch = self.batches.get(fact.batch)
        if batch is None:
            return f"batch: found {quoted(fact.batch)}, and no batch of that id was prepared"
        if batch.collected is not None:
            return f"comes after batch {fact.batch} was collected"
        if isinstance(fact, BatchCollected):
            batch.collected = fact
            found, held = (fact.n_replies, fact.n_failures), (batch.n_replies, batch.n_failures)
            if found != held:
                words = "{} replies and {} failures".format
                return f"batch {fact.batch}: found {words(*found)}; the journal has {words(*held)} of it"
        elif batch.submitted is not None:
            return f"is a second batch_submitted of batch {fact.batch}"
        else:
            batch.submitted = fact
        return None

    def _come_back(self, fact: SampleFact) -> str | None:
        batch = self.batches.get(fact.batch or "")
        if batch is None or batch.collected is not None:
            return f"batch: found {quoted(fact.batch or '')}; expected one that was prepared, and is not over"
        if (fact.role, fact.judge) != (batch.prepared.role, batch.prepared.judge) or fact.sample not in batch:
            return f"batch: {fact.batch} has no request for this"
        if batch.n_back >= batch.prepared.n_requests:
            return f"batch: {fact.batch} has no request left that this could answer"
        if isinstance(fact, Reply):
            batch.n_replies += 1
        else:
            batch.n_failures += 1
        return None
