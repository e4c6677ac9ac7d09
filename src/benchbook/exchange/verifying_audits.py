"""An audit held against itself: each record, the answers that were made of the source's by rule, and the card."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError
from benchbook.evaluators.verify import Verification, check_hash, verify
from benchbook.evaluators.verify_progress import VerifyHandler
from benchbook.exchange.audited_answers import AuditedAnswers, audited_answers
from benchbook.judge_audit.card import audit_card, card_bytes
from benchbook.judge_audit.folder import CARD, SOURCE, AuditFolder
from benchbook.judge_audit.variants import ORIGINAL
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import Record, is_record, misnamed

_FILES = ("evalset", "outputs", "ids")  # of a record's inputs, by the settings that name them


def verify_audit(
    audit: AuditFolder, *, expect: str | None = None, on_progress: VerifyHandler | None = None
) -> Verification:
    """Check an audit: all of its records, that each judged what the rules make of the source's answers, and the card.

    Its hash is that of the plan and of all records' hashes; with `expect`, it must be that one.
    Raises: LaterRecordError.
    """
    findings: list[Discrepancy] = []
    notes: list[str] = []
    hashes: dict[str, str] = {}
    n_facts = 0
    for record in (audit.source, *audit.asked()):
        name = record.path.name
        own = audit.plan.run_sha256 if name == SOURCE else None
        found = verify(record, expect=own, on_progress=on_progress)
        findings += [replace(one, file=f"{name}/{one.file}") for one in found.findings]
        notes += [f"{name}: {note}" for note in found.notes if note != misnamed(record, audit.plan.run_id)]
        hashes[name] = found.sha256
        n_facts += found.n_facts
    sha256 = hashlib.sha256(canonical_json({"plan": audit.plan, "records": hashes})).hexdigest()
    findings += [] if expect is None else check_hash(sha256, expect)
    state = "damaged"
    if not findings:
        state = "complete" if audit.lacking() is None else "interrupted"
        findings += _follow(audit, is_complete=state == "complete")
    return Verification(tuple(findings), sha256, n_facts, state, None, tuple(notes))


def _follow(audit: AuditFolder, *, is_complete: bool) -> Iterator[Discrepancy]:
    """All that does not follow from the plan and the records, which are whole."""
    try:
        with audited_answers(audit.source, n=audit.plan.n_answers, seed=audit.plan.seed) as answers:
            found = [*_check_draw(audit, answers), *_check_parts(audit, answers)]
        if is_complete and not found:
            found += _check_card(audit)
        yield from found
    except BenchbookError as error:
        yield Discrepancy("source", None, f"its answers can't be drawn again ({error})")


def _check_draw(audit: AuditFolder, answers: AuditedAnswers) -> Iterator[Discrepancy]:
    plan = audit.plan
    for name, found, drawn in (
        ("n_answers", plan.n_answers, len(answers.drawn)),
        ("n_eligible", plan.n_eligible, answers.n_eligible),
        ("ends", plan.ends[-1], len(answers.drawn)),
    ):
        if found != drawn:
            yield Discrepancy("audit.json", None, f"{name} is {found}; the source has {drawn}")


def _check_parts(audit: AuditFolder, answers: AuditedAnswers) -> Iterator[Discrepancy]:
    """Hold the inputs of each record against the answers, made again."""
    plan = audit.plan
    first = () if plan.run_judged else ((ORIGINAL, 0, range(plan.n_answers)),)
    starts = (0, *plan.ends)
    staged = ((name, stage, range(starts[stage], end)) for stage, end in enumerate(plan.ends) for name in plan.variants)
    for name, stage, places in (*first, *staged):
        record = audit.part(name, stage)
        if is_record(record.path):
            made = answers.settings(name, plan.names, places, plan.settings)
            yield from _check_part(record, {} if made is None else made)


def _check_part(record: Record, made: Mapping[str, Any]) -> Iterator[Discrepancy]:
    inputs = record.started().inputs
    for name in _FILES:
        if name not in made:
            yield Discrepancy(record.path.name, None, "judged answers that its rule leaves out")
            return
        if inputs.get(name) != hashlib.sha256(Path(made[name]).read_bytes()).hexdigest():
            yield Discrepancy(
                f"{record.path.name}/inputs", None, f"its {name} are not what the rule makes of the source"
            )
            return


def _check_card(audit: AuditFolder) -> Iterator[Discrepancy]:
    if not audit.card.is_file():
        yield Discrepancy(CARD, None, "is missing; `benchbook judge audit --resume` writes it again")
    elif audit.card.read_bytes() != card_bytes(audit_card(audit)):
        yield Discrepancy(CARD, None, "is not what follows from the records")
