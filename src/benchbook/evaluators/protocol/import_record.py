"""A record of judgements that were made elsewhere: checked, imported as facts, derived."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchbook.ask.identity import first_fact, new_run_id, project_identity
from benchbook.ask.requests import RolePlan
from benchbook.errors import UsageError
from benchbook.evalsets.output_set_sources import Key
from benchbook.evalsets.output_sets import OutputSet
from benchbook.evalsets.tables import table_form
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.protocol.asking import check_prompts, inputs_of_set
from benchbook.evaluators.protocol.config import Declarations
from benchbook.evaluators.protocol.findings import said, with_versions
from benchbook.evaluators.protocol.folders import ProtocolFolder, protocol_asked_for
from benchbook.evaluators.protocol.imported import ImportedJudgement
from benchbook.evaluators.protocol.importing import write_judgements
from benchbook.evaluators.protocol.plan import JUDGE_PROMPT, JudgePlan, ProtocolPlan, outputs_of
from benchbook.evaluators.protocol.spec import SPEC_ID
from benchbook.evaluators.protocol.tables import ProtocolDerived, derive_protocol
from benchbook.evaluators.protocol.validity import EvidenceRule
from benchbook.record.facts import Reply, RunEnded, RunStarted
from benchbook.record.folder import Record, SeenFile, create_record, seen
from benchbook.record.journal import JournalWriter
from benchbook.text import one_line

_MAX_LEFT_OUT = 1_000  # that are named in the record; all are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportConfig:
    """`same_model` and `evidence` are declared with the import, and part of its frozen hash (P1, P4.1)."""

    runs: str = "runs"
    run_id: str | None = None
    evidence: EvidenceRule = "must_be_found"
    same_model: dict[str, str] = field(default_factory=dict)
    spec: ProtocolFolder = field(default_factory=lambda: protocol_asked_for(SPEC_ID))
    prompts: str | None = None  # what the targets were asked; else nobody knows (P4.3)
    judges: Declarations = field(default_factory=Declarations)  # what is said of them (P7)


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """`left_out`: judgements that name no output of the set, or one without a text; why stands in their remarks."""

    record: Record
    derived: ProtocolDerived
    left_out: tuple[ImportedJudgement, ...]


def record_judgements(
    output_set: OutputSet, judgements: Iterable[ImportedJudgement], config: ImportConfig
) -> ImportedRecord:
    """A new record of the judgements, whole; or none, where anything is wrong.

    Raises: UsageError where nothing is left to record, or two judgements answer the same; RecordError.
    """
    with_text = {output.key for output in outputs_of(output_set)}
    placed: list[ImportedJudgement] = []
    left_out: list[ImportedJudgement] = []
    for judgement in judgements:
        (placed if judgement.key in with_text else left_out).append(judgement)
    if not placed:
        raise UsageError("no judgement is about an output of the set that has a text; there is nothing to record")
    _check_each_once(placed)
    names = {judgement.judge_model for judgement in placed}
    config.judges.check_names(names)
    inputs: dict[str, Path | SeenFile | bytes] = {**inputs_of_set(output_set), **config.spec.inputs}
    inputs |= {f"{JUDGE_PROMPT}{sha256}": path for sha256, path in config.judges.prompts(names).items()}
    if config.prompts is not None:
        inputs["prompts"] = seen(config.prompts)
        check_prompts(config.prompts, output_set)
    run_id = config.run_id or new_run_id()
    derived: list[ProtocolDerived] = []

    def fill(record: Record) -> None:
        with JournalWriter(record.journal) as journal:
            for number, judgement in enumerate(placed):
                journal.append(Reply(sample=number, role="judge", text=judgement.raw))
            journal.append(RunEnded())
        derived.append(derive_protocol(record, record.path))

    with tempfile.TemporaryDirectory(prefix="benchbook-import-") as folder:
        path = Path(folder) / "judgements.jsonl"
        write_judgements(path, placed)
        record = create_record(
            config.runs,
            run_id,
            inputs | {"judgements": path},
            lambda inputs: _run_started(run_id, output_set, placed, left_out, config, inputs),
            fill,
        )
    return ImportedRecord(record, derived[0], tuple(left_out))


def _check_each_once(placed: Sequence[ImportedJudgement]) -> None:
    """Refuse two judgements of an output by one judge: which of them counts, nobody can say but the user."""
    first: dict[tuple[str, str, Key | None], ImportedJudgement] = {}
    for one in placed:
        other = first.setdefault((one.judge_model, one.method, one.key), one)
        if other is not one:
            places = " and ".join(f"{each.source} {each.place}".strip() for each in (other, one))
            what = f"two judgements of {said(one.output_id)} by {said(one.judge_model)}: {one_line(places)}"
            raise UsageError(f"{what}; expected one a record. Record them apart, or name another judge")


def _run_started(
    run_id: str,
    output_set: OutputSet,
    placed: Sequence[ImportedJudgement],
    left_out: Sequence[ImportedJudgement],
    config: ImportConfig,
    inputs: dict[str, str],
) -> RunStarted:
    protocol = config.spec.protocol
    plan = ProtocolPlan(
        spec=protocol.id,
        spec_sha256=protocol.sha256,
        set_sha256=output_set.sha256,
        n_outputs=len(outputs_of(output_set)),
        judges=tuple(_judge(name, config) for name in sorted({judgement.judge_model for judgement in placed})),
        repeats=1,
        evidence=config.evidence,
        same_model=with_versions(config.same_model, _models_of(placed)),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        judgements_sha256=inputs["judgements"],
        n_judgements=len(placed),
        prompts_sha256=inputs.get("prompts"),
        task="unknown" if config.prompts is None else msgspec.UNSET,
    )
    named = [{"source": one.source, "place": one.place, "remarks": one.remarks} for one in left_out[:_MAX_LEFT_OUT]]
    identity = {
        "dataset_id": output_set.folder.resolve().name,
        "prompts_form": table_form(config.prompts) if config.prompts else None,
        "n_left_out": len(left_out),
        "left_out": named,
        "derivation": DERIVATION,
        **config.spec.identity,
        **project_identity(None, "evaluation set", str(output_set.folder)),
    }
    settings = {"evidence": config.evidence, "same_model": config.same_model}
    return first_fact(run_id, plan, settings, inputs, identity, n_items=plan.n_samples, repeats=1)


def _models_of(judgements: Iterable[ImportedJudgement]) -> set[str]:
    """The names of all judges and targets."""
    return {name for one in judgements for name in (one.judge_model, one.target_model) if name is not None}


def _judge(name: str, config: ImportConfig) -> JudgePlan:
    """A judge of whom nothing is known but its name, and what is declared."""
    plain = "".join("-" if mark.isspace() or mark in "@/" else mark for mark in name)[:100] or "unnamed"
    role = RolePlan(model_id=f"recorded/{plain}", provider="recorded", name=name, params={})
    return JudgePlan(name=name, role=role, declared=config.judges.declared(name))
