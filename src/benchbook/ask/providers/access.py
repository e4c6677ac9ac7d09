"""Access to a server: its address, checked, and its key, which is never written down or shown."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import msgspec

from benchbook.ask.providers.calls import Answer
from benchbook.errors import ConfigError

# Keys of other accounts that a server may echo, at times half starred out. Prose has the same beginnings
# (`task-force`, `key-value`, `bearer token`), so a key is long, or has a digit.
_KEY_LIKE = re.compile(
    r"""
    \b(?:sk|pk|rk|gsk|xai)[-_](?=[\w*-]*\d)[\w*-]{4,}
    | \bkey-(?=[\w*-]*\d)[\w*-]{16,}
    | \bsk-[\w*-]{20,}
    | \bhf_[A-Za-z0-9]{20,}
    | \bAIza[\w-]{20,}
    | \b(?i:bearer)\s+(?=[^\s"',;]*\d|[^\s"',;]{16})[^\s"',;]+
    | (?<=://)[^/\s@]+@       # credentials in a URL
    """,
    re.ASCII | re.VERBOSE,
)
_REMOVED = "[key removed]"
_PLACEHOLDER_LENGTH = 7


class Secret:
    """A key that can't be printed by accident. `header` and `reveal` are the only ways to its value.

    A key of fewer than 8 characters is a placeholder (`none`, `EMPTY`, `ollama`) for a server that needs none. It is
    no secret, and a model may well say the word, so it is not removed from anything.
    """

    __slots__ = ("_forms", "_value")

    def __init__(self, value: str) -> None:
        self._value = value
        quoted = json.dumps(value)[1:-1]  # as JSON has it; PHP writes a slash as `\/`
        forms = {value, quoted, quoted.replace("/", "\\/")} if len(value) > _PLACEHOLDER_LENGTH else set()
        self._forms = tuple(form.encode("ascii") for form in sorted(forms))

    @classmethod
    def from_environment(cls, variable: str | None, setting: str) -> Secret | None:
        """The key in `variable`; None if no variable is named.

        Raises: ConfigError if the variable is not set, or holds characters that a header can't.
        """
        if variable is None:
            return None
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ConfigError(
                setting, f"{redact(variable)}, which is not set", "the name of an environment variable with a key"
            )
        if not value.isascii() or not value.isprintable():
            raise ConfigError(setting, f"{variable} with characters that a header can't hold", "printable ASCII")
        return cls(value)

    def header(self) -> str:
        return f"Bearer {self._value}"

    def reveal(self) -> str:
        return self._value

    def removed_from(self, data: bytes) -> bytes:
        """`data` without the key, in case a server echoes it."""
        for form in self._forms:
            if form in data:
                data = data.replace(form, _REMOVED.encode())
        return data

    def removed_from_text(self, text: str) -> str:
        """`text` without the key."""
        if len(self._value) <= _PLACEHOLDER_LENGTH or self._value not in text:
            return text
        return text.replace(self._value, _REMOVED)

    def removed_from_answer(self, answer: Answer) -> Answer:
        """`answer` without the key in any of its texts."""
        texts = {name: getattr(answer, name) for name in ("text", "finish_reason", "model_reported", "fingerprint")}
        clean = {name: self.removed_from_text(text) for name, text in texts.items() if text is not None}
        if all(texts[name] == text for name, text in clean.items()):
            return answer
        return msgspec.structs.replace(answer, **clean)

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


def redact(text: str) -> str:
    """`text` without anything that looks like a key."""
    return _KEY_LIKE.sub(_REMOVED, text)


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
