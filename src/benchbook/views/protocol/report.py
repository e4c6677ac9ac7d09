"""How judged experiments are shown."""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.derivation import DERIVATION, derivation_of
from benchbook.evaluators.document import Block, Document, Lines, Opening
from benchbook.evaluators.protocol.folders import protocol_of
from benchbook.evaluators.protocol.plan import JUDGE_PROMPT
from benchbook.evaluators.protocol.rows import Analysis, ProtocolAggregates, ProtocolManifest, ProtocolRow
from benchbook.evaluators.protocol.spec import VERDICTS, Protocol
from benchbook.record.folder import Record, is_left_behind
from benchbook.text import plural
from benchbook.views.names import set_name
from benchbook.views.protocol.archive import write_archive
from benchbook.views.protocol.archive_model import Archive, JudgeUsed, RunLog, UsedPrompt
from benchbook.views.protocol.page import protocol_page
from benchbook.views.protocol.tables import LOCATED, STANDINGS, measured, rule_words
from benchbook.views.views import Rows, View, notices_around, write_pieces


def archive_of(
    manifest: ProtocolManifest,
    aggregates: ProtocolAggregates,
    rows: Iterable[ProtocolRow],
    protocol: Protocol,
    derivation: int = DERIVATION,
    declared_prompts: Iterable[UsedPrompt] = (),
) -> Archive:
    """All that the archive of a record holds. The same record gives the same archive.

    `declared_prompts` are those by which judgements were made elsewhere (`declared_prompts_of`).
    """
    own = [] if manifest.judged_elsewhere else list(_used_prompts(protocol))
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
        minimums=aggregates.analysis.minimums,
        rules=aggregates.analysis.rules,
    )
    if derivation >= 3:
        log = msgspec.structs.replace(log, **_since_derivation_3(manifest, aggregates))
    evaluations = [row.evaluation(protocol) for row in rows]
    return Archive(evaluations, prompts, log, protocol, aggregates.analysis.probes, derivation)


def _used_prompts(protocol: Protocol) -> Iterator[UsedPrompt]:
    """The prompts under the protocol's name, several also with their own names. Prompts of one text are one."""
    names: dict[str, list[str]] = {}
    for prompt in protocol.prompts:
        names.setdefault(prompt.text, []).append(prompt.name)
    for text, given in names.items():
        yield UsedPrompt(protocol.id if len(names) == 1 else f"{protocol.id} {', '.join(given)}", text)


def _since_derivation_3(manifest: ProtocolManifest, aggregates: ProtocolAggregates) -> dict[str, Any]:
    """The log's fields since derivation 3. For judgements made elsewhere the time range is their own dates (P7)."""
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
    """One judge for the log (P7). Undeclared is unknown: an endpoint may have tools and web access unreported."""
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


def differences(archive: Archive, folder: Path) -> Iterator[str]:
    """How `folder` differs from what the archive's files would be, file by file: changed, missing, added."""
    with tempfile.TemporaryDirectory(prefix="benchbook-archive-") as temporary:
        made = write_archive(archive, Path(temporary) / "archive")
        wanted = {path.relative_to(made): path for path in made.rglob("*") if path.is_file()}
        present = {path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()}
        present -= {name for name in present if any(map(is_left_behind, name.parts))}
        for name in sorted(wanted.keys() | present):
            if name not in present:
                yield f"{name.as_posix()}: is missing"
            elif name not in wanted:
                yield f"{name.as_posix()}: does not belong to the archive"
            elif not (folder / name).is_file():  # such as a link that leads nowhere
                yield f"{name.as_posix()}: is no file"
            elif not filecmp.cmp(wanted[name], folder / name, shallow=False):
                yield f"{name.as_posix()}: was changed"


@dataclass(frozen=True)
class ProtocolReport:
    """One experiment, ready to be shown. `rows` starts a new pass over its evaluations."""

    record: Record
    protocol: Protocol
    manifest: ProtocolManifest
    aggregates: ProtocolAggregates
    rows: Rows


def _texts(record: Record, manifest: ProtocolManifest) -> Callable[[str], str | None]:
    """The judged texts by their hash, read from the record's inputs one at a time."""
    hashes = {sha256 for name, sha256 in manifest.inputs.items() if name.startswith("text/")}
    return lambda sha256: (
        record.input(sha256).read_bytes().decode("utf-8", "surrogatepass") if sha256 in hashes else None
    )


