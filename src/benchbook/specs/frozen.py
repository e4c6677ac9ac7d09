"""Reads a frozen spec (SPEC C1), refuses one whose files have changed, and fills in its prompt templates (R2.2)."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchbook.errors import SpecChangedError, UsageError

__all__ = ["FROZEN", "FrozenSpec", "Template", "as_text", "load_spec", "sha256_of_files"]


_FOLDER = Path(__file__).parent

# name@vN -> SHA-256 over its files, each as `<name> NUL <bytes' sha256> LF`, in the order of their names.
FROZEN: Mapping[str, str] = {
    "answer_correctness@v1": "df63c01ff789290bcb8d6b8ab13fd804dd9bb77cf67d1f0ebad4209844d3db62",
    "candidate_prompt@v1": "2bcc30b53c1ebcb864b07959a4b666a220f3fde7326409549e9b0c6424b18775",
    "choice@v1": "1c1d6d010806a10eee8975a4160d27f1221ad5a75ef4e54e29421a97966cd785",
    "contains@v1": "8bf545a1d5acde46e7862c9d68f94aa4681a92b056b5bfc32dfbad5a1e0af645",
    "judge_protocol@v1": "348b2320560a9d2a3e5b61b221f033f7d7b39476bc6ba95c8e7c089b52de8796",
    "number@v1": "9726f124ce5f7c77099882bb89cfa2b6baa29d5aeaa61e38ebd6e3c3d89413db",
    "rubric@v1": "3641a5931c63cbdbd7d33e1e29a56a12e934f4074622e49e15f57dbeaea1fe63",
}


@dataclass(frozen=True, slots=True)
class FrozenSpec:
    """A spec's files. `sha256` names all of them together and goes into every record that used them."""

    id: str
    sha256: str
    files: Mapping[str, bytes]

    @property
    def settings(self) -> Mapping[str, Any]:
        """`spec.toml`, parsed."""
        return tomllib.loads(self.text("spec.toml"))

    def text(self, name: str) -> str:
        return self.files[name].decode("utf-8")

    def file_sha256(self, name: str) -> str:
        return hashlib.sha256(self.files[name]).hexdigest()


def sha256_of_files(hashes: Mapping[str, str]) -> str:
    """The hash that names a spec's files together, by the SHA-256 of each."""
    whole = hashlib.sha256()
    for name in sorted(hashes):
        whole.update(f"{name}\0{hashes[name]}\n".encode())
    return whole.hexdigest()


def _hash_of(files: Mapping[str, bytes]) -> str:
    return sha256_of_files({name: hashlib.sha256(data).hexdigest() for name, data in files.items()})


@cache
def load_spec(spec_id: str) -> FrozenSpec:
    """Read the spec called `name@vN`.

    Raises: UsageError for an unknown id; SpecChangedError if its files no longer have the frozen hash.
    """
    if spec_id not in FROZEN:
        known = ", ".join(sorted(FROZEN))
        raise UsageError(f"no evaluator {spec_id!r}; there are {known}")
    folder = _FOLDER / spec_id.replace("@", "_")
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    found = _hash_of(files)
    if found != FROZEN[spec_id]:
        raise SpecChangedError(
            f"{spec_id}: its files hash to {found}, not to the frozen {FROZEN[spec_id]}: reinstall benchbook, "
            "or make a new version beside it"
        )
    return FrozenSpec(spec_id, found, files)


_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


def as_text(value: Any) -> str:
    """A template value as it is inserted: a string as it is, anything else as canonical JSON (SPEC R2.2)."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Template:
    """A text with placeholders, split once, so that a value's own braces are never read."""

    def __init__(self, text: str) -> None:
        pieces = _PLACEHOLDER.split(text)
        self.text = text
        self.names: tuple[str, ...] = tuple(pieces[1::2])
        self._literals: tuple[str, ...] = tuple(pieces[0::2])

    def render(self, values: Mapping[str, Any]) -> str:
        """The text with each placeholder replaced; a name that `values` lacks becomes the empty string."""
        pieces = [self._literals[0]]
        for name, literal in zip(self.names, self._literals[1:], strict=True):
            pieces.append(as_text(values[name]) if name in values else "")
            pieces.append(literal)
        return "".join(pieces)
