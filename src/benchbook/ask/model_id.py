"""Model ids: `provider/model-name@version`, pinned or floating (SPEC R7.2).

A run whose models can't be pinned is stopped early (R7.1): best before any answer, else after one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from benchbook.errors import ConfigError
from benchbook.record.facts import Reply

if TYPE_CHECKING:
    from benchbook.ask.limits import Stop

# 2024-08-06, 20240806, or a month and day at the end: -0613.
_DATED = re.compile(
    r"(?<!\d)20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])(?!\d)|-(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$"
)
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
# The marks by which vendors tell one snapshot from the next, longest first. Derivation 3 rests on them: a new mark
# needs a new derivation.
SNAPSHOT = re.compile(
    rf"(?<![0-9a-z.])(?:20\d\d-?{_MONTH}-?{_DAY}"  # 2024-08-06, 20240806
    rf"|20\d\d-{_MONTH}|{_MONTH}-20\d\d"  # 2024-08, 08-2024
    rf"|(?:2[2-9]|3\d){_MONTH}{_DAY}|(?:2[2-9]|3\d){_MONTH}"  # 250115, 2407
    rf"|{_MONTH}-?{_DAY}|00\d)(?![0-9a-z.])"  # 0613, 05-20; 002
)
# Words for whichever model it is today, as whole segments of a name or version, in any case.
MOVING_WORDS = frozenset({"latest", "stable", "main", "current", "default", "newest", "nightly"})
_SEGMENTS = re.compile(r"[-/:@_.\\]")
_VENDOR = re.compile(r"^(?:[a-z]{2,6}\.)?[a-z0-9]+\.(?=[a-z])")  # anthropic., us.anthropic.
# sha256:…, fp_…, a commit: at least seven digits, as git shortens them.
_CONTENT_HASH = re.compile(r"(?:sha\d+[:-]|fp_)?[0-9a-f]{7,}")
_SHA256 = re.compile(r"(?:sha256[:-])?[0-9a-f]{64}")


def is_dated(name: str) -> bool:
    """True if a name holds a date, as derivations 1 and 2 see it."""
    return _DATED.search(name) is not None


def names_snapshot(name: str) -> bool:
    """True if a name says which snapshot it is: `gpt-4o-2024-08-06`, `mistral-large-2407`, `gemini-1.5-pro-002`."""
    return is_dated(name) or SNAPSHOT.search(name.lower()) is not None


def is_content_hash(version: str | None) -> bool:
    """True if a version is computed from the model itself: it can't mean another one."""
    return version is not None and _CONTENT_HASH.fullmatch(version.lower()) is not None


def is_sha256_version(version: str) -> bool:
    """True if a version is a whole SHA-256. A shorter hash may be that of a commit, which has many models' answers."""
    return _SHA256.fullmatch(version.lower()) is not None


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
        """The version in the id: after `@`, or the name itself if it names a snapshot."""
        return self.version or (self.name if names_snapshot(self.name) else None)

    @property
    def floats_because(self) -> str | None:
        """The reason why the id may mean another model tomorrow, in words; None if it can't, as far as is known."""
        if self.provider == "local" and is_content_hash(self.version):
            return None  # the hash is that of the weights that are asked
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
    """True if a hosted model's vendor moves its name. Routers put a vendor first: `anthropic/`, `us.anthropic.`."""
    parts = name.lower().rpartition("/")[2].split(":")
    starts = {start for part in parts for start in (part, _VENDOR.sub("", part))}
    return any(re.match(family, start) for family in _known()["families"] for start in starts)


@cache
def _known() -> dict[str, list[str]]:
    text = files("benchbook.ask").joinpath("model_aliases.toml").read_text(encoding="utf-8")
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


