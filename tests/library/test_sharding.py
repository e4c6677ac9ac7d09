"""`bb.run_shard`, `bb.run_shards` and `bb.join`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

import benchbook as bb
from benchbook.errors import ConfigError, RecordError, RunStoppedError, UsageError
from sharded import write_judged


def test_a_run_by_many_is_a_run(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    given = {name: value for name in ("evalset", "outputs", "model", "judge", "judge_path", "runs", "run_id")
             if (value := getattr(config, name)) is not None}  # fmt: skip
    assert bb.run_shard("2/3", **given).is_whole
    with pytest.raises(RecordError, match=r"not joined: shards: samples 0 to 3 are in no shard; shards: samples 8"):
        bb.join("run", runs=config.runs)
    assert asyncio.run(bb.run_shard_async("1/3", at_once=1, **given)).is_whole
    assert bb.run_shard("3/3", **given).shard.n_samples == 4
    run = bb.join(Path(config.runs) / "run")
    assert (run.state, run.samples.height) == ("complete", 12)
    assert bb.verify(run.path).holds
    assert asyncio.run(bb.join_async("run", runs=config.runs)).manifest == run.manifest
    assert msgspec.to_builtins(bb.load(run.path).aggregates) == msgspec.to_builtins(run.aggregates)


@pytest.mark.slow
def test_all_shards_of_a_run(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    given = {name: getattr(config, name) for name in ("evalset", "outputs", "model", "judge", "judge_path", "runs")}
    run = bb.run_shards(3, run_id="many", **given)
    assert (run.state, run.samples.height) == ("complete", 12)
    assert len(list((Path(run.path) / "shards").iterdir())) == 3
    assert bb.verify(run.path).holds
    other = asyncio.run(bb.run_shards_async(2, at_once=1, **given))  # a run id is made
    assert other.samples.height == 12
    lines = Path(str(config.outputs)).read_text("utf-8").splitlines(keepends=True)
    Path(str(config.outputs)).write_text("".join(lines[:-3]), encoding="utf-8")
    with pytest.raises(RunStoppedError, match=r"shard 3/3: 3 samples are unanswered.*with --run-id few"):
        bb.run_shards(3, run_id="few", **given)


def test_a_run_by_many_is_kept_in_a_store(tmp_path: Path) -> None:
    config, store = write_judged(tmp_path, 6, 1), f"file://{tmp_path}/store"
    given = {name: value for name in ("evalset", "outputs", "model", "judge", "judge_path", "run_id")
             if (value := getattr(config, name)) is not None}  # fmt: skip
    assert bb.run_shard("1/2", store=store, push_seconds=1, runs=str(tmp_path / "one"), **given).is_whole
    ask = bb.run_shard_async("2/2", store=store, runs=str(tmp_path / "two"), **given)
    assert asyncio.run(ask).is_whole
    run = bb.join("run", runs=tmp_path / "joiner", store=store)
    assert run.samples.height == 6
    assert bb.push(run, store).n_objects == 0
    other = bb.pull(f"{store}/run", runs=tmp_path / "other")
    assert other.manifest == run.manifest
    assert bb.verify(other).holds
    assert asyncio.run(bb.pull_async(f"{store}/run", runs=tmp_path / "other")).manifest == run.manifest
    assert asyncio.run(bb.push_async(other, f"{store}2")).n_objects > 0
    with pytest.raises(ConfigError, match="push_seconds: found no store"):
        bb.run_shard("1/2", push_seconds=1, runs=str(tmp_path / "one"), **given)


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected K/N"):
        bb.run_shard("3 of 8", evalset="items.jsonl", model="m/m", judge="j/j")
    with pytest.raises(UsageError, match="engine: found 'slurm'; expected processes or ray"):
        bb.run_shards(2, engine="slurm", evalset="items.jsonl", model="m/m", judge="j/j")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no_such_setting"):
        bb.run_shard("1/2", no_such_setting=1)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="not a record"):
        bb.join("none", runs=tmp_path)
