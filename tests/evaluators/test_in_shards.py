"""A run that is asked in shards by an engine: the bytes of one writer's run; whatever can't be is refused before."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.ask.engines.on_ray import SharedPlace, place_here
from benchbook.ask.identity import code_version
from benchbook.ask.providers.in_process import lend
from benchbook.errors import BenchbookError, RecordError, RunStoppedError, UsageError
from benchbook.evaluators.in_shards import RunInShards, ShardJob, ShardsWanted, ask_in_shards, rates_shared
from benchbook.evaluators.registry import settings_asked_for
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.shards import shard_named
from sharded import DERIVED, ask, begun_alone, write_judged


def values_of(config: RunConfig) -> dict[str, Any]:
    """The settings as a person gives them."""
    found = {name: getattr(config, name) for name in RunConfig.__struct_fields__}
    return {name: value for name, value in found.items() if value not in (None, (), {})}


def in_shards(config: RunConfig, shards: int = 3, **how: Any) -> RunInShards:
    evaluator, checked = settings_asked_for(values_of(config), "test")
    return ask_in_shards(evaluator, checked, values_of(config), ShardsWanted(shards=shards, **how))


@pytest.mark.slow
def test_processes_make_the_bytes_of_one_writer(tmp_path: Path) -> None:
    alone = begun_alone(write_judged(tmp_path / "one", 12, 2))
    config = write_judged(tmp_path / "many", 12, 2)
    ask(config, "2/3")  # one is there already
    run = in_shards(config)
    run.raise_stopped()
    assert [run.asked.said[number].n_done for number in (1, 2, 3)] == [8, 8, 8]
    result = run.joined()
    assert [(result.record.path / name).read_bytes() for name in DERIVED] == [
        (alone.path / name).read_bytes() for name in DERIVED
    ]
    assert verify(result.record).findings == ()
    assert in_shards(config).joined().derived.manifest == result.derived.manifest  # once more: all are whole


@pytest.mark.slow
def test_progress_is_told_as_shards_end(tmp_path: Path) -> None:
    config, told = write_judged(tmp_path, 12, 1), list[tuple[int, int]]()
    evaluator, checked = settings_asked_for(values_of(config), "test")
    wanted = ShardsWanted(shards=3, at_once=1)
    ask_in_shards(evaluator, checked, values_of(config), wanted, lambda one: told.append((one.done, one.planned)))
    assert told == [(4, 12), (8, 12), (12, 12)]


@pytest.mark.slow
def test_what_stops_a_shard_is_said_with_the_way_to_go_on(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    lines = Path(str(config.outputs)).read_text("utf-8").splitlines(keepends=True)
    Path(str(config.outputs)).write_text("".join(lines[:-3]), encoding="utf-8")  # the last shard lacks three
    run = in_shards(config)
    with pytest.raises(RunStoppedError, match=r"stopped: shard 3/3: .*3 samples are unanswered.*--run-id run\."):
        run.raise_stopped()
    with pytest.raises(RecordError, match="shards/3: has not ended"):
        run.joined()


def test_a_job_is_sent_whole_and_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-this-must-not-be-sent")
    config = msgspec.structs.replace(write_judged(tmp_path, 4, 1), judge_api_key_env="A_KEY")
    sent = pickle.dumps(ShardJob(values_of(config), None))
    assert b"A_KEY" in sent
    assert b"sk-this" not in sent
    assert pickle.loads(sent)(shard_named("1/2")).is_whole


@pytest.mark.parametrize(
    ("change", "fault", "reason"),
    [
        ({"judge": "openai/j@1", "judge_api_key_env": "NO_SUCH_KEY"}, "usage", "NO_SUCH_KEY, which is not set"),
        ({"evalset": "not-there.jsonl"}, "usage", "not-there.jsonl"),
        ({"spec": "no_such@v1"}, "usage", "no_such@v1"),
    ],
)
def test_a_worker_says_what_it_can_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], fault: str, reason: str
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    said = ShardJob(values_of(write_judged(tmp_path, 4, 1)) | change, None)(shard_named("1/2"))
    assert (said.fault, said.path, reason in str(said.reason)) == (fault, None, True)


@pytest.mark.parametrize(
    ("how", "wrong"),
    [
        ({"shards": 0}, "shards: found 0; expected a whole number, 1 or more"),
        ({"shards": 2, "at_once": 0}, "at_once: found 0; expected a whole number, 1 or more"),
        ({"shards": 2, "engine": "slurm"}, "engine: found 'slurm'; expected processes or ray"),
        ({"shards": 2, "ray_address": "auto"}, "--ray-address: only with --engine ray"),
    ],
)
def test_what_does_not_go_together_is_refused(how: dict[str, Any], wrong: str) -> None:
    with pytest.raises(UsageError) as found:
        ShardsWanted(**how).check()
    assert str(found.value) == wrong


@pytest.mark.parametrize(
    ("wanted", "cores", "at_once"),
    [
        (ShardsWanted(shards=8), 2, 2),
        (ShardsWanted(shards=8), None, 1),
        (ShardsWanted(shards=2), 16, 2),
        (ShardsWanted(shards=8, at_once=3), 2, 3),
        (ShardsWanted(shards=8, at_once=30), 2, 8),
        (ShardsWanted(shards=8, engine="ray"), 2, 8),
        (ShardsWanted(shards=8, engine="ray", at_once=4), 2, 4),
    ],
)
def test_how_many_are_asked_at_once(
    monkeypatch: pytest.MonkeyPatch, wanted: ShardsWanted, cores: int | None, at_once: int
) -> None:
    monkeypatch.setattr("benchbook.evaluators.in_shards.usable_cores", lambda: cores)
    assert {shard.at_once for shard in wanted.all()} == {at_once}
    assert [shard.number for shard in wanted.all()] == list(range(1, wanted.shards + 1))


@pytest.mark.parametrize(
    ("change", "shards", "wrong"),
    [
        ({}, 13, "the run has 12 samples; expected at most as many shards"),
        ({"judge": "openai/j@1", "judge_base_url": "http://u:sk-secret@h/v1", "judge_path": None}, 2, "credentials"),
        ({"run_id": "../x"}, 2, "run id '../x'"),
        ({"until_decided": True}, 2, "one writer"),
    ],
)
def test_what_can_not_be_split_is_refused_before_anything_is_made(
    tmp_path: Path, change: dict[str, Any], shards: int, wrong: str
) -> None:
    config = msgspec.structs.replace(write_judged(tmp_path, 12, 1), **change)
    with pytest.raises(BenchbookError, match=wrong) as found:
        in_shards(config, shards)
    assert "sk-secret" not in str(found.value)
    assert not (tmp_path / "runs").exists()


def test_a_function_is_of_this_process_alone(tmp_path: Path) -> None:
    judge = lend(lambda prompt: str(prompt))
    config = msgspec.structs.replace(write_judged(tmp_path, 12, 1), judge=judge, judge_path=None)
    with pytest.raises(UsageError, match="judge: is a function of this process; shards are asked by others"):
        in_shards(config)


def test_the_record_of_one_writer_is_refused(tmp_path: Path) -> None:
    begun_alone(config := write_judged(tmp_path, 12, 1))
    with pytest.raises(UsageError, match="is the record of one writer"):
        in_shards(config)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"run_id": "other", "repeats": 3, "max_connections": 5}, True),
        ({"judge_api_key_env": "ANOTHER_KEY"}, False),
        ({"judge": "openai/another@1"}, True),  # at the same server, whose limits are those of a key
        ({"judge_base_url": "http://other:8000/v1"}, False),
        ({"requests_per_minute": 61}, False),
        ({"tokens_per_minute": 9}, False),
    ],
)
def test_rates_are_shared_by_those_who_ask_the_same_servers(tmp_path: Path, change: dict[str, Any], same: bool) -> None:
    config = msgspec.structs.replace(
        write_judged(tmp_path, 4, 1), judge="openai/j@1", judge_path=None, judge_base_url="http://host:8000/v1",
        requests_per_minute=60,
    )  # fmt: skip
    evaluator, _ = settings_asked_for(values_of(config), "test")
    one, other = (
        rates_shared(evaluator.models_of(each), each) for each in (config, msgspec.structs.replace(config, **change))
    )
    assert one is not None
    assert one.per_minute == {"requests": 60}
    assert (one == other) is same
    unlimited = msgspec.structs.replace(config, requests_per_minute=None)
    assert rates_shared(evaluator.models_of(unlimited), unlimited) is None


# ── on Ray, as far as it needs no Ray; the rest is in tests/peers ────────────────────────────────────────────


def test_without_ray_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"--engine ray needs an extra: pip install 'benchbook\[ray\]'"):
        in_shards(write_judged(tmp_path, 12, 1), engine="ray")
    assert not (tmp_path / "runs").exists()


def test_a_worker_goes_where_the_run_was_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    place = place_here(Path("runs"))
    assert place == SharedPlace(str(tmp_path), str(tmp_path / "runs"), code_version()["benchbook"])
    monkeypatch.chdir("/")
    place.enter()
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ("folder", "node here: does not see /no/such/folder; expected a file system that all nodes share"),
        ("run", "node here: does not see /no/such/folder; expected a file system that all nodes share"),
        ("version", "node here: has Benchbook {}; expected /no/such/folder, as where the run was begun"),
    ],
)
def test_a_node_that_is_elsewhere_says_so(monkeypatch: pytest.MonkeyPatch, changed: str, wrong: str) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    version = code_version()["benchbook"]
    given = {"folder": "/", "run": "/", "version": version} | {changed: "/no/such/folder"}
    with pytest.raises(UsageError) as found:
        SharedPlace(**given).enter()
    assert str(found.value) == wrong.format(version)