_EXTENSION = re.compile(r"(?:-\d{5}-of-\d{5})?\.(?:gguf|ggml|safetensors|bin|pth?|onnx|mlx|llamafile|task|tflite)$")
_REVISION = re.compile(r"-v\d+:\d+$")  # of Bedrock: anthropic.claude-3-5-sonnet-20241022-v2:0
_ROUTED = re.compile(r":(?:free|nitro|floor|online|exacto|extended|thinking)$")
_SHA = re.compile(r"sha\d+[:-][0-9a-f]{7,}")
_QUANTISATION = re.compile(
    r"(?<![a-z0-9])(?:i?q\d(?:_[a-z0-9]+)*|bf16|fp?(?:32|16|8|6|4)|(?:mx|nv)fp\d|int[48]|[48]-?bits?|nf4"
    r"|w\d{1,2}a\d{1,2}|awq|gptq|exl\d)(?![a-z0-9])"
)
_PACKING = frozenset({"gguf", "ggml", "mlx", "bnb", "quantized"})
_VENDORS = frozenset({
    "openai", "anthropic", "google", "meta", "microsoft", "nvidia", "amazon", "mistralai", "xai", "cohere", "us", "eu",
    "apac", "global", "azure", "bedrock", "vertex", "ollama", "hf", "huggingface",
})  # fmt: skip
# Names of files and places, not of models.
_NO_NAME = frozenset({
    "model", "models", "snapshots", "snapshot", "weights", "checkpoint", "checkpoints", "local", "merged", "adapter",
    "consolidated", "pytorch", "blobs", "hub", "cache",
})  # fmt: skip
# One model under two names, of which neither is made from the other.
_ALSO: dict[tuple[str, ...], tuple[str, ...]] = {("gpt", "4", "turbo", "preview"): ("gpt", "4", "preview")}


@dataclass(frozen=True, slots=True)
class ModelName:
    """The parts of a name. `words` is empty if it names no model: a hash, `model.gguf`, `default`."""

    words: tuple[str, ...]
    date: str | None = None  # of the snapshot, digits alone
    quantisations: frozenset[str] = frozenset()
    digest: str | None = None
    moves: bool = False  # `latest`: it may stand for any model with its words

    @property
    def base(self) -> str:
        return "".join(self.words)


def read_name(text: str) -> ModelName:
    """Read the last part of a path that names a model."""
    parts = [part for part in re.split(r"[/\\]+", text.lower()) if part]
    found = [_read(part) for part in reversed(parts)]
    return next((name for name in found if name.words), found[0] if found else ModelName(()))


def _read(part: str) -> ModelName:
    text = _REVISION.sub("", _ROUTED.sub("", _EXTENSION.sub("", part))).rpartition("--")[2]
    text, digest = _taken(_SHA, text)
    quantisations = frozenset(re.sub(r"[-_]", "", mark) for mark in _QUANTISATION.findall(text))
    text, date = _taken(SNAPSHOT, _QUANTISATION.sub("-", text))
    words = [word for word in re.split(r"[\W_]+", text) if word and word not in _PACKING]
    while len(words) > 1 and words[0] in _VENDORS:
        words = words[1:]
    named = tuple(word for word in words if word not in MOVING_WORDS)
    if all(word in _NO_NAME or _is_hash(word) for word in named):
        named = ()
    return ModelName(
        words=_ALSO.get(named, named),
        date=None if date is None else re.sub(r"\D", "", re.sub(r"^(\d\d)-(20\d\d)$", r"\2\1", date)),
        quantisations=quantisations,
        digest=None if digest is None else re.split(r"[:-]", digest)[-1],
        moves=len(named) < len(words),
    )


def _taken(mark: re.Pattern[str], text: str) -> tuple[str, str | None]:
    """The text without the last such mark, and the mark."""
    found = list(mark.finditer(text))
    if not found:
        return text, None
    last = found[-1]
    return f"{text[: last.start()]}-{text[last.end() :]}", last.group()


def _is_hash(word: str) -> bool:
    return len(word) >= 12 and re.fullmatch(r"[0-9a-f]+", word) is not None


