"""One shard of a run: begun, or gone on with where its journal ends. No writer of another shard is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.bytes_in_flight import check_address_space
from benchbook.ask.identity import code_version, environment, storable_config
from benchbook.ask.keeping import Keep, ShardKeeper
from benchbook.ask.limits import Stop
from benchbook.ask.roles import Means
from benchbook.ask.settings import SittingSettings
from benchbook.ask.shared_rates import Desk, RateOf, RatesOfShard
from benchbook.ask.starting import (
    Asks,
    Beside,
    Opened,
    Settings,
    ask_what_lacks,
    open_means_for,
    prepared_to_ask,
)
from benchbook.ask.work import ProgressHandler
from benchbook.record.facts import Resumed, RunStarted, Shard
from benchbook.record.folder import Inputs, Record, ShardRecord, at_work, hashes_of_inputs
from benchbook.record.inputs import HeldInputs
from benchbook.record.shards import ShardAsked, create_shard, shard_path


@dataclass(frozen=True, slots=True)
class ShardResult:
    """A shard after a sitting. If asking ended early, `stop.reason` says why, and the same call goes on."""

    record: ShardRecord
    shard: Shard
    n_done: int  # samples that have their outcome
    stop: Stop

    @property
    def is_whole(self) -> bool:
        return self.n_done == self.shard.n_samples


async def ask_shard(
    evaluator: Asks[Any, Settings],
    config: Settings,
    asked: ShardAsked,
    on_progress: ProgressHandler | None = None,
    source: str | Path | None = None,
    on_begun: Callable[[Record], None] = lambda _: None,
    keep: Keep | None = None,
    desk: Desk | None = None,
) -> ShardResult:
    """Begin a shard of the run that the settings name, or go on with it, and ask all of it.

    It may be called again at any time, by whoever restarts what was killed: what was recorded is not asked again. With
    a store to `keep` it in, that may be on another machine. `desk` lends the rates of the whole run; without one, or
    once it is lost, the shard keeps to its part.
    Raises: as `starting.start`; UsageError where the shard was begun with another plan, and for a plan that can't be
    split; TakenError where another writer is at the shard; StoreError.
    """
    check_address_space()
    run_id = asked.run_id_in(config)
    prepared = prepared_to_ask(evaluator, config)

    def first_fact(inputs: dict[str, str]) -> RunStarted:
        whole = prepared.first_fact(run_id, inputs, source)
        return asked.first_fact(evaluator.plan_of(whole), whole)

    wanted = first_fact(hashes_of_inputs(prepared.inputs))  # what can't be split is refused before anything is made
    path = shard_path(config.runs, run_id, asked.number)
    shared = share_of(config, wanted, asked.at_once)
    sit = _Sits(shared, wanted, on_progress, on_begun, RatesOfShard(desk))
    if keep is not None:
        sit.keeper = ShardKeeper(keep, config.runs, run_id, asked.number)
        await asyncio.to_thread(sit.keeper.pull)
    if path.is_dir():
        record = ShardRecord(path)
        asked.check_same(record.started(), wanted, path)
        inputs = HeldInputs(record, wanted.inputs.values())
        resumed = Resumed(code_version=code_version(), environment=environment(), config=storable_config(config))
        async with open_means_for(shared, prepared) as means:  # of the same plan: the set is not opened once more
            return await sit.down(record, prepared, means, (resumed, inputs))
    async with open_means_for(shared, prepared) as means:
        record = create_shard(config.runs, run_id, asked.number, dict(prepared.inputs), first_fact)
        return await sit.down(record, prepared, means, (None, None))


@dataclass(slots=True)
class _Sits:
    """A sitting at one shard, whichever way its record came about."""

    config: SittingSettings
    started: RunStarted
    on_progress: ProgressHandler | None
    on_begun: Callable[[Record], None]
    rates: RateOf
    keeper: ShardKeeper | None = None

    async def down(
        self,
        record: ShardRecord,
        opened: Opened,
        means: Means,
        going_on: tuple[Resumed, HeldInputs] | tuple[None, None],
    ) -> ShardResult:
        shard = self.started.shard
        assert shard is not None  # noqa: S101 - see `ShardAsked.first_fact`
        resumed, inputs = going_on
        beside: Beside = nullcontext
        if self.keeper is not None:
            await asyncio.to_thread(self.keeper.begin)
            beside = self.keeper.beside
        with at_work(record):
            sitting = await ask_what_lacks(
                record, self.config, opened, means, resumed, self.on_progress, inputs,
                shard=shard, rates=self.rates, on_begun=self.on_begun, beside=beside,
            )  # fmt: skip
        return ShardResult(record, shard, sitting.n_done, sitting.stop)


def share_of(config: Settings, started: RunStarted, at_once: int) -> Settings:
    """The limits of one shard: its part of the cost, and of the rates that so many shards at once keep together."""
    shard = started.shard
    assert shard is not None  # noqa: S101 - see `ShardAsked.first_fact`
    cost, n_samples = config.max_cost_usd, started.n_items * started.repeats

    def part(limit: int | None) -> int | None:
        return None if limit is None else max(limit // at_once, 1)

    shared: Settings = msgspec.structs.replace(
        config,
        max_cost_usd=None if cost is None else cost * shard.n_samples / n_samples,
        requests_per_minute=part(config.requests_per_minute),
        tokens_per_minute=part(config.tokens_per_minute),
    )
    return shared


def recorded_shard(
    asked: ShardAsked,
    runs: str | Path,
    run_id: str,
    inputs: Inputs,
    first_fact: Callable[[dict[str, str]], RunStarted],
    fill: Callable[[Record, Shard], None],
) -> ShardResult:
    """One shard of what was made elsewhere: it appears whole, and nothing is done where it is there already.

    `first_fact` is the shard's, by its inputs' hashes; `fill` adds the facts of its samples.
    Raises: as `create_shard`; UsageError where the shard that is there is of another plan.
    """
    wanted, path = first_fact(hashes_of_inputs(inputs)), shard_path(runs, run_id, asked.number)
    shard = wanted.shard
    assert shard is not None  # noqa: S101 - see `ShardAsked.first_fact`
    if path.is_dir():
        record = ShardRecord(path)
        asked.check_same(record.started(), wanted, path)
    else:
        record = create_shard(runs, run_id, asked.number, inputs, first_fact, lambda made: fill(made, shard))
    return ShardResult(record, shard, shard.n_samples, Stop())
