"""Folders of several records that all follow from one plan, which is in a file: audits of judges, runs in pairs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import RecordError, UsageError
from benchbook.text import did_you_mean
from benchbook.writing import folder_made_whole, write_file


class RuledPlan(Protocol):
    """A plan names the rules by which its records follow from it."""

    @property
    def rules(self) -> str: ...


_Plan = TypeVar("_Plan", bound=RuledPlan)


@dataclass(frozen=True, slots=True)
class PlannedFolders(Generic[_Plan]):
    """One kind of them: the name of the plan's file, its type, its rules, and what such a folder is called."""

    file: str
    type: type[_Plan]
    rules: str
    words: str

    def is_one(self, path: str | Path) -> bool:
        """True if the folder has such a plan."""
        return (Path(path) / self.file).is_file()

    def plan_in(self, path: str | Path) -> _Plan:
        """The plan of a folder.

        Raises: UsageError for another folder, and for other rules; RecordError for a plan that can't be read.
        """
        file = Path(path) / self.file
        if not file.is_file():
            raise UsageError(f"{path}: no {self.words} (it has no {self.file})")
        try:
            plan: _Plan = decode_json(file.read_bytes(), msgspec.json.Decoder(ready(self.type)))
        except (OSError, msgspec.DecodeError) as error:
            raise RecordError(f"{file}: can't be read ({error})") from None
        if plan.rules != self.rules:
            raise UsageError(f"{file}: was made by the rules {plan.rules}, and these are {self.rules}: begin another")
        return plan

    def named(self, name: str, folder: str | Path) -> Path:
        """The folder that a user means: a path, or an id in `folder`. Raises: UsageError."""
        for path in (Path(name), Path(folder) / name):
            if self.is_one(path):
                return path
        near = did_you_mean(name, (one.name for one in self.paths_in(folder)))
        raise UsageError(f"{name}: no {self.words}, here or in {folder}/{near}")

    def paths_in(self, folder: str | Path) -> Iterator[Path]:
        """Those in a folder, by their names; one whose plan can't be read is passed over."""
        for file in sorted(Path(folder).glob(f"[!.]*/{self.file}")):
            with suppress(UsageError, RecordError):
                self.plan_in(file.parent)
                yield file.parent

    @contextmanager
    def begun(self, path: Path, plan: _Plan, command: str) -> Iterator[Path]:
        """A new folder with this plan, to be filled while the block runs; it is there when that ends. `command` goes on
        with one that is there already.

        Raises: UsageError where one is; RecordError.
        """
        if path.exists():
            raise UsageError(f"{path}: is there already; go on with it: {command} --resume {path}")
        with folder_made_whole(path) as folder:
            write_file(folder / self.file, canonical_json(plan) + b"\n")
            yield folder
