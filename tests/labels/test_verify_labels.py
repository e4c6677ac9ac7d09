"""`verify` of people's labels: a chain rebuilt around what Benchbook never writes, and the run that they name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.canonical import canonical_json
from benchbook.errors import UsageError
from benchbook.evaluators.registry import evaluator_of
from benchbook.labels.labels import LabelBook, give_labels, open_labels, take_back
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import Given
from benchbook.labels.verify import verify_labels, verify_record
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from labelled import judged_run
from labels.small import FAITHFULNESS, book, label
from running import benchbook_here

Facts = list[dict[str, Any]]


@pytest.fixture
def found(tmp_path: Path) -> LabelBook:
    """Facts 1 to 6: ann and bob on sample 10, ann twice on 11, one of these taken back, eve on the dispute over 10."""
    give_labels(book(tmp_path), [label(10, "ann", 2)])
    give_labels(open_labels(tmp_path / "labels"), [label(10, "bob", 0)])
    give_labels(open_labels(tmp_path / "labels"), [label(11, "ann", 1), label(11, "ann", 2, FAITHFULNESS)])
    take_back(open_labels(tmp_path / "labels"), "ann")
    return give_labels(open_labels(tmp_path / "labels"), [label(10, "eve", 1, adjudicates=True)])


def forge(folder: Path, change: Callable[[Facts], object], write: Callable[[Any], bytes] = canonical_json) -> None:
    """Change facts, and make chain and anchor again, as somebody who knows how could."""
    path = folder / "journal" / "000001.jsonl"
    facts = [json.loads(line) for line in path.read_bytes().splitlines()]
    change(facts)
    prev, lines = "0" * 64, list[bytes]()
    for seq, fact in enumerate(facts):
        lines.append(write({**fact, "seq": seq, "prev": prev}))
        prev = hashlib.sha256(lines[-1]).hexdigest()
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    (folder / "anchor.json").write_bytes(canonical_json({"journal_facts": len(lines), "journal_sha256": prev}) + b"\n")


def says(folder: Path) -> list[str]:
    return [str(one) for one in verify_labels(Record(folder)).findings]


def test_a_book_is_verified(found: LabelBook) -> None:
    verified = verify_labels(Record(found.path))
    assert (verified.holds, verified.n_facts, verified.sha256) == (True, 7, found.sha256)
    assert verified.notes == ("The run run is not there: its answers were not checked (--against RUN)",)


def in_fact(number: int, **values: Any) -> Callable[[Facts], object]:
    return lambda facts: facts[number].update(values)


FORGED = [
    pytest.param(in_fact(1, at="yesterday"), 2, "at: found 'yesterday'; expected a time as 2026", id="time"),
    pytest.param(in_fact(1, at="1969-12-31T23:59:59.999Z"), 2, "at: found", id="before-1970"),
    pytest.param(in_fact(1, weight=3), 2, "has the field 'weight', and no label that", id="unknown-field"),
    pytest.param(in_fact(1, note=""), 2, "has the values of a fact in other bytes", id="default-written"),
    pytest.param(in_fact(1, score=3), 2, "accuracy_score: found 3; expected 0, 1 or 2", id="off-scale"),
    pytest.param(in_fact(1, sample=13), 2, "sample 13", id="not-drawn"),
    pytest.param(in_fact(1, field="charm"), 2, "'charm' is not asked here", id="not-asked"),
    pytest.param(in_fact(1, round="second"), 2, "round: found second; expected first, as labels stood", id="round"),
    pytest.param(in_fact(2, round="first"), 3, "round: found first; expected second, as labels stood", id="2nd-first"),
    pytest.param(in_fact(1, run_sha256="b" * 64), 2, "was not drawn from this run", id="other-run"),
    pytest.param(in_fact(1, labeller="ann  b"), 2, "labeller: found 'ann  b'; expected a name", id="name"),
    pytest.param(in_fact(2, labeller="ann"), 3, "ann has labelled sample 10 accuracy_score 2 already", id="twice"),
    pytest.param(in_fact(5, undoes=3), 6, "takes back fact 3; the last label of 'ann' is fact 4", id="not-the-last"),
    pytest.param(in_fact(5, labeller="bob"), 6, "takes back fact 4; the last label of 'bob' is fact 2", id="another's"),
    pytest.param(in_fact(5, labeller="cy"), 6, "takes back fact 4, and no label of 'cy' stands", id="nobody's"),
    pytest.param(in_fact(5, note="why"), 6, "takes back fact 4; the last", id="undo-with-a-note"),
    pytest.param(in_fact(6, sample=11), 7, "sample 11 accuracy_score is not in dispute", id="no-dispute"),
    pytest.param(in_fact(3, more=2), 5, "more: found 0; expected 1, by the label of the same import", id="more"),
    pytest.param(lambda facts: facts.insert(3, dict(facts[0])), 4, "of the kind LabelsStarted", id="second-start"),
    pytest.param(lambda facts: facts.insert(3, {"kind": "run_ended"}), 4, "of the kind RunEnded", id="other"),
    pytest.param(in_fact(0, samples=[10, 11, 11]), 1, "samples: expected numbers from 0, each once", id="samples"),
    pytest.param(in_fact(0, answers=["0" * 64]), 1, "answers: found 1; expected one for each of 3", id="answers"),
    pytest.param(in_fact(0, run_id="../run"), 1, "run_id: found '../run'", id="run-id"),
    pytest.param(in_fact(0, run_sha256="A" * 64), 1, "expected a hash of 64 hexadecimal digits", id="hash"),
    pytest.param(in_fact(0, inputs={}), 1, "inputs: found none; expected sheet alone", id="inputs"),
    pytest.param(
        in_fact(0, strata={"a": {"n_eligible": 1, "n_drawn": 3}}), 1, "strata: found 3 drawn of 1 in 'a'", id="strata"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "line", "what"), FORGED)
def test_what_no_writer_of_ours_wrote_is_named(
    found: LabelBook, change: Callable[[Facts], object], line: int, what: str
) -> None:
    forge(found.path, change)
    told = says(found.path)
    assert any(one.startswith(f"journal/000001.jsonl:{line}: ") and what in one for one in told), told


def test_a_clock_that_was_set_back_is_a_note(found: LabelBook) -> None:
    forge(found.path, in_fact(4, at="2020-01-01T00:00:00.000Z"))
    verified = verify_labels(Record(found.path))
    assert verified.holds
    assert verified.notes[0].startswith("Fact 4 has an earlier time than the one before it")


def test_keys_in_another_order_are_named(found: LabelBook) -> None:
    forge(
        found.path,
        lambda facts: None,
        write=lambda fact: json.dumps(dict(reversed(fact.items())), separators=(",", ":")).encode(),
    )
    assert "journal/000001.jsonl:1: has the values of a fact in other bytes" in says(found.path)[0]


def test_the_folder_and_the_published_hash(found: LabelBook) -> None:
    record = Record(found.path)
    for expect in (found.sha256, f"sha256:{found.sha256}"):
        assert verify_labels(record, expect=expect).holds
    (told,) = verify_labels(record, expect="0" * 64).findings
    assert str(told) == f"journal: its hash is {found.sha256}, not the expected {'0' * 64}"
    (found.path / "manifest.json").write_bytes(b"{}")
    (found.path / "inputs" / "more").write_bytes(b"")
    told_both = ["inputs/more: does not belong to the record", "manifest.json: does not belong to the record"]
    assert says(found.path) == told_both
    (sheet,) = (path for path in (found.path / "inputs").iterdir() if path.name != "more")
    sheet.unlink()
    assert f"{sheet.name}" in says(found.path)[0]


def test_the_command_says_what_a_runs_does(found: LabelBook) -> None:
    done = benchbook_here("verify", str(found.path), "--expect", found.sha256)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines() == [
        f"{found.path}: verified. 7 facts, people's labels",
        f"record hash: {found.sha256}",
        "note: The run run is not there: its answers were not checked (--against RUN)",
    ]
    forge(found.path, in_fact(1, score=3))
    done = benchbook_here("verify", str(found.path), "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["holds"], said["findings"][0]["line"]) == (1, False, 2)
    assert (said["findings"][0]["file"], said["state"]) == ("journal/000001.jsonl", "labels")


# ── the run ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, whose answers differ."""
    folder = tmp_path_factory.mktemp("runs")
    judged_run(folder / "a", [(2, 2), (1, 2), (2, 0)])
    judged_run(folder / "b", [(2, 2), (2, 2), (2, 0)], items=[{"answer": "Another."}])
    return folder