def _report(record: Record, derived: DerivedFiles, rows: Rows) -> ProtocolReport:
    return ProtocolReport(record, protocol_of(record, record.started()), derived.manifest, derived.aggregates, rows)


def _write(report: ProtocolReport, folder: Path) -> list[Path]:
    """Write report.html, and the archive beside it."""
    derivation, prompts = derivation_of(report.record.started()), declared_prompts_of(report.record)
    archive = archive_of(report.manifest, report.aggregates, report.rows(), report.protocol, derivation, prompts)
    texts = _texts(report.record, report.manifest)
    written = write_archive(archive, folder / "archive")
    page = protocol_page(archive, texts, analysis=report.aggregates.analysis)
    return [write_pieces(folder / "report.html", page), written / "results_analysis.md"]


def _summary(report: ProtocolReport) -> Document:
    """How many evaluations count, which judges can be used, and how the targets did."""
    manifest, file = report.manifest, report.aggregates
    above, below = notices_around(report, list(_warnings(file)))
    headline = f"{file.n_valid:,} of {plural(file.n_evaluations, 'evaluation')} count"
    others = "The others break a rule of the protocol; the archive says which."
    judged_set = set_name(manifest.dataset_id, manifest.dataset_version_or_hash)
    asked = f"{judged_set}, {plural(file.n_outputs, 'output')}; {plural(len(file.judges), 'judge')}"
    blocks: list[Block] = [
        *above,
        Opening(headline, "good" if file.n_valid else "bad", manifest.spec, (others,)),
        Lines((asked, f"run {manifest.run_id}")),
        *below,
        Lines(("Judges",)),
        *_judge_lines(file.analysis, report.protocol),
        Lines(("Targets",)),
        Lines(tuple(_target_lines(file.analysis, report.protocol.highest)), apart=False, indent="  "),
        Lines(()),
    ]
    return Document(headline, manifest.spec, blocks, digest=manifest.journal_sha256)


def _judge_lines(found: Analysis, protocol: Protocol) -> Iterator[Lines]:
    """For each judge: whether it can be used, why not, and where its quotes were found."""
    cards = {card.judge_model: card for card in found.judges}
    for entry in found.league:
        broken = [rule_words(one.rule, one.limit, protocol) for one in entry.outcomes if one.holds is False]
        why = f"; not met: {'; '.join(broken)}" if broken and entry.standing == "not_usable" else ""
        said = f"{entry.judge_model}: {STANDINGS[entry.standing]} ({plural(entry.n, 'evaluation')}){why}"
        yield Lines((said,), apart=False, indent="  ")
        card = cards[entry.judge_model]
        for method, kind in ((card.cross_judge, "quotes about others"), (card.self_judge, "quotes about its own")):
            located = [f"{words} {count:,}" for one, words in LOCATED.items() if (count := method.evidence[one])]
            if located:
                yield Lines((f"{kind}: {', '.join(located)}",), apart=False, indent="      ")


def _target_lines(found: Analysis, most: int) -> Iterator[str]:
    """Each target under each variant, as far as evaluations count."""
    shown = [one for one in found.targets if one.n_valid]
    if not shown:
        yield "nothing can be said: no evaluation by another model counts"
    for one in shown:
        verdicts = ", ".join(f"{name} {count:,}" for name in VERDICTS if (count := one.verdicts[name]))
        overall = measured("grade", one.overall, found.confidence)
        yield f"{one.target_model}, {one.prompt_variant}: overall {overall}, of {most} at most; {verdicts}"


def _warnings(file: ProtocolAggregates) -> Iterator[str]:
    yield from file.warnings
    if file.n_without_text:
        yield f"{plural(file.n_without_text, 'output')} of the set have no text and were not judged."
    n_omitted = sum(gap.flag is not None for gap in file.gaps)
    if n_omitted:
        yield f"{plural(n_omitted, 'cell')} of the grid have no evaluation."


# A row's evaluation does not count where it has flags.
VIEW = View(report=_report, summary=_summary, write=_write, fail_reasons=lambda row: row.flags)
