"""`benchbook run --shards`: a run like any other, asked by several at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.stores.address import store_address
from benchbook.stores.objects import open_objects
from benchbook.stores.pulling import pull_record
from judging import sound_judging
from running import benchbook_here
from sharded import DERIVED, ask, joined, write_judged

_NAMES = ("evalset", "outputs", "model", "judge", "judge_path", "runs", "run_id")


def asked(config: RunConfig, *more: str) -> tuple[int, str, str]:
    given = [(f"--{name.replace('_', '-')}", str(getattr(config, name))) for name in _NAMES]
    done = benchbook_here("run", *(word for pair in given for word in pair), "--reports", "none", *more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_run_in_shards_is_shown_like_a_run(tmp_path: Path) -> None:
    alone = write_judged(tmp_path / "one", 12, 1)
    ask(alone, "1/1")
    joined(Record(tmp_path / "one" / "runs" / "run"))
    many = write_judged(tmp_path / "many", 12, 1)
    code, said, told = asked(many, "--shards", "3")
    assert (code, "12 of 12 samples attempted" in said) == (0, True)
    assert "12 of 12 samples" in told  # the progress
    folders = [tmp_path / name / "runs" / "run" for name in ("one", "many")]
    assert [[(folder / name).read_bytes() for name in DERIVED] for folder in folders[:1]] == [
        [(folder / name).read_bytes() for name in DERIVED] for folder in folders[1:]
    ]
    code, said, _ = asked(many, "--shards", "3", "--gate", "--json")
    assert (code, json.loads(said)["decision"]["decision"]) == (1, "INCONCLUSIVE")


def test_shards_may_be_left_to_join(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    run = tmp_path / "runs" / "run"
    code, said, _ = asked(config, "--shards", "2", "--no-join")
    assert (code, said) == (0, f"{run}: 2 shards, all whole\nThen: benchbook join {run}\n")
    code, said, _ = asked(config, "--shards", "2", "--no-join", "--json")
    shards = [{"path": str(run / "shards" / k), "shard": int(k), "n_done": 6, "stopped": None} for k in ("1", "2")]
    assert (code, json.loads(said)) == (0, {"run": str(run), "joined": False, "shards": shards})
    assert asked(config, "--shards", "2", "--no-join", "--quiet") == (0, "", "")


def test_shards_are_kept_in_a_store(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    run, store = tmp_path / "runs" / "run", f"file://{tmp_path}/store"
    kept = ("--shards", "2", "--store", store)
    code, said, _ = asked(config, *kept, "--no-join")
    assert (code, said.splitlines()[-1]) == (0, f"Then: benchbook join run --store {store}")
    lines = [path.read_bytes() for path in sorted(run.glob("shards/*/journal/*"))]
    shutil.rmtree(run)  # the machine is lost; another one asks nobody what the store has
    code, said, _ = asked(config, *kept, "--quiet")
    assert (code, [path.read_bytes() for path in sorted(run.glob("shards/*/journal/*"))]) == (0, lines)
    pulled = pull_record(open_objects(store_address(store) / "run"), tmp_path / "third", "run").record
    assert verify(pulled).findings == ()
    assert [(pulled.path / name).read_bytes() for name in DERIVED] == [(run / name).read_bytes() for name in DERIVED]


def test_a_run_that_stops_says_how_to_go_on(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    lines = Path(str(config.outputs)).read_text("utf-8").splitlines(keepends=True)
    Path(str(config.outputs)).write_text("".join(lines[:-1]), encoding="utf-8")
    code, said, told = asked(config, "--shards", "2", "--quiet")
    assert (code, said) == (3, "")
    assert told.startswith(f"benchbook: {tmp_path / 'runs' / 'run'}: stopped: shard 2/2: 1 sample is unanswered")
    assert told.endswith("The same command goes on, with --run-id run.\n")


_WRONG: list[tuple[list[str], str]] = [
    (["--engine", "ray"], "--engine: only with --shards"),
    (["--ray-address", "auto"], "--ray-address: only with --shards"),
    (["--no-join"], "--no-join: only with --shards"),
    (["--at-once", "2"], "--at-once: only with --shard or --shards"),
    (["--store", "s3://bucket/a"], "--store: only with --shard or --shards; a whole record goes there by"),
    (["--shards", "2", "--push-seconds", "1"], "push_seconds: found no store"),
    (["--shards", "2", "--store", "bucket"], "store: found 'bucket'; expected s3://BUCKET/PREFIX"),
    (["--shards", "2", "--shard", "1/2"], "--shards asks all of a run; leave out --shard"),
    (["--shards", "2", "--resume", "run"], "--shards asks all of a run; leave out --resume"),
    (["--shards", "2", "--dry-run"], "--shards asks all of a run; leave out --dry-run"),
    (["--shards", "2", "--no-join", "--gate"], "--no-join: there is no record yet; leave out --gate"),
    (["--shards", "2", "--no-join", "--send", "wandb"], "--no-join: there is no record yet; leave out --send"),
    (["--shards", "2", "--ray-address", "auto"], "--ray-address: only with --engine ray"),
    (["--shards", "2", "--engine", "slurm"], "Invalid value for '--engine'"),
    (["--shards", "0"], "Invalid value for '--shards'"),
]


@pytest.mark.parametrize(("words", "wrong"), [pytest.param(*one, id=" ".join(one[0])) for one in _WRONG])
def test_what_does_not_go_together(tmp_path: Path, words: list[str], wrong: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("benchbook.cli.run.check_trackers", lambda _: None)
    code, said, told = asked(write_judged(tmp_path, 4, 1), *words)
    assert (code, said, wrong in told) == (2, "", True), told
    assert not (tmp_path / "runs").exists()


def test_answers_of_another_run_are_in_files_of_this_machine(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 4, 1)
    ask(config, "1/1")
    joined(Record(tmp_path / "runs" / "run"))
    judge = ("--judge", "scripted/j@1", "--judge-path", str(config.judge_path))
    runs = str(tmp_path / "runs")
    words = ("run", "--from", f"{runs}/run", *judge, "--runs", runs, "--reports", "none", "--shards", "2")
    assert benchbook_here(*words, "--run-id", "again", "--quiet").returncode == 0
    refused = benchbook_here(*words, "--engine", "ray")
    assert refused.returncode == 2
    assert b"--from: its answers go into files of this machine alone" in refused.stderr


def test_an_experiment_is_judged_in_shards(tmp_path: Path) -> None:
    with sound_judging(tmp_path) as config:
        words = ("--run-id", "many", "--shards", "3", "--quiet", "--reports", "none")
        done = benchbook_here("judge", "run", str(config), *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    record = Record(tmp_path / "runs" / "many")
    assert verify(record).findings == ()
    assert [path.name for path in sorted((record.path / "shards").iterdir())] == ["1", "2", "3"]
