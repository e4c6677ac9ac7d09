"""API keys: read from the environment, and taken out of everything that comes back."""

from __future__ import annotations

import os
import re

from benchbook.errors import ConfigError

__all__ = ["Secret", "redact"]

# Keys of other accounts that a server may echo: vendors' prefixes, bearer tokens, credentials in URLs.
_KEY_LIKE = re.compile(
    r"(?:sk|pk|rk|gsk|xai|hf|key|AIza)[-_][A-Za-z0-9_-]{4,}|AIza[A-Za-z0-9_-]{20,}|(?i:bearer)\s+[^\s\"',;]+|(?<=://)[^/\s@]+@"
)
_REMOVED = "[key removed]"


class Secret:
    """A key that does not print. `header` is the only way to its value."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def from_environment(cls, variable: str | None, setting: str) -> Secret | None:
        """The key in `variable`; None where no variable is named.

        Raises: ConfigError where the variable is named and not set, or holds what no header can.
        """
        if variable is None:
            return None
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ConfigError(
                setting, f"{variable}, which is not set", "the name of an environment variable with a key"
            )
        if not value.isascii() or not value.isprintable():
            raise ConfigError(setting, f"{variable} with characters that a header can't hold", "printable ASCII")
        return cls(value)

    def header(self) -> str:
        return f"Bearer {self._value}"

    def removed_from(self, data: bytes) -> bytes:
        """`data` without the key, should a server echo it."""
        value = self._value.encode("ascii")
        return data.replace(value, _REMOVED.encode()) if value in data else data

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


def redact(text: str) -> str:
    """`text` without anything that looks like a key."""
    return _KEY_LIKE.sub(_REMOVED, text)
