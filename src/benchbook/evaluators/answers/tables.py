"""The derived files of a record of answers, from its journal and inputs alone (SPEC C6, A4, A5, A7).

One pass over the journal finds each item's facts; a second, in the order of the eval set, makes the rows and counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.identity import floating_of, model_version
from benchbook.ask.model_id import parse_model_id
from benchbook.evaluators.answers.counted import Counted, SampleCheck
from benchbook.evaluators.answers.metric import Metric
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.gates import Decision, RunVerdict
from benchbook.evaluators.kept import recorded_evalset
from benchbook.record.derived_files import hashes_of, pretty_json, tables_put_last, told_by_journal, write_manifest
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.record.state import JournalState
from benchbook.record.tables import table_schema, write_table_parts
from benchbook.training.logs import training_files, write_training
from benchbook.writing import write_file

DERIVED_FILES = ("samples.parquet", "samples.jsonl", "aggregates.json", "decision.json", "manifest.json")


@dataclass(frozen=True, slots=True)
class AnswersDerived:
    """Typed by its metric."""

    manifest: Any
    aggregates: Any
    decision: Decision | RunVerdict | None


def derive_answers(
    record: Record, target: Path, metric: Metric, *, check: SampleCheck | None = None, state: JournalState | None = None
) -> AnswersDerived:
    """Write the derived files of `record` into the folder `target` (the record's own, or another to compare with).

    Raises: RecordDamagedError, RecordError; UsageError where an item lacks what its score needs.
    """
    state = read_state(record.journal) if state is None else state
    counted = Counted(state, metric.of_run(state))
    needs, keeps = metric.needs_expected_answer, metric.keeps_fields
    with tables_put_last(target) as tables:
        with (
            recorded_evalset(record, state.started, needs_expected_answer=needs, keeps_fields=keeps) as evalset,
            (tables / "samples.jsonl").open("wb") as lines,
        ):
            parts = counted.parts(evalset, check, lines)
            write_table_parts(tables / "samples.parquet", table_schema(counted.row_type), parts)
        write_training(record, state.started, tables)
        aggregates = counted.aggregates()
        decision = counted.decision(aggregates)
        write_file(target / "aggregates.json", pretty_json(aggregates), synced=False)
        write_file(target / "decision.json", pretty_json(decision), synced=False)
    manifest = _manifest(state, counted, hashes_of(target, (*DERIVED_FILES, *training_files(state.started))))
    digest = write_manifest(target, msgspec.structs.asdict(manifest))
    return AnswersDerived(msgspec.structs.replace(manifest, manifest_sha256=digest), aggregates, decision)


def _manifest(state: JournalState, counted: Counted, derived: dict[str, str]) -> msgspec.Struct:
    started, plan = state.started, counted.plan
    identity = started.identity
    return counted.metric.manifest_type(
        **told_by_journal(state, derived),
        run_status=counted.run_status,
        run_status_reason=identity["run_status_reason"],
        dry_run=identity["dry_run"],
        dataset_version_or_hash=f"sha256:{plan.set_sha256}",
        n_items=plan.n_items,
        repeats=plan.repeats,
        benchmark=plan.benchmark,
        model_id=plan.candidate.model_id,
        model_version=model_version(
            parse_model_id(plan.candidate.model_id, "model"),
            state.candidate_reported,
            derivation_of(started),
            only_snapshot=plan.benchmark and "model" in floating_of(identity),
        ),
        prompt_template_id=plan.prompt_template_id or None,
        prompt_template_version_or_hash=f"sha256:{plan.prompt_template_sha256}" if plan.prompt_template_id else None,
        generation_params=identity["generation_params"],
        generation_params_effective=plan.candidate.params,
        prediction_form=identity["prediction_form"],
        prediction_columns=identity["prediction_columns"],
        reasoning_tags=sorted(plan.candidate.reasoning_tags),
        part=plan.part_said,
        **counted.metric.identity,
    )