def drawn(runs: Path, tmp_path: Path) -> LabelBook:
    found = sample_labels(Record(runs / "a/runs/run"), tmp_path / "labels", n=3, stratify=[], seed=7)
    return give_labels(found, [Given(sample, "ann", "accuracy_score", 2) for sample in found.started.samples])


def test_labels_are_held_against_the_answers_of_their_run(runs: Path, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path)
    run = Record(runs / "a/runs/run")
    for verified in (verify_labels(found_of(found), against=run), verify_labels(found_of(found), runs=runs / "a/runs")):
        assert (verified.findings, verified.notes) == ((), ())
    sheet = next((found.path / "inputs").iterdir())
    other = sheet.read_bytes().replace(b"Answer 001.", b"Answer 009.")
    sheet.unlink()
    name = hashlib.sha256(other).hexdigest()
    (sheet.parent / name).write_bytes(other)
    forge(found.path, lambda facts: (facts[0].update(inputs={"sheet": name}), facts[0].pop("answers")))
    line = 1 + found.started.samples.index(1)
    (told,) = verify_labels(found_of(found), against=run).findings
    assert str(told) == f"inputs/{name}:{line}: sample 1: answer differ from the run's"


def found_of(found: LabelBook) -> Record:
    return Record(found.path)


@pytest.mark.slow
def test_a_draw_that_was_no_draw_is_named(runs: Path, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path)
    told: list[str] = []
    for seed in range(8, 30):  # of a few samples another seed may draw the same
        forge(found.path, in_fact(0, seed=seed))
        findings = verify_labels(found_of(found), against=Record(runs / "a/runs/run")).findings
        told += map(str, findings)
        expected = f"journal/000001.jsonl:1: samples: not those that the seed {seed} draws from the run"
        assert [str(one) for one in findings] in ([], [expected])
    assert told


