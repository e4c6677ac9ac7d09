"""Whether two names can mean one model: what was asked for, and what a server calls the one that answered (SPEC R7.2).

Servers name one model by a path, a file, a tag, with their vendor before it and a snapshot or quantisation behind it.
None of that makes it another model; two snapshots, or two quantisations, do. All of it is part of derivation 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from benchbook.derivations.model_id import MOVING_WORDS, SNAPSHOT, ModelId

__all__ = ["ModelName", "asked_name", "can_be_same", "read_name", "snapshots_differ"]

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
    """A name taken apart. `words` is empty where it names no model: a hash, `model.gguf`, `default`."""

    words: tuple[str, ...]
    date: str | None = None  # of the snapshot, digits alone
    quantisations: frozenset[str] = frozenset()
    digest: str | None = None
    moves: bool = False  # `latest`: it may stand for any that has its words

    @property
    def base(self) -> str:
        return "".join(self.words)


def read_name(text: str) -> ModelName:
    """The last part of a path that names a model."""
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
    """What an id may be called: by its name, or by its name and version; either with the snapshot that it declares."""
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
    """Nothing that both tell speaks against it."""
    return any(_words_agree(name, answered) and not _marks_differ(name, answered) for name in asked)


def snapshots_differ(asked: Sequence[ModelName], answered: ModelName) -> bool:
    """They are of one model, and of two snapshots."""
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
    """One may be shortened."""
    return one is not None and other is not None and not (one.startswith(other) or other.startswith(one))


def _dates_differ(one: str | None, other: str | None) -> bool:
    """`0613` is the end of `20230613`, and `2407` stands within `20240724`."""
    if one is None or other is None:
        return False
    short, long = sorted((one, other), key=len)
    return short not in long
