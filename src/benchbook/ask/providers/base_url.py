"""The address that a user gives, checked, and what is asked there."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from benchbook.ask.providers.secrets import redact
from benchbook.errors import ConfigError

__all__ = ["chat_url", "checked_base_url", "server_of", "takes_api_key", "versioned_url"]


_PRINTABLE = re.compile("[!-~]+")
_PATH = "/chat/completions"
_CREDENTIAL = re.compile("key|token|secret|sig|pass|auth|credential|code|jwt|bearer")
_VERSION = re.compile(r"/v\d")
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


def checked_base_url(url: str, setting: str) -> str:
    """`url` without a slash at its end, and without the path of what is asked there. It may have a query (Azure's
    `api-version`).

    Raises: ConfigError for what is no http(s) address, and for one that holds credentials (they would end in records).
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is none, or half an IPv6 address
        usable = False
    if not usable or not _PRINTABLE.fullmatch(url):
        raise ConfigError(setting, redact(url), "an address such as https://host/v1, in printable ASCII")
    if "@" in parts.netloc or "#" in url or _holds_credentials(parts.query):
        raise ConfigError(setting, "an address with credentials in it", "the key in an environment variable")
    path = parts.path.rstrip("/").removesuffix(_PATH).rstrip("/")
    base = f"{url[: url.index('/') + 2]}{parts.netloc}{path}"  # as it was written, in upper case too
    return f"{base}?{parts.query}" if parts.query else base


def _holds_credentials(query: str) -> bool:
    """By a parameter's name, or a value that looks like a key. A word alone says nothing of what it is."""
    pairs = parse_qsl(query, keep_blank_values=True)
    if len(pairs) < query.count("&") + bool(query) or any(not value for _, value in pairs):
        return True
    return redact(query) != query or any(_CREDENTIAL.search(re.sub(r"\W|_", "", name).lower()) for name, _ in pairs)


def chat_url(base_url: str) -> str:
    """Where a chat is completed: the query stays behind the path."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + _PATH))


def versioned_url(base_url: str) -> str | None:
    """With `/v1` at the end of its path; None where a version stands in it, or the server has none (Azure's)."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/").removesuffix(_PATH).rstrip("/")
    if _VERSION.search(path) or takes_api_key(base_url):
        return None
    return urlunsplit(parts._replace(path=f"{path}/v1"))


def takes_api_key(base_url: str) -> bool:
    """Whether the server reads its key from the header `api-key`, as Azure's do."""
    parts = urlsplit(base_url)
    return (parts.hostname or "").endswith(_AZURE) or "api-version" in dict(parse_qsl(parts.query))


def server_of(base_url: str) -> str:
    """What its limits are shared by: all addresses at one host and port."""
    return urlsplit(base_url).netloc.lower()
