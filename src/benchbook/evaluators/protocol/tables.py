"""The derived files of a record under a protocol, from its journal and inputs alone (SPEC C6, P4 to P6).

One pass over the journal finds each sample's facts; a second, in plan order, makes the rows.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.identity import identity_warnings
from benchbook.ask.unanswered import Unanswered, UnansweredCauses, Who, who_is_asked
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.protocol.analysis import analyse
from benchbook.evaluators.protocol.evaluation_rows import (
    CellId,
    CoverageGap,
    EvaluationRow,
    GapReason,
    cell_of,
    coverage_gaps,
    row_kind,
    row_of,
)
from benchbook.evaluators.protocol.judges import JudgeCounts, last_failure, manifest_of, task_of
from benchbook.evaluators.protocol.plan import (
    ProtocolPlan,
    ProtocolSample,
    ProtocolSamples,
    edition_of,
    open_samples,
    protocol_plan_of,
)
from benchbook.evaluators.protocol.probes import ProbeResult, probe_result
from benchbook.evaluators.protocol.rows import ProtocolAggregates, ProtocolManifest, ProtocolReadRow, ProtocolRow
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.evaluators.protocol.validity import Evaluation, is_calendar_date, validate
from benchbook.record.derived_files import hashes_of, pretty_json, tables_put_last, write_manifest
from benchbook.record.facts import NOT_ASKED, Failure, Reply, RunStarted
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.record.state import JournalState
from benchbook.record.tables import write_table
from benchbook.writing import write_file


def warnings_of(
    state: JournalState,
    plan: ProtocolPlan,
    protocol: Protocol,
    judges: Sequence[JudgeCounts],
    unanswered: Sequence[Unanswered],
    *,
    n_attempted: int,
    n_rows: int,
    n_valid: int,
) -> Iterator[str]:
    """The warnings, in order of importance."""
    yield from (one.words for one in unanswered)
    if unanswered:
        accepted = state.ended is not None and state.ended.accepts_unanswered
        then = "the run was ended as it is" if accepted else "resuming the run asks for it again"
        yield f"What is unanswered is not invalid, and no gap of a judge's making: {then}."
    if plan.task == "unknown":
        yield task_warning(protocol, judged_elsewhere=plan.judgements_sha256 is not None)
    for judge in judges:
        if judge.reported.changed:
            yield f"The judge {judge.plan.name} changed during the run."
        if (n_truncated := judge.sums["truncated"]) > 0:
            yield f"{n_truncated} replies of {judge.plan.name} were cut by max_tokens."
    if derivation_of(state.started) >= 3:
        roles = [(f"judge {judge.plan.name}", judge.model_id, judge.reported) for judge in judges]
        yield from identity_warnings(state.started.identity, roles)
    if n_rows and not n_valid:
        yield "No evaluation is valid: nothing here says anything about the targets."
    if state.state != "complete":
        n_answered = n_attempted - sum(one.n_samples for one in unanswered if one.cause != NOT_ASKED)
        yield f"The run is {state.state}: {n_answered} of {plan.n_samples} samples."


def task_warning(protocol: Protocol, *, judged_elsewhere: bool) -> str:
    """P4.3: without the task nobody can say whether its instructions were kept."""
    name = "INSTRUCTION_COMPLIANCE"  # as judge_protocol@v1 calls what is scored so; of another it may be anything
    judged = name if name in protocol.names else "everything"
    if judged_elsewhere:
        return (
            "What the targets were asked is not known here, nor whether the judges were shown it: "
            f"{judged} may have been judged without the instructions."
        )
    return f"What the targets were asked is not known: {judged} was judged without the instructions."


DERIVED_FILES = ("samples.parquet", "aggregates.json", "manifest.json")

# Called with each sample's number, what it is and its facts before they are used; `verify` compares requests there.
ProtocolCheck = Callable[[int, ProtocolSample, list[Reply | Failure]], None]


@dataclass(frozen=True, slots=True)
class ProtocolDerived:
    """`decision` is None: this spec decides nothing about a release."""

    manifest: ProtocolManifest
    aggregates: ProtocolAggregates
    decision: None = None


def derive_protocol(
    record: Record, target: Path, *, check: ProtocolCheck | None = None, state: JournalState | None = None
) -> ProtocolDerived:
    """Write the derived files of `record` into `target` (the record's own folder, or another to compare with).

    Raises: RecordDamagedError, RecordError, InputError.
    """
    if state is None:
        state = read_state(record.journal)
    plan = protocol_plan_of(state.started)
    counts = _Counts(state, plan, open_samples(record, state.started, plan))
    with tables_put_last(target) as tables:
        write_table(tables / "samples.parquet", counts.row_type, counts.rows(check))
        aggregates = counts.aggregates()
        write_file(target / "aggregates.json", pretty_json(aggregates), synced=False)
    manifest = manifest_of(state, plan, counts.protocol, counts.judges, counts.dates, hashes_of(target, DERIVED_FILES))
    fields = {name: getattr(manifest, name) for name in manifest.__struct_fields__}
    values = {name: value for name, value in fields.items() if value is not msgspec.UNSET}
    digest = write_manifest(target, values)
    return ProtocolDerived(ProtocolManifest(**(values | {"manifest_sha256": digest})), aggregates)


def row_type_of(started: RunStarted, protocol: Protocol) -> type[ProtocolRow]:
    """The type of a row of a record's samples.parquet."""
    return row_kind(ProtocolReadRow if derivation_of(started) >= 3 else ProtocolRow, protocol)


class _Counts:
    """Rows, and all that is counted while they go by."""

    def __init__(self, state: JournalState, plan: ProtocolPlan, samples: ProtocolSamples) -> None:
        self.state = state
        self.plan = plan
        self.samples = samples
        self.protocol = samples.protocol
        self.row_type = row_type_of(state.started, samples.protocol)
        self.derivation = derivation_of(state.started)
        self._edition = edition_of(state.started)
        self.judges = [JudgeCounts(judge, self.derivation, state.price_factors) for judge in plan.judges]
        self.dates: list[str] = []  # that evaluations bear which were made elsewhere
        self._number_of = {judge.name: number for number, judge in enumerate(plan.judges)}
        self._rows: list[EvaluationRow] = []
        self._probes: list[ProbeResult] = []
        self._bases: dict[int, Evaluation] = {}  # of probed outputs, by sample
        self._causes = UnansweredCauses(plan.n_samples)
        self._unanswered: set[tuple[CellId, str | None]] = set()
        self._n_attempted = 0
        self._prompts: Mapping[str, str] = {
            method: one.sha256 for one in self.protocol.prompts for method in one.methods
        }

    @cached_property
    def _cells_with_text(self) -> frozenset[CellId]:
        return frozenset(CellId(*output.key) for output in self.samples.outputs)

    def rows(self, check: ProtocolCheck | None) -> Iterator[ProtocolRow]:
        for number, facts in self.state.index.by_sample():
            sample = self.samples[number]
            if check is not None:
                check(number, sample, facts)
            self._n_attempted += 1
            self.judges[self._number_of[sample.asked.judge_model]].add(facts)
            reply = next((fact for fact in reversed(facts) if isinstance(fact, Reply)), None)
            if reply is None:
                self._count_unanswered(sample, last_failure(facts))
                continue
            if sample.probe is not None:
                self._probes.append(self._probed(sample, reply))
                continue
            found = self._evaluation(sample, reply)
            if sample.asked.repeat == 0 and sample.output < self.plan.probed_outputs:
                self._bases[number] = found  # probes are held against what the same judge said of the output as it is
            row = self._row(sample, reply, found)
            self._rows.append(row)
            yield self._placed(number, sample, row, found)

    def _count_unanswered(self, sample: ProtocolSample, failure: Failure | None) -> None:
        """Count an evaluation that is not there yet (R1.3b)."""
        if failure is None:
            return
        self._causes.add(self._who[self._number_of[sample.asked.judge_model]], failure)
        if sample.probe is None:
            self._unanswered.add((sample.asked.cell, sample.asked.judge_model))

    @cached_property
    def _who(self) -> list[Who]:
        """Each judge, at its address of the last sitting."""
        several = len(self.judges) > 1
        return [
            who_is_asked(
                judge.plan.role,
                "judge",
                self._settings(judge),
                f"judges[{number}].",
                judge.plan.name if several else None,
            )
            for number, judge in enumerate(self.judges)
        ]

    def _placed(self, number: int, sample: ProtocolSample, row: EvaluationRow, found: Evaluation) -> ProtocolRow:
        fields = {name: getattr(row, name) for name in row.__struct_fields__}
        if self.derivation < 3:
            return self.row_type(sample=number, **fields)
        odd = sample.judgement.odd_bytes if sample.judgement is not None else None
        fields["read_as"] = None if found.body == row.raw_reply else found.body
        fields["reply_base64"] = None if odd is None else b64encode(odd).decode("ascii")
        return self.row_type(sample=number, **fields)

    def _evaluation(self, sample: ProtocolSample, reply: Reply) -> Evaluation:
        judgement = sample.judgement
        found = self._validated(sample, judgement.reply if judgement and self.derivation >= 3 else reply.text or "")
        if judgement and is_calendar_date(found.meta.get("timestamp", "")):
            self.dates.append(found.meta["timestamp"])
        return found

    def _validated(self, sample: ProtocolSample, text: str) -> Evaluation:
        return validate(
            text,
            output_text=self.samples.text_of(sample).normalised,
            asked=sample.asked.meta(),
            evaluation_set=self.samples.evaluation_set,
            options=self.plan.options_of(sample.judge, self._edition, self.protocol),
        )

    def _row(self, sample: ProtocolSample, reply: Reply, found: Evaluation) -> EvaluationRow:
        return row_of(
            found,
            self.protocol,
            sample.asked,
            reply.text or "",
            self.samples.text_of(sample),
            prompt_sha256=self._prompt_of(sample),
            request_sha256=reply.request_sha256,
            fact_seq=reply.seq,
        )

    def _prompt_of(self, sample: ProtocolSample) -> str | None:
        """The hash of the template of the judge's prompt; of judgements made elsewhere, as it was declared."""
        if sample.judge is not None:
            return self._prompts[sample.asked.method]
        return self.plan.judges[self._number_of[sample.asked.judge_model]].said.prompt_sha256

    def _probed(self, sample: ProtocolSample, reply: Reply) -> ProbeResult:
        assert sample.probe is not None  # noqa: S101 - only probes come here
        return probe_result(
            sample.probe,
            sample.asked.meta(),
            reply.text or "",
            base=self._bases.get(self.samples.base_of(sample)),
            options=self.plan.options_of(sample.judge, self._edition, self.protocol),
        )

    def aggregates(self) -> ProtocolAggregates:
        plan, rows = self.plan, self._rows
        n_valid = sum(row.valid for row in rows)
        gaps = self._gaps()
        return ProtocolAggregates(
            spec=plan.spec,
            n_outputs=len(self.samples.cells),
            n_without_text=len(self.samples.cells) - len(self.samples.outputs),
            n_planned=plan.n_samples,
            n_attempted=self._n_attempted,
            n_evaluations=len(rows),
            n_valid=n_valid,
            n_invalid=len(rows) - n_valid,
            judges=[judge.ledger(self._settings(judge)) for judge in self.judges],
            gaps=gaps,
            analysis=analyse(rows, self.protocol, gaps=gaps, probes=self._probes, derivation=self.derivation),
            warnings=self._warnings(n_valid),
            **self._since_derivation_3(),
        )

    def _since_derivation_3(self) -> dict[str, Any]:
        if self.derivation < 3:
            return {}
        unanswered = self._causes.found()
        return {
            "n_unanswered": sum(judge.unanswered.total() for judge in self.judges),
            "unanswered": unanswered,
            "n_warnings_first": len(unanswered),
            "task": task_of(self.plan),
        }

    def _warnings(self, n_valid: int) -> list[str]:
        found = [] if self.derivation < 3 else self._causes.found()
        counts = {"n_attempted": self._n_attempted, "n_rows": len(self._rows), "n_valid": n_valid}
        return list(warnings_of(self.state, self.plan, self.protocol, self.judges, found, **counts))

    def _gaps(self) -> list[CoverageGap]:
        gaps = coverage_gaps(self.samples.cells, self._rows, [judge.name for judge in self.plan.judges])
        return gaps if self.derivation < 3 else [self._explained(gap) for gap in gaps]

    def _explained(self, gap: CoverageGap) -> CoverageGap:
        """The gap with its reason; one that is only not there yet is no fault of the set's coverage (R1.3b)."""
        cell = cell_of(gap)
        if cell not in self._cells_with_text:
            return msgspec.structs.replace(gap, why="no_text")
        if self.plan.judgements_sha256 is not None:
            return msgspec.structs.replace(gap, why="not_judged")
        why: GapReason = "unanswered" if (cell, gap.judge_model) in self._unanswered else "not_asked"
        return msgspec.structs.replace(gap, flag=None, why=why)

    def _settings(self, judge: JudgeCounts) -> dict[str, Any]:
        settings = self.state.config.get("judges", [])
        number = self.judges.index(judge)
        return settings[number] if number < len(settings) else {}
