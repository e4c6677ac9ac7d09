"""Statements about a record, as in-toto has them: what it says follows from the record alone, and can be signed.

`test-result.json` says of a release gate whether it passed, for whoever knows no Benchbook; `decision.json` has our own
predicate, which can say that a decision is open. Both are about the record's hash, or root, and its derived files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import storable_json
from benchbook.errors import RecordError
from benchbook.record.derived_files import reading_derived, sha256_of
from benchbook.record.folder import Record

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
DECISION = "https://github.com/benchbook/benchbook/attestation/decision/v1"
_RESULTS = {"READY": "PASSED"}  # all else is no pass
_FILES = ("manifest.json", "aggregates.json", "decision.json")


def statements(record: Record) -> dict[str, bytes]:
    """The statements about a record, by their files' names: canonical JSON, the same from the same record.

    Raises: RecordError where its derived files can't be read, or were changed.
    """
    with reading_derived(record):
        return statements_on(record.path)


def statements_on(folder: Path) -> dict[str, bytes]:
    """The same by the derived files in a folder. Raises: RecordError; OSError, msgspec.DecodeError."""
    manifest = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=dict[str, Any])
    decision = msgspec.json.decode((folder / "decision.json").read_bytes(), type=dict[str, Any])
    subject = _subject(manifest, sha256_of(folder / "manifest.json"))
    made = {"decision.json": _statement(subject, DECISION, _our_predicate(manifest, decision))}
    if isinstance(decision.get("decision"), str):
        made["test-result.json"] = _statement(subject, TEST_RESULT, _test_result(manifest, decision))
    return made


def _statement(subject: list[dict[str, Any]], predicate_type: str, predicate: dict[str, Any]) -> bytes:
    made = {"_type": STATEMENT, "subject": subject, "predicateType": predicate_type, "predicate": predicate}
    return storable_json(made) + b"\n"


def _subject(manifest: dict[str, Any], sha256: str) -> list[dict[str, Any]]:
    """The record by its hash, then the files that follow from it. Raises: RecordError."""
    named = {manifest.get("run_id"): manifest.get("journal_sha256"), "manifest.json": sha256}
    named |= {name: sha256 for name, sha256 in manifest.get("derived", {}).items() if name in _FILES}
    if not all(isinstance(one, str) for pair in named.items() for one in pair):
        raise RecordError("manifest.json: has no run id, or no hash of the record; `benchbook rescore` it")
    return [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in named.items()]


def _test_result(manifest: dict[str, Any], decision: dict[str, Any]) -> dict[str, Any]:
    gates: list[dict[str, Any]] = decision.get("gates", [])

    def named(*claims: str) -> list[str]:
        return [_gate_words(gate) for gate in gates if gate.get("claim", "open") in claims]

    return {
        "result": _RESULTS.get(decision["decision"], "FAILED"),
        "configuration": _configuration(manifest),
        "passedTests": named("holds"),
        "warnedTests": named("open"),
        "failedTests": named("fails"),
    }


def _gate_words(gate: dict[str, Any]) -> str:
    sign = {"at_least": ">=", "at_most": "<="}.get(gate["direction"], gate["direction"])
    return f"{gate['aggregate']} {sign} {gate['limit']}"


def _configuration(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The evaluator, the plan, and each file that was read, by their hashes."""
    named = {manifest["spec"]: manifest["spec_sha256"], "plan": manifest["plan_sha256"], **manifest["inputs"]}
    return [{"name": name, "digest": {"sha256": sha256}} for name, sha256 in sorted(named.items())]


def _our_predicate(manifest: dict[str, Any], decision: dict[str, Any]) -> dict[str, Any]:
    return {
        "decision": decision.get("decision"),  # READY, NOT_READY, INCONCLUSIVE; null where there is no release gate
        "verdict": decision.get("verdict"),  # on the run itself, where there is none
        "reasons": decision.get("reasons", []),
        "gates": [
            {name: gate.get(name) for name in ("aggregate", "direction", "limit", "value", "bound", "claim")}
            for gate in decision.get("gates", [])
        ],
        "state": manifest.get("state"),
        "evaluator": manifest["spec"],
        "model": manifest.get("model_id"),
        "judge": manifest.get("evaluator_model_id"),
        "dataset": manifest.get("dataset_id"),
        "configuration": _configuration(manifest),
    }
