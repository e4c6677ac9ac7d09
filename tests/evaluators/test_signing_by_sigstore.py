"""A record is signed by Sigstore: its own library signs and checks, against an instance on the loopback, and its own
program checks without Benchbook."""

from __future__ import annotations

import base64
import json
import logging
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sigstore_instance
from benchbook.errors import UsageError
from benchbook.evaluators.attestation import statements, statements_on
from benchbook.evaluators.signing import SignedBy, sign, sign_by_sigstore, signed_by, signed_by_sigstore
from benchbook.evaluators.verify import verify
from benchbook.exchange.redaction import DERIVED, redact
from benchbook.exchange.verifying_redactions import verify_redacted
from benchbook.record.folder import Record
from benchbook.record.sigstore_bundles import Signer, payload_of, verifier, what_is_wrong
from evaluators.test_signing import new_key
from labelled import judged_run
from running import benchbook_here
from sharded import joined, judged_in_shards, write_judged
from sigstore_instance import ISSUER, Instance

ANN = Signer("ann@example.org", ISSUER)
BOTH = ("decision.json", "test-result.json")
BY_ANN = {name: [str(ANN)] for name in BOTH}
BY_NOBODY: dict[str, list[str]] = {name: [] for name in BOTH}


pytestmark = pytest.mark.usefixtures("no_ci")


def judged(folder: Path) -> Record:
    return Record(judged_run(folder, [(2, 2), (1, 1), (2, 1)]).path)


def signers(record: Record, trust: Path | None, by: Signer = ANN) -> SignedBy:
    return signed_by_sigstore(record.path, verify(record).sha256, statements(record), by, trust)


def stock(trust: Path, bundle: Path, of: str, who: str = ANN.identity) -> subprocess.CompletedProcess[bytes]:
    """The check by Sigstore's own program alone."""
    words = ["-m", "sigstore", "--trust-config", str(trust), "verify", "identity", "--offline", "--bundle", str(bundle)]
    words += ["--cert-identity", who, "--cert-oidc-issuer", ISSUER, of]
    known = os.environ | {"PYTHONWARNINGS": "ignore"}  # it opens files without naming their encoding
    return subprocess.run([sys.executable, *words], capture_output=True, env=known, check=False)


@pytest.mark.usefixtures("as_ann")
def test_sigstores_program_checks_it(tmp_path: Path, trust: Path) -> None:
    """It holds the record's hash, or a file of it, against the bundle, and prints what was signed."""
    record = judged(tmp_path)
    sha256 = verify(record).sha256
    made = sign_by_sigstore(record, sha256, trust)
    assert made.signer == ANN
    (bundle,) = made.folder.glob("test-result.json.*.sigstore.json")
    done = stock(trust, bundle, f"sha256:{sha256}")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["predicate"]["result"] == "FAILED"
    assert stock(trust, bundle, str(record.aggregates)).returncode == 0
    assert stock(trust, bundle, str(record.samples)).returncode == 1
    assert stock(trust, bundle, f"sha256:{sha256}", "bob@example.org").returncode == 1


@pytest.mark.usefixtures("as_ann")
def test_each_statement_is_signed_as_ssh_signs_it(tmp_path: Path, instance: Instance, trust: Path) -> None:
    record = judged(tmp_path)
    made = sign_by_sigstore(record, verify(record).sha256, trust)
    assert verify(record).findings == ()
    assert [path.name.split(".json.")[0] for path in made.signatures] == ["decision", "test-result"]
    for path, data in zip(made.signatures, statements(record).values(), strict=True):
        assert payload_of(path.read_bytes()) == data
    assert [path for path, _, _ in instance.asked] == [
        "/api/v2/signingCert", "/api/v1/log/entries", "/api/v1/log/entries",
    ]  # fmt: skip
    instance.asked.clear()
    assert signers(record, trust) == SignedBy(BY_ANN, BY_NOBODY)
    assert instance.asked == []  # it is checked offline


@pytest.mark.usefixtures("as_ann")
def test_beside_a_signature_by_ssh(tmp_path: Path, trust: Path) -> None:
    record = judged(tmp_path)
    sha256 = verify(record).sha256
    with pytest.raises(UsageError, match="nobody has signed it as it is by Sigstore"):
        signers(record, trust)
    sign_by_sigstore(record, sha256, trust)
    key, allowed = new_key(tmp_path, "bob")
    with pytest.raises(UsageError, match="nobody has signed it as it is with an SSH key"):
        signed_by(record.path, sha256, statements(record), allowed)
    sign(record, key, sha256)
    assert verify(record).findings == ()
    assert signers(record, trust).names == BY_ANN
    assert signed_by(record.path, sha256, statements(record), allowed) == {name: ["bob@example.org"] for name in BOTH}


