"""Model ids: `provider/model-name@version`, pinned or floating (SPEC R7.2)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from benchbook.errors import ConfigError

__all__ = ["ModelId", "is_dated", "parse_model_id"]

# 2024-08-06, 20240806, or a month and day at the end: -0613.
_DATED = re.compile(
    r"(?<!\d)20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])(?!\d)|-(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$"
)
_SEGMENTS = re.compile(r"[-/:@_.]")


def is_dated(name: str) -> bool:
    """Whether a model's name holds a date, as snapshots do."""
    return _DATED.search(name) is not None


@dataclass(frozen=True, slots=True)
class ModelId:
    """`openai/gpt-4.1@2025-04-14`: the wire format, the name that is sent, and the version that the user declares."""

    provider: str
    name: str
    version: str | None

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}" + (f"@{self.version}" if self.version else "")

    @property
    def declared_version(self) -> str | None:
        """The version that the id pins: after `@`, or the name itself where that holds a date."""
        return self.version or (self.name if is_dated(self.name) else None)

    @property
    def floating(self) -> bool:
        """Whether the id may mean another model tomorrow."""
        if "latest" in _SEGMENTS.split(str(self).lower()):
            return True
        return self.declared_version is None and self.name.rsplit("/", 1)[-1] in _aliases()


def parse_model_id(text: str, setting: str) -> ModelId:
    """Read `provider/model-name@version`; `@version` may be left out.

    Raises: ConfigError.
    """
    provider, slash, rest = text.partition("/")
    name, at, version = rest.rpartition("@") if "@" in rest else (rest, "", "")
    if not (slash and provider and name) or (at and not version) or any(mark.isspace() for mark in text):
        raise ConfigError(setting, repr(text), "provider/model-name@version, such as openai/gpt-4.1@2025-04-14")
    return ModelId(provider, name, version or None)


@cache
def _aliases() -> frozenset[str]:
    text = files("benchbook.specs").joinpath("model_aliases.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text)["floating"])
