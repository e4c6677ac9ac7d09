"""`bb.run_shard` and `bb.join`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

import benchbook as bb
from benchbook.errors import ConfigError, RecordError, UsageError
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


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected K/N"):
        bb.run_shard("3 of 8", evalset="items.jsonl", model="m/m", judge="j/j")
    with pytest.raises(ConfigError, match="no_such_setting"):
        bb.run_shard("1/2", no_such_setting=1)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="not a record"):
        bb.join("none", runs=tmp_path)