@pytest.mark.usefixtures("as_ann")
def test_a_joined_record_is_signed_by_its_root(tmp_path: Path, trust: Path) -> None:
    record = joined(judged_in_shards(write_judged(tmp_path, 6, 1), 3)).record
    root = verify(record).sha256
    (bundle, *_) = sign_by_sigstore(record, root, trust).signatures
    assert verify(record).findings == ()
    assert signers(record, trust).names == BY_ANN
    assert stock(trust, bundle, f"sha256:{root}").returncode == 0


@pytest.mark.usefixtures("as_ann")
def test_it_holds_of_a_redacted_copy(tmp_path: Path, trust: Path) -> None:
    record = judged(tmp_path)
    whole = verify(record)
    sign_by_sigstore(record, whole.sha256, trust)
    copy = tmp_path / "copy"
    redact(record, verify(record), copy)
    assert verify_redacted(copy).findings == ()
    made = statements_on(copy / DERIVED)
    assert signed_by_sigstore(copy, whole.sha256, made, ANN, trust).names == BY_ANN


# ── what does not hold ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("as_ann")
def test_what_it_is_instead_is_said(tmp_path: Path, trust: Path) -> None:
    record = judged(tmp_path)
    made = sign_by_sigstore(record, verify(record).sha256, trust)
    name = made.signatures[0].name
    for other in (Signer("bob@example.org", ISSUER), Signer(ANN.identity, "https://other.example.org")):
        found = signers(record, trust, other)
        assert found.names == BY_NOBODY
        assert found.others["decision.json"] == [f"{name} is signed by ann@example.org (issuer {ISSUER})"]
    with sigstore_instance.running() as elsewhere:  # whose keys are others
        found = signers(record, elsewhere.trust_config(tmp_path / "other.json"))
    untrusted = "has a certificate that is not trusted: of an authority that no root of trust names, or out of its time"
    assert found.others["decision.json"] == [f"{name} {untrusted}"]
    assert signers(record, None).others["decision.json"] == [f"{name} {untrusted}"]  # by the public instance's
    data, bundle = statements(record)["decision.json"], made.signatures[0].read_bytes()
    changed = what_is_wrong(bundle, data + b" ", ANN, verifier(trust))
    assert changed == "is of another statement than the one that follows from the record"
    assert (what_is_wrong(b"{}", data, ANN, verifier(trust)) or "").startswith("is no bundle of Sigstore (")


@pytest.mark.usefixtures("as_ann")
def test_every_flipped_bit_is_found(tmp_path: Path, trust: Path) -> None:
    """Or changes nothing that is signed: the last bits of base64, and the name beside the signature of a log's head."""
    record = judged(tmp_path)
    path = sign_by_sigstore(record, verify(record).sha256, trust).signatures[0]
    whole, data, checks = path.read_bytes(), statements(record)["decision.json"], verifier(trust)
    chance, missed = random.Random(16), []
    for _ in range(1000):
        at = chance.randrange(len(whole))
        flipped = whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :]
        if what_is_wrong(flipped, data, ANN, checks) is None and _meant(flipped) != _meant(whole):
            missed.append(at)
    assert missed == []


def _meant(bundle: bytes) -> str:
    from sigstore.models import Bundle

    found = json.loads(Bundle.from_json(bundle).to_json())
    proof = found["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]
    head, _, signature = proof["checkpoint"]["envelope"].partition("\n\n— ")
    proof["checkpoint"]["envelope"] = head + base64.b64decode(signature.split()[-1]).hex()
    return json.dumps(found)


def _statement(folder: Path) -> None:
    path = folder / "test-result.json"
    path.write_bytes(path.read_bytes().replace(b'"FAILED"', b'"PASSED"'))


def _bundle(folder: Path) -> None:
    (path,) = folder.glob("test-result.json.*.sigstore.json")
    found = json.loads(path.read_bytes())
    payload = base64.b64decode(found["dsseEnvelope"]["payload"]).replace(b'"FAILED"', b'"PASSED"')
    found["dsseEnvelope"]["payload"] = base64.b64encode(payload).decode("ascii")
    path.write_text(json.dumps(found), encoding="utf-8")


def _bundle_of_nothing(folder: Path) -> None:
    (path,) = folder.glob("test-result.json.*.sigstore.json")
    path.write_bytes(b"\xff")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_statement, "says something else than the record"),
        (_bundle, "its statement says something else than the record"),
        (_bundle_of_nothing, "its statement says something else than the record"),
    ],
)
@pytest.mark.usefixtures("as_ann")
def test_what_was_changed_since_is_found(tmp_path: Path, trust: Path, change: Any, says: str) -> None:
    """By `verify` alone, without Sigstore."""
    record = judged(tmp_path)
    change(sign_by_sigstore(record, verify(record).sha256, trust).folder)
    assert [one.what for one in verify(record).findings] == [says]


