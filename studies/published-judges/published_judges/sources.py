"""The sources by name and commit, and their files in a folder."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

HOME = Path(__file__).parent.parent
NONE_STATED = "none stated"

Labels = Literal["people", "gold", "model", "none"]


@dataclass(frozen=True, slots=True)
class Source:
    """One public repository. `patterns` name its files that are read; where there are none, nothing is fetched."""

    key: str
    title: str
    repository: str
    commit: str
    licence: str
    labels: Labels
    patterns: tuple[str, ...]

    def wanted(self, paths: Sequence[str]) -> list[str]:
        """Those of a repository's paths that are read.

        Raises: ValueError for a pattern that nothing fits.
        """
        found = {pattern: [path for path in paths if _fits(path, pattern)] for pattern in self.patterns}
        missing = [pattern for pattern, fitting in found.items() if not fitting]
        if missing:
            raise ValueError(f"{self.repository} at {self.commit}: nothing is named {missing[0]}")
        return sorted({path for fitting in found.values() for path in fitting})


def read_sources(home: Path = HOME) -> dict[str, Source]:
    """The sources of `sources.toml`, by key."""
    given = tomllib.loads((home / "sources.toml").read_text(encoding="utf-8"))["source"]
    sources = [
        Source(
            key=one["key"],
            title=one["title"],
            repository=one["repository"],
            commit=one["commit"],
            licence=one["licence"],
            labels=one["labels"],
            patterns=tuple(_patterns(one, home)),
        )
        for one in given
    ]
    return {one.key: one for one in sources}


def _patterns(one: dict[str, str | list[str]], home: Path) -> list[str]:
    if "files_in" in one:
        return (home / str(one["files_in"])).read_text(encoding="utf-8").splitlines()
    return list(one["files"])


def _fits(path: str, pattern: str) -> bool:
    """Part by part, so that * stays within a name. Of a list, brackets are part of the name."""
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(
        part == like or ("*" in like and fnmatchcase(part, like)) for part, like in zip(parts, patterns, strict=True)
    )
