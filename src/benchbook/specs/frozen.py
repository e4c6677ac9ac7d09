"""Reads a frozen spec and refuses one whose files have changed (SPEC C1)."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchbook.errors import SpecChangedError, UsageError

__all__ = ["FROZEN", "FrozenSpec", "load_spec"]


_FOLDER = Path(__file__).parent

# name@vN -> SHA-256 over its files, each as `<name> NUL <bytes' sha256> LF`, in the order of their names.
FROZEN: Mapping[str, str] = {
    "answer_correctness@v1": "df63c01ff789290bcb8d6b8ab13fd804dd9bb77cf67d1f0ebad4209844d3db62",
    "candidate_prompt@v1": "2bcc30b53c1ebcb864b07959a4b666a220f3fde7326409549e9b0c6424b18775",
    "judge_protocol@v1": "348b2320560a9d2a3e5b61b221f033f7d7b39476bc6ba95c8e7c089b52de8796",
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


def _hash_of(files: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name}\0{hashlib.sha256(files[name]).hexdigest()}\n".encode())
    return whole.hexdigest()


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
