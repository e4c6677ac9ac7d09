"""From a `judge_protocol@v1` record to its archive (SPEC P5, P7), and one archive held against another."""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.derivations.derivation import DERIVATION
from benchbook.derivations.protocol_plan import JUDGE_PROMPT
from benchbook.derivations.protocol_rows import ProtocolAggregates, ProtocolManifest, ProtocolRow
from benchbook.records.folder import Record
from benchbook.reports.archive import write_archive
from benchbook.reports.archive_model import Archive, JudgeUsed, RunLog, UsedPrompt
from benchbook.specs import load_spec

__all__ = ["archive_of", "declared_prompts_of", "differences", "write_archive_of"]


def archive_of(
    manifest: ProtocolManifest,
    aggregates: ProtocolAggregates,
    rows: Iterable[ProtocolRow],
    derivation: int = DERIVATION,
    declared_prompts: Iterable[UsedPrompt] = (),
) -> Archive:
    """All that the archive of a record holds. The same record gives the same archive.

    `declared_prompts` are those by which judgements were made elsewhere (`declared_prompts_of`).
    """
    spec = load_spec(manifest.spec)
    own = [] if manifest.judged_elsewhere else [UsedPrompt(manifest.spec, spec.text("prompt.txt"))]
    prompts = [*own, *declared_prompts]
    log = RunLog(
        experiment=manifest.run_id,
        spec=manifest.spec,
        spec_sha256=manifest.spec_sha256,
        evidence=manifest.evidence,
        # In a file's order, not the plan's.
        judges=[_judge(name, manifest, derivation) for name in sorted(manifest.judges)],
        n_samples=aggregates.n_outputs,
        started_utc=manifest.timestamp_utc,
        ended_utc=manifest.ended_utc,
        journal_sha256=manifest.journal_sha256,
        gaps=aggregates.gaps,
    )
    if derivation >= 3:
        log = msgspec.structs.replace(log, **_since_derivation_3(manifest, aggregates))
    return Archive([row.evaluation for row in rows], prompts, log, aggregates.analysis.probes, derivation)


def _since_derivation_3(manifest: ProtocolManifest, aggregates: ProtocolAggregates) -> dict[str, Any]:
    """P7: of judgements made elsewhere the time range is that of their own dates."""
    fields: dict[str, Any] = {
        "task": manifest.task,
        "n_unanswered": aggregates.n_unanswered,
        "warnings": aggregates.warnings,
    }
    if manifest.judged_elsewhere:
        dates = {"started_utc": manifest.evaluated_from, "ended_utc": manifest.evaluated_to}
        fields |= dates | {"imported_utc": manifest.timestamp_utc}
    return fields


def _judge(name: str, manifest: ProtocolManifest, derivation: int) -> JudgeUsed:
    """P7. What nobody said is not known: an endpoint may have tools and web access that it does not tell."""
    used = manifest.judges[name]
    if derivation >= 3:
        known = {field: used[field] for field in ("params", "tools", "web_access")}
        return JudgeUsed(judge_model=name, version=used["model_version"], **known)
    if manifest.judged_elsewhere:
        return JudgeUsed(judge_model=name)
    return JudgeUsed(judge_model=name, version=used["model_version"], params=used["params"], tools=[], web_access=False)


def declared_prompts_of(record: Record) -> list[UsedPrompt]:
    """The judge prompts that an import declared, from the record's inputs, by hash."""
    hashes = {sha256 for name, sha256 in record.started().inputs.items() if name.startswith(JUDGE_PROMPT)}
    texts = {sha256: record.input(sha256).read_bytes().decode("utf-8") for sha256 in hashes}
    return [UsedPrompt(f"declared prompt {sha256[:12]}", texts[sha256]) for sha256 in sorted(texts)]


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
