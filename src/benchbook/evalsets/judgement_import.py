"""Judgements from any number of sources: bundles, folders of replies, tables of replies (issue 5, item 3)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchbook.canonical import canonical_json
from benchbook.errors import UsageError
from benchbook.evalsets.judgement_bundles import read_bundle
from benchbook.evalsets.judgement_lookup import OutputIndex
from benchbook.evalsets.judgement_mapping import JudgementMapping
from benchbook.evalsets.judgement_replies import find_reply_files, read_reply_file, read_reply_table
from benchbook.evalsets.judgement_results import ImportedJudgement
from benchbook.evalsets.output_set_sources import OtherFile

__all__ = ["How", "ImportedSource", "import_source", "write_judgements"]


@dataclass(frozen=True, slots=True)
class How:
    """How sources are read: by a `mapping` bundles, by a `pattern` folders of raw replies, else tables of replies.

    `declared` is what the caller says of all judgements: `judge_model`, `method`, identifiers.
    """

    mapping: JudgementMapping | None = None
    pattern: str | None = None
    declared: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedSource:
    """What one source held. `others` are the files in a folder that its pattern did not read."""

    name: str
    judgements: tuple[ImportedJudgement, ...]
    others: tuple[OtherFile, ...] = ()


def import_source(source: str, outputs: OutputIndex, how: How) -> ImportedSource:
    """All judgements of one source. Raises: InputError, ConfigError, UsageError, as its reader does."""
    if how.mapping is not None:
        return ImportedSource(source, tuple(read_bundle(source, how.mapping, outputs, how.declared)))
    if how.pattern is None:
        return ImportedSource(source, tuple(read_reply_table(source, outputs, how.declared)))
    files, others = find_reply_files(source, how.pattern, how.declared)
    judgements = tuple(read_reply_file(source, name, known, outputs) for name, known in files)
    return ImportedSource(source, judgements, tuple(others))


def write_judgements(path: str | Path, judgements: Iterable[ImportedJudgement]) -> None:
    """A line for each, canonical JSON. A file that is there is left as it is. Raises: UsageError."""
    path = Path(path)
    if path.exists():
        raise UsageError(f"{path}: is there already; name a new file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("xb") as file:
            file.writelines(_lines(judgements))
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: can't be written ({error.strerror or error})") from None
    finally:
        temporary.unlink(missing_ok=True)


def _lines(judgements: Iterable[ImportedJudgement]) -> Iterator[bytes]:
    for judgement in judgements:
        yield canonical_json(judgement) + b"\n"
