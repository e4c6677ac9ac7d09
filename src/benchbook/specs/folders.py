"""The folder of a user's own spec: spec.toml, and the files beside it that it names."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from benchbook.errors import InputError, UsageError
from benchbook.specs.faults import SpecError, SpecTable
from benchbook.specs.frozen import FROZEN, sha256_of_files

__all__ = [
    "SPEC_FILE",
    "FilesBeside",
    "SpecKind",
    "check_own",
    "kind_of_spec",
    "read_generation",
    "spec_path",
    "spec_text",
]


SPEC_FILE = "spec.toml"
SpecKind = Literal["checks", "protocol", "rubric"]  # of a user's own
_MOST_BYTES = 1 << 20  # of one file


class FilesBeside(Mapping[str, bytes]):
    """The files of a folder by their names, each read when it is asked for; `read` are those that were."""

    def __init__(self, folder: Path) -> None:
        self._paths = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()}
        self.read: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self.read:
            self.read[name] = _bytes_of(self._paths[name])
        return self.read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    @property
    def read_paths(self) -> dict[str, Path]:
        """Where those lie that were read: they define the spec."""
        return {name: self._paths[name] for name in self.read}

    @property
    def sha256(self) -> str:
        """The hash that names those that were read, together."""
        return sha256_of_files({name: hashlib.sha256(data).hexdigest() for name, data in self.read.items()})


def kind_of_spec(folder: str | Path) -> SpecKind:
    """What the spec.toml of a folder is of: a rubric has criteria, a judge protocol dimensions, else it is checks.

    A faulty one is told of by whoever reads it.
    """
    try:
        values = tomllib.loads((Path(folder) / SPEC_FILE).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return "checks"
    if not values.keys().isdisjoint({"criteria", "item_criteria"}):
        return "rubric"
    return "protocol" if "dimensions" in values else "checks"


def spec_path(folder: Path, starts_with: str) -> Path:
    """The spec.toml of a folder. `starts_with` is the command that writes one. Raises: UsageError where none is."""
    path = folder / SPEC_FILE
    if not path.is_file():
        what = "no spec.toml in it" if folder.is_dir() else "there is no such folder"
        raise UsageError(f"{folder}: {what}; `{starts_with}` writes one to start from")
    return path


def check_own(spec_id: str, path: Path) -> None:
    """Raises: SpecError where the spec.toml at `path` takes the name of a spec that is shipped."""
    if spec_id in FROZEN:
        expected = "a name of your own, or another version"
        raise SpecError((InputError(path, field="name", found=f"{spec_id}, which is shipped", expected=expected),))


def spec_text(data: bytes, path: str | Path) -> str:
    """The text of a spec.toml; `path` names it in messages. Raises: SpecError where it is no UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = InputError(path, line=line, found=f"byte {data[error.start]:#04x}", expected="UTF-8")
        raise SpecError((fault,)) from None


def read_generation(table: SpecTable, defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters that judges are asked with: those of `[generation]`, else the defaults."""
    inner = table.table("generation")
    if inner is None:
        return defaults
    found = {key: float(value) if isinstance(value, Decimal) else value for key, value in inner.items().items()}
    return {**defaults, **found}


def _bytes_of(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{path}: more than 1 MiB; a spec and its schemas are small")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
