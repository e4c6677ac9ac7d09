"""`rubric@v1` as a kind of record."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchbook.ask.requests import plan_sha256, request_sha256
from benchbook.canonical import ready
from benchbook.evalsets import Item
from benchbook.evaluators.candidate import template_of
from benchbook.evaluators.contract import Kind
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.rubric.plan import Plan, plan_of
from benchbook.evaluators.rubric.release import Decision
from benchbook.evaluators.rubric.requests import Requests
from benchbook.evaluators.rubric.rows import AggregatesFile, Manifest
from benchbook.evaluators.rubric.steps import read_history
from benchbook.evaluators.rubric.tables import DERIVED_FILES, Derived, derive, row_type_of
from benchbook.record.derived_files import Finding, place_of_fact, reading_derived
from benchbook.record.facts import RunStarted, SampleFact
from benchbook.record.folder import Record
from benchbook.record.state import JournalState

__all__ = ["KIND"]


def _derive_checked(record: Record, target: Path, state: JournalState) -> list[Finding]:
    requests = _RequestCheck(record, state.started)
    derive(record, target, check=requests.check, state=state)
    return requests.findings


class _RequestCheck:
    """Renders each request again and holds its hash against the fact that names it."""

    MAX_FINDINGS = 20

    def __init__(self, record: Record, started: RunStarted) -> None:
        self._plan: Plan = plan_of(started)
        self._derivation = derivation_of(started)
        self._requests = Requests(self._plan, template_of(record, started))
        self._journal = record.journal
        self.findings: list[Finding] = []

    def check(self, sample: int, item: Item, facts: list[SampleFact]) -> None:
        asked = [fact for fact in facts if fact.request_sha256 is not None]
        if not asked or len(self.findings) >= self.MAX_FINDINGS:
            return
        candidate = request_sha256(self._requests.candidate(item))
        judges: dict[int, str] = {}
        for fact in asked:
            if fact.role == "judge" and fact.judge not in judges:
                answer = read_history(facts, self._plan, self._derivation).answer
                judges[fact.judge] = (
                    "" if answer is None else request_sha256(self._requests.judge(item, answer, fact.judge))
                )
            if fact.request_sha256 != (candidate if fact.role == "candidate" else judges[fact.judge]):
                file, line = place_of_fact(self._journal, fact.seq)
                what = (
                    f"sample {sample}: inputs and template render to another {fact.role} request than this fact names"
                )
                self.findings.append(Finding(file, line, what))


def _read(record: Record) -> Derived:
    with reading_derived(record):
        manifest = msgspec.json.decode(record.manifest.read_bytes(), type=ready(Manifest))
        aggregates = msgspec.json.decode(record.aggregates.read_bytes(), type=ready(AggregatesFile))
        data = record.decision.read_bytes()
        refused = msgspec.json.decode(data)["decision"] is None
        return Derived(manifest, aggregates, None if refused else msgspec.json.decode(data, type=ready(Decision)))


KIND = Kind(
    spec="rubric@v1",
    files=DERIVED_FILES,
    tables=lambda started: {"samples.parquet": row_type_of(started)},
    derive=derive,
    derive_checked=_derive_checked,
    read=_read,
    plan_sha256=lambda started: plan_sha256(plan_of(started)),
)