@pytest.mark.usefixtures("as_ann")
def test_numbers_that_changed_since_are_found(tmp_path: Path, trust: Path) -> None:
    record = judged(tmp_path)
    sign_by_sigstore(record, verify(record).sha256, trust)
    found = json.loads(record.decision.read_bytes()) | {"decision": "READY"}
    record.decision.write_text(json.dumps(found), encoding="utf-8")
    done = benchbook_here(
        "verify", "run", "--signed-by", "ann@example.org", "--issuer", ISSUER, "--trust-config", str(trust),
        cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, b"decision.json" in done.stdout, b"signed by" in done.stdout) == (1, True, False)


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────


def test_from_the_command_line(tmp_path: Path, trust: Path, as_ann: str, caplog: pytest.LogCaptureFixture) -> None:
    """And the token stands in no file, no message and no log."""
    caplog.set_level(logging.DEBUG)
    judged(tmp_path)
    by_sigstore = ("--sigstore", "--trust-config", str(trust))
    said = [benchbook_here("sign", "run", *by_sigstore, "--json", cwd=tmp_path)]
    assert said[0].returncode == 0, said[0].stderr
    found = json.loads(said[0].stdout)
    assert (len(found["signatures"]), found["identity"], found["issuer"]) == (2, "ann@example.org", ISSUER)
    said.append(benchbook_here("sign", "run", *by_sigstore, cwd=tmp_path))
    assert f"signed by ann@example.org (issuer {ISSUER})" in said[1].stdout.decode()
    asked = ("verify", "run", "--issuer", ISSUER, "--trust-config", str(trust), "--signed-by")
    said.append(benchbook_here(*asked, "ann@example.org", cwd=tmp_path))
    assert (said[2].returncode, b"decision.json: signed by ann@example.org (issuer" in said[2].stdout) == (0, True)
    said.append(benchbook_here(*asked, "bob@example.org", cwd=tmp_path))
    assert said[3].returncode == 1
    assert b"decision.json: not signed by bob@example.org: decision.json." in said[3].stdout
    said.append(benchbook_here(*asked, "bob@example.org", "--json", cwd=tmp_path))
    as_json = json.loads(said[4].stdout)
    assert (said[4].returncode, as_json["signed_by"], len(as_json["other_signatures"]["decision.json"])) == (
        1, BY_NOBODY, 2,
    )  # fmt: skip
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    written += [stream for one in said for stream in (one.stdout, one.stderr)] + [caplog.text.encode()]
    assert any(b"sigstore" in one for one in written)
    for part in (as_ann, *as_ann.split(".")[1:]):
        assert not any(part.encode() in one or base64.b64encode(part.encode()) in one for one in written)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("sign run", "found neither; expected one of --key FILE, an SSH key, and --sigstore"),
        ("sign run --key k --sigstore", "found both; expected one of --key FILE, an SSH key, and --sigstore"),
        ("sign run --key k --trust-config t", "--trust-config: is for --sigstore"),
        ("verify run --issuer https://a", "--issuer: is for --signed-by IDENTITY, an identity of Sigstore"),
        ("verify run --signed-by a@b --trust-config t", "--trust-config: is for an identity of Sigstore: --signed-by"),
        (
            "verify run --signed-by a@b",
            "a@b: no file of allowed signers. Of an identity of Sigstore, name the --issuer",
        ),
    ],
)
def test_options_that_make_no_sense(tmp_path: Path, words: str, says: str) -> None:
    judged(tmp_path)
    done = benchbook_here(*words.split(), cwd=tmp_path)
    assert (done.returncode, says in done.stderr.decode()) == (2, True)
