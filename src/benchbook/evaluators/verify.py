"""Re-derives a whole record and compares bytes: what was changed, added, removed or swapped is named (SPEC C6)."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.identity import inputs_of_plan
from benchbook.canonical import ready
from benchbook.errors import BenchbookError, LaterRecordError, RecordDamagedError, RecordError
from benchbook.evaluators.attestation import statements
from benchbook.evaluators.contract import Evaluator, Tables
from benchbook.evaluators.joining import check_joined
from benchbook.evaluators.journal_files import check_journal_files, foreign, left_behind, place_inside
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.signing import SIGNATURES, check_statements
from benchbook.evaluators.verify_progress import VerifyHandler, tell_samples, telling
from benchbook.record.batches import files_on_their_way
from benchbook.record.checking import FactsCheck
from benchbook.record.derived_files import Discrepancy, hashes_of, inside, sha256_of, write_manifest
from benchbook.record.facts import FIRST_PREV
from benchbook.record.first_difference import first_difference, what_was_done
from benchbook.record.folder import Record, is_at_work, is_left_behind, misnamed
from benchbook.record.joined_state import read_state
from benchbook.record.reading import SHARDS, refuse_what_is_no_file
from benchbook.record.sets import SETS
from benchbook.record.standing import run_state
from benchbook.record.state import JournalState
from benchbook.record.tables import read_rows, written_alike


@dataclass(frozen=True, slots=True)
class Verification:
    """`holds` when nothing was found. `sha256` is the hash that names the record.

    `not_computed` says what was held byte for byte alone, for nobody can compute it again; None where all was computed.
    `notes` are no faults of the record: files that a desktop left in it, the name of its folder where its hash was
    named.
    """

    findings: tuple[Discrepancy, ...]
    sha256: str
    n_facts: int
    state: str
    not_computed: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.findings


def verify(record: Record, *, expect: str | None = None, on_progress: VerifyHandler | None = None) -> Verification:
    """Check a record against itself, and with `expect` against a hash that was published.

    The journal goes first: what is derived from a damaged journal would say nothing. Raises: LaterRecordError.
    """
    facts = FactsCheck(record.journal)
    state, findings = (
        _read_joined(record, on_progress) if record.is_sharded else _read_alone(record, facts, on_progress)
    )
    notes = [*left_behind(record)]
    if state is not None and not findings:
        tell_samples(on_progress, state)
        findings += _check_name(record, state, expect, notes)
        try:
            findings += facts.findings or _check_content(record, state)
        except Exception as error:
            findings.append(Discrepancy("journal", None, f"its facts make no sense ({type(error).__name__}: {error})"))
    return Verification(
        tuple(dict.fromkeys(findings)),  # a segment that can't be read is found by whoever reads it
        state.last_sha256 if state else FIRST_PREV,
        state.n_facts if state else 0,
        run_state(state.state, at_work=is_at_work(record)) if state else "damaged",
        _not_computed(record, state),
        tuple(notes),
    )


def _read_alone(
    record: Record, facts: FactsCheck, on_progress: VerifyHandler | None
) -> tuple[JournalState | None, list[Discrepancy]]:
    """The state of a journal, and what is wrong with its files and its chain. `facts` looks at each line.

    Raises: LaterRecordError.
    """
    files, state, findings = check_journal_files(record, seals=False), None, list[Discrepancy]()
    try:
        state = read_state(record.journal, telling(on_progress, facts, partial(_n_facts, record)))
    except RecordDamagedError as error:
        findings.append(Discrepancy(place_inside(record, error.path), error.line, error.reason))
    except LaterRecordError:
        raise
    except (BenchbookError, OSError) as error:
        findings.append(Discrepancy("journal", None, inside(record, str(error))))
    return state, [*(files if facts.seals_hold() else check_journal_files(record)), *findings]


def _read_joined(record: Record, on_progress: VerifyHandler | None) -> tuple[JournalState | None, list[Discrepancy]]:
    """The same of shards, each of whose lines is looked at by itself. Raises: LaterRecordError."""
    findings, state = check_joined(record, *([] if on_progress is None else [partial(on_progress, "facts")]))
    return state, findings


def _check_name(record: Record, state: JournalState, expect: str | None, notes: list[str]) -> list[Discrepancy]:
    """Check that the record is the one that was meant: by its hash, if that was named, else by its folder's name."""
    wrong = misnamed(record, state.started.run_id)
    if expect is None:
        return [] if wrong is None else [Discrepancy(_FIRST_SEGMENT, 1, wrong)]
    findings = check_hash(state.last_sha256, expect)
    notes += [wrong] if wrong is not None and not findings else []
    return findings


def check_hash(sha256: str, expect: str) -> list[Discrepancy]:
    """Check that a record's hash is the one that was published."""
    if expect.removeprefix("sha256:") == sha256:
        return []
    return [Discrepancy("journal", None, f"its hash is {sha256}, not the expected {expect}")]


