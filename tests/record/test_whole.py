"""A record that has lost its journal is damaged, whatever its derived files say, and every reader of them says so."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from benchbook.catalog.database import open_catalog
from benchbook.catalog.indexing import rebuild
from benchbook.catalog.queries import find_run
from benchbook.comparison.records import compared_run, rows_of_items
from benchbook.errors import RecordDamagedError, RecordError, UsageError
from benchbook.evaluators.registry import evaluator_named
from benchbook.record.derived_files import check_whole, reading_frame
from benchbook.record.facts import Reply, Resumed
from benchbook.record.folder import Record, open_record
from benchbook.record.journal import JournalWriter
from running import benchbook_here
from scored import scored

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4790\n"
Damage = Callable[[Record], object]


def first(record: Record) -> Path:
    return record.journal / "000001.jsonl"


def change(old: bytes, new: bytes, count: int = -1) -> Damage:
    def done(record: Record) -> None:
        data = first(record).read_bytes()
        assert old in data
        first(record).write_bytes(data.replace(old, new, count))

    return done


def instead(path: Path, make: Callable[[Path], object]) -> None:
    """Put something else in the place of a file or a folder."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    make(path)


def link_to(target: str) -> Callable[[Path], object]:
    return lambda path: path.symlink_to(target)


DAMAGES = [
    pytest.param(lambda record: first(record).write_bytes(POINTER), "is a Git LFS pointer", id="lfs-pointer"),
    pytest.param(lambda record: first(record).unlink(), "is missing", id="no-segment"),
    pytest.param(lambda record: shutil.rmtree(record.journal), "is missing", id="no-journal"),
    pytest.param(lambda record: first(record).write_bytes(b""), "is empty", id="empty"),
    pytest.param(
        lambda record: first(record).write_bytes(b"<html>not found</html>\n"), "not a fact", id="another-file"
    ),
    pytest.param(change(b"\n", b"\r\n"), "ends in CR LF; the record has LF (git autocrlf?)", id="crlf"),
    pytest.param(lambda record: first(record).rename(record.journal / "000002.jsonl"), "is missing", id="renamed"),
    pytest.param(
        lambda record: first(record).write_bytes(first(record).read_bytes()[:-9]), "another fact than", id="cut"
    ),
    pytest.param(
        lambda record: first(record).write_bytes(b"".join(first(record).read_bytes().splitlines(keepends=True)[:-1])),
        "another fact than",
        id="last-line-gone",
    ),
    pytest.param(lambda record: instead(first(record), Path.mkdir), "is missing", id="a-folder"),
    pytest.param(lambda record: instead(first(record), os.mkfifo), "is missing", id="a-pipe"),
    pytest.param(lambda record: instead(first(record), link_to("000001.jsonl")), "is missing", id="a-circle"),
    pytest.param(lambda record: instead(first(record), link_to("/dev/zero")), "is missing", id="a-device"),
    pytest.param(
        lambda record: instead(record.journal, lambda path: path.write_bytes(b"x")), "is missing", id="no-folder"
    ),
    pytest.param(change(b'"kind":"run_ended"', b'"kind":"run_ended" '), "another fact than", id="last-line-changed"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    for name in ("good", "gone"):
        scored(folder, run_id=name)
    return folder / "runs"


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


@pytest.mark.parametrize(("damage", "says"), DAMAGES)
def test_what_is_wrong_is_named(damage: Damage, says: str, runs: Path) -> None:
    record = Record(runs / "gone")
    check_whole(record)
    damage(record)
    with pytest.raises(RecordDamagedError) as found:
        check_whole(record)
    assert says in str(found.value)
    assert "journal/00000" in str(found.value)


@pytest.mark.parametrize(("damage", "says"), DAMAGES)
def test_every_reader_of_derived_files_refuses_it(damage: Damage, says: str, runs: Path) -> None:
    record = Record(runs / "gone")
    damage(record)
    for read in (evaluator_named("answer_correctness@v1").read, compared_run, rows_of_items):
        with pytest.raises(RecordDamagedError):
            read(record)
    with open_catalog(runs / "catalog.sqlite") as catalog:
        assert rebuild(catalog, runs).damaged == ("gone",)
        row = find_run(catalog, "gone")
    assert row is not None
    assert (row.state, row.decision, row.primary_nano) == ("damaged", None, None)
    assert says in str(row.error)
    listed = {row["run"]: row for row in json.loads(benchbook_here("runs", "--runs", str(runs), "--json").stdout)}
    assert (listed["gone"]["state"], listed["gone"]["decision"], says in listed["gone"]["error"]) == (
        "damaged",
        None,
        True,
    )
    assert (listed["good"]["state"], listed["good"]["decision"]) == ("complete", "pass")
    ranked = benchbook_here("leaderboard", "--runs", str(runs))
    assert ranked.returncode == 0
    assert [line.split()[1] for line in ranked.stdout.decode().splitlines()[2:3]] == ["good"]
    assert f"Damaged: gone: {listed['gone']['error']}" in ranked.stdout.decode()


@pytest.mark.parametrize(
    "words",
    [
        ("show", "gone"), ("compare", "good", "gone"), ("gate", "gone", "--min-score", "0"), ("verify", "gone"),
        ("gate", "good", "--baseline", "gone"), ("baseline", "set", "gone"), ("leaderboard", "good", "gone"),
        ("rescore", "gone", "--reports", "none"), ("show", "gone", "--failed"), ("show", "gone", "--sample", "0"),
    ],
    ids=lambda words: "-".join(words[:2]),
)  # fmt: skip
def test_every_command_says_that_it_is_damaged(words: tuple[str, ...], runs: Path) -> None:
    first(Record(runs / "gone")).write_bytes(POINTER)
    done = benchbook_here(*words, "--runs", str(runs))
    assert done.returncode == (1 if words[0] == "verify" else 3)
    assert b"000001.jsonl: is a Git LFS pointer, not the file itself: run `git lfs pull`" in done.stdout + done.stderr


def test_a_run_that_goes_on_is_whole(runs: Path) -> None:
    """What was derived is of an earlier state then, and the manifest says of which."""
    record = Record(runs / "gone")
    with JournalWriter(record.journal) as journal:
        journal.append(Resumed(code_version={}, environment={}, config={}))
    check_whole(record)


def test_a_line_that_was_being_written_does_not_count(runs: Path) -> None:
    record = Record(runs / "gone")
    with first(record).open("ab") as file:
        file.write(b'{"kind":"rep')
    check_whole(record)


def test_a_record_without_derived_files_is_looked_at_from_its_first_fact(runs: Path) -> None:
    record = Record(runs / "gone")
    record.manifest.unlink()
    check_whole(record)
    first(record).write_bytes(POINTER)
    with pytest.raises(RecordDamagedError):
        check_whole(record)


@pytest.mark.parametrize("segment", [1, 2])
def test_of_several_segments_each_is_looked_at(segment: int, runs: Path) -> None:
    record = Record(runs / "gone")
    with JournalWriter(record.journal, segment_bytes=4_096) as journal:
        for _ in range(20):
            journal.append(Reply(sample=0, role="candidate", text="x" * 1_000))
    files = sorted(record.journal.iterdir())
    assert len(files) >= 3
    check_whole(record)
    files[segment - 1].write_bytes(POINTER)
    with pytest.raises(RecordDamagedError, match="Git LFS"):
        check_whole(record)


@pytest.mark.parametrize("name", ["manifest.json", "decision.json", "samples.parquet"])
def test_a_pointer_in_the_place_of_a_derived_file_is_named(name: str, runs: Path) -> None:
    record = Record(runs / "gone")
    (record.path / name).write_bytes(POINTER)
    read = compared_run if name == "samples.parquet" else evaluator_named("answer_correctness@v1").read
    with pytest.raises(RecordError, match="Git LFS pointer"):
        read(record)


@pytest.mark.parametrize(("damage", "says"), DAMAGES)
def test_no_row_of_a_damaged_record_is_shown(damage: Damage, says: str, runs: Path) -> None:
    del says
    damage(Record(runs / "gone"))
    for words in (("--sample", "0"), ("--failed",)):
        assert benchbook_here("show", "gone", *words, "--runs", str(runs)).returncode == 3


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, link_to("/dev/zero")], ids=["a-pipe", "a-folder", "a-device"])
@pytest.mark.parametrize("name", ["manifest.json", "aggregates.json", "decision.json", "samples.parquet"])
def test_what_is_no_file_is_not_opened(name: str, make: Callable[[Path], object], runs: Path) -> None:
    """A pipe would keep whoever opens it for ever."""
    record = Record(runs / "gone")
    instead(record.path / name, make)
    with pytest.raises(RecordError, match=rf"{name}: is .*; expected a file"):
        compared_run(record)
    listed = {row["run"]: row for row in json.loads(benchbook_here("runs", "--runs", str(runs), "--json").stdout)}
    assert (listed["gone"]["state"], name in listed["gone"]["error"]) == ("damaged", True)
    with open_catalog(runs / "catalog.sqlite") as catalog:
        assert rebuild(catalog, runs).damaged == ("gone",)
    for words in (("show", "gone"), ("show", "gone", "--sample", "0"), ("compare", "good", "gone")):
        assert benchbook_here(*words, "--runs", str(runs)).returncode == 3
    assert benchbook_here("leaderboard", "--runs", str(runs)).returncode == 0
    assert benchbook_here("verify", "gone", "--runs", str(runs)).returncode == 1


def test_a_folder_that_is_none_of_a_record_stays_one(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    done = benchbook_here("show", "other", "--runs", str(tmp_path))
    assert done.returncode == 2
    with pytest.raises(UsageError, match="no journal"):
        open_record(tmp_path / "other")


def test_a_table_at_which_polars_panics_is_not_readable(tmp_path: Path) -> None:
    """A panic is no Exception: uncaught it would end a server's worker. Other faults are said alike."""
    faults = {
        pl.exceptions.PanicException("unwrap on an Err value"): "its pages contradict each other, or its footer",
        pl.exceptions.ComputeError("out of spec"): "out of spec",
    }
    for error, words in faults.items():
        expected = rf"x\.parquet: not a readable table \({words}\)"
        with pytest.raises(RecordError, match=expected), reading_frame(tmp_path / "x.parquet"):
            raise error
