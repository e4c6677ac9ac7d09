"""Holds folders of records against themselves: each record, and the files that its judge was given, made again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError
from benchbook.evaluators.verify import Verification, check_hash, verify
from benchbook.evaluators.verify_progress import VerifyHandler
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import Record, misnamed

_FILES = ("evalset", "outputs", "ids")  # of a record's inputs, by the settings that name them


class CopiedRun(NamedTuple):
    """A copy of a run, with the run's id and the hash that the plan has."""

    record: Record
    run_id: str
    sha256: str


def verify_folder(
    plan: Any,
    copies: Mapping[str, CopiedRun],
    asked: Iterable[Record],
    follows: Callable[[bool], Iterable[Discrepancy]],
    *,
    is_complete: Callable[[], bool],
    expect: str | None = None,
    on_progress: VerifyHandler | None = None,
) -> Verification:
    """Check all records of a folder, and if they hold what `follows` from them says, given whether it is complete.

    `copies` are those that were copied into it, by their names; `asked` those that it asked for. The folder's hash is
    that of the plan and of all records' hashes; with `expect`, it must be that one. Raises: LaterRecordError.
    """
    findings: list[Discrepancy] = []
    notes: list[str] = []
    hashes: dict[str, str] = {}
    n_facts = 0
    for name, record, run_id, own in (
        *((name, *copy) for name, copy in copies.items()),
        *((record.path.name, record, "", None) for record in asked),
    ):
        found = verify(record, expect=own, on_progress=on_progress)
        findings += [replace(one, file=f"{name}/{one.file}") for one in found.findings]
        notes += [f"{name}: {note}" for note in found.notes if note != misnamed(record, run_id)]
        hashes[name] = found.sha256
        n_facts += found.n_facts
    sha256 = hashlib.sha256(canonical_json({"plan": plan, "records": hashes})).hexdigest()
    findings += [] if expect is None else check_hash(sha256, expect)
    state = "damaged"
    if not findings:
        state = "complete" if is_complete() else "interrupted"
        try:
            findings += follows(state == "complete")
        except BenchbookError as error:
            findings.append(Discrepancy(next(iter(copies)), None, f"its answers can't be drawn again ({error})"))
    return Verification(tuple(findings), sha256, n_facts, state, None, tuple(notes))


def check_judged(record: Record, made: Mapping[str, Any], differs: str) -> Iterator[Discrepancy]:
    """Hold a record's inputs against the files that its judge must have been given, made again: `differs` says of one,
    by its name, that it is another."""
    inputs = record.started().inputs
    for name in _FILES:
        if inputs.get(name) != hashlib.sha256(Path(made[name]).read_bytes()).hexdigest():
            yield Discrepancy(f"{record.path.name}/inputs", None, differs.format(name=name))
            return
