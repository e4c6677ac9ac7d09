"""The files of a spec of checks: in a folder of the user's, and as a record keeps them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import InputError, UsageError
from benchbook.evaluators.checks.reading import ChecksSpecError, read_checks
from benchbook.evaluators.checks.spec import ChecksSpec
from benchbook.specs import FROZEN, sha256_of_files

__all__ = ["SPEC_FILE", "SpecFolder", "read_spec_files", "read_spec_folder"]


SPEC_FILE = "spec.toml"
_MOST_BYTES = 1 << 20  # of one file


@dataclass(frozen=True, slots=True)
class SpecFolder:
    """A spec as it stands in a folder, and the files that define it: spec.toml, and those that it names."""

    spec: ChecksSpec
    paths: Mapping[str, Path]
    sha256: str


class _Beside(Mapping[str, bytes]):
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


def read_spec_folder(folder: str | Path) -> SpecFolder:
    """A user's own evaluator. Raises: ChecksSpecError with every fault; UsageError where no spec.toml is there."""
    folder = Path(folder)
    path = folder / SPEC_FILE
    if not path.is_file():
        what = "no spec.toml in it" if folder.is_dir() else "there is no such folder"
        raise UsageError(f"{folder}: {what}; `benchbook checks init NAME` writes one to start from")
    files = _Beside(folder)
    spec = read_spec_files(files, path)
    if spec.id in FROZEN:
        expected = "a name of your own, or another version"
        raise ChecksSpecError(
            (InputError(path, field="name", found=f"{spec.id}, which is shipped", expected=expected),)
        )
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.read.items()}
    return SpecFolder(spec, {name: folder / name for name in hashes}, sha256_of_files(hashes))


def read_spec_files(files: Mapping[str, bytes], path: str | Path = SPEC_FILE) -> ChecksSpec:
    """The spec of these files. `path` names spec.toml in messages. Raises: ChecksSpecError with every fault."""
    data = files[SPEC_FILE]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = InputError(path, line=line, found=f"byte {data[error.start]:#04x}", expected="UTF-8")
        raise ChecksSpecError((fault,)) from None
    return read_checks(text, path, files)


def _bytes_of(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{path}: more than 1 MiB; a spec and its schemas are small")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
