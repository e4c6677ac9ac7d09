"""Sigstore's bundles: who has signed a statement, held against roots of trust by Sigstore's own library, offline.

A bundle has the statement in an envelope (DSSE), a certificate that an authority (Fulcio) gave for minutes to whom an
issuer of identities knows, and the proof that a public log (Rekor) has it. So no key is kept by anybody.
"""

from __future__ import annotations

import base64
import binascii
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.errors import UsageError
from benchbook.text import first_words_of, shorten

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.models import Bundle, ClientTrustConfig
    from sigstore.verify import Verifier

SUFFIX = ".sigstore.json"
STATEMENT_TYPE = "application/vnd.in-toto+json"
# What a certificate says beside the name (Fulcio, docs/oid-info.md): a name of another kind, and who knows it.
_OTHER_NAME, _ISSUER = "1.3.6.1.4.1.57264.1.7", "1.3.6.1.4.1.57264.1.1"


@dataclass(frozen=True, slots=True)
class Signer:
    """Somebody by an identity, such as an address or a workflow's URL, and the issuer that knows it, a URL."""

    identity: str
    issuer: str

    def __str__(self) -> str:
        return f"{self.identity} (issuer {self.issuer})"


class _Anyone:
    """A policy that asks nothing of a certificate: who it is of is looked at afterwards."""

    def verify(self, cert: Certificate) -> None:
        del cert


def want_library() -> None:
    """Raises: UsageError where Sigstore's library is not installed."""
    try:
        import sigstore.models
        import sigstore.sign  # noqa: F401
    except ImportError:
        raise UsageError("Sigstore needs an extra: pip install 'benchbook[sigstore]'") from None
    logger = logging.getLogger("sigstore")
    if not any(isinstance(one, logging.NullHandler) for one in logger.handlers):
        logger.addHandler(logging.NullHandler())  # what it logs is for whoever asks for logs, and not for the terminal


def trust_in(path: Path) -> ClientTrustConfig:
    """An instance's roots of trust and addresses, in a file as `sigstore --trust-config` has it.

    Raises: UsageError.
    """
    want_library()
    from sigstore.errors import Error
    from sigstore.models import ClientTrustConfig

    if not path.is_file():
        raise UsageError(f"{path}: no file; expected a trust configuration of Sigstore")
    try:
        found = ClientTrustConfig.from_json(path.read_text("utf-8"))
        found.trusted_root, found.signing_config  # noqa: B018 (each says what is wrong with it)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    except (ValueError, Error) as error:
        raise UsageError(f"{path}: no trust configuration of Sigstore ({_brief(error)})") from None
    return found


def verifier(trust: Path | None) -> Verifier:
    """A verifier of bundles, which asks nobody: by the roots of trust in a file, or those of the public instance as
    Sigstore's library has them, which it ships, and renews when it signs. Raises: UsageError.
    """
    want_library()
    from sigstore.verify import Verifier

    if trust is not None:
        return Verifier(trusted_root=trust_in(trust).trusted_root)
    try:
        return Verifier.production(offline=True)
    except Exception as error:  # of a cache that others write, whatever it has
        what = f"the roots of trust of Sigstore's public instance can't be read ({_brief(error)})"
        raise UsageError(f"{what}; name them: --trust-config FILE") from None


def payload_of(bundle: bytes) -> bytes | None:
    """The statement in a bundle, as it stands there and unchecked; None where it has none. The library isn't needed."""
    try:
        found = msgspec.json.decode(bundle, type=dict[str, Any])
        return base64.b64decode(found["dsseEnvelope"]["payload"], validate=True)
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, binascii.Error, ValueError):
        return None


def what_is_wrong(bundle: bytes, statement: bytes, by: Signer, verifier: Verifier) -> str | None:
    """The reason why a bundle is no signature of a statement `by` somebody, in a few words; None where it is one."""
    from sigstore.errors import CertValidationError
    from sigstore.models import Bundle
    from sigstore.verify.policy import Identity

    try:
        found = Bundle.from_json(bundle)
    except Exception as error:  # the library reads certificates and JSON of anybody's making
        return f"is no bundle of Sigstore ({_brief(error)})"
    try:
        kind, payload = verifier.verify_dsse(found, _Anyone())
    except CertValidationError:
        return "has a certificate that is not trusted: of an authority that no root of trust names, or out of its time"
    except Exception as error:
        return f"does not hold ({_brief(error)})"
    if (kind, payload) != (STATEMENT_TYPE, statement):
        return "is of another statement than the one that follows from the record"
    try:
        Identity(identity=by.identity, issuer=by.issuer).verify(found.signing_certificate)
    except Exception:
        return f"is signed by {signer_of(found)}"
    return None


def check_own(bundle: str, statement: bytes, trust: ClientTrustConfig) -> Signer:
    """Check a bundle that was just made as a reader would, and say who is named in it.

    Raises: whatever the library raises; ValueError.
    """
    from sigstore.models import Bundle
    from sigstore.verify import Verifier

    found = Bundle.from_json(bundle)
    if Verifier(trusted_root=trust.trusted_root).verify_dsse(found, _Anyone()) != (STATEMENT_TYPE, statement):
        raise ValueError("it is of another statement")
    return signer_of(found)


def signer_of(bundle: Bundle) -> Signer:
    """Who is named in a bundle's certificate; `nobody` where it has no name that Sigstore knows."""
    from cryptography.x509 import (
        ExtensionNotFound,
        ObjectIdentifier,
        OtherName,
        RFC822Name,
        SubjectAlternativeName,
        UniformResourceIdentifier,
    )

    extensions = bundle.signing_certificate.extensions
    try:
        names = extensions.get_extension_for_class(SubjectAlternativeName).value
        issuer: Any = extensions.get_extension_for_oid(ObjectIdentifier(_ISSUER)).value
    except ExtensionNotFound:
        return Signer("nobody", "none")
    found = [*names.get_values_for_type(RFC822Name), *names.get_values_for_type(UniformResourceIdentifier)]
    others = [one for one in names.get_values_for_type(OtherName) if one.type_id.dotted_string == _OTHER_NAME]
    found += [one.value.decode("utf-8", "replace") for one in others]
    return Signer(", ".join(found) or "nobody", issuer.value.decode("utf-8", "replace"))


def _brief(error: BaseException) -> str:
    """The first line of an error, or its kind."""
    return shorten(first_words_of(error), 160)
