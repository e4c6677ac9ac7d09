"""Re-derives a whole record and compares bytes: what was changed, added, removed or swapped is named (SPEC C6)."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import msgspec

from benchbook.derivations.plan import Plan, plan_sha256
from benchbook.derivations.requests import Requests, request_sha256
from benchbook.derivations.rows import Manifest, RubricRow
from benchbook.derivations.rubric_steps import SampleFact, read_history
from benchbook.derivations.rubric_tables import DERIVED_FILES, derive, plan_of, template_of, write_manifest
from benchbook.derivations.state import JournalState, read_state
from benchbook.errors import BenchbookError, RecordDamagedError
from benchbook.evalsets import Item
from benchbook.records.canonical import decode_json
from benchbook.records.facts import FIRST_PREV, RunStarted, Sealed, fact_decoder
from benchbook.records.folder import Record
from benchbook.records.reading import read_journal, read_segment, segment_files, segment_number
from benchbook.records.tables import read_rows, writer_version
from benchbook.specs import load_spec

__all__ = ["Finding", "Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written. `line` counts from 1 within the file; None: the file as a whole."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Verification:
    """`holds` when nothing was found. `sha256` is the hash that names the record."""

    findings: tuple[Finding, ...]
    sha256: str
    n_facts: int
    state: str

    @property
    def holds(self) -> bool:
        return not self.findings


def verify(record: Record, *, expect: str | None = None) -> Verification:
    """Check a record against itself, and with `expect` against a hash that was published.

    The journal goes first: what is derived from a damaged journal would say nothing.
    """
    findings = [*_check_journal_files(record)]
    state = None
    try:
        state = read_state(record.journal)
    except RecordDamagedError as error:
        findings.append(Finding(_inside(record, error.path), error.line, error.reason))
    except BenchbookError as error:
        findings.append(Finding("journal", None, str(error)))
    if state is not None and not findings:
        try:
            findings += _check_content(record, state, expect)
        except Exception as error:
            findings.append(Finding("journal", None, f"its facts make no sense ({type(error).__name__}: {error})"))
    return Verification(
        tuple(findings),
        state.last_sha256 if state else FIRST_PREV,
        state.n_facts if state else 0,
        state.state if state else "damaged",
    )


def _check_content(record: Record, state: JournalState, expect: str | None) -> list[Finding]:
    """What a whole chain of facts still leaves to check."""
    findings = [*_check_start(state.started), *_check_inputs(record, state.started)]
    if not findings:
        findings += _check_derived(record, state)
    findings += _check_folder(record)
    if expect is not None and expect.removeprefix("sha256:") != state.last_sha256:
        findings.append(Finding("journal", None, f"its hash is {state.last_sha256}, not the expected {expect}"))
    return findings


def _inside(record: Record, path: str) -> str:
    file = Path(path)
    return str(file.relative_to(record.path)) if file.is_relative_to(record.path) else file.name


def _check_journal_files(record: Record) -> list[Finding]:
    """Sealed segments have the bytes that the journal names, and nothing else lies there."""
    findings = []
    try:
        known = set(segment_files(record.journal))
        last = max(known, default=None)
        for path in sorted(record.journal.iterdir()):
            if path not in known:
                findings.append(Finding(_inside(record, str(path)), None, "does not belong to the journal"))
        if last is not None and len(known) > 1 and not last.stat().st_size:
            findings.append(
                Finding(_inside(record, str(last)), None, "is empty; a segment begins with the last one's seal")
            )
        if last is not None and (torn := _torn_line(last)) is not None:
            findings.append(
                Finding(_inside(record, str(last)), torn, "the last line is cut; resume the run to mend it")
            )
    except RecordDamagedError as error:
        findings.append(Finding(_inside(record, error.path), error.line, error.reason))
        return findings
    return findings + _check_seals(record, known)


def _torn_line(path: Path) -> int | None:
    data = read_segment(path)
    return None if not data or data.endswith(b"\n") else data.count(b"\n") + 1


def _check_seals(record: Record, files: set[Path]) -> list[Finding]:
    """Each sealed segment has the bytes that the next one's first line names, wherever else the chain is broken."""
    findings = []
    segments = sorted(files)
    for path, following in zip_longest(segments, segments[1:]):
        if path.suffix != ".zst":
            continue
        if following is None:
            missing = f"journal/{segment_number(path) + 1:06d}.jsonl"
            findings.append(Finding(missing, None, f"is missing: it begins with the seal of {path.name}"))
        elif _seal_in(following) not in (None, hashlib.sha256(path.read_bytes()).hexdigest()):
            findings.append(Finding(_inside(record, str(path)), None, "its bytes are not those that were sealed"))
    return findings


