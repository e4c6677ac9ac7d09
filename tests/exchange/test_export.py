"""`benchbook export`: tables of a record, what is refused, and a form that a tool's module writes."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import benchbook as bb
from benchbook.errors import RecordError, UsageError
from benchbook.exchange import exporting, tools
from benchbook.exchange.log import ForeignLog, Lost
from benchbook.record.folder import Record
from running import benchbook_here
from scored import scored


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    folder = tmp_path_factory.mktemp("scored")
    (folder / "log.jsonl").write_text('{"step": 1, "loss": 0.5}\n{"step": 2, "loss": NaN}\n', encoding="utf-8")
    items = [{"id": "=1+1", "prompt": "2?", "expected_answer": "2"}, {"id": "b", "prompt": "é", "expected_answer": "e"}]
    predictions = [{"item_id": "=1+1", "predicted": "@SUM(1)\x1b[31m"}, {"item_id": "b", "predicted": None}]
    run: Record = scored(folder, predictions, items, training_metrics=(str(folder / "log.jsonl"),)).record
    return run


def exported(record: Record, *words: str, cwd: Path) -> Any:
    return benchbook_here("export", str(record.path), *words, cwd=cwd)


def test_a_table_as_csv_has_no_formulas_and_no_terminal_escapes(record: Record, tmp_path: Path) -> None:
    done = exported(record, "--to", "csv", "--out", "samples.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "samples.csv").read_bytes().decode(), newline="")))
    assert [(row["item_id"], row["predicted"]) for row in rows] == [("'=1+1", "'@SUM(1)\\u001b[31m"), ("b", "")]
    assert [row["correctness"] for row in rows] == ["0.0", "0.0"]


def test_a_table_as_ndjson_has_every_value_as_it_is(record: Record, tmp_path: Path) -> None:
    exported(record, "--to", "ndjson", "--out", "samples.ndjson", cwd=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "samples.ndjson").read_text("utf-8").splitlines()]
    assert lines == [row | {"context": None} for row in pl.read_parquet(record.samples).to_dicts()]
    assert lines[0]["predicted"] == "@SUM(1)\x1b[31m"


def test_a_table_as_parquet_is_the_records_own(record: Record, tmp_path: Path) -> None:
    exported(record, "--to", "parquet", "--out", "samples.parquet", cwd=tmp_path)
    assert (tmp_path / "samples.parquet").read_bytes() == record.samples.read_bytes()


def test_another_table_has_nulls_where_the_trainer_logged_nan(record: Record, tmp_path: Path) -> None:
    words = ("--table", "training_metrics", "--out")
    exported(record, "--to", "csv", *words, "metrics.csv", cwd=tmp_path)
    exported(record, "--to", "ndjson", *words, "metrics.ndjson", cwd=tmp_path)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "metrics.csv").read_text("utf-8"))))
    assert [row["value"] for row in rows] == ["0.5", ""]
    assert "NaN" not in (tmp_path / "metrics.ndjson").read_text("utf-8")


def test_what_was_written_is_told(record: Record, tmp_path: Path) -> None:
    told = json.loads(exported(record, "--to", "csv", "--out", "a.csv", "--json", cwd=tmp_path).stdout)
    sha256 = json.loads(record.manifest.read_bytes())["journal_sha256"]
    assert told == {"run_id": "run", "record_sha256": sha256, "form": "csv", "path": "a.csv", "lost": []}
    words = exported(record, "--to", "csv", "--out", "b.csv", cwd=tmp_path)
    assert words.stdout.decode() == f"b.csv: run as csv\nrecord hash: {sha256}\n"


def test_nothing_is_written_over(record: Record, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("mine", encoding="utf-8")
    (tmp_path / "nowhere.csv").symlink_to("gone")
    for name in ("there.csv", "nowhere.csv"):
        done = exported(record, "--to", "csv", "--out", name, cwd=tmp_path)
        assert done.returncode == 2
        assert b"is there already" in done.stderr
    assert (tmp_path / "there.csv").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--to", "csv", "--out", "a", "--table", "people"),
            "has no table 'people'; expected samples or training_metrics",
        ),
        (("--to", "csv", "--out", "no/such/folder"), "can't be written"),
        (("--to", "xml", "--out", "a"), "'xml' is not one of"),
        (("--out", "a"), "Missing option '--to'"),
    ],
)
def test_what_can_not_be_is_said(record: Record, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = exported(record, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_has_no_samples_to_write(tmp_path: Path) -> None:
    run = scored(tmp_path, None, dry_run=True).record
    done = exported(run, "--to", "csv", "--out", "a.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert b"unavailable" in done.stderr


def test_a_changed_table_is_not_written(tmp_path: Path) -> None:
    run = scored(tmp_path).record
    run.samples.write_bytes(run.samples.read_bytes() + b"!")
    done = exported(run, "--to", "parquet", "--out", "a.parquet", cwd=tmp_path)
    assert done.returncode == 3
    assert b"samples.parquet: was changed" in done.stderr
    assert not (tmp_path / "a.parquet").exists()


# ── a tool's form ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def _parrot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that writes a line an item, and can't hold answers."""

    def written(log: ForeignLog, target: Path) -> list[Lost]:
        samples = list(log.samples())
        if not samples:
            raise UsageError("parrots hold at least one sample")
        target.write_text("".join(f"{one.id}\n" for one in samples), encoding="utf-8")
        return [Lost(what="answers have no place there", n=sum(one.answer is not None for one in samples))]

    module = ModuleType("benchbook.exchange.parrot.writing")
    module.written = written  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "benchbook.exchange.parrot", ModuleType("benchbook.exchange.parrot"))
    monkeypatch.setitem(sys.modules, "benchbook.exchange.parrot.writing", module)
    deaf = tools.Tool("deaf", "Deaf", writes=False)
    both = (tools.Tool("parrot", "Parrot", reads=False, writes=True), deaf)
    monkeypatch.setattr(tools, "TOOLS", both)
    monkeypatch.setattr(exporting, "TOOLS", both)


@pytest.mark.usefixtures("_parrot")
def test_a_tools_form_is_known_by_the_table_of_tools_alone(record: Record, tmp_path: Path) -> None:
    assert exporting.export_forms() == ("parrot", "csv", "ndjson", "parquet")
    found = bb.export(record.path, to="parrot", out=tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text("utf-8") == "=1+1\nb\n"
    assert found.lost == [Lost(what="answers have no place there", n=1)]
    assert bb.export(bb.load(record.path), to="parrot", out=tmp_path / "b.txt").form == "parrot"
    with pytest.raises(UsageError, match="deaf: no form that is known; expected one of parrot, csv"):
        bb.export(record.path, to="deaf", out=tmp_path / "c.txt")
    with pytest.raises(UsageError, match="a log is of samples"):
        bb.export(record.path, to="parrot", out=tmp_path / "c.txt", table="training_metrics")
    with pytest.raises(UsageError, match="is there already"):
        bb.export(record.path, to="parrot", out=tmp_path / "b.txt")


def test_a_pipe_in_a_tables_place_is_no_table(tmp_path: Path) -> None:
    import os

    run = scored(tmp_path).record
    run.samples.unlink()
    os.mkfifo(run.samples)
    with pytest.raises(RecordError, match="is a pipe"):
        bb.export(run.path, to="csv", out=tmp_path / "a.csv")
