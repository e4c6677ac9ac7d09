"""The promise: a record of each format that was ever written verifies, and is derived again to what it was.

And of a record that a later version wrote it is said that it is later, never that it is damaged.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import LaterRecordError
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.verify import Verification, verify
from benchbook.labels.labels import open_labels
from benchbook.labels.verify import verify_labels
from benchbook.record.folder import Record, is_of_labels
from benchbook.record.format import FORMAT
from running import benchbook_here
from server.making import api_over

TESTS = Path(__file__).parents[1]
INDEX: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "index.toml").read_text("utf-8"))["record"]
# Each kind of record, and the first format that has it.
FIRST = {
    "benchbook.evaluators.rubric": 1, "benchbook.evaluators.correctness": 1, "benchbook.evaluators.protocol": 1,
    "benchbook.evaluators.checks": 3, "benchbook.evaluators.scorers": 3, "benchbook.evaluators.imported": 3,
    "labels": 3,
}  # fmt: skip


def kind_of(record: Record) -> str:
    return "labels" if is_of_labels(record) else type(evaluator_of(record)).__module__.rpartition(".")[0]


def verified(record: Record, sha256: str) -> Verification:
    return verify_labels(record, expect=sha256) if is_of_labels(record) else verify(record, expect=sha256)


@pytest.mark.slow
@pytest.mark.parametrize("line", INDEX, ids=lambda line: f"{line['format']}-{Path(line['path']).name}")
def test_a_record_of_every_format_verifies(line: dict[str, Any]) -> None:
    found = verified(Record(TESTS / line["path"]), line["sha256"])
    assert [str(finding) for finding in found.findings] == []


def test_there_is_a_record_of_each_kind_in_each_format() -> None:
    """Also in the one that is written now: `make_records.py` makes them when the number is raised."""
    found = {(kind_of(Record(TESTS / line["path"])), line["format"]) for line in INDEX}
    formats = {kind: {number for one, number in found if one == kind} for kind in FIRST}
    # Of format 2 there are records of the three kinds that there were.
    for kind, first in FIRST.items():
        assert formats[kind] - {FORMAT} == set(range(first, DERIVATION + 1)), kind


def test_there_is_one_of_each_kind_that_only_the_newest_format_has() -> None:
    """Of many writers, and asked by batch: all others still name the format before."""
    newest = {Path(line["path"]).name for line in INDEX if line["format"] == FORMAT}
    assert (FORMAT, newest) == (5, {"shards", "batch"})


def test_every_record_is_in_the_index() -> None:
    here = {path.relative_to(TESTS).as_posix() for path in (Path(__file__).parent / "records").glob("*/*")}
    assert here <= {line["path"] for line in INDEX}
    assert {line["path"] for line in INDEX if line["format"] > 2} == {path for path in here if "/1/" not in path}


# ── later formats ────────────────────────────────────────────────────────────────────────────────────────────

SAYS = "made by a later Benchbook (0.9.0), in format 99; this one reads formats 1 to"


def made_later(source: Path, target: Path, **more: Any) -> Record:
    """A copy of a record as a later version may write it: another number, a field and a kind of fact that are new."""
    shutil.copytree(source, target)
    journal = target / "journal" / "000001.jsonl"
    facts = [json.loads(line) for line in journal.read_bytes().splitlines()]
    if "identity" in facts[0]:
        facts[0]["identity"]["derivation"] = 99
        facts[0]["code_version"] = {"benchbook": "0.9.0"}
        facts[0]["run_id"] = target.name
    facts[0] |= more
    facts.insert(1, {"kind": "thought", "text": "what no fact of today is"})
    lines, prev = [], "0" * 64
    for seq, fact in enumerate(facts):
        line = json.dumps(fact | {"seq": seq, "prev": prev}, sort_keys=True, separators=(",", ":")).encode()
        prev = hashlib.sha256(line).hexdigest()
        lines.append(line + b"\n")
    journal.write_bytes(b"".join(lines))
    return Record(target)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    records = Path(__file__).parent / "records" / str(DERIVATION)
    made_later(records / "rubric", tmp_path / "runs" / "later")
    # Not even the first fact can be read as one of today.
    made_later(records / "correctness", tmp_path / "runs" / "stranger", config="another form", n_items="many")
    shutil.copytree(records / "rubric", tmp_path / "runs" / "run")
    return tmp_path / "runs"


READERS = {
    "verify": ("verify", "later"),
    "verify-stranger": ("verify", "stranger"),
    "show": ("show", "later"),
    "gate": ("gate", "later"),
    "compare": ("compare", "run", "later"),
    "rescore": ("rescore", "later"),
    "resume": ("run", "--resume", "later", "--quiet"),
    "export": ("export", "later", "--to", "csv", "--out", "a.csv"),
}


@pytest.mark.parametrize("words", READERS.values(), ids=READERS)
def test_every_reader_says_that_a_record_is_later(runs: Path, words: tuple[str, ...]) -> None:
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    done = benchbook_here(*words, cwd=runs.parent)
    said = (done.stdout + done.stderr).decode()
    assert (done.returncode, SAYS in said, "damaged" in said) == (3, True, False), said
    assert {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()} == before


def test_lists_say_so_too(runs: Path) -> None:
    done = benchbook_here("runs", "--json", cwd=runs.parent)
    listed = {row["run"]: row for row in json.loads(done.stdout)}
    assert {name: (row["state"], SAYS in row.get("error", "")) for name, row in listed.items()} == {
        "later": ("later", True), "stranger": ("later", True), "run": ("complete", False),
    }  # fmt: skip
    api = api_over(runs, str(runs.parent / "catalog.sqlite"))
    rows = {row["run_id"]: row for row in api.json("/api/v1/runs")["runs"]}
    assert (rows["later"]["state"], SAYS in rows["later"]["predictions_unavailable"]) == ("later", True)
    for path in ("samples", "aggregates"):
        answer = api.get(f"/api/v1/runs/later/{path}")
        assert (answer.status_code, SAYS in answer.json()["detail"]) == (409, True), answer.text


def test_the_library_raises_it(runs: Path) -> None:
    with pytest.raises(LaterRecordError, match="format 99") as caught:
        bb.load(runs / "later").verify()
    assert (caught.value.found, caught.value.newest, caught.value.made_by) == (99, FORMAT, "0.9.0")


def test_labels_of_a_later_format(tmp_path: Path) -> None:
    record = made_later(Path(__file__).parent / "records" / str(DERIVATION) / "labels", tmp_path / "labels", format=99)
    for read in (open_labels, verify_labels):
        with pytest.raises(LaterRecordError, match="format 99"):
            read(record.path if read is open_labels else record)  # type: ignore[operator]