def _seal_in(segment: Path) -> str | None:
    """The hash in a segment's first line; None where that can't be read, which is told with its line."""
    try:
        fact = decode_json(read_segment(segment).partition(b"\n")[0], fact_decoder)
    except (RecordDamagedError, msgspec.DecodeError):
        return None
    return fact.sha256 if isinstance(fact, Sealed) else None


def _check_start(started: RunStarted) -> list[Finding]:
    """The first fact agrees with itself and with the specs that are installed."""
    where = "journal/000001.jsonl"
    findings = []
    if plan_sha256(plan_of(started)) != started.plan_sha256:
        findings.append(Finding(where, 1, "the plan does not have the hash that stands beside it"))
    if load_spec(started.spec).sha256 != started.spec_sha256:
        findings.append(Finding(where, 1, f"was made under another {started.spec} than the one installed"))
    return findings


def _check_inputs(record: Record, started: RunStarted) -> list[Finding]:
    findings = []
    wanted = set(started.inputs.values())
    present = {path.name for path in record.inputs.iterdir()} if record.inputs.is_dir() else set()
    present -= {name for name in wanted if not record.input(name).is_file()}
    for name in sorted(wanted - present):
        findings.append(Finding(f"inputs/{name}", None, "is missing"))
    for name in sorted(present - wanted):
        findings.append(Finding(f"inputs/{name}", None, "does not belong to the record"))
    for name in sorted(wanted & present):
        with record.input(name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != name:
            findings.append(Finding(f"inputs/{name}", None, f"was changed: its bytes hash to {found}"))
    return findings


def _check_folder(record: Record) -> list[Finding]:
    known = {"journal", "inputs", *DERIVED_FILES}
    return [
        Finding(path.name, None, "does not belong to the record")
        for path in sorted(record.path.iterdir())
        if path.name not in known
    ]


def _check_derived(record: Record, state: JournalState) -> list[Finding]:
    """Derive everything again, elsewhere, and compare."""
    missing = [name for name in DERIVED_FILES if not (record.path / name).is_file()]
    if missing:
        hint = "the run was not ended: resume it, or `benchbook rescore` it" if state.state == "open" else "is missing"
        return [Finding(name, None, hint) for name in missing]
    requests = _RequestCheck(record, state.started)
    with tempfile.TemporaryDirectory(prefix="benchbook-verify-") as name:
        again = Path(name)
        try:
            derive(record, again, check=requests.check, state=state)
        except RecordDamagedError as error:
            return [Finding(_inside(record, error.path), error.line, error.reason)]
        except BenchbookError as error:
            return [Finding("journal", None, str(error))]
        findings = [*requests.findings, *_check_last_line(record, state)]
        _allow_other_writer(record, again)
        for file in DERIVED_FILES:
            findings += _compare(file, record.path / file, again / file)
    return findings


def _check_last_line(record: Record, state: JournalState) -> list[Finding]:
    """No later line holds the last one's hash: the manifest does."""
    manifest = _manifest(record.path)
    if manifest is None or manifest.journal_sha256 == state.last_sha256:
        return []
    what = (
        f"the journal ends here with {state.last_sha256[:12]}…, and manifest.json names {manifest.journal_sha256[:12]}…"
    )
    return [Finding(f"journal/{state.n_segments:06d}.jsonl", state.last_line, f"{what}: one of the two was changed")]


class _RequestCheck:
    """Renders each request again and holds its hash against the fact that names it."""

    MAX_FINDINGS = 20

    def __init__(self, record: Record, started: RunStarted) -> None:
        self._plan: Plan = plan_of(started)
        self._requests = Requests(self._plan, template_of(record, started))
        self._journal = record.journal
        self.findings: list[Finding] = []

    def check(self, sample: int, item: Item, facts: list[SampleFact]) -> None:
        asked = [fact for fact in facts if fact.request_sha256 is not None]
        if not asked or len(self.findings) >= self.MAX_FINDINGS:
            return
        candidate = request_sha256(self._requests.candidate(item))
        judge = None
        for fact in asked:
            if fact.role == "judge" and judge is None:
                answer = read_history(facts, self._plan).answer
                judge = "" if answer is None else request_sha256(self._requests.judge(item, answer))
            if fact.request_sha256 != (candidate if fact.role == "candidate" else judge):
                file, line = self._place_of(fact.seq)
                what = (
                    f"sample {sample}: inputs and template render to another {fact.role} request than this fact names"
                )
                self.findings.append(Finding(file, line, what))

    def _place_of(self, seq: int) -> tuple[str, int | None]:
        for line in read_journal(self._journal):
            if line.fact.seq == seq:
                return f"journal/{line.segment:06d}.jsonl", line.number
        return "journal", None


def _compare(name: str, found: Path, derived: Path) -> list[Finding]:
    if _same_bytes(found, derived):
        return []
    if name.endswith(".parquet"):
        return _compare_tables(name, found, derived)
    lines = zip_longest(found.read_bytes().split(b"\n"), derived.read_bytes().split(b"\n"), fillvalue=b"(no line)")
    for number, (one, other) in enumerate(lines, start=1):
        if one != other:
            what = f"found {_shown(one)}; the journal gives {_shown(other)}"
            return [Finding(name, number, what)]
    return [Finding(name, None, "differs")]


def _allow_other_writer(record: Record, again: Path) -> None:
    """Another version of the table writer gives other bytes for the same rows: then rows are compared (below), and the
    manifest is held against the hash of the file that is there."""
    found, derived = _manifest(record.path), _manifest(again)
    if found is None or derived is None or found.derived_by.get("tables") == writer_version():
        return
    hashes = derived.derived | {"samples.parquet": _sha256(record.samples)}
    by = derived.derived_by | {"tables": found.derived_by.get("tables", "")}
    write_manifest(again, msgspec.structs.replace(derived, derived=hashes, derived_by=by))


def _same_bytes(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as first, other.open("rb") as second:
        return hashlib.file_digest(first, "sha256").digest() == hashlib.file_digest(second, "sha256").digest()


def _shown(line: bytes) -> str:
    return repr(line[:80].decode("utf-8", "replace").strip())


def _compare_tables(name: str, found: Path, derived: Path) -> list[Finding]:
    """Names the first row and column that differ. Other bytes for the same rows are a finding, unless another version
    of the table's writer made them."""
    try:
        for number, (one, other) in enumerate(
            zip_longest(read_rows(found, RubricRow), read_rows(derived, RubricRow)), start=1
        ):
            if one is None or other is None:
                return [Finding(name, number, "rows were added or removed")]
            if one != other:
                fields = [
                    field for field in RubricRow.__struct_fields__ if getattr(one, field) != getattr(other, field)
                ]
                return [Finding(name, number, f"row of sample {other.sample}: {', '.join(fields)} differ")]
    except BenchbookError as error:
        return [Finding(name, None, f"was changed: {error}")]
    manifest = _manifest(found.parent)
    if manifest is not None and manifest.derived_by.get("tables") != writer_version():
        return []
    return [Finding(name, None, "its rows are right, but its bytes were changed")]


def _manifest(folder: Path) -> Manifest | None:
    try:
        return msgspec.json.decode((folder / "manifest.json").read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
