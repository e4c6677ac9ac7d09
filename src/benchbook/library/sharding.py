"""`bb.run_shard` and `bb.join`: one run by many writers."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from benchbook.ask.sharding import ShardResult, ask_shard
from benchbook.ask.work import ProgressHandler
from benchbook.ask.work import run_async as run_in_loop
from benchbook.errors import RecordError
from benchbook.evaluators.joining import join as join_shards
from benchbook.evaluators.registry import settings_asked_for
from benchbook.evaluators.settings import values_of
from benchbook.library.asking import as_settings
from benchbook.library.keywords import FilePath, RunKeywords, check_names
from benchbook.library.objects import Run, run_of
from benchbook.library.twins import in_thread
from benchbook.record.folder import record_named
from benchbook.record.shards import shard_named
from benchbook.text import plural
from benchbook.views.progress import progress_asked

_SHOWN = 5  # findings in a message


def run_shard(
    shard: str,
    config: str | Path | None = None,
    *,
    at_once: int | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[RunKeywords],
) -> ShardResult:
    """Ask one shard of a run, such as "3/8", as `benchbook run --shard` does: begin it, or go on where it ends.

    The settings are those of `bb.run`, the same for every shard; `run_id` names the run. `at_once` is how many shards
    are asked at the same time, which share the rates. The result says how far the shard `is_whole`.

    Raises: as `bb.run`; UsageError for a shard that was begun with another plan.
    """
    return run_in_loop(
        run_shard_async(shard, config, at_once=at_once, on_progress=on_progress, progress=progress, **settings)
    )


async def run_shard_async(
    shard: str,
    config: str | Path | None = None,
    *,
    at_once: int | None = None,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[RunKeywords],
) -> ShardResult:
    """As `run_shard`, inside an event loop."""
    check_names(settings, RunKeywords, run_shard_async)
    asked = shard_named(shard, at_once)
    with as_settings(values_of(config, settings)) as given, progress_asked(progress, on_progress) as told:
        evaluator, checked = settings_asked_for(given, str(config or "run_shard"), "run")
        return await ask_shard(evaluator, checked, asked, told, config)


def join(run: FilePath, *, runs: FilePath = "runs", incomplete: bool = False) -> Run:
    """Make one record of the shards of a run, as `benchbook join` does; it can be done again at any time.

    Raises: RecordError with what is wrong, and nothing is joined then; UsageError where there are no shards.
    """
    record = record_named(str(run), runs)
    found = join_shards(record, incomplete=incomplete)
    if found.derived is None:
        shown = "; ".join(map(str, found.findings[:_SHOWN]))
        more = len(found.findings) - _SHOWN
        raise RecordError(f"{record.path}: not joined: {shown}" + (f"; and {plural(more, 'more')}" if more > 0 else ""))
    return run_of(record, found.derived)


join_async = in_thread(join)
