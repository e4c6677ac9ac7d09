"""From a `judge_protocol@v1` record to its archive (SPEC P5, P7), and one archive held against another."""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchbook.derivations.derivation import DERIVATION
from benchbook.derivations.protocol_rows import ProtocolAggregates, ProtocolManifest, ProtocolRow
from benchbook.reports.archive import write_archive
from benchbook.reports.archive_model import Archive, JudgeUsed, RunLog, UsedPrompt
from benchbook.specs import load_spec

__all__ = ["archive_of", "differences", "write_archive_of"]


def archive_of(
    manifest: ProtocolManifest,
    aggregates: ProtocolAggregates,
    rows: Iterable[ProtocolRow],
    derivation: int = DERIVATION,
) -> Archive:
    """All that the archive of a record holds. The same record gives the same archive."""
    spec = load_spec(manifest.spec)
    prompts = [] if manifest.judged_elsewhere else [UsedPrompt(manifest.spec, spec.text("prompt.txt"))]
    log = RunLog(
        experiment=manifest.run_id,
        spec=manifest.spec,
        spec_sha256=manifest.spec_sha256,
        evidence=manifest.evidence,
        judges=[_judge(name, manifest) for name in sorted(manifest.judges)],  # a file's order, not the plan's
        n_samples=aggregates.n_outputs,
        started_utc=manifest.timestamp_utc,
        ended_utc=manifest.ended_utc,
        journal_sha256=manifest.journal_sha256,
        gaps=aggregates.gaps,
    )
    return Archive([row.evaluation for row in rows], prompts, log, aggregates.analysis.probes, derivation)


def _judge(name: str, manifest: ProtocolManifest) -> JudgeUsed:
    """P7: what was asked here had no tools and no web; of judgements made elsewhere nobody knows."""
    if manifest.judged_elsewhere:
        return JudgeUsed(judge_model=name)
    used = manifest.judges[name]
    return JudgeUsed(judge_model=name, version=used["model_version"], params=used["params"], tools=[], web_access=False)


def write_archive_of(archive: Archive, folder: str | Path) -> Path:
    """Write it as `folder`, in place of an archive that is there. Raises: UsageError, RecordError."""
    return write_archive(folder, archive.rows, archive.prompts, archive.run_log, archive.probes, archive.derivation)


def differences(archive: Archive, folder: Path) -> Iterator[str]:
    """How `folder` differs from what the archive's files would be, file by file: changed, missing, added."""
    with tempfile.TemporaryDirectory(prefix="benchbook-archive-") as temporary:
        made = write_archive_of(archive, Path(temporary) / "archive")
        wanted = {path.relative_to(made): path for path in made.rglob("*") if path.is_file()}
        present = {path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()}
        for name in sorted(wanted.keys() | present):
            if name not in present:
                yield f"{name.as_posix()}: is missing"
            elif name not in wanted:
                yield f"{name.as_posix()}: does not belong to the archive"
            elif not filecmp.cmp(wanted[name], folder / name, shallow=False):
                yield f"{name.as_posix()}: was changed"
