"""`verify` derives everything again and names what was changed: file, and line where a file has lines (SPEC C6)."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.ask.work import run_async
from benchbook.canonical import canonical_json
from benchbook.evaluators.registry import resume_run
from benchbook.evaluators.rubric.tables import DERIVED_FILES, derive
from benchbook.evaluators.verify import verify
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from benchbook.record.tables import read_rows
from rubric_v1 import CAUSED_ROW, ROW
from running import run
from scripted_server import OK_JUDGE, always_good, running


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A whole run of eight samples, asked one after the other; the first segments are sealed, the last is not."""
    with running(always_good) as server:
        made = run(tmp_path_factory.mktemp("verify"), server, max_connections=1).record
    facts = [line.fact for line in read_journal(made.journal)]
    (made.journal / "000001.jsonl").unlink()
    for part, segment_bytes in ((facts[:6], None), (facts[6:7], 1), (facts[7:11], None), (facts[11:12], 1)):
        with JournalWriter(made.journal, segment_bytes=segment_bytes) as writer:  # at one byte, a fact seals the last
            for fact in part:
                writer.append(fact)
    with JournalWriter(made.journal) as writer:
        for fact in facts[12:]:
            writer.append(fact)
    derive(made, made.path)
    assert sorted(path.name for path in made.journal.iterdir()) == [
        "000001.jsonl.zst", "000002.jsonl.zst", "000003.jsonl"
    ]  # fmt: skip
    return made


def live(record: Record) -> str:
    """The segment that is not sealed."""
    return str(max(record.journal.glob("*.jsonl")).relative_to(record.path))


@pytest.fixture
def copy(record: Record, tmp_path: Path) -> Record:
    made = Record(tmp_path / "run")
    shutil.copytree(record.path, made.path)
    return made


def files_of(record: Record) -> list[Path]:
    return sorted(path for path in record.path.rglob("*") if path.is_file())


def named(record: Record) -> set[str]:
    return {finding.file for finding in verify(record).findings}


def places(findings: tuple[Discrepancy, ...]) -> set[tuple[str, int | None]]:
    return {(finding.file, finding.line) for finding in findings}


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_an_untouched_record_holds(record: Record) -> None:
    found = verify(record)
    lines = list(read_journal(record.journal))
    assert (found.holds, found.state, found.n_facts) == (True, "complete", len(lines))
    assert found.sha256 == lines[-1].sha256


def test_verifying_changes_no_byte(record: Record) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files_of(record)}
    verify(record)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files_of(record)} == before


def test_a_segment_that_was_left_unsealed_is_followed_by_one_without_a_seal(copy: Record) -> None:
    """Writers that were killed between the two once went on in the new one; nothing is missing."""
    last = copy.path / live(copy)
    lines = lines_of(last)
    last.write_bytes(b"".join(lines[:4]))
    last.with_name("000004.jsonl").write_bytes(b"".join(lines[4:]))
    derive(copy, copy.path)
    assert verify(copy).findings == ()


# ── a line of the journal ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_changed_bit_of_a_line_is_named_with_its_line(copy: Record) -> None:
    """The next line holds another hash of it, and is itself as the one after that says. Of the last two lines it is one
    of the two: the manifest holds the last one's."""
    name = live(copy)
    path = copy.path / name
    whole = path.read_bytes()
    rng = random.Random(3)
    for at in rng.sample(range(len(whole)), 150):
        changed = bytearray(whole)
        changed[at] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        line = whole.count(b"\n", 0, at) + 1
        named = {(name, line)} if line < whole.count(b"\n") - 1 else {(name, line), (name, line + 1)}
        assert places(verify(copy).findings) & named, (at, line)


def _edit(lines: list[bytes]) -> None:
    lines[1] = lines[1].replace(b'"output_tokens":2', b'"output_tokens":3')


def _swap(lines: list[bytes]) -> None:
    lines[1], lines[2] = lines[2], lines[1]


def _remove(lines: list[bytes]) -> None:
    del lines[1]


def _double(lines: list[bytes]) -> None:
    lines.insert(2, lines[1])


def _blank(lines: list[bytes]) -> None:
    lines.insert(2, b"\n")


def _add(lines: list[bytes]) -> None:
    lines.append(b'{"at":"2026-01-01T00:00:00.000Z","kind":"run_ended","prev":"00","seq":999}\n')


