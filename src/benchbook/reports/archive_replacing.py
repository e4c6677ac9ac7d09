"""Whether an archive may be written where something is already: only an archive is replaced, and nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchbook.errors import RecordError, UsageError
from benchbook.reports.archive_files import is_evaluation
from benchbook.reports.archive_names import INVALID, PARTS, PROMPTS, README, REPLY, RUN_LOG, VALID

__all__ = ["check_replaceable"]

_PROMPT = re.compile(r"[0-9a-f]{64}\.txt")


def check_replaceable(target: Path) -> None:
    """`target` is not there yet, is empty, or holds an archive and nothing else.

    Raises: UsageError naming the first thing that is no part of an archive; RecordError where it can't be read.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(f"{target}: found something that is no folder; expected an archive, or nothing")
    try:
        present = {path.name for path in target.iterdir()} if target.exists() else set()
        stranger = next(_strangers(target), None) if present else None
    except OSError as error:
        raise RecordError(f"{error.filename or target}: can't be read ({error.strerror})") from None
    if present and RUN_LOG not in present and present <= PARTS:
        # Source 002 names the folders, so somebody may have filled them by hand.
        raise UsageError(
            f"{target}: holds {min(present)!r} and no {RUN_LOG}: not written by this; choose another folder"
        )
    if stranger is not None:
        where = stranger.relative_to(target).as_posix()
        raise UsageError(
            f"{target}: holds {where!r}, which is no part of an archive; move it away, or choose another folder"
        )


def _strangers(target: Path) -> Iterator[Path]:
    """What stands in an archive's folder and is not the archive's, in order. Empty folders hold nothing to lose."""
    for path in sorted(target.iterdir()):
        if path.name not in PARTS or path.is_symlink() or path.is_dir() != (path.name in (VALID, INVALID, PROMPTS)):
            yield path
    for name in (VALID, INVALID):
        yield from _below(target / name)
    for path in sorted((target / PROMPTS).rglob("*")):
        if not _PROMPT.fullmatch(path.name) or path.is_symlink() or path.is_dir():
            yield path


def _below(folder: Path) -> Iterator[Path]:
    """Evaluations lie in `<method>/<judge>/`, each with its reply beside it where it is invalid."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if path.is_symlink():
            yield path
        elif path.is_dir() or inside == (README,):
            continue
        elif len(inside) != 3 or not _is_of_an_evaluation(path):
            yield path


def _is_of_an_evaluation(path: Path) -> bool:
    if path.name.endswith(REPLY):
        path = path.with_name(path.name.removesuffix(REPLY) + ".json")
    return path.suffix == ".json" and path.is_file() and is_evaluation(path.read_bytes())
