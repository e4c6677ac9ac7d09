"""A record stands for itself: whatever makes another of it is found (`mutating`), and nothing that does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from mutating import BY_HASH_ALONE, LEFT_BEHIND, MUTATIONS, NotHereError

GOLDEN = Path(__file__).parents[1] / "golden" / "records"
# Each way is tried on one of these that has what it changes; on all of them by `script/test --attack`.
KINDS = ("rubric_faults", "score_asked", "rubric_unmeasured", "score_a", "judged_gaps", "judgements_unknown")

Change = Callable[[Path], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole record of each kind."""
    runs = tmp_path_factory.mktemp("mutating")
    for name in KINDS:
        record = Record(shutil.copytree(GOLDEN / name, runs / name))
        evaluator_of(record).derive(record, record.path)
    return runs


def copied(made: Path, name: str, folder: Path) -> Record:
    shutil.rmtree(folder / name, ignore_errors=True)
    return Record(shutil.copytree(made / name, folder / name))


def changed(made: Path, change: Change, folder: Path) -> Record:
    for name in KINDS:
        record = copied(made, name, folder)
        try:
            change(record.path)
        except NotHereError:
            continue
        return record
    pytest.skip("no record has what it changes")


@pytest.mark.slow
@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in MUTATIONS])
def test_a_record_that_was_changed_does_not_hold(made: Path, tmp_path: Path, change: Change) -> None:
    found = verify(changed(made, change, tmp_path)).findings
    assert found
    assert not any("make no sense" in one.what for one in found), found  # each in words of its own


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in BY_HASH_ALONE])
def test_a_record_of_other_facts_is_told_by_its_hash(made: Path, tmp_path: Path, change: Change) -> None:
    record = changed(made, change, tmp_path)
    published = verify(Record(made / record.run_id)).sha256
    assert published != verify(record).sha256
    assert not verify(record, expect=published).holds


@pytest.mark.parametrize("name", ["score_asked"])
def test_what_a_desktop_leaves_behind_is_noted_and_no_fault(made: Path, tmp_path: Path, name: str) -> None:
    record = copied(made, name, tmp_path)
    for left in LEFT_BEHIND:
        (record.path / left).write_bytes(b"\0\0\0\1Bud1")
    found = verify(record)
    assert found.findings == ()
    assert sorted(found.notes) == sorted(f"{left}: no part of the record" for left in LEFT_BEHIND)


# ── whose record it is ───────────────────────────────────────────────────────────────────────────────────────

OTHER = "the folder is called '{0}', and the record in it is '{1}': rename the folder, or name the record by its hash"


def test_a_record_under_anothers_name_is_named_with_both(made: Path, tmp_path: Path) -> None:
    """Two records of one kind change places: each is whole, and neither is what its folder says."""
    first, second = (copied(made, name, tmp_path).path for name in ("score_asked", "score_a"))
    first.rename(tmp_path / "between")
    second.rename(first)
    (tmp_path / "between").rename(second)
    for path, other in ((first, "score_a"), (second, "score_asked")):
        (finding,) = verify(Record(path)).findings
        assert (finding.file, finding.line) == ("journal/000001.jsonl", 1)
        assert finding.what.startswith(OTHER.format(path.name, other))


def test_whoever_names_a_record_by_its_hash_may_call_its_folder_anything(made: Path, tmp_path: Path) -> None:
    record = copied(made, "score_asked", tmp_path)
    sha256 = verify(record).sha256
    moved = Record(record.path.rename(tmp_path / "downloaded"))
    found = verify(moved, expect=f"sha256:{sha256}")
    assert found.holds
    assert [note.startswith(OTHER.format("downloaded", "score_asked")) for note in found.notes] == [True]
    assert not verify(moved).holds
    assert len(verify(moved, expect="0" * 64).findings) == 1  # that it is another says all


def test_a_path_is_looked_up_before_its_name_is_read(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = copied(made, "score_asked", tmp_path)
    (tmp_path / "latest").symlink_to("score_asked")
    monkeypatch.chdir(record.path)
    for path in (".", "../score_asked/", "journal/..", tmp_path / "latest", f"{record.path}/"):
        assert verify(Record(path)).holds, path
    assert Record(".").run_id == "score_asked"
