"""The last label is as safe as the first: flips, cut lines, a lost anchor, a sealed journal, a killed import."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbook.catalog.database import open_catalog
from benchbook.catalog.indexing import rebuild
from benchbook.errors import BenchbookError, RecordDamagedError, RecordError
from benchbook.labels.labels import LabelBook, give_labels, open_labels, take_back
from benchbook.labels.verify import verify_labels
from benchbook.record.derived_files import check_whole
from benchbook.record.folder import Record, is_of_labels, records_in
from golden.views import OWN
from labels.small import ACCURACY, FAITHFULNESS, book, label
from running import benchbook_here


@pytest.fixture
def found(tmp_path: Path) -> LabelBook:
    """A book with an import of two labels, one label by a key, and one taken back."""
    found = give_labels(book(tmp_path), [label(10, "ann", 2), label(11, "ann", 0, FAITHFULNESS)])
    give_labels(found, [label(12, "ann", 1)])
    take_back(found, "ann")
    return give_labels(found, [label(12, "bob", 1, note="é")])


def journal_of(found: LabelBook) -> Path:
    return found.path / "journal" / "000001.jsonl"


def anchor_of(found: LabelBook) -> dict[str, int | str]:
    return dict(json.loads((found.path / "anchor.json").read_bytes()))


def files_of(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def flipped(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def is_damaged(found: LabelBook) -> str:
    """What everybody who reads the labels is told; nobody takes them, and nothing is written."""
    before = {path: path.read_bytes() for path in files_of(found.path)}
    with pytest.raises(BenchbookError) as told:
        open_labels(found.path)
    verified = verify_labels(Record(found.path))
    assert not verified.holds
    with pytest.raises(BenchbookError):
        give_labels(found, [label(11, "eve", 1)])
    assert {path: path.read_bytes() for path in files_of(found.path)} == before
    return f"{told.value}"


# ── changed bytes ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_no_flip_of_a_bit_is_taken(found: LabelBook) -> None:
    """Of the last line and the anchor, which no later line holds, one bit of each byte; of the rest, of some."""
    for path in files_of(found.path):
        data = path.read_bytes()
        last = {"anchor.json": 0, "000001.jsonl": data.rfind(b"\n", 0, -1) + 1}.get(path.name, len(data))
        for at in [*range(0, last, 11), *range(last, len(data))]:
            path.write_bytes(flipped(data, at, at % 8))
            with pytest.raises(BenchbookError):
                open_labels(found.path)
        path.write_bytes(data)
    assert open_labels(found.path).sha256 == found.sha256


@pytest.mark.parametrize("old", ['"score":1', "bob", "é", '"sample":12'])
def test_a_change_of_the_last_label_is_named_with_its_line(found: LabelBook, old: str) -> None:
    lines = journal_of(found).read_text(encoding="utf-8").splitlines(keepends=True)
    lines[-1] = lines[-1].replace(old, {"bob": "eve", "é": "e"}.get(old, old[:-1] + "0"))
    journal_of(found).write_text("".join(lines), encoding="utf-8")
    said = is_damaged(found)
    assert "000001.jsonl:6: has the hash " in said
    assert f"and anchor.json names {found.sha256[:12]}…: one of the two was changed" in said


# ── what is missing ──────────────────────────────────────────────────────────────────────────────────────────


def test_no_line_goes_unseen(found: LabelBook) -> None:
    lines = journal_of(found).read_bytes().splitlines(keepends=True)
    for left in range(len(lines)):
        journal_of(found).write_bytes(b"".join(lines[:left]))
        said = is_damaged(found)
        stands = 1 if left == 2 else left  # an import stands whole or not at all
        assert f"the journal ends after {stands} facts, and anchor.json names 6: lines are missing from its end" in said
        if left:
            assert f"000001.jsonl:{stands}: " in said
            with pytest.raises(RecordDamagedError, match="another fact than anchor"):
                check_whole(Record(found.path))


def test_a_last_line_that_was_cut_is_not_cut_off(found: LabelBook) -> None:
    """It was acknowledged: to cut it off, as a line that was being written, would lose a label."""
    data = journal_of(found).read_bytes()
    for cut in (1, 2, 100):
        journal_of(found).write_bytes(data[:-cut])
        assert "the journal ends after 5 facts" in is_damaged(found)


def test_an_anchor_that_was_there_is_missed(found: LabelBook) -> None:
    (found.path / "anchor.json").unlink()
    assert "anchor.json: is missing: " in is_damaged(found)
    with pytest.raises(RecordDamagedError, match="is missing"):
        check_whole(Record(found.path))


def test_a_journal_that_was_there_is_missed(found: LabelBook) -> None:
    shutil.rmtree(found.path / "journal")
    record = Record(found.path)
    assert is_of_labels(record)
    assert not verify_labels(record).holds
    with pytest.raises(RecordDamagedError, match="ends after 0 facts"):
        open_labels(found.path)


@pytest.mark.parametrize(
    "anchor",
    [
        b"", b"{}\n", b"null\n", b"[1]\n", b'{"journal_facts":6}\n', b"\xff\n",
        b'{"journal_facts":0,"journal_sha256":"' + b"0" * 64 + b'"}\n',
        b'{"journal_facts":-1,"journal_sha256":"' + b"0" * 64 + b'"}\n',
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4790\n",
    ],
)  # fmt: skip
def test_no_other_anchor_is_taken(found: LabelBook, anchor: bytes) -> None:
    (found.path / "anchor.json").write_bytes(anchor)
    assert "anchor.json" in is_damaged(found)


def test_an_anchor_that_git_changed_says_so(found: LabelBook) -> None:
    path = found.path / "anchor.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert "anchor.json:1: the line ends in CR LF; the record has LF (git autocrlf?)" in is_damaged(found)


def test_an_anchor_laid_out_otherwise_is_not_ours(found: LabelBook) -> None:
    said = anchor_of(found)
    for other in (
        json.dumps(said) + "\n",
        json.dumps({**said, "more": 1}) + "\n",
        json.dumps(said, separators=(",", ":")),
    ):
        (found.path / "anchor.json").write_text(other, encoding="utf-8")
        assert "was changed: not the one canonical line" in is_damaged(found)


# ── killed ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_import_that_was_killed_left_nothing_or_all(found: LabelBook) -> None:
    """Wherever in what it writes, before the anchor is. What stands is labelled on, and the rest is cut off."""
    before, known = journal_of(found).read_bytes(), (found.path / "anchor.json").read_bytes()
    given = [label(10, "bob", 2), label(11, "bob", 1, note="so"), label(12, "cy", 0, FAITHFULNESS)]
    after = give_labels(found, given)
    written = journal_of(found).read_bytes()[len(before) :]
    ends = [at for at, byte in enumerate(written, start=1) if byte == ord("\n")]
    for n in sorted({*range(0, len(written), 37), *ends, *(at - 1 for at in ends), *(at + 1 for at in ends[:-1])}):
        journal_of(found).write_bytes(before + written[:n])
        (found.path / "anchor.json").write_bytes(known)
        again = open_labels(found.path)
        assert again.sha256 == (after if n == len(written) else found).sha256, n
        if n in ends or n == 37:
            going_on = give_labels(again, [label(12, "ann", 2)])
            assert [one.labeller for one in going_on.state.labels()][-1] == "ann"
            assert len([*going_on.state.labels()]) == len([*again.state.labels()]) + 1
            assert verify_labels(Record(found.path)).holds


def test_a_label_that_was_not_acknowledged_stands_unproven(found: LabelBook) -> None:
    known = (found.path / "anchor.json").read_bytes()
    give_labels(found, [label(11, "bob", 1)])
    (found.path / "anchor.json").write_bytes(known)
    verified = verify_labels(Record(found.path))
    assert verified.holds
    assert verified.notes[0] == "The last 1 fact came after the anchor: the last line is not proven"
    check_whole(Record(found.path))
    found = give_labels(found, [label(10, "bob", 1)])
    assert anchor_of(found) == {"journal_facts": 8, "journal_sha256": found.sha256}


def test_verify_names_an_import_that_was_cut_and_a_torn_line(found: LabelBook) -> None:
    known, before = (found.path / "anchor.json").read_bytes(), journal_of(found).read_bytes()
    give_labels(found, [label(10, "bob", 2), label(11, "bob", 1)])
    lines = journal_of(found).read_bytes().splitlines(keepends=True)
    (found.path / "anchor.json").write_bytes(known)
    journal_of(found).write_bytes(b"".join(lines[:-1]))
    (told,) = verify_labels(Record(found.path)).findings
    said = "an import was cut here, 1 label before its end: none of it stands; the next label mends it"
    assert str(told) == f"journal/000001.jsonl:7: {said}"
    journal_of(found).write_bytes(before + lines[-2][:30])
    (told,) = verify_labels(Record(found.path)).findings
    assert str(told) == "journal/000001.jsonl:7: the last line is cut; the next label mends it"


def test_an_import_that_no_segment_can_hold_is_refused_before_it_is_written(
    found: LabelBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbook.record.journal.MAX_WRITE_BYTES", 500)
    before = journal_of(found).read_bytes()
    with pytest.raises(RecordError, match="facts at once; expected at most 500"):
        give_labels(found, [label(10, "bob", 2), label(11, "bob", 1)])
    assert journal_of(found).read_bytes() == before
    assert give_labels(found, [label(10, "bob", 2)]).state.labellers == ["ann", "bob"]


# ── of before, and sealed ────────────────────────────────────────────────────────────────────────────────────


def test_labels_of_before_verify_and_get_an_anchor_with_the_next(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(OWN / "labels", tmp_path / "labels"))
    verified = verify_labels(Record(folder), against=Record(OWN / "rubric_labelled"))
    assert (verified.findings, len(verified.notes)) == ((), 1)
    assert verified.notes[0].startswith("It has no anchor")
    found = open_labels(folder)
    take_back(found, "eve", adjudicated=True)
    found = found.reload()
    assert anchor_of(found) == {"journal_facts": 67, "journal_sha256": found.sha256}
    assert verify_labels(Record(folder), against=Record(OWN / "rubric_labelled")).notes == ()


def test_a_sealed_book_is_a_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.record.journal.SEGMENT_BYTES", 900)
    found = book(tmp_path)
    for sample in (10, 11, 12):
        for who in ("ann", "bob"):
            found = give_labels(found, [label(sample, who, 1), label(sample, who, 2, FAITHFULNESS)])
    record = Record(found.path)
    assert sorted(path.name for path in record.journal.iterdir())[:2] == ["000001.jsonl.zst", "000002.jsonl.zst"]
    assert is_of_labels(record)
    assert records_in(tmp_path) == []
    catalog = open_catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}")
    assert rebuild(catalog, tmp_path).damaged == ()
    assert verify_labels(record).findings == ()
    said = benchbook_here("label", "status", str(found.path))
    assert "ann: 6 of 6 labels" in said.stdout.decode()
    first = record.journal / "000001.jsonl.zst"
    first.write_bytes(first.read_bytes()[:-1] + b"x")
    assert "000001.jsonl.zst" in is_damaged(found)


def test_a_damaged_book_is_seen_by_commands_and_catalog(found: LabelBook, tmp_path: Path) -> None:
    lines = journal_of(found).read_bytes().splitlines(keepends=True)
    journal_of(found).write_bytes(b"".join(lines[:-1]))
    for words in (("label", "status"), ("label", "export"), ("label", "next", "--labeller", "eve"), ("verify",)):
        done = benchbook_here(*words, str(found.path))
        assert done.returncode in (1, 3), words
        assert b"the journal ends after 5 facts, and anchor.json names 6" in done.stdout + done.stderr
    catalog = open_catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}")
    assert rebuild(catalog, tmp_path).damaged == ("labels",)


def test_an_anchor_that_is_lost_is_written_again_on_demand_alone(found: LabelBook) -> None:
    (found.path / "anchor.json").unlink()
    done = benchbook_here("rescore", str(found.path))
    assert done.stdout.decode() == f"{found.path}/anchor.json: names 6 facts, the last with hash {found.sha256}\n"
    assert anchor_of(found) == {"journal_facts": 6, "journal_sha256": found.sha256}
    assert ACCURACY in found.state.criteria
    lines = journal_of(found).read_bytes().splitlines(keepends=True)
    journal_of(found).write_bytes(b"".join(lines[:-1]))
    assert benchbook_here("rescore", str(found.path)).returncode == 3  # an anchor that is there is never moved back
