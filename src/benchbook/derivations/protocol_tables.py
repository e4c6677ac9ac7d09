"""A `judge_protocol@v1` record's derived files, from its journal and inputs alone (SPEC C6, P4 to P6).

One pass over the journal finds each sample's facts; a second, in plan order, makes the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from benchbook.derivations.derivation import derivation_of
from benchbook.derivations.derived_files import hashes_of, pretty_json, write_manifest
from benchbook.derivations.evaluation_rows import EvaluationRow, coverage_gaps, row_of
from benchbook.derivations.identity import Reported, model_version
from benchbook.derivations.identity_warnings import identity_warnings
from benchbook.derivations.judge_analysis import analyse
from benchbook.derivations.model_id import ModelId, parse_model_id
from benchbook.derivations.protocol_plan import JudgePlan, ProtocolPlan, protocol_plan_of
from benchbook.derivations.protocol_rows import JudgeLedger, ProtocolAggregates, ProtocolManifest, ProtocolRow
from benchbook.derivations.protocol_samples import ProtocolSample, ProtocolSamples, open_samples
from benchbook.derivations.state import JournalState, read_state
from benchbook.records.facts import Failure, Reply
from benchbook.records.folder import Record, write_file
from benchbook.records.tables import write_table, writer_version
from benchbook.scorers.exact import as_float, percentile
from benchbook.scorers.judge_probes import ProbeResult, probe_result
from benchbook.scorers.judge_protocol import Evaluation, validate
from benchbook.specs import load_spec

__all__ = ["DERIVED_FILES", "ProtocolCheck", "ProtocolDerived", "derive_protocol"]

DERIVED_FILES = ("samples.parquet", "aggregates.json", "manifest.json")
_MILLION = Decimal(1_000_000)

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
    write_table(target / "samples.parquet", ProtocolRow, counts.rows(check))
    aggregates = counts.aggregates()
    write_file(target / "aggregates.json", pretty_json(aggregates))
    manifest = _manifest(state, plan, counts, hashes_of(target, DERIVED_FILES))
    values = {name: getattr(manifest, name) for name in manifest.__struct_fields__}
    digest = write_manifest(target, values)
    return ProtocolDerived(ProtocolManifest(**(values | {"manifest_sha256": digest})), aggregates)


@dataclass(slots=True)
class _Judge:
    """What is counted of one judge."""

    plan: JudgePlan
    derivation: int
    reported: Reported = field(default_factory=Reported)
    failures: Counter[str] = field(default_factory=Counter)
    latencies: Counter[int] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)

    def add(self, facts: list[Reply | Failure]) -> None:
        for fact in facts:
            if isinstance(fact, Failure):
                self.sums["transport_retries"] += fact.ends == "attempt"
                if fact.ends == "sample":
                    self.failures[fact.error] += 1
                continue
            self.sums["n_replies"] += 1
            self.sums["truncated"] += fact.finish_reason == "length"
            self.reported.add(fact.model_reported, fact.fingerprint)
            if fact.latency_e2e_ms is not None:
                self.latencies[fact.latency_e2e_ms] += 1
            for name, count in (("input_tokens", fact.input_tokens), ("output_tokens", fact.output_tokens)):
                if count is not None:
                    self.sums[name] += count
                    self.sums[f"paid_{name}"] += 0 if fact.cached else count
                    self.sums[f"known_{name}"] += 1

    @property
    def model_id(self) -> ModelId:
        return parse_model_id(self.plan.role.model_id, "judge")

    def version(self) -> str | None:
        return model_version(self.model_id, self.reported, self.derivation)

    def ledger(self, prices: dict[str, Any]) -> JudgeLedger:
        return JudgeLedger(
            judge_model=self.plan.name,
            model_id=self.plan.role.model_id,
            model_version=self.version(),
            n_replies=self.sums["n_replies"],
            failures=dict(sorted(self.failures.items())),
            n_truncated=self.sums["truncated"],
            transport_retries=self.sums["transport_retries"],
            input_tokens=self.sums["input_tokens"] if self.sums["known_input_tokens"] else None,
            output_tokens=self.sums["output_tokens"] if self.sums["known_output_tokens"] else None,
            cost_usd=self._cost(prices),
            latency_p50_ms=as_float(percentile(self.latencies, 50)),
        )

    def _cost(self, prices: dict[str, Any]) -> str | None:
        given = {kind: prices.get(f"{kind}_price") for kind in ("input", "output")}
        if not any(given.values()):
            return None
        cost = sum(Decimal(str(price or 0)) * self.sums[f"paid_{kind}_tokens"] for kind, price in given.items())
        return f"{cost / _MILLION:.6f}"


class _Counts:
    """Rows, and all that is counted while they go by."""

    def __init__(self, state: JournalState, plan: ProtocolPlan, samples: ProtocolSamples) -> None:
        self.state = state
        self.plan = plan
        self.samples = samples
        self.judges = [_Judge(judge, derivation_of(state.started)) for judge in plan.judges]
        self._number_of = {judge.name: number for number, judge in enumerate(plan.judges)}
        self._rows: list[EvaluationRow] = []
        self._probes: list[ProbeResult] = []
        self._bases: dict[int, Evaluation] = {}  # of probed outputs, by sample
        self._n_attempted = 0
        self._prompt_sha256 = load_spec(plan.spec).file_sha256("prompt.txt")

    def rows(self, check: ProtocolCheck | None) -> Iterator[ProtocolRow]:
        for number, facts in self.state.index.by_sample():
            sample = self.samples[number]
            if check is not None:
                check(number, sample, facts)
            self._n_attempted += 1
            self.judges[self._number_of[sample.asked.judge_model]].add(facts)
            reply = next((fact for fact in reversed(facts) if isinstance(fact, Reply)), None)
            if reply is None:
                continue
            if sample.probe is not None:
                self._probes.append(self._probed(sample, reply))
                continue
            found = self._evaluation(sample, reply)
            if sample.asked.repeat == 0 and sample.output < self.plan.probed_outputs:
                self._bases[number] = found  # probes are held against what the same judge said of the output as it is
            row = self._row(sample, reply, found)
            self._rows.append(row)
            yield ProtocolRow(sample=number, **{name: getattr(row, name) for name in row.__struct_fields__})

    def _evaluation(self, sample: ProtocolSample, reply: Reply) -> Evaluation:
        return validate(
            reply.text or "",
            output_text=self.samples.text_of(sample).normalised,
            asked=sample.asked.meta(),
            evaluation_set=self.samples.evaluation_set,
            options=self.plan.options_of(sample.judge),
        )

    def _row(self, sample: ProtocolSample, reply: Reply, found: Evaluation) -> EvaluationRow:
        return row_of(
            found,
            sample.asked,
            reply.text or "",
            self.samples.text_of(sample),
            prompt_sha256=self._prompt_sha256 if sample.judge is not None else None,
            request_sha256=reply.request_sha256,
            fact_seq=reply.seq,
        )

    def _probed(self, sample: ProtocolSample, reply: Reply) -> ProbeResult:
        assert sample.probe is not None  # noqa: S101 - only probes come here
        return probe_result(
            sample.probe,
            sample.asked.meta(),
            reply.text or "",
            base=self._bases.get(self.samples.base_of(sample)),
            options=self.plan.options_of(sample.judge),
        )

    def aggregates(self) -> ProtocolAggregates:
        plan, rows = self.plan, self._rows
        n_valid = sum(row.valid for row in rows)
        gaps = coverage_gaps(self.samples.cells, rows, [judge.name for judge in plan.judges])
        return ProtocolAggregates(
            spec=plan.spec,
            n_outputs=len(self.samples.cells),
            n_without_text=len(self.samples.cells) - len(self.samples.outputs),
            n_planned=plan.n_samples,
            n_attempted=self._n_attempted,
            n_evaluations=len(rows),
            n_valid=n_valid,
            n_invalid=len(rows) - n_valid,
            judges=[judge.ledger(self._prices(judge)) for judge in self.judges],
            gaps=gaps,
            analysis=analyse(rows, gaps=gaps, probes=self._probes, derivation=derivation_of(self.state.started)),
            warnings=self._warnings(n_valid),
        )

    def _prices(self, judge: _Judge) -> dict[str, Any]:
        settings = self.state.config.get("judges", [])
        number = self.judges.index(judge)
        return settings[number] if number < len(settings) else {}

    def _warnings(self, n_valid: int) -> list[str]:
        warnings = []
        for judge in self.judges:
            if judge.reported.changed:
                warnings.append(f"The judge {judge.plan.name} changed during the run.")
            if (n_truncated := judge.sums["truncated"]) > 0:
                warnings.append(f"{n_truncated} replies of {judge.plan.name} were cut by max_tokens.")
        if derivation_of(self.state.started) >= 3:
            roles = [(f"judge {judge.plan.name}", judge.model_id, judge.reported) for judge in self.judges]
            warnings += identity_warnings(self.state.started.identity, roles)
        if self._rows and not n_valid:
            warnings.append("No evaluation is valid: nothing here says anything about the targets.")
        if self.state.state != "complete":
            warnings.append(f"The run is {self.state.state}: {self._n_attempted} of {self.plan.n_samples} samples.")
        return warnings


def _manifest(state: JournalState, plan: ProtocolPlan, counts: _Counts, derived: dict[str, str]) -> ProtocolManifest:
    started = state.started
    last_at = state.ended or state.interrupted
    return ProtocolManifest(
        run_id=started.run_id,
        timestamp_utc=started.at,
        ended_utc=last_at.at if last_at else None,
        state=state.state,
        state_detail=state.interrupted.reason if state.interrupted and not state.ended else None,
        spec=plan.spec,
        spec_sha256=plan.spec_sha256,
        prompt_sha256=load_spec(plan.spec).file_sha256("prompt.txt"),
        dataset_id=started.identity["dataset_id"],
        dataset_version_or_hash=f"sha256:{plan.set_sha256}",
        n_outputs=plan.n_outputs,
        repeats=plan.repeats,
        evidence=plan.evidence,
        same_model=plan.same_model,
        judges={
            judge.plan.name: {
                "model_id": judge.plan.role.model_id,
                "model_version": judge.version(),
                "params": judge.plan.role.params,
            }
            for judge in counts.judges
        },
        judged_elsewhere=plan.judgements_sha256 is not None,
        code_version=started.code_version,
        environment=started.environment,
        config=started.config,
        plan_sha256=started.plan_sha256,
        inputs=started.inputs,
        journal_segments=state.n_segments,
        journal_facts=state.n_facts,
        journal_sha256=state.last_sha256,
        derived=derived,
        derived_by={"tables": writer_version()},
        manifest_sha256="",
        project_version=started.identity.get("project_version", msgspec.UNSET),
    )
