"""Where signing by Sigstore does not come about, it is said why, nothing is written, and the token stands nowhere.

And where a token may come from.
"""

from __future__ import annotations

import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import sigstore_instance
from benchbook.errors import BenchbookError, SigstoreError, UsageError
from benchbook.evaluators.signing import sign_by_sigstore
from benchbook.evaluators.verify import verify
from benchbook.record import sigstore_signing
from benchbook.record.folder import Record
from benchbook.record.sigstore_bundles import Signer
from evaluators.test_signing_by_sigstore import ANN, judged, signers
from sigstore_instance import ISSUER, Instance

pytestmark = pytest.mark.usefixtures("no_ci")


def refused(record: Record, trust: Path | None, kind: type[BenchbookError] = UsageError) -> str:
    """What is said of a signing that does not come about; nothing is written then."""
    sha256 = verify(record).sha256
    with pytest.raises(kind) as found:
        sign_by_sigstore(record, sha256, trust)
    assert not (record.path / "signatures").exists()
    assert type(found.value) is kind
    return str(found.value)


def test_without_a_token(tmp_path: Path, instance: Instance, trust: Path) -> None:
    assert refused(judged(tmp_path), trust).startswith("no identity token: expected one for the audience sigstore in ")
    assert instance.asked == []


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"seconds": -60}, "has expired; get a new one"),
        ({"aud": "somebody"}, "is for another audience; expected sigstore"),
        ({"iat": "soon"}, "is no identity token that counts now: expected a JWT with aud, sub, iat, exp and iss"),
    ],
)
def test_a_token_that_does_not_count(
    tmp_path: Path, instance: Instance, trust: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any], says: str
) -> None:
    monkeypatch.setenv(sigstore_signing.TOKEN, token := instance.token(**how))
    said = refused(judged(tmp_path), trust)
    assert (said, token in said) == (f"SIGSTORE_ID_TOKEN: {says}", False)
    assert instance.asked == []


def test_a_token_of_an_issuer_that_the_authority_does_not_know(
    tmp_path: Path, instance: Instance, trust: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sigstore_instance.running() as elsewhere:
        monkeypatch.setenv(sigstore_signing.TOKEN, elsewhere.token())
    host = instance.url.removeprefix("http://")
    assert refused(judged(tmp_path), trust, SigstoreError) == (
        f"Sigstore: the authority gave no certificate ({host} said 401: There was an error processing the identity "
        "token); nothing is signed"
    )


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        ("silent", "Sigstore: no answer in 0.2 s; nothing is signed"),
        ("echoing", "said 400: I can't read Bearer (the token))"),
        ("full", "said 400: The log takes nothing today); nothing is signed"),
        ("other", "what the instance gave does not hold by its own roots of trust (invalid log entry: "),
    ],
)
def test_an_instance_in_trouble(
    tmp_path: Path, instance: Instance, trust: Path, as_ann: str, monkeypatch: pytest.MonkeyPatch,
    trouble: str, says: str,
) -> None:  # fmt: skip
    if trouble == "silent":
        monkeypatch.setattr(sigstore_signing, "_PATIENCE_S", 0.2)
    instance.trouble = trouble
    said = refused(judged(tmp_path), trust, SigstoreError)
    assert says in said
    assert not any(part in said for part in as_ann.split("."))


@pytest.mark.usefixtures("as_ann")
def test_an_instance_that_is_not_there(tmp_path: Path) -> None:
    with sigstore_instance.running() as gone:
        trust = gone.trust_config(tmp_path / "trust.json")
    said = refused(judged(tmp_path), trust, SigstoreError)
    assert said.startswith(f"Sigstore: the authority gave no certificate ({gone.url.removeprefix('http://')}: ")


@pytest.mark.usefixtures("as_ann")
@pytest.mark.parametrize(("text", "says"), [(None, "no file; expected a"), ("{}", "no")])
def test_a_trust_configuration_that_is_none(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "trust.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert refused(judged(tmp_path), path).startswith(f"{path}: {says} trust configuration of Sigstore")


@pytest.mark.usefixtures("as_ann")
def test_without_the_extra(tmp_path: Path, trust: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = judged(tmp_path)
    sign_by_sigstore(record, verify(record).sha256, trust)
    for name in [name for name in sys.modules if name.partition(".")[0] == "sigstore"] + ["sigstore"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert verify(record).findings == ()
    for asked in (lambda: sign_by_sigstore(record, verify(record).sha256, trust), lambda: signers(record, trust)):
        with pytest.raises(UsageError, match=r"^Sigstore needs an extra: pip install 'benchbook\[sigstore\]'$"):
            asked()


def test_a_job_of_ci_signs_as_itself(
    tmp_path: Path, instance: Instance, trust: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"": "true", "_URL": f"{instance.url}/ci?run=7", "_TOKEN": "asks-for-one"}.items():
        monkeypatch.setenv(f"ACTIONS_ID_TOKEN_REQUEST{name}" if name else "GITHUB_ACTIONS", value)
    record = judged(tmp_path)
    made = sign_by_sigstore(record, verify(record).sha256, trust)
    assert made.signer == Signer("https://ci.example.org/job", ISSUER)
    monkeypatch.delenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    with pytest.raises(UsageError, match=r"^this CI gives no identity token \(GitHub: missing or insufficient"):
        sign_by_sigstore(record, verify(record).sha256, trust)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a socket that the library leaves open
def test_a_person_is_sent_to_a_browser(tmp_path: Path, trust: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where one may be asked; the browser follows where it is sent."""

    def browse(url: str) -> bool:
        threading.Thread(target=lambda: urllib.request.urlopen(url).close(), daemon=True).start()
        return True

    monkeypatch.setattr("webbrowser.open", browse)
    record = judged(tmp_path)
    assert sign_by_sigstore(record, verify(record).sha256, trust, may_ask=True).signer == ANN
