"""A stand-in for a Sigstore instance on the loopback: Fulcio, its log of certificates, Rekor, and an issuer of tokens.

By the documents of Sigstore: Fulcio's specification and its OIDs (docs/oid-info.md), RFC 6962 for the timestamp in a
certificate and for the Merkle tree, Rekor v1's entries of kind `dsse` (docs and openapi.yaml), signed notes
(C2SP, signed-note) and the trust configuration of protobuf-specs. It takes a token of its own issuer alone, checks the
request's and the envelope's signature, and keeps what it was sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

ISSUER = "https://issuer.example.org"
_ISSUER_V1, _ISSUER_V2 = "1.3.6.1.4.1.57264.1.1", "1.3.6.1.4.1.57264.1.8"
_TIMESTAMPS = "1.3.6.1.4.1.11129.2.4.2"
_HOST = "127.0.0.1"  # by which its log signs, too: verifiers hold that name against the log's address


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


class Key:
    """A key on P-256, and the id by which logs know it: the SHA-256 of its public half."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.public = self.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.id = hashlib.sha256(self.public).digest()

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data, ec.ECDSA(hashes.SHA256()))


class RefusedError(Exception):
    """A request that is answered by a status, and words of why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(status, why)
        self.status, self.why = status, why


@dataclass
class Instance:
    """The keys of one instance, its log, and how it behaves. `url` is set once it runs."""

    url: str = ""
    # "silent": takes requests and answers none; "echoing": refuses, and says the token again; "full": so does the log;
    # "other": the log signs by a key that nobody was told of.
    trouble: str = ""
    lives: timedelta = timedelta(minutes=10)
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    leaves: list[bytes] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.issuer, self.authority, self.certificates, self.log = Key(), Key(), Key(), Key()
        self.root = self._root()

    def token(self, who: str = "ann@example.org", *, seconds: int = 300, issuer: str = ISSUER, **more: Any) -> str:
        """A token for `who`. It lives that many seconds from now; below zero it has ended."""
        now = int(time.time())
        begun = now - 10 if seconds > 0 else now + 2 * seconds
        said = {"iss": issuer, "aud": "sigstore", "sub": who, "email": who, "iat": begun, "exp": now + seconds}
        return jwt.encode(said | more, self.issuer.private, algorithm="ES256")

    def trust_config(self, path: Path) -> Path:
        """Write what a client has to know of this instance, as `sigstore --trust-config` takes it."""
        since = {"start": "2020-01-01T00:00:00Z"}
        place = {"url": self.url, "majorApiVersion": 1, "validFor": since, "operator": "example.org"}
        root = {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [_log(self.url, self.log, since)],
            "certificateAuthorities": [{
                "subject": {"organization": "example.org", "commonName": "fulcio"}, "uri": self.url, "validFor": since,
                "certChain": {"certificates": [{"rawBytes": b64(self.root.public_bytes(Encoding.DER))}]},
            }],
            "ctlogs": [_log(self.url, self.certificates, since)],
            "timestampAuthorities": [],
        }  # fmt: skip
        signing = {
            "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
            "caUrls": [place], "oidcUrls": [place], "rekorTlogUrls": [place], "rekorTlogConfig": {"selector": "ANY"},
            "tsaUrls": [], "tsaConfig": {"selector": "ANY"},
        }  # fmt: skip
        kind = "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json"
        made = {"mediaType": kind, "trustedRoot": root, "signingConfig": signing}
        path.write_text(json.dumps(made), encoding="utf-8")
        return path

    def _root(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fulcio")])
        key, public = self.authority.private, self.authority.private.public_key()
        usage = _usage(key_cert_sign=True, crl_sign=True)
        begun = datetime.now(UTC) - timedelta(days=1)
        return (
            x509.CertificateBuilder(name, name, public, 1, begun, begun + timedelta(days=365))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(key, hashes.SHA256())
        )

    # ── Fulcio ───────────────────────────────────────────────────────────────────────────────────────────────

    def certificate(self, header: str, body: bytes) -> dict[str, Any]:
        """The answer of Fulcio's `POST /api/v2/signingCert`."""
        if self.trouble == "echoing":
            raise RefusedError(400, f"I can't read {header}")
        try:
            token = jwt.decode(
                header.removeprefix("Bearer "), self.issuer.private.public_key(), ["ES256"], audience="sigstore"
            )
        except jwt.PyJWTError:
            raise RefusedError(401, "There was an error processing the identity token") from None
        request = x509.load_pem_x509_csr(base64.b64decode(json.loads(body)["certificateSigningRequest"]))
        if not request.is_signature_valid:
            raise RefusedError(400, "The signature of the request is wrong")
        who, issuer = token["email"], token["iss"]
        name = x509.UniformResourceIdentifier(who) if "://" in who else x509.RFC822Name(who)
        authority = self.root.public_key()
        assert isinstance(authority, ec.EllipticCurvePublicKey)
        begun = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING])
        builder = (
            x509.CertificateBuilder(self.root.subject, x509.Name([]), request.public_key(), x509.random_serial_number())
            .not_valid_before(begun)
            .not_valid_after(begun + self.lives)
            .add_extension(_usage(digital_signature=True), critical=True)
            .add_extension(usage, critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(request.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority), critical=False)
            .add_extension(x509.SubjectAlternativeName([name]), critical=True)
            .add_extension(_extension(_ISSUER_V1, issuer.encode("utf-8")), critical=False)
            .add_extension(_extension(_ISSUER_V2, _der(0x0C, issuer.encode("utf-8"))), critical=False)
        )
        before = builder.sign(self.authority.private, hashes.SHA256())
        stamp = self._timestamp(before.tbs_certificate_bytes)
        leaf = builder.add_extension(_extension(_TIMESTAMPS, _der(0x04, stamp)), critical=False)
        chain = (leaf.sign(self.authority.private, hashes.SHA256()), self.root)
        pems = [one.public_bytes(Encoding.PEM).decode("ascii") for one in chain]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": pems}}}

    def _timestamp(self, certificate: bytes) -> bytes:
        """A list of one signed timestamp of a certificate, as it was before it had one (RFC 6962, 3.2 and 3.3)."""
        now = int(time.time() * 1000)
        entry = self.authority.id + len(certificate).to_bytes(3, "big") + certificate
        signature = self.certificates.sign(struct.pack("!BBQH", 0, 0, now, 1) + entry + struct.pack("!H", 0))
        stamp = b"\0" + self.certificates.id + struct.pack("!QH", now, 0)
        stamp += b"\x04\x03" + struct.pack("!H", len(signature)) + signature  # SHA-256, ECDSA
        return struct.pack("!HH", len(stamp) + 2, len(stamp)) + stamp

    # ── Rekor ────────────────────────────────────────────────────────────────────────────────────────────────

    def entry(self, body: bytes) -> dict[str, Any]:
        """The answer of Rekor's `POST /api/v1/log/entries` to an entry of kind `dsse`."""
        if self.trouble == "full":
            raise RefusedError(400, "The log takes nothing today")
        if self.trouble == "other":
            self.log = Key()
        spec = json.loads(body)["spec"]["proposedContent"]
        envelope = json.loads(spec["envelope"])
        payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"]
        (verifier,), (signature,) = spec["verifiers"], envelope["signatures"]
        signer = x509.load_pem_x509_certificate(base64.b64decode(verifier)).public_key()
        assert isinstance(signer, ec.EllipticCurvePublicKey)
        signed = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
        signer.verify(base64.b64decode(signature["sig"]), signed, ec.ECDSA(hashes.SHA256()))
        kept = {
            "envelopeHash": _sha256(spec["envelope"].encode("utf-8")),
            "payloadHash": _sha256(payload),
            "signatures": [{"signature": signature["sig"], "verifier": verifier}],
        }
        return self._logged(_canonical({"apiVersion": "0.0.1", "kind": "dsse", "spec": kept}))

    def _logged(self, body: bytes) -> dict[str, Any]:
        index = len(self.leaves)
        self.leaves.append(body)
        root = _tree_hash(self.leaves)
        entry: dict[str, Any] = {
            "body": b64(body), "integratedTime": int(time.time()), "logID": self.log.id.hex(), "logIndex": index,
        }  # fmt: skip
        note = f"{_HOST} - 1\n{len(self.leaves)}\n{b64(root)}\n"
        signature = b64(self.log.id[:4] + self.log.sign(note.encode("utf-8")))
        entry["verification"] = {
            "signedEntryTimestamp": b64(self.log.sign(_canonical(entry))),
            "inclusionProof": {
                "logIndex": index, "rootHash": root.hex(), "treeSize": len(self.leaves),
                "hashes": [one.hex() for one in _proof(index, self.leaves)],
                "checkpoint": f"{note}\n— {_HOST} {signature}\n",
            },
        }  # fmt: skip
        return {hashlib.sha256(b"\0" + body).hexdigest(): entry}


