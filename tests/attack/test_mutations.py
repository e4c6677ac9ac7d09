"""Every way of changing a record, tried on a record of every kind; and flips over all bytes of a small one."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from mutating import MUTATIONS, NotHereError

pytestmark = pytest.mark.attack

GOLDEN = Path(__file__).parents[1] / "golden" / "records"
RECORDS = sorted(path.name for path in GOLDEN.iterdir() if path.name != "labels")


def derived(name: str, folder: Path) -> Record:
    record = Record(shutil.copytree(GOLDEN / name, folder / name))
    evaluator_of(record).derive(record, record.path)
    return record


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("attacked")
    for name in RECORDS:
        derived(name, runs)
    return runs


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("change", [pytest.param(change, id=what) for what, change in MUTATIONS])
def test_a_changed_record_does_not_hold(made: Path, tmp_path: Path, name: str, change: Callable[[Path], None]) -> None:
    record = Record(shutil.copytree(made / name, tmp_path / name))
    try:
        change(record.path)
    except NotHereError as error:
        pytest.skip(str(error))
    assert not verify(record).holds


@pytest.mark.parametrize("name", ["rubric_faults", "score_asked", "judged_gaps"])
def test_a_bit_of_any_byte_is_found(tmp_path: Path, name: str) -> None:
    record = derived(name, tmp_path)
    rng = random.Random(name)
    for path in sorted(path for path in record.path.rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for at in range(rng.randrange(7), len(whole), 7):
            changed = bytearray(whole)
            changed[at] ^= 1 << rng.randrange(8)
            path.write_bytes(changed)
            assert not verify(record).holds, (path.name, at)
        path.write_bytes(whole)
    assert verify(record).holds
