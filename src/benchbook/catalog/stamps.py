"""The stamp of a record: it differs once what the catalog has of it may do so."""

from __future__ import annotations

from pathlib import Path

from benchbook.record.folder import Record, is_at_work, is_left_behind, is_record, shard_folders
from benchbook.record.sets import set_files


def stamp_of(record: Record, *, at_work: bool | None = None) -> str:
    """Size and time of whatever a record's row is made from. It changes with every fact and every derived file, and
    where a journal has gone on also once its writer is gone. `at_work` says that, where somebody has looked already.

    Raises: FileNotFoundError where the record is gone.
    """
    if record.is_sharded:
        return _stamp_of_shards(record, at_work=at_work)
    has_lost_journal = is_record(record.path) and not record.journal.is_dir()
    segments = [] if has_lost_journal else _segments_in(record.journal)
    ends = sorted({*segments[:1], *segments[-1:]})
    files = [*(record.journal / name for name in ends), record.manifest, record.aggregates, record.decision]
    parts = [_stamp(path) for path in (*files, record.samples)]
    written = []
    if not has_lost_journal and not _is_derived(record, segments):
        written = ["at-work" if (is_at_work(record) if at_work is None else at_work) else "left"]
    return " ".join([str(len(segments)), *parts, *written])


def _stamp_of_shards(record: Record, *, at_work: bool | None) -> str:
    """The same of a record with shards, whose row is of what was joined: what goes on in them does not change it."""
    files = [*set_files(record.path)[-1:], record.manifest, record.aggregates, record.decision, record.samples]
    written = "at-work" if (is_at_work(record) if at_work is None else at_work) else "left"
    return " ".join([str(len(shard_folders(record.path))), *map(_stamp, files), written])


def _is_derived(record: Record, segments: list[str]) -> bool:
    """True if the journal has not been written to since the manifest was."""
    try:
        return not segments or record.manifest.stat().st_mtime_ns >= (record.journal / segments[-1]).stat().st_mtime_ns
    except OSError:
        return False


def _segments_in(journal: Path) -> list[str]:
    return sorted(path.name for path in journal.iterdir() if not is_left_behind(path.name))


def _stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:  # a link in a circle, too
        return "-"
    return f"{found.st_size}:{found.st_mtime_ns}"
