"""`judge_protocol@v1` as a kind of record."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchbook.ask.requests import plan_sha256, request_sha256
from benchbook.canonical import ready
from benchbook.evaluators.contract import Kind
from benchbook.evaluators.protocol.imported import read_judgements
from benchbook.evaluators.protocol.plan import protocol_plan_of
from benchbook.evaluators.protocol.requests import ProtocolRequests
from benchbook.evaluators.protocol.rows import ProtocolAggregates, ProtocolManifest
from benchbook.evaluators.protocol.samples import ProtocolSample, open_samples
from benchbook.evaluators.protocol.tables import DERIVED_FILES, ProtocolDerived, derive_protocol, row_type_of
from benchbook.record.derived_files import Finding, place_of_fact, reading_derived
from benchbook.record.facts import Failure, Reply
from benchbook.record.folder import Record
from benchbook.record.state import JournalState

__all__ = ["KIND"]


_MAX_FINDINGS = 20


def _derive_checked(record: Record, target: Path, state: JournalState) -> list[Finding]:
    check = _Check(record, state)
    derive_protocol(record, target, check=check.look_at, state=state)
    return check.findings


class _Check:
    """Renders each request again, or reads each judgement again, and holds it against the fact."""

    def __init__(self, record: Record, state: JournalState) -> None:
        started = state.started
        self._journal = record.journal
        self._requests = ProtocolRequests(open_samples(record, started, protocol_plan_of(started)))
        judgements = started.inputs.get("judgements")
        self._replies = [one.raw for one in read_judgements(record.input(judgements))] if judgements else None
        self.findings: list[Finding] = []

    def look_at(self, number: int, sample: ProtocolSample, facts: list[Reply | Failure]) -> None:
        if len(self.findings) >= _MAX_FINDINGS:
            return
        if self._replies is not None:
            wrong = [fact for fact in facts if not isinstance(fact, Reply) or fact.text != self._replies[number]]
            what = f"sample {number}: the file of judgements says something else than this fact"
        else:
            expected = request_sha256(self._requests.body(sample))
            wrong = [fact for fact in facts if fact.request_sha256 != expected]
            what = f"sample {number}: inputs and template render to another request than this fact names"
        self.findings += [Finding(*place_of_fact(self._journal, fact.seq), what) for fact in wrong]


def _read(record: Record) -> ProtocolDerived:
    with reading_derived(record):
        return ProtocolDerived(
            msgspec.json.decode(record.manifest.read_bytes(), type=ready(ProtocolManifest)),
            msgspec.json.decode(record.aggregates.read_bytes(), type=ready(ProtocolAggregates)),
        )


KIND = Kind(
    spec="judge_protocol@v1",
    files=DERIVED_FILES,
    tables=lambda started: {"samples.parquet": row_type_of(started)},
    derive=derive_protocol,
    derive_checked=_derive_checked,
    read=_read,
    plan_sha256=lambda started: plan_sha256(protocol_plan_of(started)),
)
