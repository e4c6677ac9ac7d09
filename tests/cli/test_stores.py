"""`benchbook push` and `pull`, and `--store` of what works on shards, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.stores.address import store_address
from benchbook.stores.objects import open_objects
from running import benchbook_here
from s3_server import KEYS
from scored import ITEMS, PREDICTIONS, write_lines

_SCORE = ("score", "--evalset", "items.jsonl", "--predictions", "predictions.jsonl", "--run-id", "run", "--quiet")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    write_lines(tmp_path / "items.jsonl", ITEMS)
    write_lines(tmp_path / "predictions.jsonl", PREDICTIONS)
    return tmp_path


def said(*words: str, cwd: Path) -> str:
    done = benchbook_here(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("utf-8")


def test_a_record_goes_there_and_back(work: Path) -> None:
    store = f"file://{work}/store"
    said(*_SCORE, "--reports", "none", cwd=work)
    found = json.loads(said("push", "run", store, "--json", cwd=work))
    assert found == {"run": "runs/run", "store": f"{store}/run", "n_objects": 8}
    assert said("push", "run", store, cwd=work) == f"{store}/run: nothing new\n"
    found = json.loads(said("pull", f"{store}/run", "--runs", "other", "--json", cwd=work))
    assert found["run"] == "other/run"
    assert found["n_new"] > 0
    assert said("pull", f"{store}/run", "--runs", "other", cwd=work) == "other/run: nothing new\n"
    said("verify", "other/run", cwd=work)


def test_predictions_are_scored_in_shards_on_two_machines(work: Path) -> None:
    store = f"file://{work}/store"
    for number in ("1", "2", "1"):
        said(*_SCORE, "--shard", f"{number}/2", "--store", store, "--runs", f"machine{number}", cwd=work)
    # A third machine, which is asked for the first one's shard, has it from there.
    said(*_SCORE, "--shard", "1/2", "--store", store, "--runs", "machine3", cwd=work)
    journals = [next((work / name).rglob("000001.jsonl")).read_bytes() for name in ("machine1", "machine3")]
    assert journals[0] == journals[1]
    said("join", "run", "--store", store, "--reports", "none", "--quiet", cwd=work)
    said("verify", "runs/run", cwd=work)
    assert "manifest.json" in open_objects(store_address(f"{store}/run")).list()


def test_a_log_is_imported_in_shards(work: Path) -> None:
    store = f"file://{work}/store"
    asked = [
        {"custom_id": f"q{n}", "body": {"model": "m", "messages": [{"role": "user", "content": "?"}]}} for n in "ab"
    ]
    answer = {"status_code": 200, "body": {"model": "m", "choices": [{"message": {"content": "So."}}]}}
    write_lines(work / "requests.jsonl", asked)
    write_lines(work / "results.jsonl", [{"custom_id": one["custom_id"], "response": answer} for one in asked])
    words = ("import", "results.jsonl", "--requests", "requests.jsonl", "--run-id", "log", "--quiet", "--store", store)
    for number in ("1", "2"):
        said(*words, "--shard", f"{number}/2", "--runs", f"machine{number}", cwd=work)
    said("join", "log", "--store", store, "--reports", "none", "--quiet", cwd=work)
    said("verify", "runs/log", cwd=work)


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        ((*_SCORE, "--store", "s3://bucket/a"), 2, "--store: only with --shard; a whole record goes there by"),
        ((*_SCORE, "--push-seconds", "1"), 2, "--push-seconds: only with --shard"),
        ((*_SCORE, "--shard", "1/2", "--push-seconds", "1"), 2, "push_seconds: found no store"),
        (("pull", "s3://bucket"), 2, "store: found s3://bucket; expected the address of a record"),
        (("pull", "s3://k:sesame@bucket/run"), 2, "keys are read from the environment"),
        (
            ("verify", "s3://bucket/run"),
            2,
            "s3://bucket/run: lies in a store: get it by `benchbook pull s3://bucket/run`",
        ),
        (("show", "s3://k:sesame@bucket/run"), 2, "keys are read from the environment"),
        (("push", "nothing", "s3://bucket/a"), 2, "nothing: not a record"),
        (("join", "run", "--store", "bucket"), 2, "store: found 'bucket'; expected s3://BUCKET/PREFIX"),
        (("join", "--store", "file:///dev/null/a"), 2, "found no run id"),
        (("pull", "file:///dev/null/a/run"), 3, "file:///dev/null/a/run: the folder can't be made"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(work: Path, words: tuple[str, ...], code: int, expected: str) -> None:
    done = benchbook_here(*words, cwd=work)
    assert done.returncode == code
    assert expected in done.stderr.decode("utf-8")
    assert b"sesame" not in done.stdout + done.stderr
    assert not (work / "runs").exists()


def test_keys_are_in_no_record(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    store = f"file://{work}/store"
    said(*_SCORE, "--shard", "1/1", "--store", store, cwd=work)
    found = b"".join(path.read_bytes() for path in work.rglob("*") if path.is_file())
    assert KEYS["AWS_SECRET_ACCESS_KEY"].encode() not in found
    assert KEYS["AWS_ACCESS_KEY_ID"].encode() not in found
    assert b"file://" not in found
