"""Signs statements by Sigstore's own library: as whom an identity token names, with a key that lives for one call.

The token is a secret. It goes to the authority (Fulcio) alone, in a header, and stands in nothing written or said.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from benchbook.errors import BenchbookError, SigstoreError, UsageError
from benchbook.record.sigstore_bundles import Signer, check_own, trust_in, want_library
from benchbook.text import one_line, shorten

if TYPE_CHECKING:
    import requests
    from sigstore.models import ClientTrustConfig
    from sigstore.oidc import IdentityToken

TOKEN = "SIGSTORE_ID_TOKEN"  # noqa: S105 (the name of a variable)
_Value = TypeVar("_Value")
_PATIENCE_S = 120  # for all of it: the library waits without end for an answer
_NO_TOKEN = (
    f"no identity token: expected one for the audience sigstore in {TOKEN}, or CI that gives one (on GitHub by "
    "permissions: id-token: write). With an SSH key neither token nor network is needed: --key FILE"
)


@dataclass(frozen=True, slots=True)
class Bundles:
    """Statements that were signed: who is named in the certificate, and a bundle for each by its name, JSON."""

    signer: Signer
    of: dict[str, bytes]


def sign_statements(made: Mapping[str, bytes], trust: Path | None, *, may_ask: bool = False) -> Bundles:
    """Sign statements of in-toto by the instance in a trust configuration, or else by the public one.

    The token is that of SIGSTORE_ID_TOKEN, else CI's own; else, with `may_ask`, a person is sent to a browser.
    Raises: UsageError where the library or a token is missing, or the token is none; SigstoreError where the instance
    refuses, or does not answer. Nothing was signed then that counts.
    """
    want_library()
    named = None if trust is None else trust_in(trust)
    given = _given_token()
    if given is None and not may_ask:
        raise UsageError(_NO_TOKEN)
    config = named if named is not None else _within(_PATIENCE_S, _public)
    token = given if given is not None else _asked_token(config)
    return _within(_PATIENCE_S, lambda: _signed(made, config, token))


def _public() -> ClientTrustConfig:
    from sigstore.models import ClientTrustConfig

    with _saying("Sigstore's public instance can't be looked up"):
        return ClientTrustConfig.production()


def _signed(made: Mapping[str, bytes], trust: ClientTrustConfig, token: IdentityToken) -> Bundles:
    from sigstore.dsse import Statement
    from sigstore.sign import SigningContext

    bundles: dict[str, bytes] = {}
    context = SigningContext.from_trust_config(trust)
    with _saying("the authority gave no certificate", token), context.signer(token) as signer:
        for name, data in made.items():
            with _saying(f"the log did not take {name}", token):
                bundle = signer.sign_dsse(Statement(data)).to_json()
            with _saying("what the instance gave does not hold by its own roots of trust", token):
                named = check_own(bundle, data, trust)
            bundles[name] = bundle.encode("utf-8") + b"\n"
    return Bundles(named, bundles)


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _given_token() -> IdentityToken | None:
    """The token in the environment, or that of the CI which this runs in. Raises: UsageError."""
    from sigstore.oidc import IdentityError, detect_credential

    if given := os.environ.get(TOKEN, "").strip():
        return _token(given, TOKEN)
    try:
        found = _within(_PATIENCE_S, detect_credential)
    except IdentityError as error:
        why = str(error).partition(", body=")[0]  # whatever its server said may have a secret in it
        raise UsageError(f"this CI gives no identity token ({shorten(one_line(why), 200)})") from None
    return None if found is None else _token(found, "the token of this CI")


def _token(raw: str, whose: str) -> IdentityToken:
    import jwt
    from sigstore.oidc import IdentityError, IdentityToken

    try:
        return IdentityToken(raw)
    except IdentityError as error:
        match error.__cause__:
            case jwt.ExpiredSignatureError():
                what = "has expired; get a new one"
            case jwt.InvalidAudienceError():
                what = "is for another audience; expected sigstore"
            case _:
                what = "is no identity token that counts now: expected a JWT with aud, sub, iat, exp and iss"
        raise UsageError(f"{whose}: {what}") from None


def _asked_token(trust: ClientTrustConfig) -> IdentityToken:
    """A token for the person who is sent to a browser, however long that takes. Raises: UsageError, SigstoreError."""
    from sigstore.oidc import IdentityError, Issuer

    with _saying("nobody could be asked who signs"):
        try:
            return Issuer(trust.signing_config.get_oidc_url()).identity_token()
        except IdentityError as error:
            raise UsageError(f"no identity token: {shorten(one_line(str(error)), 200)}") from None


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────


def _within(seconds: float, work: Callable[[], _Value]) -> _Value:
    """Do work in a thread, which is left to itself where it takes longer. Raises: what it raises; SigstoreError."""
    outcome: Future[_Value] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=run, name="sigstore", daemon=True).start()
    try:
        return outcome.result(seconds)
    except TimeoutError:
        if outcome.done():
            raise
        raise SigstoreError(f"Sigstore: no answer in {seconds:g} s; nothing is signed") from None


@contextmanager
def _saying(what: str, token: IdentityToken | None = None) -> Iterator[None]:
    """Have whatever the library raises said as one sentence, in which no token stands.

    It has no one class for its errors, nor for those of the libraries below it. Raises: SigstoreError; BenchbookError
    as it is.
    """
    try:
        yield
    except BenchbookError:
        raise
    except Exception as error:
        why = shorten(one_line(_without(token, _reason(error))), 300)
        raise SigstoreError(f"Sigstore: {what} ({why}); nothing is signed") from None


def _reason(error: Exception) -> str:
    """Why a call failed: what the server said, else why it can't be reached, else what the library says."""
    import requests

    causes = list(_causes(error))
    for one in causes:
        if isinstance(one, requests.HTTPError) and one.response is not None:
            return f"{_host(one.response.url)} said {one.response.status_code}{_message(one.response)}"
    said = [str(one.strerror) for one in causes if isinstance(one, OSError) and one.strerror]
    asked = [one.request for one in causes if isinstance(one, requests.RequestException) and one.request is not None]
    if said:
        return f"{_host(asked[0].url)}: {said[-1]}" if asked else said[-1]
    return str(error).strip() or type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        below = error.__cause__ or error.__context__
        inner = getattr(error.args[0], "reason", None) if below is None and error.args else None
        error = inner if isinstance(inner, BaseException) else below


def _message(response: requests.Response) -> str:
    """The words that a server has for people, if any."""
    try:
        found = response.json()
    except ValueError:
        return ""
    said = found.get("message") if isinstance(found, dict) else None
    return f": {said}" if isinstance(said, str) else ""


def _host(url: object) -> str:
    """Where a URL leads, without credentials that may stand in it."""
    return urlsplit(url if isinstance(url, str) else "").netloc.rpartition("@")[2] or "the server"


def _without(token: IdentityToken | None, text: str) -> str:
    """A text without a token, or a part of one."""
    if token is None:
        return text
    for part in (str(token), *str(token).split(".")):
        text = text.replace(part, "(the token)") if part else text
    return text
