"""Before anything is asked, a record's inputs are what it was begun with, and what was held is what is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError, RecordError, UsageError
from benchbook.evalsets import open_evalset
from benchbook.evaluators.registry import evaluator_named
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record, create_record
from benchbook.record.inputs import HeldInputs
from mutating import MUTATIONS
from running import benchbook_here, options, run, write_items
from scripted_server import ScriptedServer, always_good, running


def stopped(folder: Path, server: ScriptedServer, *words: str, **settings: str) -> Record:
    """A run of six items with its own template, of which four facts are left."""
    write_items(folder / "items.jsonl", 6)
    (folder / "prompt.txt").write_text("Please: {{prompt}}", encoding="utf-8")
    command = options(folder, server, **{"prompt-template": folder / "prompt.txt", "max-connections": 1} | settings)
    assert benchbook_here("run", *command, *words).returncode == 0
    record = Record(folder / "runs" / "run")
    segment = record.journal / "000001.jsonl"
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:4]))
    return record


def _change(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"What", b"That").replace(b"Please", b"Kindly"))


def _fill_with_another(path: Path) -> None:
    path.write_bytes(b"x")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        pytest.param(_change, "was changed: its bytes hash to ", id="changed"),
        pytest.param(_fill_with_another, "was changed: its bytes hash to ", id="another"),
        pytest.param(Path.unlink, "is missing", id="missing"),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), "is a folder; expected a file", id="a-folder"),
        pytest.param(lambda path: (path.unlink(), os.mkfifo(path)), "is a pipe; expected a file", id="a-pipe"),
    ],
)
@pytest.mark.parametrize("name", ["evalset", "prompt_template"])
def test_a_run_is_not_resumed_over_other_inputs(
    tmp_path: Path, damage: Callable[[Path], Any], says: str, name: str
) -> None:
    with running(always_good) as server:
        record = stopped(tmp_path, server)
        path = record.inputs / record.started().inputs[name]
        before = len(server.asked["candidate"]), (record.journal / "000001.jsonl").read_bytes()
        damage(path)
        done = benchbook_here("run", "--resume", "run", "--runs", str(tmp_path / "runs"))
        after = len(server.asked["candidate"]), (record.journal / "000001.jsonl").read_bytes()
    assert done.returncode == 3
    told = done.stderr.decode()
    assert f"inputs/{path.name}: {says}" in told
    assert "begin another run" in told or "expected a file" in told
    assert after == before


def test_what_the_model_is_asked_is_what_was_held(tmp_path: Path) -> None:
    """The eval set is written over while the run goes on: no item of the other content is sent."""
    with running(lambda role, n, request: reply(role, n, request)) as server:

        def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
            if role == "candidate" and n == 2:
                (path,) = (tmp_path / "runs" / "run" / "inputs").iterdir()
                _change(path)
            return always_good(role, n, request)

        with pytest.raises(UsageError, match="found another content than before"):
            run(tmp_path, server, 20, max_connections=1)
        prompts = [one["messages"][0]["content"] for one in server.asked["candidate"]]
    assert len(prompts) == 3
    assert not any("That is" in one for one in prompts)


def test_a_set_that_only_looks_otherwise_is_read_on(tmp_path: Path) -> None:
    path = write_items(tmp_path / "items.jsonl", 3)
    with open_evalset(path) as evalset:
        first = evalset[0]
        path.chmod(0o600)
        os.utime(path, (0, 0))
        (tmp_path / "link").hardlink_to(path)
        assert evalset[0] == first
        path.write_bytes(path.read_bytes().replace(b"What", b"That"))
        with pytest.raises(InputError, match="expected that it stays as it was read"):
            evalset[0]


def test_a_set_is_read_from_a_copy_of_the_same_bytes_alone(tmp_path: Path) -> None:
    path = write_items(tmp_path / "items.jsonl", 3)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes())
    with open_evalset(path) as evalset, evalset.copied_to(copy) as copied:
        assert copied[2] == evalset[2]
    _change(copy)
    with evalset.copied_to(copy) as copied, pytest.raises(InputError, match=r"copy\.jsonl: found another content"):
        copied[2]


def test_inputs_are_held_again_where_they_look_otherwise(tmp_path: Path) -> None:
    record = Record(tmp_path)
    record.inputs.mkdir()
    name = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # of "x"
    record.input(name).write_bytes(b"x")
    held = HeldInputs(record, [name, name])
    held.check()
    os.utime(record.input(name), (0, 0))
    held.check()
    record.input(name).write_bytes(b"y")
    with pytest.raises(RecordError, match=f"{name}: was changed: its bytes hash to a1fce436.* begun with {name}"):
        held.check()


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "A" * 64, "0" * 63, "0" * 64 + "\n", "٠" * 64])
def test_an_input_is_named_by_a_hash_and_by_nothing_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match="expected 64 hexadecimal digits"):
        Record(tmp_path).input(name)


def test_a_set_that_changes_between_its_reading_and_its_copying_begins_no_record(tmp_path: Path) -> None:
    path = write_items(tmp_path / "items.jsonl", 3)
    config = RunConfig(evalset=str(path), model="openai/m@2026-01-01", judge="openai/j@2026-01-01")
    prepared = evaluator_named(config.spec).prepare(config)
    _change(path)
    with pytest.raises(UsageError, match=r"items\.jsonl: was changed while it was read; begin again once it is whole"):
        create_record(tmp_path, "run", dict(prepared.inputs), lambda inputs: prepared.first_fact("run", inputs, None))
    assert not (tmp_path / "run").exists()


def test_a_plan_names_the_template_that_the_record_keeps(tmp_path: Path) -> None:
    with running(always_good) as server:
        stopped(tmp_path, server)
        assert benchbook_here("run", "--resume", "run", "--runs", str(tmp_path / "runs")).returncode == 0
    record = Record(tmp_path / "runs" / "run")
    assert verify(record).holds
    dict(MUTATIONS)["another-template-in-the-plan"](record.path)
    assert [one.what for one in verify(record).findings] == [
        f"the plan is of another template than the record keeps: {'0' * 64}"
    ]
