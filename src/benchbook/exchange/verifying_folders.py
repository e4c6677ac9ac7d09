"""Holds folders of records against themselves: each record, and the files that its judge was given, made again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError
from benchbook.evaluators.verify import Verification, check_hash, verify
from benchbook.evaluators.verify_progress import VerifyHandler
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import Record, misnamed

_FILES = ("evalset", "outputs", "ids")  # of a record's inputs, by the settings that name them


def verify_folder(
    plan: Any,
    copies: Mapping[str, tuple[Record, str, str]],
    asked: Iterable[Record],
    follows: Callable[[], Iterable[Discrepancy]],
    *,
    is_complete: Callable[[], bool],
    expect: str | None = None,
    on_progress: VerifyHandler | None = None,
) -> Verification:
    """Check all records of a folder, and what `follows` says of the rest, if they hold.

    `copies` are those that were copied into it, by their names: each with the id of its run and the hash that the plan
    has; `asked` those that it asked for. The folder's hash is that of the plan and of all records' hashes; with
    `expect`, it must be that one. Raises: LaterRecordError.
    """
    findings: list[Discrepancy] = []
    notes: list[str] = []
    hashes: dict[str, str] = {}
    n_facts = 0
    every: list[tuple[str, Record, str, str | None]] = [
        (name, record, run_id, sha256) for name, (record, run_id, sha256) in copies.items()
    ]
    every += [(record.path.name, record, "", None) for record in asked]
    for name, record, run_id, own in every:
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
            findings += follows()
        except BenchbookError as error:
            findings.append(Discrepancy(next(iter(copies)), None, f"its answers can't be drawn again ({error})"))
    return Verification(tuple(findings), sha256, n_facts, state, None, tuple(notes))


def check_judged(record: Record, made: Mapping[str, Any], *, lacks: str, differs: str) -> Iterator[Discrepancy]:
    """Hold a record's inputs against the files that its judge must have been given, made again.

    `lacks` says what it means where such a file is not made, `differs` where it is another.
    """
    inputs = record.started().inputs
    for name in _FILES:
        if name not in made:
            yield Discrepancy(record.path.name, None, lacks)
            return
        if inputs.get(name) != hashlib.sha256(Path(made[name]).read_bytes()).hexdigest():
            yield Discrepancy(f"{record.path.name}/inputs", None, differs.format(name=name))
            return
