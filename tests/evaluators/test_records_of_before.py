"""Records that the commit before derivation 3 made: every kind verifies, and is derived again to the same bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchbook.cli.summary import rows_of
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.registry import evaluator_named
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.record.tables import writer_version
from benchbook.views.protocol.report import archive_of, differences

RECORDS = Path(__file__).parent / "records_of_derivation_2"
KINDS = sorted(path.name for path in RECORDS.iterdir() if path.suffix != ".archive")


@pytest.fixture
def record(request: pytest.FixtureRequest, tmp_path: Path) -> Record:
    folder = tmp_path / request.param
    shutil.copytree(RECORDS / request.param, folder)
    return Record(folder)


@pytest.mark.parametrize("record", KINDS, indirect=True)
def test_a_record_of_before_verifies(record: Record) -> None:
    assert derivation_of(record.started()) == 2
    assert [str(finding) for finding in verify(record).findings] == []


@pytest.mark.parametrize("record", KINDS, indirect=True)
def test_a_record_of_before_is_rescored_to_the_same_bytes(record: Record) -> None:
    kind = evaluator_named(record.started().spec)
    before = {path.name: path.read_bytes() for path in record.path.iterdir() if path.is_file()}
    kind.derive(record, record.path)
    for name in before:
        # Another writer of tables, or a newer version of it, is told apart from a change of what is derived.
        if name == "manifest.json":
            assert _without_tables((record.path / name).read_bytes()) == _without_tables(before[name])
        elif not name.endswith(".parquet"):
            assert (record.path / name).read_bytes() == before[name], name
    assert [str(finding) for finding in verify(record).findings] == []


def _without_tables(manifest: bytes) -> dict[str, Any]:
    """A manifest without its tables' bytes and their writer."""
    found = json.loads(manifest)
    derived = {name: digest for name, digest in found["derived"].items() if not name.endswith(".parquet")}
    return found | {"derived": derived, "derived_by": {}, "manifest_sha256": ""}


def test_tables_of_another_writer_are_compared_by_their_rows() -> None:
    """Those of before are by pyarrow: they verify as they are, although ours would have other bytes."""
    writers = {json.loads((RECORDS / kind / "manifest.json").read_bytes())["derived_by"]["tables"] for kind in KINDS}
    assert writers == {"pyarrow 26.0.1"}
    assert writer_version() not in writers


@pytest.mark.parametrize("record", ["rubric"], indirect=True)
def test_a_changed_byte_of_such_a_table_is_found(record: Record) -> None:
    """Also one of which no row depends: the manifest has the hash of the file that was there."""
    whole = bytearray(record.samples.read_bytes())
    whole[-5] ^= 1
    record.samples.write_bytes(whole)
    assert {finding.file for finding in verify(record).findings} == {"manifest.json", "samples.parquet"}


@pytest.mark.parametrize("record", ["judged", "judgements"], indirect=True)
def test_an_archive_of_before_is_made_again_to_the_same_bytes(record: Record) -> None:
    derived = evaluator_named(record.started().spec).read(record)
    archive = archive_of(
        derived.manifest, derived.aggregates, rows_of(record)(), protocol_v1(), derivation_of(record.started())
    )
    assert list(differences(archive, RECORDS / f"{record.run_id}.archive")) == []