def _not_computed(record: Record, state: JournalState | None) -> str | None:
    """The words of `not_computed_again`; None of a record that can't be read, whose findings say enough."""
    try:
        return None if state is None else evaluator_of(record).not_computed_again(state)
    except BenchbookError:
        return None


def _check_content(record: Record, state: JournalState) -> list[Discrepancy]:
    """The checks that are left where the chain of facts is whole."""
    try:
        evaluator = evaluator_of(record)
    except BenchbookError as error:
        return [Discrepancy(_FIRST_SEGMENT, 1, inside(record, str(error)))]
    findings = [*_check_start(state, evaluator), *check_inputs(record, state.started.inputs)]
    if not findings:
        findings += _check_derived(record.with_held(state.started.inputs.values()), state, evaluator)
    journals = {SHARDS, SETS} if record.is_sharded else {"journal"}
    if not findings and (record.path / SIGNATURES).is_dir():
        findings += check_statements(record.path, state.last_sha256, statements(record))
    known = {
        *journals,
        "inputs",
        SIGNATURES,
        *evaluator.files_of(state.started),
        *evaluator.folders,
        *files_on_their_way(state),
    }
    strange = foreign(record.path, known)
    return findings + [Discrepancy(path.name, None, "does not belong to the record") for path in strange]


_FIRST_SEGMENT = "journal/000001.jsonl"


def _check_start(state: JournalState, evaluator: Evaluator) -> Iterator[Discrepancy]:
    """Check that the first fact agrees with itself and with the specs that are installed."""
    started = state.started
    if evaluator.plan_sha256(started) != started.plan_sha256:
        yield Discrepancy(_FIRST_SEGMENT, 1, "the plan does not have the hash that stands beside it")
    if evaluator.spec_sha256 != started.spec_sha256:
        yield Discrepancy(_FIRST_SEGMENT, 1, f"was made under another {started.spec} than the one installed")
    found, planned = (started.n_items, started.repeats), evaluator.size_of(started)
    if found != planned:
        sizes = " and ".join(f"{n} items, {repeats} times" for n, repeats in (found, planned))
        yield Discrepancy(_FIRST_SEGMENT, 1, f"n_items and repeats are not those of the plan: {sizes}")
    plan: Any = evaluator.plan_of(started)
    if (plan.spec, plan.spec_sha256) != (started.spec, started.spec_sha256):
        yield Discrepancy(_FIRST_SEGMENT, 1, f"the plan is of {plan.spec}, and the fact of {started.spec}")
    for name, sha256 in inputs_of_plan(plan, started.inputs):
        if sha256 != started.inputs[name]:
            what = f"the plan is of another {name} than the record keeps: {sha256}, and {started.inputs[name]}"
            yield Discrepancy(_FIRST_SEGMENT, 1, what)
    if (state.outcomes.pythons or len(state.outcomes)) and not evaluator.has_outcomes:
        yield Discrepancy(
            "journal", None, f"has outcomes that were made elsewhere; under {started.spec} there are none"
        )


def check_inputs(record: Record, inputs: Mapping[str, str]) -> list[Discrepancy]:
    """Check that a record's inputs, by their names, have the hashes that it names, and that it has no others."""
    findings = []
    wanted = set(inputs.values())
    if record.inputs.exists() and not record.inputs.is_dir():
        return [Discrepancy("inputs", None, "is no folder")]
    for name in sorted(wanted):
        path = record.inputs / name
        if not path.is_file():
            what = "is no file" if os.path.lexists(path) else "is missing"
            findings.append(Discrepancy(f"inputs/{name}", None, what))
            continue
        try:
            found = sha256_of(path)
        except OSError as error:
            findings.append(Discrepancy(f"inputs/{name}", None, f"can't be read ({error.strerror})"))
            continue
        if found != name:
            done = what_was_done(path.read_bytes(), partial(_hashes_to, name))
            what = f"was changed: its bytes hash to {found}" + (f". It {done}" if done else "")
            findings.append(Discrepancy(f"inputs/{name}", None, what))
    strange = foreign(record.inputs, wanted)
    return findings + [Discrepancy(f"inputs/{path.name}", None, "does not belong to the record") for path in strange]


