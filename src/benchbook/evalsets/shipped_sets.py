"""The eval sets that Benchbook ships."""

from __future__ import annotations

from pathlib import Path

from benchbook.errors import UsageError

__all__ = ["shipped_names", "shipped_path"]

_FOLDER = Path(__file__).with_name("shipped")


def shipped_names() -> list[str]:
    """The names that `shipped_path` takes, in the order of the alphabet."""
    return sorted(path.stem for path in _FOLDER.glob("*.jsonl"))


def shipped_path(name: str) -> Path:
    """The file of the set called `name`; golden_v1 may be written golden-v1, as SPEC A2 does.

    Raises: UsageError.
    """
    known = shipped_names()
    stem = name.replace("-", "_")
    if stem not in known:
        raise UsageError(f"Benchbook ships no eval set {name!r}; there are {', '.join(known)}")
    return _FOLDER / f"{stem}.jsonl"
