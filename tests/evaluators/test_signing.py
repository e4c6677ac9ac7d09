"""A record is signed by stock tools, which check it without Benchbook; what was changed since is found."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from benchbook.errors import UsageError
from benchbook.evaluators.attestation import DECISION, TEST_RESULT, statements
from benchbook.evaluators.signing import sign, signed_by
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from labelled import judged_run
from running import benchbook_here
from scored import scored
from sharded import joined, judged_in_shards, write_judged

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen here")

# The specifications, as schemas: in-toto Attestation Framework v1.1 (spec/v1/statement.md, resource_descriptor.md) and
# its predicate test-result v0.1 (spec/predicates/test-result.md).
_HEX = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_DIGEST = {"type": "object", "minProperties": 1, "additionalProperties": _HEX}
_RESOURCE = {
    "type": "object", "required": ["digest"], "additionalProperties": False,
    "properties": {"name": {"type": "string", "minLength": 1}, "digest": _DIGEST},
}  # fmt: skip
_NAMES = {"type": "array", "items": {"type": "string"}}
STATEMENT = {
    "type": "object", "required": ["_type", "subject", "predicateType", "predicate"], "additionalProperties": False,
    "properties": {
        "_type": {"const": "https://in-toto.io/Statement/v1"},
        "subject": {"type": "array", "minItems": 1, "items": _RESOURCE},
        "predicateType": {"type": "string", "format": "uri"},
        "predicate": {"type": "object"},
    },
}  # fmt: skip
RESULT = {
    "type": "object", "required": ["result", "configuration"], "additionalProperties": False,
    "properties": {
        "result": {"enum": ["PASSED", "WARNED", "FAILED"]},
        "configuration": {"type": "array", "items": _RESOURCE},
        "passedTests": _NAMES, "warnedTests": _NAMES, "failedTests": _NAMES,
    },
}  # fmt: skip


def new_key(folder: Path, name: str) -> tuple[Path, Path]:
    """A key, and a file of allowed signers that has it alone."""
    key, allowed = folder / name, folder / f"{name}.allowed"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True)
    allowed.write_text(f"{name}@example.org {key.with_suffix('.pub').read_text('utf-8')}", encoding="utf-8")
    return key, allowed


def stock(path: Path, signature: Path, allowed: Path, who: str, namespace: str = "benchbook") -> bool:
    """The check of OpenSSH alone."""
    words = ["ssh-keygen", "-Y", "verify", "-f", str(allowed), "-I", who, "-n", namespace, "-s", str(signature)]
    return subprocess.run(words, input=path.read_bytes(), capture_output=True, check=False).returncode == 0


def signed(folder: Path) -> tuple[Record, Path, Path]:
    """A record that Ann has signed, the folder with what she signed, and who may sign."""
    record = Record(judged_run(folder, [(2, 2), (1, 1), (2, 1)]).path)
    key, allowed = new_key(folder, "ann")
    made = sign(record, key, verify(record).sha256)
    return record, made.folder, allowed


def test_stock_tools_check_it(tmp_path: Path) -> None:
    record, folder, allowed = signed(tmp_path)
    assert verify(record).findings == ()
    for name in ("decision.json", "test-result.json"):
        (signature,) = folder.glob(f"{name}.*.sig")
        assert stock(folder / name, signature, allowed, "ann@example.org")
        assert not stock(folder / name, signature, allowed, "bob@example.org")
        assert not stock(folder / name, signature, allowed, "ann@example.org", namespace="file")
        assert not stock(record.aggregates, signature, allowed, "ann@example.org")


def test_statements_are_in_totos(tmp_path: Path) -> None:
    record, folder, _ = signed(tmp_path)
    for name, data in statements(record).items():
        assert (folder / name).read_bytes() == data
        found = json.loads(data)
        jsonschema_rs.validate(STATEMENT, found)
        subject = {one["name"]: one["digest"]["sha256"] for one in found["subject"]}
        assert subject.pop("run") == verify(record).sha256
        for file, sha256 in subject.items():
            assert hashlib.sha256((record.path / file).read_bytes()).hexdigest() == sha256
        assert set(subject) == {"manifest.json", "aggregates.json", "decision.json"}
    jsonschema_rs.validate(RESULT, json.loads(statements(record)["test-result.json"])["predicate"])


@pytest.mark.parametrize(
    ("decision", "result"), [("READY", "PASSED"), ("NOT_READY", "FAILED"), ("INCONCLUSIVE", "FAILED")]
)
def test_only_ready_is_passed(tmp_path: Path, decision: str, result: str) -> None:
    """And that a decision is open, our own predicate says."""
    record, _, _ = signed(tmp_path)
    found = json.loads(record.decision.read_bytes()) | {"decision": decision}
    manifest = json.loads(record.manifest.read_bytes())
    record.decision.write_text(json.dumps(found), encoding="utf-8")
    manifest["derived"]["decision.json"] = hashlib.sha256(record.decision.read_bytes()).hexdigest()
    record.manifest.write_text(json.dumps(manifest), encoding="utf-8")
    made = {name: json.loads(data) for name, data in statements(record).items()}
    assert made["test-result.json"]["predicateType"] == TEST_RESULT
    assert made["test-result.json"]["predicate"]["result"] == result
    assert made["decision.json"]["predicateType"] == DECISION
    assert made["decision.json"]["predicate"]["decision"] == decision


def test_a_run_without_release_gates_has_no_test_result(tmp_path: Path) -> None:
    """That it was scored is no pass."""
    made = statements(scored(tmp_path).record)
    assert list(made) == ["decision.json"]
    assert (
        json.loads(made["decision.json"])["predicate"] | {"decision": None, "verdict": "pass"}
        == json.loads(made["decision.json"])["predicate"]
    )


@pytest.mark.slow
def test_a_joined_record_is_signed_by_its_root(tmp_path: Path) -> None:
    record = judged_in_shards(write_judged(tmp_path, 6, 1), 3)
    root = joined(record).set
    assert root is not None
    key, allowed = new_key(tmp_path, "ann")
    sign(record, key, verify(record).sha256)
    assert verify(record).findings == ()
    assert signed_by(record.path, root.root, statements(record), allowed) == {
        "decision.json": ["ann@example.org"], "test-result.json": ["ann@example.org"],
    }  # fmt: skip


def _changed_statement(record: Record, folder: Path) -> None:
    path = folder / "test-result.json"
    path.write_bytes(path.read_bytes().replace(b'"FAILED"', b'"PASSED"'))


def _added(record: Record, folder: Path) -> None:
    del record
    (folder / "more.json").write_text("{}", encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "says"),
    [(_changed_statement, "says something else than the record"), (_added, "does not belong to the record")],
)
def test_what_was_changed_since_is_found(tmp_path: Path, change: Any, says: str) -> None:
    record, folder, _ = signed(tmp_path)
    change(record, folder)
    assert [one.what for one in verify(record).findings] == [says]


@pytest.mark.slow
def test_only_whoever_is_allowed_has_signed(tmp_path: Path) -> None:
    record, folder, allowed = signed(tmp_path)
    sha256 = verify(record).sha256
    key, others = new_key(tmp_path, "bob")
    assert signed_by(record.path, sha256, statements(record), allowed)["decision.json"] == ["ann@example.org"]
    assert signed_by(record.path, sha256, statements(record), others) == {"decision.json": [], "test-result.json": []}
    sign(record, key, sha256)
    allowed.write_text(allowed.read_text("utf-8") + others.read_text("utf-8"), encoding="utf-8")
    assert signed_by(record.path, sha256, statements(record), allowed)["decision.json"] == [
        "ann@example.org",
        "bob@example.org",
    ]
    for signature in folder.glob("decision.json.*.sig"):
        signature.write_bytes((folder / "test-result.json").read_bytes())  # no signature at all
    assert signed_by(record.path, sha256, statements(record), allowed)["decision.json"] == []


def test_a_signature_is_of_one_hash(tmp_path: Path) -> None:
    record, folder, allowed = signed(tmp_path)
    folder.rename(folder.with_name("0" * 64))
    with pytest.raises(UsageError, match="nobody has signed it as it is"):
        signed_by(record.path, verify(record).sha256, statements(record), allowed)
    assert verify(record).findings == ()  # statements of another time are left alone


@pytest.mark.slow
def test_from_the_command_line(tmp_path: Path) -> None:
    judged_run(tmp_path, [(2, 2), (1, 1), (2, 1)])
    key, allowed = new_key(tmp_path, "ann")
    _, others = new_key(tmp_path, "bob")
    done = benchbook_here("sign", "run", "--key", str(key), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["signatures"]) == 2
    done = benchbook_here("verify", "run", "--signed-by", str(allowed), cwd=tmp_path)
    assert (done.returncode, b"decision.json: signed by ann@example.org" in done.stdout) == (0, True)
    done = benchbook_here("verify", "run", "--signed-by", str(others), "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["signed_by"]) == (
        1, {"decision.json": [], "test-result.json": []},
    )  # fmt: skip
    done = benchbook_here("sign", "run", "--key", str(tmp_path / "none"), cwd=tmp_path)
    assert (done.returncode, b"can't sign" in done.stderr) == (2, True)
    (tmp_path / "runs" / "run" / "decision.json").write_text("{}", encoding="utf-8")
    done = benchbook_here("sign", "run", "--key", str(key), cwd=tmp_path)
    assert (done.returncode, b"does not hold, and is not signed" in done.stderr) == (2, True)
