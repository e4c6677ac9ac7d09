"""The address of a server, checked."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from benchbook.ask.providers.keys import redact
from benchbook.errors import ConfigError

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_PRINTABLE = re.compile("[!-~]+")
_PATH = "/chat/completions"
_CREDENTIAL = re.compile("key|token|secret|sig|pass|auth|credential|code|cookie|jwt|bearer")
_VERSION = re.compile(r"/v\d")
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


def checked_base_url(url: str, setting: str) -> str:
    """`url` without a slash at its end, and without `/chat/completions`. It may have a query (Azure's `api-version`).

    Raises: ConfigError unless it is an http(s) address, and for one with credentials, which would end up in records.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # an invalid port, or half an IPv6 address
        usable = False
    if not usable or not _PRINTABLE.fullmatch(url):
        raise ConfigError(setting, redact(url), "an address such as https://host/v1, in printable ASCII")
    if "@" in parts.netloc or "#" in url or _holds_credentials(parts.query):
        raise ConfigError(setting, "an address with credentials in it", "the key in an environment variable")
    path = parts.path.rstrip("/").removesuffix(_PATH).rstrip("/")
    base = f"{url[: url.index('/') + 2]}{parts.netloc}{path}"  # as it was written, upper case included
    return f"{base}?{parts.query}" if parts.query else base


def _holds_credentials(query: str) -> bool:
    """True if a parameter's name or value looks like a key's; also for a bare word, since it could be anything."""
    pairs = parse_qsl(query, keep_blank_values=True)
    if len(pairs) < query.count("&") + bool(query) or any(not value for _, value in pairs):
        return True
    return redact(query) != query or any(means_credential(name) for name, _ in pairs)


def means_credential(name: str) -> bool:
    """True if the name of a parameter or header is one that a key may go by."""
    return _CREDENTIAL.search(re.sub(r"\W|_", "", name).lower()) is not None


def chat_url(base_url: str) -> str:
    """The address of chat completions; the query stays after the path."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + _PATH))


def versioned_url(base_url: str) -> str | None:
    """The address with `/v1` at the end of its path; None if it has a version, or the server needs none (Azure's)."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/").removesuffix(_PATH).rstrip("/")
    if _VERSION.search(path) or takes_api_key(base_url):
        return None
    return urlunsplit(parts._replace(path=f"{path}/v1"))


def takes_api_key(base_url: str) -> bool:
    """True if the server reads its key from the header `api-key`, as Azure's do."""
    parts = urlsplit(base_url)
    return (parts.hostname or "").endswith(_AZURE) or "api-version" in dict(parse_qsl(parts.query))


def default_address(kind: str) -> str | None:
    """The address of a kind of provider when no other is given; None if it has none."""
    return DEFAULT_BASE_URL if kind == "openai" else None


def setting_of(called: str, field: str) -> str:
    """A setting of a model by the name that messages use: `model_path`; of one of several judges, `judges[1].path`."""
    return f"{called}.{field}" if called.endswith("]") else f"{called}_{field}"


def server_of(base_url: str) -> str:
    """The host and port of an address, by which a server's limits are shared."""
    return urlsplit(base_url).netloc.lower()
