"""Where an aggregate's samples are: in its own folder or below, whatever path it names; known by their hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from benchbook.exchange.every_eval_ever.form import EvalAggregate, SamplesFile
from benchbook.exchange.log import LogNote
from benchbook.text import quoted

_LOOKED_AT = 16  # files of other names, whose hash may be the one
_HASHES = ("sha256", "md5")


def found_samples(path: Path, aggregate: EvalAggregate) -> tuple[Path | None, list[LogNote]]:
    """The samples file of the aggregate at `path`, and what is to be said of it; None where there is none.

    The path in an aggregate is one of the repository that it was published in, and anybody's word: nothing is read that
    is not beside the aggregate or below, links included.
    """
    named = aggregate.detailed_evaluation_results
    wanted = None if named is None else _checksum(named)
    places = list(dict.fromkeys(_named(path, named)))
    for place in places:
        if wanted is None or _hash_of(place, wanted[0]) == wanted[1]:
            return place, []
    if wanted is not None:
        others = (place for place in sorted(path.parent.glob("*.jsonl")) if place not in places)
        for place in islice(filter(lambda one: _is_below(path.parent, one), others), _LOOKED_AT):
            if _hash_of(place, wanted[0]) == wanted[1]:
                return place, []
    if places:
        words = f"{quoted(places[0].name)} is not the file that the aggregate was made with: its hash is another"
        return places[0], [LogNote(code="changed_samples", words=words)]
    if named is None:
        return None, [LogNote(code="samples_absent", words="the aggregate names no samples")]
    words = f"its samples, {quoted(named.file_path or '', 200)}, are not in its folder"
    return None, [LogNote(code="samples_absent", words=words)]


def _named(path: Path, named: SamplesFile | None) -> Iterator[Path]:
    """Each place where the samples may be, by the aggregate's name and by what it names."""
    names = [f"{path.stem}_samples.jsonl"]
    if named is not None and named.file_path:
        parts = PurePosixPath(named.file_path).parts
        names += ["/".join(parts[at:]) for at in range(len(parts) - 1, -1, -1) if ".." not in parts[at:]][:8]
    for name in names:
        if "\0" not in name and not name.startswith(("/", "\\")):
            place = path.parent / name
            if place != path and _is_below(path.parent, place):
                yield place


def _is_below(folder: Path, place: Path) -> bool:
    """True for a file in this folder or below, with no link that leads elsewhere. Never raises."""
    try:
        return place.is_file() and place.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _checksum(named: SamplesFile) -> tuple[str, str] | None:
    """`(algorithm, hex digits)` of the file; None where the aggregate has none that can be checked."""
    algorithm = (named.hash_algorithm or "sha256").lower()
    return (algorithm, named.checksum.strip().lower()) if named.checksum and algorithm in _HASHES else None


def _hash_of(place: Path, algorithm: str) -> str:
    try:
        with place.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()
    except OSError:
        return ""