def asked_name(model_id: ModelId) -> tuple[ModelName, ...]:
    """The names that an id may go by: its name, or its name and version; both with the snapshot that it declares."""
    # any-llm/mistral:mistral-large: the vendor stands before the name that is sent to it.
    _, colon, rest = model_id.name.partition(":")
    name = read_name(rest if model_id.provider == "any-llm" and colon else model_id.name)
    if model_id.version is None:
        return (name,)
    version = read_name(model_id.version)
    name = replace(
        name,
        date=name.date or version.date,
        quantisations=name.quantisations or version.quantisations,
        digest=name.digest or version.digest,
    )
    is_whole_name = version.words[: len(name.words)] == name.words
    return name, replace(name, words=version.words if is_whole_name else (*name.words, *version.words))


def can_be_same(asked: Iterable[ModelName], answered: ModelName) -> bool:
    """True unless something that both names say tells them apart."""
    return any(_words_agree(name, answered) and not _marks_differ(name, answered) for name in asked)


def snapshots_differ(asked: Sequence[ModelName], answered: ModelName) -> bool:
    """True if the names mean one model, but two snapshots of it."""
    return any(_words_agree(name, answered) for name in asked) and not can_be_same(asked, answered)


def _words_agree(asked: ModelName, answered: ModelName) -> bool:
    if not asked.words or not answered.words or asked.base == answered.base:
        return True
    following = iter(answered.words)
    return asked.moves and all(word in following for word in asked.words)


def _marks_differ(asked: ModelName, answered: ModelName) -> bool:
    return (
        _dates_differ(asked.date, answered.date)
        or bool(asked.quantisations and answered.quantisations and not asked.quantisations & answered.quantisations)
        or _digests_differ(asked.digest, answered.digest)
    )


def _digests_differ(one: str | None, other: str | None) -> bool:
    """True if two digests differ; one may be shortened."""
    return one is not None and other is not None and not (one.startswith(other) or other.startswith(one))


def _dates_differ(one: str | None, other: str | None) -> bool:
    """True unless one date is part of the other: `0613` ends `20230613`, and `2407` stands within `20240724`."""
    if one is None or other is None:
        return False
    short, long = sorted((one, other), key=len)
    return short not in long


_TELL_NOTHING = frozenset({"recorded", "scripted", "local"})  # no reply of theirs names a snapshot


def check_pinned(setting: str, model_id: ModelId) -> None:
    """Refuse, for a benchmark, a model that floats and whose replies could not say which it is.

    Raises: ConfigError.
    """
    if model_id.provider in _TELL_NOTHING and (why := model_id.floats_because) is not None:
        expected = f"a pinned version, such as {model_id.provider}/{model_id.name}@2026-11-01 ({why})"
        raise ConfigError(setting, f"{model_id}, a floating alias, in a benchmark", expected)


def unpinned_because(
    model_id: ModelId, reported: str | None, fingerprint: str | None, *, benchmark: bool
) -> str | None:
    """The reason in words for which a run stops after a model's first answer, which called itself `reported`: nobody
    tells its version, or in a benchmark it floats. None where it is pinned well enough."""
    dated = reported is not None and names_snapshot(reported)
    why = model_id.floats_because
    if benchmark and why is not None and not dated:
        return (
            f"{model_id} is a floating alias ({why}), and the provider names no dated snapshot (it says "
            f"{reported!r}): a benchmark needs a pinned model, such as provider/model-name@2026-11-01"
        )
    if model_id.declared_version is None and not dated and not fingerprint:
        return f"{model_id}: neither the id nor the provider tells a version; write {model_id}@version"
    return None


class PinCheck:
    """Checks the first answer of each endpoint against the pins; `models` holds each endpoint's model id."""

    def __init__(self, models: Mapping[str, ModelId], *, benchmark: bool) -> None:
        self._benchmark = benchmark
        self._unseen = dict(models)

    @property
    def unsure(self) -> bool:
        """True if a first answer that is still to come may stop the run."""
        return any(
            model_id.declared_version is None or (self._benchmark and model_id.floating)
            for model_id in self._unseen.values()
        )

    def look_at(self, endpoint: str, reply: Reply, stop: Stop) -> None:
        model_id = self._unseen.pop(endpoint, None)
        if model_id is None:
            return
        why = unpinned_because(model_id, reply.model_reported, reply.fingerprint, benchmark=self._benchmark)
        if why is not None:
            stop.because(why, failed=True, usage=True)