def _hashes_to(sha256: str, data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() == sha256


def _check_derived(record: Record, state: JournalState, evaluator: Evaluator) -> list[Discrepancy]:
    """Derive everything again, elsewhere, and compare."""
    files = evaluator.files_of(state.started)
    missing = [name for name in files if not (record.path / name).is_file()]
    if missing:
        hint = "the run was not ended: resume it, or `benchbook rescore` it" if state.state == "open" else "is missing"
        return [Discrepancy(name, None, hint) for name in missing]
    with tempfile.TemporaryDirectory(prefix="benchbook-verify-") as name:
        again = Path(name)
        try:
            findings = evaluator.derive_checked(record, again, state)
        except RecordDamagedError as error:
            return [Discrepancy(place_inside(record, error.path), error.line, error.reason)]
        except BenchbookError as error:
            return [Discrepancy("journal", None, str(error))]
        findings = [*findings, *_check_last_line(record, state)]
        tables = evaluator.tables(state.started)
        _allow_other_writer(record, again, tables)
        for file in files:
            findings += _compare(file, record.path / file, again / file, tables)
        for folder in evaluator.folders:
            findings += _compare_folders(folder, record.path, again, tables)
    return findings


def _compare_folders(name: str, found: Path, derived: Path, tables: Tables) -> list[Discrepancy]:
    """Compare every file of a derived folder, whatever its depth; empty folders do not count."""
    findings = []
    there, wanted = _files_below(found, name), _files_below(derived, name)
    for file in sorted(there | wanted):
        if file not in there:
            findings.append(Discrepancy(file, None, "is missing"))
        elif file not in wanted:
            findings.append(Discrepancy(file, None, "does not belong to the record"))
        else:
            findings += _compare(file, found / file, derived / file, tables)
    return findings


def _files_below(folder: Path, name: str) -> set[str]:
    paths = (folder / name).rglob("*")
    return {
        path.relative_to(folder).as_posix()
        for path in paths
        if not is_left_behind(path.name) and (path.is_symlink() or not path.is_dir())
    }


def _check_last_line(record: Record, state: JournalState) -> list[Discrepancy]:
    """Check the last line by the manifest: no later line holds its hash."""
    manifest = _manifest(record.path)
    if manifest is None or manifest.journal_sha256 == state.last_sha256:
        return []
    if record.is_sharded:
        what = f"the newest set has the root {state.last_sha256}, and manifest.json names {manifest.journal_sha256}"
        return [Discrepancy("manifest.json", None, f"{what}: `benchbook join` it again")]
    ends, named = state.last_sha256[:12], manifest.journal_sha256[:12]
    what = f"the journal ends here with {ends}…, and manifest.json names {named}…"
    return [
        Discrepancy(f"journal/{state.n_segments:06d}.jsonl", state.last_line, f"{what}: one of the two was changed")
    ]


def _compare(name: str, found: Path, derived: Path, tables: Tables) -> list[Discrepancy]:
    if not found.is_file():
        return [Discrepancy(name, None, "is no file")]
    if _same_bytes(found, derived):
        return []
    if name in tables:
        return _compare_tables(name, found, derived, tables[name])
    return [Discrepancy(name, *first_difference(found.read_bytes(), derived.read_bytes()))]


def _allow_other_writer(record: Record, again: Path, tables: Tables) -> None:
    """Take the hashes of the tables that are there, where their writer gives other bytes for the same rows than ours:
    the rows are compared by themselves (below)."""
    found, derived = _manifest(record.path), _manifest(again)
    if found is None or derived is None:
        return
    by = found.derived_by.get("tables")
    if written_alike(by):
        return
    again_manifest = msgspec.json.decode((again / "manifest.json").read_bytes(), type=dict[str, Any])
    hashes = derived.derived | hashes_of(record.path, [name for name in tables if name in derived.derived])
    write_manifest(again, again_manifest | {"derived": hashes, "derived_by": derived.derived_by | {"tables": by or ""}})


def _same_bytes(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and sha256_of(one) == sha256_of(other)


def _compare_tables(name: str, found: Path, derived: Path, row_type: type[msgspec.Struct]) -> list[Discrepancy]:
    """Names the first row and column that differ. Other bytes for the same rows are a finding, unless another version
    of the table's writer made them."""
    try:
        pairs = zip_longest(read_rows(found, row_type), read_rows(derived, row_type))
        for number, (one, other) in enumerate(pairs, start=1):
            if one is None or other is None:
                return [Discrepancy(name, number, "rows were added or removed")]
            if one != other:
                fields = [field for field in row_type.__struct_fields__ if getattr(one, field) != getattr(other, field)]
                whose = f"row of sample {other.sample}" if hasattr(other, "sample") else "this row"
                return [Discrepancy(name, number, f"{whose}: {', '.join(fields)} differ")]
    except BenchbookError as error:
        return [Discrepancy(name, None, f"was changed: {error}")]
    manifest = _manifest(found.parents[name.count("/")])
    if manifest is not None and not written_alike(manifest.derived_by.get("tables")):
        return []
    return [Discrepancy(name, None, "its rows are right, but its bytes were changed")]


class _Ends(msgspec.Struct):
    """The part of a manifest that every record has."""

    journal_facts: int
    journal_sha256: str
    derived: dict[str, str]
    derived_by: dict[str, str]


def _n_facts(record: Record) -> int | None:
    """The number of facts by the manifest; None where there is none."""
    manifest = _manifest(record.path)
    return None if manifest is None else manifest.journal_facts


def _manifest(folder: Path) -> _Ends | None:
    try:
        refuse_what_is_no_file(path := folder / "manifest.json")
        return msgspec.json.decode(path.read_bytes(), type=ready(_Ends))
    except (OSError, RecordError, msgspec.DecodeError, UnicodeDecodeError):
        return None
