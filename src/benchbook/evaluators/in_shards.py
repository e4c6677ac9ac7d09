"""A run that is asked in shards by an engine, from its settings to one record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from benchbook.ask.engines.all_shards import AskShard, ShardSaid, ShardsAsked, ask_all, said_of, said_wrong
from benchbook.ask.identity import new_run_id
from benchbook.ask.keeping import Keep
from benchbook.ask.providers.access import checked_base_url
from benchbook.ask.roles import RoleSettings, server_key
from benchbook.ask.settings import SittingSettings
from benchbook.ask.sharding import ask_shard
from benchbook.ask.shared_rates import Desk, SharedRates
from benchbook.ask.starting import RunResult, prepared_to_ask
from benchbook.ask.work import Progress, ProgressHandler, run_async
from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError, ConfigError, RunStoppedError, UsageError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.joining import join, join_kept
from benchbook.evaluators.registry import settings_asked_for
from benchbook.record.folder import Record, hashes_of_inputs
from benchbook.record.shards import ShardAsked, begin_run_of_shards
from benchbook.system.cores import usable_cores
from benchbook.text import sentences

EngineName: TypeAlias = Literal["processes", "ray"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardsWanted:
    """How many shards a run is asked in, and by whom. `at_once` is by default the cores of this machine, or on Ray all.

    `ray_address` is that of a cluster; None is RAY_ADDRESS, else a cluster of one's own on this machine. With `keep`,
    each worker keeps its shard in that store, too.
    """

    shards: int
    engine: EngineName = "processes"
    at_once: int | None = None
    ray_address: str | None = None
    keep: Keep | None = None

    def check(self) -> None:
        """Raises: ConfigError, UsageError for what does not go together."""
        if self.engine not in ENGINES:
            raise ConfigError("engine", repr(self.engine)[:80], " or ".join(ENGINES))
        for name in ("shards", "at_once"):
            if (found := getattr(self, name)) is not None and found < 1:
                raise ConfigError(name, repr(found), "a whole number, 1 or more")
        if self.ray_address is not None and self.engine != "ray":
            raise UsageError("--ray-address: only with --engine ray")

    @property
    def number_at_once(self) -> int:
        if self.at_once is not None:
            return min(self.at_once, self.shards)
        return self.shards if self.engine == "ray" else min(self.shards, usable_cores() or 1)

    def all(self) -> list[ShardAsked]:
        return [ShardAsked(number, self.shards, self.number_at_once) for number in range(1, self.shards + 1)]


@dataclass(frozen=True, slots=True)
class ShardJob:
    """The work on a shard, as a worker is sent it: settings as they were given. Keys are not among them."""

    values: Mapping[str, Any]
    source: str | None
    keep: Keep | None = None

    def __call__(self, shard: ShardAsked, desk: Desk | None = None) -> ShardSaid:
        """Begin a shard, or go on with it, as `run --shard` does."""
        try:
            evaluator, checked = settings_asked_for(self.values, self.source or "options")
            asked = ask_shard(evaluator, checked, shard, source=self.source, keep=self.keep, desk=desk)
            return said_of(run_async(asked))
        except BenchbookError as error:
            return said_wrong(shard, error)


@dataclass(frozen=True, slots=True)
class RunInShards:
    """A run whose shards an engine asked: its folder, and what came of them."""

    record: Record
    asked: ShardsAsked
    keep: Keep | None = None

    def raise_stopped(self) -> None:
        """Raises: RunStoppedError, or UsageError where it was set up wrong, for one that stopped early."""
        stop, path = self.asked.stop, self.record.path
        if stop.reason is not None:
            goes_on = f"The same command goes on, with --run-id {self.record.run_id}."
            said = sentences(f"{path}: stopped: {stop.reason}", goes_on)
            raise (UsageError if stop.usage else RunStoppedError)(said)

    def joined(self) -> RunResult[Any]:
        """The record of all shards, in the store that keeps them, too, if one does.

        Raises: RecordError with what is wrong, and nothing is joined then; StoreError.
        """
        if self.keep is None:
            found = join(self.record)
        else:
            found = join_kept(self.keep.address, self.record.run_id, self.record.path.parent)
        return RunResult(self.record, found.files(), self.asked.stop)


def ask_in_shards(
    evaluator: Evaluator,
    config: SittingSettings,
    values: Mapping[str, Any],
    wanted: ShardsWanted,
    on_progress: ProgressHandler | None = None,
    source: str | Path | None = None,
) -> RunInShards:
    """Ask a run in shards; those that are there are gone on with. `values` are its settings as they were given, and
    `config` the same, checked.

    `on_progress` is told whenever a shard ends. A run that stops early returns: `asked.stop.reason` says why.
    Raises: as `starting.start`; UsageError for a plan that can't be split, for a model that is a function, and where
    Ray is not installed or reaches no cluster; StoreError.
    """
    wanted.check()
    run_id = config.run_id or new_run_id()
    n_samples = _checked(evaluator, config, wanted, run_id, source)
    path = begin_run_of_shards(config.runs, run_id)
    job = ShardJob({**values, "run_id": run_id}, None if source is None else str(source), wanted.keep)
    progress = Progress(planned=n_samples)

    def note(said: ShardSaid) -> None:
        progress.done += said.n_done
        if on_progress is not None:
            on_progress(progress)

    asked = _asked_by(wanted, job, path, rates_shared(evaluator.models_of(config), config), note)
    return RunInShards(Record(path), asked, wanted.keep)


def rates_shared(roles: Iterable[RoleSettings], config: SittingSettings) -> SharedRates | None:
    """The rates of a run that workers can share, if it has any: with every run on the same cluster that asks the same
    servers, with keys of the same names, at the same rates."""
    limits = {"requests": config.requests_per_minute, "tokens": config.tokens_per_minute}
    per_minute = {name: units for name, units in limits.items() if units is not None}
    if not per_minute:
        return None
    servers = sorted({(server_key(role), role.config.api_key_env or "") for role in roles})
    name = hashlib.sha256(canonical_json([servers, per_minute])).hexdigest()[:32]
    return SharedRates(f"benchbook-rates-{name}", per_minute)


def _asked_by(
    wanted: ShardsWanted,
    job: AskShard,
    run: Path,
    rates: SharedRates | None,
    note: Callable[[ShardSaid], None],
) -> ShardsAsked:
    at_once, shards = wanted.number_at_once, wanted.all()
    if wanted.engine == "processes":
        from benchbook.ask.engines.processes import Processes

        return run_async(ask_all(Processes(job), shards, at_once, note))
    from benchbook.ask.engines.on_ray import opened_on_ray, place_here

    with opened_on_ray(job, place_here(run), wanted.ray_address, rates) as engine:
        return run_async(ask_all(engine, shards, at_once, note))


def _checked(
    evaluator: Evaluator, config: SittingSettings, wanted: ShardsWanted, run_id: str, source: str | Path | None
) -> int:
    """How many samples the run has, once all that can be looked at here is found right. On Ray, keys can't: workers
    have their own."""
    for role in evaluator.models_of(config):
        if role.model_id.provider == "python":
            raise UsageError(f"{role.setting}: is a function of this process; shards are asked by others")
        if role.config.base_url is not None:  # before it goes anywhere: it might hold a password
            checked_base_url(role.config.base_url, f"{role.prefix}base_url")
    if wanted.keep is not None:
        wanted.keep.of_run(run_id)  # an address that can't be, or no library for it, is said once, and here
    if wanted.engine == "ray":
        from benchbook.ask.engines.on_ray import check_ray

        check_ray()
        prepared = evaluator.prepare(config)
    else:
        prepared = prepared_to_ask(evaluator, config)
    whole = prepared.first_fact(run_id, hashes_of_inputs(prepared.inputs), source)
    wanted.all()[-1].first_fact(evaluator.plan_of(whole), whole)
    return whole.n_items * whole.repeats
