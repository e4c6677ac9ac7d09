"""`verify` names whatever was changed (SPEC C6): any one of 2,000 random bits)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path

import pytest

from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.verify import verify
from benchbook.record import journal
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import Record
from benchbook.record.state import JournalState
from running import run
from scripted_server import always_good, running


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A whole run, with sealed segments."""
    with pytest.MonkeyPatch.context() as patch, running(always_good) as server:
        patch.setattr(journal, "SEGMENT_BYTES", 4_000)
        made = run(tmp_path_factory.mktemp("bits"), server).record
    assert sorted(path.suffix for path in made.journal.iterdir()).count(".zst") >= 1
    assert verify(made).holds
    return made


@contextmanager
def deriving_once() -> Iterator[None]:
    """The same journal and inputs give the same files, so these are derived once, and copied from then on.

    Most bits lie in derived files; of them `verify` would derive the same anew, which is nine tenths of its work.
    """
    known: dict[bytes, tuple[list[Discrepancy], dict[str, bytes]]] = {}

    def remembering(record: Record) -> Evaluator:
        evaluator = copy(evaluator_of(record))
        derive = evaluator.derive_checked

        def derive_checked(record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
            facts = b"".join(
                path.read_bytes() for path in sorted((*record.journal.iterdir(), *record.inputs.iterdir()))
            )
            if facts not in known:
                findings = derive(record, target, state)
                known[facts] = findings, {path.name: path.read_bytes() for path in target.iterdir()}
            findings, files = known[facts]
            for name, data in files.items():
                (target / name).write_bytes(data)
            return findings

        evaluator.derive_checked = derive_checked
        return evaluator

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.evaluators.verify.evaluator_of", remembering)
        yield


def check_bits(record: Record, count: int, seed: int) -> None:
    files = sorted(path for path in record.path.rglob("*") if path.is_file())
    rng = random.Random(seed)
    weights = [path.stat().st_size for path in files]
    for path in rng.choices(files, weights, k=count):
        whole = path.read_bytes()
        at, bit = rng.randrange(len(whole)), rng.randrange(8)
        changed = bytearray(whole)
        changed[at] ^= 1 << bit
        path.write_bytes(changed)
        findings = verify(record).findings
        path.write_bytes(whole)
        name = str(path.relative_to(record.path))
        assert any(finding.file == name for finding in findings), (name, at, bit, findings)
    assert verify(record).holds


@pytest.mark.slow
def test_any_of_a_hundred_random_bits_is_found(record: Record) -> None:
    check_bits(record, 100, seed=1)


@pytest.mark.slow
def test_any_of_six_hundred_random_bits_is_found(record: Record) -> None:
    with deriving_once():
        check_bits(record, 600, seed=7)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param("add", "inputs/added", id="an-added-input"),
        pytest.param("add-top", "notes.txt", id="an-added-file"),
        pytest.param("add-journal", "journal/000009.txt", id="a-file-in-the-journal"),
        pytest.param("remove", "aggregates.json", id="a-removed-file"),
        pytest.param("cut", "manifest.json", id="the-journals-tail-cut-off"),
        pytest.param("torn", "journal", id="a-torn-last-line"),
    ],
)
def test_added_removed_and_cut_files_are_found(record: Record, tmp_path: Path, change: str, named: str) -> None:
    import shutil

    copy = Record(tmp_path / record.run_id)
    shutil.copytree(record.path, copy.path)
    last = max(copy.journal.glob("*.jsonl"))
    match change:
        case "add":
            (copy.inputs / "added").write_text("x", encoding="utf-8")
        case "add-top":
            (copy.path / "notes.txt").write_text("x", encoding="utf-8")
        case "add-journal":
            (copy.journal / "000009.txt").write_text("x", encoding="utf-8")
        case "remove":
            copy.aggregates.unlink()
        case "cut":
            lines = last.read_bytes().splitlines(keepends=True)
            last.write_bytes(b"".join(lines[:-1]))
        case "torn":
            last.write_bytes(last.read_bytes()[:-1])
    findings = verify(copy).findings
    assert any(finding.file.startswith(named) for finding in findings), findings


def test_a_record_is_held_against_a_published_hash(record: Record) -> None:
    found = verify(record)
    assert verify(record, expect=found.sha256).holds
    assert verify(record, expect=f"sha256:{found.sha256}").holds
    assert not verify(record, expect="0" * 64).holds
