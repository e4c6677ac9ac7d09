"""A record's folder: where its parts lie, and that it comes to be whole or not at all (DESIGN, The record)."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import RecordDamagedError, RecordError, UsageError
from benchbook.record.facts import Reply, RunStarted
from benchbook.record.folder import RUN_ID, Record, create_record, open_record
from benchbook.record.journal import JournalWriter


def first_fact(hashes: dict[str, str]) -> RunStarted:
    return RunStarted(
        run_id="run", spec="rubric@v1", spec_sha256="", plan_sha256="", n_items=1, repeats=1, config={}, inputs=hashes,
        identity={}, code_version={}, environment={},
    )  # fmt: skip


@pytest.fixture
def evalset(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_bytes(b'{"id":"a"}\r\n\xff')
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# ── paths ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_parts_lie_where_the_design_says() -> None:
    record = Record("runs/r1")
    assert record.run_id == "r1"
    derived = (record.manifest, record.samples, record.aggregates, record.decision)
    assert [path.as_posix() for path in (record.journal, record.input("ab" * 32), *derived)] == [
        "runs/r1/journal", f"runs/r1/inputs/{'ab' * 32}", "runs/r1/manifest.json", "runs/r1/samples.parquet",
        "runs/r1/aggregates.json", "runs/r1/decision.json",
    ]  # fmt: skip


# ── making one ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_record_has_its_inputs_and_its_first_fact(tmp_path: Path, evalset: Path) -> None:
    record = create_record(tmp_path / "runs", "r1", {"evalset": evalset}, first_fact)
    sha256 = hashlib.sha256(evalset.read_bytes()).hexdigest()
    assert names(record.path) == ["inputs", f"inputs/{sha256}", "journal", "journal/000001.jsonl"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["r1"]
    assert record.input(sha256).read_bytes() == evalset.read_bytes()
    assert record.started().inputs == {"evalset": sha256}


def test_the_same_input_under_two_names_is_kept_once(tmp_path: Path, evalset: Path) -> None:
    record = create_record(tmp_path / "runs", "r1", {"evalset": evalset, "template": evalset}, first_fact)
    assert len(list(record.inputs.iterdir())) == 1
    assert set(record.started().inputs) == {"evalset", "template"}


def test_an_empty_input_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    record = create_record(tmp_path / "runs", "r1", {"x": tmp_path / "empty"}, first_fact)
    assert record.input(hashlib.sha256().hexdigest()).read_bytes() == b""


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_record_is_as_readable_as_any_new_folder(tmp_path: Path, evalset: Path) -> None:
    (tmp_path / "other").mkdir()
    record = create_record(tmp_path / "runs", "r1", {"evalset": evalset}, first_fact)
    assert stat.S_IMODE(record.path.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


@pytest.mark.parametrize("run_id", ["a", "0", "2026-01-01T000000Z-a1b2", "a.b_c-d", "A" * 100])
def test_ids_that_are_taken(tmp_path: Path, run_id: str) -> None:
    assert create_record(tmp_path, run_id, {}, first_fact).run_id == run_id


@pytest.mark.parametrize(
    "run_id",
    [
        "",
        ".",
        "..",
        ".hidden",
        "-rf",
        "_x",
        "a/b",
        "../a",
        "/a",
        "a\\b",
        "a b",
        "a\n",
        "é",
        "a" * 101,
        "a\0",
        "a:b",
        "a?",
    ],
)
def test_ids_that_are_no_folders_name_are_refused(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(UsageError, match="letters, digits"):
        create_record(tmp_path / "runs", run_id, {}, first_fact)
    assert names(tmp_path) == []


@given(st.text())
def test_an_id_never_leaves_its_folder(run_id: str) -> None:
    if RUN_ID.fullmatch(run_id):
        assert (Path("runs") / run_id).resolve().parent == Path("runs").resolve()


@pytest.mark.parametrize("what", ["record", "file"])
def test_an_id_that_is_taken_is_refused(tmp_path: Path, evalset: Path, what: str) -> None:
    (tmp_path / "runs").mkdir()
    if what == "record":
        create_record(tmp_path / "runs", "r1", {"evalset": evalset}, first_fact)
    else:
        (tmp_path / "runs" / "r1").touch()
    before = names(tmp_path)
    with pytest.raises(UsageError, match="there is a record already; resume it, or choose another run id"):
        create_record(tmp_path / "runs", "r1", {}, first_fact)
    assert names(tmp_path) == before


def test_an_input_that_is_missing_is_told_and_nothing_stays(tmp_path: Path, evalset: Path) -> None:
    inputs = {"evalset": evalset, "template": tmp_path / "none.txt"}
    with pytest.raises(UsageError, match=r"none\.txt: can't be read"):
        create_record(tmp_path / "runs", "r1", inputs, first_fact)
    assert names(tmp_path / "runs") == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, MemoryError])
def test_whatever_fails_half_way_nothing_stays(tmp_path: Path, evalset: Path, error: type[BaseException]) -> None:
    def fail(hashes: dict[str, str]) -> RunStarted:
        raise error

    with pytest.raises(error):
        create_record(tmp_path / "runs", "r1", {"evalset": evalset}, fail)
    assert names(tmp_path / "runs") == []


def test_a_place_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").touch()
    with pytest.raises(RecordError, match=r"runs: can't be written"):
        create_record(tmp_path / "runs", "r1", {}, first_fact)


# ── opening one ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_record_is_opened_by_its_folder(tmp_path: Path) -> None:
    made = create_record(tmp_path, "r1", {}, first_fact)
    assert open_record(str(made.path)).started().run_id == "run"


@pytest.mark.parametrize("what", ["missing", "empty", "file", "journal-is-a-file"])
def test_what_is_no_record_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "r1"
    if what != "missing":
        path.touch() if what == "file" else path.mkdir()
    if what == "journal-is-a-file":
        (path / "journal").touch()
    with pytest.raises(UsageError, match=r"r1: not a record \(it has no journal/\)"):
        open_record(path)


def test_a_journal_that_begins_with_another_fact_is_no_record(tmp_path: Path) -> None:
    record = Record(tmp_path)
    record.journal.mkdir()
    with JournalWriter(record.journal) as writer:
        writer.append(Reply(sample=0, role="candidate", text="x"))
    with pytest.raises(RecordError, match="the journal does not begin with run_started"):
        record.started()


def test_an_empty_journal_is_no_record(tmp_path: Path) -> None:
    record = Record(tmp_path)
    record.journal.mkdir()
    with pytest.raises(RecordError):
        record.started()


def test_a_damaged_first_fact_is_told_with_its_line(tmp_path: Path) -> None:
    record = create_record(tmp_path, "r1", {}, first_fact)
    segment = record.journal / "000001.jsonl"
    segment.write_bytes(b"x" + segment.read_bytes())
    with pytest.raises(RecordDamagedError) as caught:
        record.started()
    assert (caught.value.path, caught.value.line) == (str(segment), 1)
