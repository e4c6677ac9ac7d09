"""A record without its texts: nothing private is left in it, it still verifies, and what was changed is found."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import polars as pl
import pytest

from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.attestation import statements_on
from benchbook.evaluators.signing import sign, signed_by
from benchbook.evaluators.verify import verify
from benchbook.exchange.redaction import DERIVED, redact
from benchbook.exchange.verifying_redactions import verify_redacted
from benchbook.record.facts import Reply
from benchbook.record.folder import Record, open_record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from benchbook.record.redacted_lines import read_redacted, redacted
from evaluators.test_signing import new_key
from labelled import judged_run
from running import benchbook_here
from scored import scored
from sharded import joined, judged_in_shards, write_judged

PRIVATE = (b"answer 7", b"+ 1?", b"as 7 has it")  # what a model said, an item's prompt, and the judge


def judged(folder: Path) -> Record:
    """A record of three samples, each with a private prompt, answer and verdict."""
    config = write_judged(folder, 3, 1)
    record = judged_in_shards(config, 1)
    return joined(record).record


def alone(folder: Path) -> Record:
    return Record(judged_run(folder, [(2, 2), (1, 1), (2, 1)]).path)


def said(path: Path, **how: object) -> list[str]:
    return [str(one) for one in verify_redacted(path, **how).findings]  # type: ignore[arg-type]


@pytest.mark.parametrize("n_shards", [1, 3])
def test_no_text_is_left_and_it_still_verifies(tmp_path: Path, n_shards: int) -> None:
    record = judged_in_shards(write_judged(tmp_path, 6, 1), n_shards)
    joined(record)
    whole = verify(record)
    made = redact(record, whole, tmp_path / "copy")
    files = {path: path.read_bytes() for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert [path for path, data in files.items() if any(one in data for one in PRIVATE)] == []
    assert any(one in path.read_bytes() for path in record.path.rglob("*.jsonl") for one in PRIVATE)
    assert set(made.left_out) == {"evalset", "outputs"}
    found = verify_redacted(tmp_path / "copy", expect=whole.sha256)
    assert found.findings == ()
    assert found.not_computed is not None
    assert "the texts of 13 facts, and these inputs: evalset, outputs" in found.not_computed
    for name in ("manifest.json", "aggregates.json", "decision.json"):
        assert files[tmp_path / "copy" / DERIVED / name] == (record.path / name).read_bytes()


def test_numbers_stay(tmp_path: Path) -> None:
    record = alone(tmp_path)
    redact(record, verify(record), tmp_path / "copy")
    whole, copy = pl.read_parquet(record.samples), pl.read_parquet(tmp_path / "copy" / DERIVED / "samples.parquet")
    numbers = [name for name, kind in copy.schema.items() if kind.is_numeric() or kind == pl.Boolean]
    assert len(numbers) > 20
    assert copy.select(numbers).equals(whole.select(numbers))
    assert copy["candidate_answer"].to_list() == whole["answer_sha256"].to_list()
    assert "judge_replies" not in copy.columns


def test_a_shown_line_is_held_against_it(tmp_path: Path) -> None:
    record = alone(tmp_path)
    redact(record, verify(record), tmp_path / "copy")
    lines = [line.raw for line in read_journal(record.journal)]
    shown = tmp_path / "shown.jsonl"
    shown.write_bytes(b"\n".join(lines[1:3]) + b"\n")
    assert said(tmp_path / "copy", facts=shown) == []
    shown.write_bytes(lines[1].replace(b'"candidate"', b'"judge"') + b"\n" + lines[2] + b"\n")
    assert said(tmp_path / "copy", facts=shown) == [f"{shown}:1: is no line of this record"]


def test_inputs_can_be_kept_and_an_own_rubric_is(tmp_path: Path) -> None:
    record = alone(tmp_path)
    made = redact(record, verify(record), tmp_path / "copy", ("evalset",))
    assert "evalset" not in made.left_out
    assert said(tmp_path / "copy") == []
    with pytest.raises(UsageError, match="the record has no such input; expected evalset"):
        redact(record, verify(record), tmp_path / "other", ("prompts",))


def test_signatures_hold_of_the_copy(tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen here")
    record, (key, allowed) = alone(tmp_path), new_key(tmp_path, "ann")
    whole = verify(record)
    sign(record, key, whole.sha256)
    copy = tmp_path / "copy"
    redact(record, verify(record), copy)
    assert said(copy) == []
    made = statements_on(copy / DERIVED)
    assert signed_by(copy, whole.sha256, made, allowed)["decision.json"] == ["ann@example.org"]
    path = next((copy / "signatures").rglob("decision.json"))
    path.write_bytes(path.read_bytes() + b" ")
    assert [one.split(": ", 1)[1] for one in said(copy)] == ["says something else than the record"]


@pytest.mark.slow
def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    record = judged(tmp_path)
    sha256 = verify(record).sha256
    copy = tmp_path / "copy"
    redact(record, verify(record), copy)
    chance = random.Random(7)
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    missed = []
    for number in range(400):
        path = files[number % len(files)]
        whole = path.read_bytes()
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
        try:
            if not said(copy, expect=sha256):
                missed.append((path.name, at))
        except RecordError:
            pass
        path.write_bytes(whole)
    assert missed == []


@pytest.mark.parametrize("name", ["lines/journal/000001.jsonl", "derived/aggregates.json", "derived/samples.parquet"])
def test_files_that_are_missing_or_strange_are_named(tmp_path: Path, name: str) -> None:
    record = alone(tmp_path)
    copy = tmp_path / "copy"
    redact(record, verify(record), copy)
    (copy / "more.txt").write_text("x", encoding="utf-8")
    assert "more.txt: does not belong to the record" in said(copy)
    (copy / name).unlink()
    assert f"{name}: is missing" in said(copy)


def test_only_a_whole_record_is_redacted(tmp_path: Path) -> None:
    record = alone(tmp_path)
    record.decision.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="does not hold"):
        redact(record, verify(record), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_line_is_what_it_was_where_it_has_no_text(tmp_path: Path) -> None:
    record = scored(tmp_path).record
    redact(record, verify(record), tmp_path / "copy")
    lines = (tmp_path / "copy" / "lines" / "journal" / "000001.jsonl").read_bytes().splitlines()
    kinds = [json.loads(line).get("kind") for line in lines]
    assert kinds == ["run_started", None, None, None, None, "run_ended"]


def test_from_the_command_line(tmp_path: Path) -> None:
    alone(tmp_path)
    done = benchbook_here("redact", "run", "--out", "copy", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    sha256 = json.loads(done.stdout)["sha256"]
    done = benchbook_here("verify", "copy", "--expect", sha256, cwd=tmp_path)
    assert (done.returncode, b"copy: verified." in done.stdout, b"Left out are" in done.stdout) == (0, True, True)
    assert benchbook_here("verify", "copy", "--expect", "0" * 64, cwd=tmp_path).returncode == 1
    assert benchbook_here("redact", "run", "--out", "copy", cwd=tmp_path).returncode == 2
    with pytest.raises(UsageError, match="not a record"):
        open_record(tmp_path / "copy")


def test_a_seal_is_followed(tmp_path: Path) -> None:
    """Of a journal with several segments, sealed ones among them."""
    (tmp_path / "journal").mkdir()
    with JournalWriter(tmp_path / "journal", segment_bytes=300) as journal:
        for number in range(6):
            journal.append(Reply(sample=number, role="candidate", text=f"answer {number} " + "x" * 99))
    raws = [line.raw for line in read_journal(tmp_path / "journal")]
    found = list(read_redacted("lines", map(redacted, raws)))
    assert [one.is_redacted for one in found].count(True) == 6
    assert len(found) > 6  # the seals