def _log(url: str, key: Key, since: dict[str, str]) -> dict[str, Any]:
    public = {"rawBytes": b64(key.public), "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": since}
    return {"baseUrl": url, "hashAlgorithm": "SHA2_256", "publicKey": public, "logId": {"keyId": b64(key.id)}}


def _usage(**of: bool) -> x509.KeyUsage:
    names = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**(dict.fromkeys(names, False) | of))


def _extension(oid: str, value: bytes) -> x509.UnrecognizedExtension:
    return x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), value)


def _der(tag: int, data: bytes) -> bytes:
    """A value of DER: its tag, its length, itself."""
    if len(data) < 0x80:
        return bytes([tag, len(data)]) + data
    length = len(data).to_bytes((len(data).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + data


def _canonical(value: Any) -> bytes:
    """RFC 8785, for what has ASCII names and whole numbers alone."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("utf-8")


def _sha256(data: bytes) -> dict[str, str]:
    return {"algorithm": "sha256", "value": hashlib.sha256(data).hexdigest()}


def _split(leaves: list[bytes]) -> int:
    """The largest power of two below the number of leaves (RFC 6962, 2.1)."""
    return 1 << (len(leaves) - 1).bit_length() - 1


def _tree_hash(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    k = _split(leaves)
    return hashlib.sha256(b"\1" + _tree_hash(leaves[:k]) + _tree_hash(leaves[k:])).digest()


def _proof(index: int, leaves: list[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = _split(leaves)
    if index < k:
        return [*_proof(index, leaves[:k]), _tree_hash(leaves[k:])]
    return [*_proof(index - k, leaves[k:]), _tree_hash(leaves[:k])]


def _handler(instance: Instance) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            instance.asked.append((self.path, dict(self.headers.items()), body))
            if instance.trouble == "silent":
                instance.ended.wait()
                return
            try:
                if self.path == "/api/v2/signingCert":
                    self._answer(200, instance.certificate(self.headers.get("Authorization", ""), body))
                elif self.path == "/token":
                    self._answer(200, {"access_token": instance.token()})
                else:
                    self._answer(201, instance.entry(body))
            except RefusedError as refused:
                self._answer(refused.status, {"code": refused.status, "message": refused.why})

        def do_GET(self) -> None:
            """The issuer: where to ask, a person who agrees at once, and the token of a job in GitHub's CI."""
            url = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            if url.path == "/agree":
                back = {"code": "42", "state": asked["state"]}
                self.send_response(302)
                self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(back)}")
                self.end_headers()
            elif url.path == "/ci":
                self._answer(200, {"value": instance.token("https://ci.example.org/job", aud=asked["audience"])})
            else:
                places = {"authorization_endpoint": "/agree", "token_endpoint": "/token"}
                self._answer(200, {name: instance.url + place for name, place in places.items()})

        def _answer(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode("utf-8")
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def running(**how: Any) -> Iterator[Instance]:
    """An instance that answers until the block ends."""
    instance = Instance(**how)
    server = ThreadingHTTPServer((_HOST, 0), _handler(instance))
    server.daemon_threads = True
    instance.url = f"http://{_HOST}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield instance
    finally:
        instance.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