def _space(lines: list[bytes]) -> None:
    lines[1] = lines[1].replace(b'","', b'", "', 1)  # the same JSON in other bytes


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        pytest.param(_edit, {2, 3}, id="edited"),
        pytest.param(_space, {2, 3}, id="the-same-value-in-other-bytes"),
        pytest.param(_swap, {2, 3}, id="swapped"),
        pytest.param(_remove, {2}, id="removed"),
        pytest.param(_double, {3}, id="doubled"),
        pytest.param(_blank, {3}, id="a-blank-line"),
        pytest.param(_add, {-1}, id="added-at-the-end"),
        pytest.param(lambda lines: lines.pop(), {-1}, id="removed-at-the-end"),
        pytest.param(lambda lines: lines.pop(0), {1}, id="removed-at-the-start"),
    ],
)
def test_a_line_that_was_changed_is_named(copy: Record, change: Callable[[list[bytes]], Any], lines: set[int]) -> None:
    name = live(copy)
    path = copy.path / name
    content = lines_of(path)
    change(content)
    path.write_bytes(b"".join(content))
    wanted = {len(content) if line == -1 else line for line in lines}
    assert places(verify(copy).findings) & {(name, line) for line in wanted}


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(Path.unlink, id="removed"),
        pytest.param(_truncate, id="a-byte-shorter"),
        pytest.param(_lengthen, id="a-byte-longer"),
        pytest.param(_empty, id="emptied"),
        pytest.param(_make_folder, id="a-folder-in-its-place"),
        pytest.param(lambda path: path.rename(path.with_name(f"{path.name}x")), id="renamed"),
    ],
)
def test_any_file_that_was_changed_is_named(record: Record, tmp_path: Path, change: Callable[[Path], Any]) -> None:
    for number, original in enumerate(files_of(record)):
        copy = Record(tmp_path / str(number) / record.run_id)
        shutil.copytree(record.path, copy.path)
        name = str(original.relative_to(record.path))
        change(copy.path / name)
        found = named(copy)
        # Nothing else is accused: not what follows from a damaged journal, and not its other segments.
        assert found <= {name, name.removesuffix(".zst"), f"{name}x"}, (name, found)
        assert found & {name, name.removesuffix(".zst")}, (name, found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("journal/000001.jsonl.zst", "journal/000002.jsonl.zst", id="segments"),
        pytest.param("aggregates.json", "decision.json", id="derived-files"),
        pytest.param("samples.parquet", "manifest.json", id="table-and-manifest"),
    ],
)
def test_swapped_files_are_both_named_or_the_first_is(copy: Record, one: str, other: str) -> None:
    first, second = copy.path / one, copy.path / other
    first_bytes, second_bytes = first.read_bytes(), second.read_bytes()
    first.write_bytes(second_bytes)
    second.write_bytes(first_bytes)
    assert one in named(copy)