def test_another_run_is_named(runs: Path, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path)
    other = Record(runs / "b/runs/run")
    (told,) = verify_labels(found_of(found), against=other).findings
    assert f"labels the run run with hash {found.started.run_sha256}; {other.path} has " in str(told)
    verified = verify_labels(found_of(found), runs=runs / "b/runs")  # nobody said that it is the one
    assert verified.holds
    assert f"It labels the run run with hash {found.started.run_sha256}; {other.path} has " in verified.notes[0]


def test_labels_of_a_run_that_went_on_are_held_against_it(runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    run = judged_run(folder, [(2, 2), (1, 2)])
    found = sample_labels(run, tmp_path / "labels", n=2, stratify=[], seed=7)
    from benchbook.record.facts import Resumed

    with JournalWriter(run.journal) as journal:
        journal.append(Resumed(code_version={}, environment={}, config={}))
    evaluator_of(run).derive(run, run.path)
    verified = verify_labels(found_of(found), against=run)
    assert verified.findings == ()
    assert verified.notes == (f"{run.path} has gone on since: who drew the samples was not checked",)


def test_a_run_is_held_against_no_other(runs: Path) -> None:
    run = Record(runs / "a/runs/run")
    assert verify_record(run).holds
    with pytest.raises(UsageError, match="no record of labels"):
        verify_record(run, against=run)
