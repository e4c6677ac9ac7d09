"""Model ids: `provider/model-name@version`, pinned or floating (SPEC R7.2)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from benchbook.errors import ConfigError

__all__ = ["MOVING_WORDS", "SNAPSHOT", "ModelId", "is_content_hash", "is_dated", "names_snapshot", "parse_model_id"]

# 2024-08-06, 20240806, or a month and day at the end: -0613.
_DATED = re.compile(
    r"(?<!\d)20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])(?!\d)|-(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$"
)
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
# The marks by which vendors tell one snapshot from the next, longest first. Derivation 3 rests on them: another mark
# is another derivation.
SNAPSHOT = re.compile(
    rf"(?<![0-9a-z.])(?:20\d\d-?{_MONTH}-?{_DAY}"  # 2024-08-06, 20240806
    rf"|20\d\d-{_MONTH}|{_MONTH}-20\d\d"  # 2024-08, 08-2024
    rf"|(?:2[2-9]|3\d){_MONTH}{_DAY}|(?:2[2-9]|3\d){_MONTH}"  # 250115, 2407
    rf"|{_MONTH}-?{_DAY}|00\d)(?![0-9a-z.])"  # 0613, 05-20; 002
)
# Whichever it is today. As whole segments of a name or version, in any case.
MOVING_WORDS = frozenset({"latest", "stable", "main", "current", "default", "newest", "nightly"})
_SEGMENTS = re.compile(r"[-/:@_.\\]")
_VENDOR = re.compile(r"^(?:[a-z]{2,6}\.)?[a-z0-9]+\.(?=[a-z])")  # anthropic., us.anthropic.
# sha256:…, fp_…, a commit. Seven digits at least, as git shortens them.
_CONTENT_HASH = re.compile(r"(?:sha\d+[:-]|fp_)?[0-9a-f]{7,}")


def is_dated(name: str) -> bool:
    """A name that holds a date, as derivations 1 and 2 tell."""
    return _DATED.search(name) is not None


def names_snapshot(name: str) -> bool:
    """A name that says which snapshot it is, as `gpt-4o-2024-08-06`, `mistral-large-2407` and `gemini-1.5-pro-002`."""
    return is_dated(name) or SNAPSHOT.search(name.lower()) is not None


def is_content_hash(version: str | None) -> bool:
    """A version that is computed of the model itself: it can't mean another one."""
    return version is not None and _CONTENT_HASH.fullmatch(version.lower()) is not None


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
        """The version that the id tells: after `@`, or the name itself where that names a snapshot."""
        return self.version or (self.name if names_snapshot(self.name) else None)

    @property
    def floats_because(self) -> str | None:
        """Why the id may mean another model tomorrow, in words; None where it can't, as far as is known."""
        if self.provider == "local" and is_content_hash(self.version):
            return None  # the weights that are asked are those
        if (word := _moving_word(self.name)) is not None:
            return f"{word!r} is whichever it is today"
        if self.version is not None and (word := _moving_word(self.version)) is not None:
            return f"{word!r} is whichever it is today"
        if names_snapshot(self.name) or is_content_hash(self.version):
            return None
        return self._unpinned_because(_is_family(self.name))

    def _unpinned_because(self, family: bool) -> str | None:
        version = self.version
        if version is None:
            return f"{self.name} is a name that its vendor moves" if family else None
        if not any(mark.isdigit() for mark in version):
            return f"{version!r} is a word, which can be moved, and no version"
        if family and not names_snapshot(version):
            return f"{self.name} is a name that its vendor moves, and {version!r} is no snapshot of it"
        return None

    @property
    def floating(self) -> bool:
        return self.floats_because is not None


def _moving_word(text: str) -> str | None:
    lower = text.lower()
    for product in _known()["products"]:
        if lower.rpartition("/")[2].startswith(product):
            lower = lower.replace(product, "")
    return next((word for word in _SEGMENTS.split(lower) if word in MOVING_WORDS), None)


def _is_family(name: str) -> bool:
    """A hosted model's name that its vendor moves. Routers put a vendor before it: `anthropic/`, `us.anthropic.`."""
    parts = name.lower().rpartition("/")[2].split(":")
    starts = {start for part in parts for start in (part, _VENDOR.sub("", part))}
    return any(re.match(family, start) for family in _known()["families"] for start in starts)


@cache
def _known() -> dict[str, list[str]]:
    text = files("benchbook.specs").joinpath("model_aliases.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def parse_model_id(text: str, setting: str) -> ModelId:
    """Read `provider/model-name@version`; `@version` may be left out.

    Raises: ConfigError.
    """
    provider, slash, rest = text.partition("/")
    name, at, version = rest.rpartition("@") if "@" in rest else (rest, "", "")
    if not (slash and provider and name) or (at and not version) or any(mark.isspace() for mark in text):
        raise ConfigError(setting, repr(text), "provider/model-name@version, such as openai/gpt-4.1@2025-04-14")
    return ModelId(provider, name, version or None)
