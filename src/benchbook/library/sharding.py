"""`bb.run_shard`, `bb.run_shards` and `bb.join`: one run by many writers."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from benchbook.ask.keeping import keep_in
from benchbook.ask.sharding import ShardResult, ask_shard
from benchbook.ask.work import ProgressHandler
from benchbook.ask.work import run_async as run_in_loop
from benchbook.evaluators.in_shards import EngineName, ShardsWanted, ask_in_shards
from benchbook.evaluators.joining import join as join_shards
from benchbook.evaluators.joining import join_kept
from benchbook.evaluators.registry import settings_asked_for
from benchbook.evaluators.settings import values_of
from benchbook.library.asking import as_settings
from benchbook.library.keywords import FilePath, RunKeywords, check_names
from benchbook.library.objects import Run, run_of
from benchbook.library.twins import in_thread
from benchbook.record.folder import record_named
from benchbook.record.shards import shard_named
from benchbook.stores.address import store_address
from benchbook.views.progress import progress_asked


def run_shard(
    shard: str,
    config: str | Path | None = None,
    *,
    at_once: int | None = None,
    store: str | None = None,
    push_seconds: float | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[RunKeywords],
) -> ShardResult:
    """Ask one shard of a run, such as "3/8", as `benchbook run --shard` does: begin it, or go on where it ends.

    The settings are those of `bb.run`, the same for every shard; `run_id` names the run. `at_once` is how many shards
    are asked at the same time, which share the rates. With a `store`, such as "s3://bucket/prefix", the shard is kept
    there, too, pushed every `push_seconds` (30), and goes on with what is there. The result says how far the shard
    `is_whole`.

    Raises: as `bb.run`; UsageError for a shard that was begun with another plan; TakenError where another writer is at
    it; StoreError.
    """
    return run_in_loop(
        run_shard_async(
            shard, config, at_once=at_once, store=store, push_seconds=push_seconds, on_progress=on_progress,
            progress=progress, **settings,
        )
    )  # fmt: skip


async def run_shard_async(
    shard: str,
    config: str | Path | None = None,
    *,
    at_once: int | None = None,
    store: str | None = None,
    push_seconds: float | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[RunKeywords],
) -> ShardResult:
    """As `run_shard`, inside an event loop."""
    check_names(settings, RunKeywords, run_shard_async)
    asked, keep = shard_named(shard, at_once), keep_in(store, push_seconds)
    with as_settings(values_of(config, settings)) as given, progress_asked(progress, on_progress) as told:
        evaluator, checked = settings_asked_for(given, str(config or "run_shard"), "run")
        return await ask_shard(evaluator, checked, asked, told, config, keep=keep)


def run_shards(
    shards: int,
    config: str | Path | None = None,
    *,
    engine: EngineName = "processes",
    at_once: int | None = None,
    ray_address: str | None = None,
    store: str | None = None,
    push_seconds: float | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[RunKeywords],
) -> Run:
    """Ask a run in so many shards, and join them, as `benchbook run --shards` does; shards that are there are gone on
    with.

    The settings are those of `bb.run`. `engine` is who asks: "processes" of this machine, or "ray", the cluster at
    `ray_address` (by default RAY_ADDRESS, else one that is started here). A worker that was killed is started again.
    With a `store`, all shards are kept there, too, as by `bb.run_shard`, and so is the record.

    Raises: as `bb.run`; StoreError; RunStoppedError, or UsageError where it was set up wrong, for a run that stopped
    early: the same call goes on, with its `run_id`.
    """
    check_names(settings, RunKeywords, run_shards)
    keep = keep_in(store, push_seconds)
    wanted = ShardsWanted(shards=shards, engine=engine, at_once=at_once, ray_address=ray_address, keep=keep)
    with as_settings(values_of(config, settings)) as given, progress_asked(progress, on_progress) as told:
        evaluator, checked = settings_asked_for(given, str(config or "run_shards"), "run")
        asked = ask_in_shards(evaluator, checked, given, wanted, told, config)
    asked.raise_stopped()
    found = asked.joined()
    return run_of(found.record, found.derived)


run_shards_async = in_thread(run_shards)


def join(run: FilePath, *, runs: FilePath = "runs", store: str | None = None, incomplete: bool = False) -> Run:
    """Make one record of the shards of a run, as `benchbook join` does; it can be done again at any time.

    With a `store`, `run` is the id of a run whose shards lie there: they are pulled, and what follows is pushed.

    Raises: RecordError with what is wrong, and nothing is joined then; StoreError; UsageError where there are no
    shards.
    """
    if store is None:
        found = join_shards(record_named(str(run), runs), incomplete=incomplete)
    else:
        found = join_kept(store_address(store), str(run), runs, incomplete=incomplete)
    return run_of(found.record, found.files())


join_async = in_thread(join)