def test_files_of_another_record_are_named(record: Record, copy: Record, tmp_path: Path) -> None:
    """Each derived file is whole and true, but of another run."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | ({} if role == "judge" else {"content": "Another."})

    (tmp_path / "other").mkdir()
    with running(reply) as server:
        other = run(tmp_path / "other", server).record
    for name in ("samples.parquet", "manifest.json"):
        kept = (copy.path / name).read_bytes()
        shutil.copyfile(other.path / name, copy.path / name)
        assert name in named(copy)
        (copy.path / name).write_bytes(kept)
    assert verify(copy).holds


@pytest.mark.parametrize(
    "added",
    [
        "notes.txt",
        ".hidden",
        "samples.parquet.bak",
        "inputs/0000",
        "inputs/.copy",
        "journal/000004.jsonl",
        "journal/000001.jsonl.zst.bak",
        "journal/0000009.jsonl",
        "journal/1x.jsonl",
        "journal/notes",
        "valid_evaluations/x.json",
    ],
)
@pytest.mark.parametrize("content", [b"", b"x\n"], ids=["empty", "with-content"])
def test_an_added_file_is_named(copy: Record, added: str, content: bytes) -> None:
    path = copy.path / added
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    found = named(copy)
    assert added in found or (path.parent.name == "valid_evaluations" and "valid_evaluations" in found)


@pytest.mark.parametrize("folder", ["more", "inputs/more", "journal/more"])
def test_an_added_folder_is_named(copy: Record, folder: str) -> None:
    (copy.path / folder).mkdir()
    assert folder in named(copy)


@pytest.mark.parametrize("name", ["aggregates.json", "decision.json", "manifest.json"])
def test_a_number_that_was_improved_is_named_with_its_line(copy: Record, name: str) -> None:
    path = copy.path / name
    lines = lines_of(path)
    number = next(number for number, line in enumerate(lines) if any(digit in line for digit in b"123456789"))
    lines[number] = lines[number].replace(b"1", b"2").replace(b"0", b"1")
    path.write_bytes(b"".join(lines))
    assert (name, number + 1) in places(verify(copy).findings)


def test_a_row_that_was_improved_is_named_with_sample_and_column(copy: Record) -> None:
    from benchbook.record.tables import write_table

    rows = list(read_rows(copy.samples, CAUSED_ROW))
    rows[3] = msgspec.structs.replace(rows[3], accuracy_score=1, passed=False)
    write_table(copy.samples, CAUSED_ROW, rows)
    (finding,) = (one for one in verify(copy).findings if one.file == "samples.parquet")
    assert finding.line == 4
    assert finding.what == "row of sample 3: accuracy_score, passed differ"


# ── a journal that was written anew: a chain of facts all the same ───────────────────────────────────────


def forged(record: Record, folder: Path, change: Callable[[list[dict[str, Any]]], Any]) -> Record:
    """`record` with `change` made to its facts, every hash computed again, and everything derived again."""
    made = Record(folder / "forged" / record.run_id)
    shutil.copytree(record.path, made.path)
    facts = [msgspec.to_builtins(line.fact) for line in read_journal(record.journal)]
    facts = change([fact for fact in facts if fact["kind"] != "sealed"]) or facts
    for path in made.journal.iterdir():
        path.unlink()
    prev = "0" * 64
    with (made.journal / "000001.jsonl").open("wb") as file:
        for seq, fact in enumerate(fact for fact in facts if fact["kind"] != "sealed"):
            raw = canonical_json(fact | {"seq": seq, "prev": prev})
            prev = hashlib.sha256(raw).hexdigest()
            file.write(raw + b"\n")
    return made


def fact_at(facts: list[dict[str, Any]], sample: int, role: str) -> dict[str, Any]:
    return next(fact for fact in facts if fact.get("sample") == sample and fact.get("role") == role)


def _another_answer(facts: list[dict[str, Any]]) -> None:
    fact_at(facts, 1, "candidate")["text"] = "A better answer."


def _another_candidate_request(facts: list[dict[str, Any]]) -> None:
    fact_at(facts, 1, "candidate")["request_sha256"] = "0" * 64


def _another_judge_request(facts: list[dict[str, Any]]) -> None:
    fact_at(facts, 1, "judge")["request_sha256"] = fact_at(facts, 2, "judge")["request_sha256"]


def _samples_exchanged(facts: list[dict[str, Any]]) -> None:
    one, other = fact_at(facts, 1, "candidate"), fact_at(facts, 2, "candidate")
    one["sample"], other["sample"] = 2, 1


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        pytest.param(_another_answer, 5, "sample 1: inputs and template render to another judge request", id="answer"),
        pytest.param(_another_candidate_request, 4, "sample 1: .* another candidate request", id="candidate-request"),
        pytest.param(_another_judge_request, 5, "sample 1: .* another judge request", id="judge-request"),
        pytest.param(_samples_exchanged, 4, "sample 2: .* another candidate request", id="samples-exchanged"),
    ],
)
def test_a_request_that_does_not_follow_from_the_inputs_is_named_with_its_line(
    record: Record, tmp_path: Path, change: Callable[[list[dict[str, Any]]], Any], line: int, says: str
) -> None:
    """One sample after the other: run_started, then sample 0 on lines 2 and 3, sample 1 on lines 4 and 5."""
    made = forged(record, tmp_path, change)
    derive(made, made.path)
    findings = verify(made).findings
    assert [finding.what for finding in findings if finding.file == "journal/000001.jsonl" and finding.line == line]
    assert any(re.search(says, finding.what) for finding in findings)


def _better_verdict(facts: list[dict[str, Any]]) -> None:
    fact_at(facts, 1, "judge")["text"] = '{"accuracy_score":1,"faithfulness_score":1,"rationale":"Another."}'


def test_what_only_a_published_hash_can_show(record: Record, tmp_path: Path) -> None:
    """A forger who writes the whole journal anew makes a record that agrees with itself, under another hash."""
    made = forged(record, tmp_path, _better_verdict)
    derive(made, made.path)
    assert verify(made).holds
    published = verify(record).sha256
    (finding,) = verify(made, expect=published).findings
    assert finding.file == "journal"
    assert published in finding.what


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_a_record_is_held_against_a_published_hash(record: Record, prefix: str) -> None:
    found = verify(record)
    assert verify(record, expect=prefix + found.sha256).holds
    for wrong in ("0" * 64, found.sha256[:-1], found.sha256[:12], ""):
        assert not verify(record, expect=prefix + wrong).holds


def _set(**values: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda facts: fact_at(facts, 1, "candidate").update(values)


def _set_start(**values: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda facts: facts[0].update(values)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_set(sample=999), id="a-sample-that-was-not-planned"),
        pytest.param(_set(sample=-1), id="a-negative-sample"),
        pytest.param(_set(sample=2**70), id="a-sample-beyond-64-bits"),
        pytest.param(_set(input_tokens=2**70), id="tokens-beyond-64-bits"),
        pytest.param(_set(latency_e2e_ms=2**63), id="a-latency-beyond-64-bits"),
        pytest.param(_set_start(identity={}), id="no-plan"),
        pytest.param(_set_start(spec="other@v1"), id="a-spec-that-is-not-installed"),
        pytest.param(_set_start(config={"confidence": "x"}), id="a-confidence-that-is-no-number"),
    ],
)
def test_a_journal_of_nonsense_is_a_finding(
    record: Record, tmp_path: Path, change: Callable[[list[dict[str, Any]]], Any]
) -> None:
    assert not verify(forged(record, tmp_path, change)).holds


# ── whole, interrupted, resumed ──────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_record_holds_at_every_stage_of_its_life(tmp_path: Path) -> None:
    from decimal import Decimal

    with running(always_good) as server:
        record = run(
            tmp_path, server, max_connections=1, model_output_price=Decimal(10**6), max_cost_usd=Decimal(6)
        ).record
        assert (verify(record).findings, verify(record).state) == ((), "interrupted")
        run_async(resume_run(record, {"max_cost_usd": Decimal(10)}))
        assert (verify(record).findings, verify(record).state) == ((), "interrupted")
        run_async(resume_run(record, {"max_cost_usd": None}))
        assert (verify(record).findings, verify(record).state) == ((), "complete")


def test_a_record_without_its_derived_files_says_how_to_get_them(copy: Record) -> None:
    for name in DERIVED_FILES:
        (copy.path / name).unlink()
    assert named(copy) == set(DERIVED_FILES)
    derive(copy, copy.path)
    assert verify(copy).holds


def test_deriving_an_untouched_record_again_changes_no_byte(record: Record, copy: Record) -> None:  # SPEC C6
    derive(copy, copy.path)
    assert {path.name: path.read_bytes() for path in files_of(copy)} == {
        path.name: path.read_bytes() for path in files_of(record)
    }


def test_a_changed_spec_is_a_finding(record: Record, tmp_path: Path) -> None:  # SPEC C1
    def other_spec(facts: list[dict[str, Any]]) -> None:
        facts[0]["spec_sha256"] = "0" * 64

    findings = verify(forged(record, tmp_path, other_spec)).findings
    assert ("journal/000001.jsonl", 1) in places(findings)
    assert "was made under another rubric@v1 than the one installed" in findings[0].what


# ── hostile text ─────────────────────────────────────────────────────────────────────────────────────────


def test_lone_surrogates_are_kept_in_the_journal_and_shown_escaped(tmp_path: Path) -> None:
    answer, rejected = "half a \ud835 pair", '{"rationale": "\udc00"'

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "candidate":
            return {"status": 200, "content": answer}
        return OK_JUDGE | ({"content": rejected} if n == 0 else {})

    with running(reply) as server:
        record = run(tmp_path, server, 1).record
        judged = server.asked["judge"][0]["messages"][0]["content"]
    texts = [getattr(line.fact, "text", None) for line in read_journal(record.journal)]
    assert texts[1:4] == [answer, rejected, OK_JUDGE["content"]]
    assert answer in judged  # the judge read what the model wrote
    (row,) = read_rows(record.samples, ROW)
    assert row.candidate_answer == "half a \\ud835 pair"
    assert row.judge_replies[0].text == '{"rationale": "\\udc00"'
    assert row.accuracy_score == 2
    assert row.answer_sha256 == hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
    assert verify(record).holds
    assert json.loads(record.aggregates.read_bytes())["parse_retries"] == 1
