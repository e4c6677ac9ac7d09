"""A rubric record's derived files, from its journal and inputs alone (SPEC C6).

One pass over the journal finds each sample's facts; a second, in plan order, makes the rows and counts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchbook.errors import UsageError
from benchbook.evalsets import EvalSet
from benchbook.evaluators.claims import DEFAULT_CONFIDENCE
from benchbook.evaluators.contract import Confidence
from benchbook.evaluators.costs import candidate_cost, evaluator_cost
from benchbook.evaluators.derivation import ONLY_THE_MODEL, derivation_of
from benchbook.evaluators.exact import as_float, percentile
from benchbook.evaluators.gates import Cap, Decision
from benchbook.evaluators.kept import recorded_evalset, set_warnings
from benchbook.evaluators.parts import parts_of_run
from benchbook.evaluators.rubric.aggregates import aggregates_of
from benchbook.evaluators.rubric.asking import Early, early_decision, early_stop_of, items_that_decided
from benchbook.evaluators.rubric.early_stop_gates import EarlyDecision
from benchbook.evaluators.rubric.early_stop_pairs import EarlyDifference
from benchbook.evaluators.rubric.held import RubricFactsCheck
from benchbook.evaluators.rubric.intervals import cases_of, further_intervals_of, intervals_of
from benchbook.evaluators.rubric.manifest import manifest_of, refusal
from benchbook.evaluators.rubric.parts import RubricJob, RubricParts
from benchbook.evaluators.rubric.plan import Panel, Plan, plan_of
from benchbook.evaluators.rubric.reading import items_for, spec_of
from benchbook.evaluators.rubric.release import ClusterWord, by_points, decide, decide_by_bounds
from benchbook.evaluators.rubric.row import aggregates_file_type, row_type
from benchbook.evaluators.rubric.rows import AggregatesFile, Ledger, RubricManifest, RubricRow
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.steps import (
    ItemOf,
)
from benchbook.evaluators.rubric.sums import RunSums
from benchbook.evaluators.rubric.tally import RubricTally
from benchbook.evaluators.rubric.warnings import (
    benchmark_caps,
    reported_by_name,
    score_warnings,
    state_warnings,
)
from benchbook.evaluators.workers import derived_parts, worker_count
from benchbook.record.derived_files import hashes_of, pretty_json, tables_put_last, write_manifest
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.record.state import JournalState
from benchbook.record.tables import TablePart, table_schema, write_table_parts
from benchbook.writing import write_file

DERIVED_FILES = ("samples.parquet", "aggregates.json", "decision.json", "manifest.json")


@dataclass(frozen=True, slots=True)
class Derived:
    manifest: RubricManifest
    aggregates: AggregatesFile
    decision: Decision | None  # None: refused, metadata is missing (R7.1)


def row_type_of(started: RunStarted, spec: RubricSpec) -> type[RubricRow]:
    """The type of a row of samples.parquet: with the votes, where a panel judged, and by the record's derivation."""
    plan = plan_of(started)
    caused = derivation_of(started) >= ONLY_THE_MODEL
    return row_type(spec, panel=isinstance(plan.panel, Panel), caused=caused)


def derive(
    record: Record,
    target: Path,
    *,
    confidence: Confidence | None = None,
    check: RubricFactsCheck | None = None,
    state: JournalState | None = None,
) -> Derived:
    """Write the derived files of `record` into the folder `target` (the record's own, or another to compare with).

    `confidence` is what is asked of gates' bounds (R6.4), "none" for a decision by points; by default as the run was
    configured. `state` is the journal's, where the caller has read it already. Raises: RecordDamagedError, RecordError;
    UsageError for a `confidence` that a run which stopped early can't be asked for.
    """
    if state is None:
        state = read_state(record.journal)
    plan = plan_of(state.started)
    spec = spec_of(record, plan)
    with items_for(record, plan, spec) as item_of:
        counts = _Counts(record, state, plan, spec, item_of)
    if confidence is not None and counts.early is not None:
        raise UsageError(
            f"{record.path}: it stopped early, by a test that holds whenever one looks, with an error of at most "
            f"{counts.early.error:g}; bounds at a confidence hold for a number of samples that was fixed before"
        )
    with tables_put_last(target) as tables:
        with recorded_evalset(record, state.started) as evalset:
            schema = table_schema(row_type_of(state.started, counts.spec))
            write_table_parts(tables / "samples.parquet", schema, counts.parts(evalset, check))
        aggregates = counts.aggregates_file()
        manifest_without_files = manifest_of(state, counts.plan, counts.spec)
        decision = None
        if not manifest_without_files.missing_metadata:
            decision = _decision(counts, aggregates, confidence)
        write_file(target / "aggregates.json", pretty_json(aggregates), synced=False)
        found = decision or refusal(manifest_without_files, counts.derivation)
        write_file(target / "decision.json", pretty_json(found), synced=False)
    manifest = msgspec.structs.replace(manifest_without_files, derived=hashes_of(target, DERIVED_FILES))
    digest = write_manifest(target, msgspec.to_builtins(manifest))
    return Derived(msgspec.structs.replace(manifest, manifest_sha256=digest), aggregates, decision)


def _decision(counts: _Counts, aggregates: AggregatesFile, asked: Confidence | None) -> Decision:
    """The decision by the confidence that is asked for, else by that of the run's config, else of its derivation."""
    settle = asked is not None or counts.derivation >= 2
    before = counts.derivation < ONLY_THE_MODEL
    wanted = asked or counts.state.config.get("confidence") or ("none" if before else DEFAULT_CONFIDENCE)
    confidence = None if wanted == "none" else float(wanted)
    caps = _caps(counts.state, counts.plan, aggregates.ledger, counts.early)
    intervals = aggregates.intervals
    if confidence not in (None, 0.95):
        intervals = intervals_of(counts.tally, confidence, counts.derivation)
    if before:
        by_gates = counts.early if isinstance(counts.early, EarlyDecision) else None
        return decide(
            counts.tally, caps=caps, intervals=intervals, confidence=confidence, settle=settle, early=by_gates
        )
    if confidence is None or counts.early is not None:
        return by_points(counts.tally, caps=caps, intervals=intervals, early=counts.early)
    clusters_are: ClusterWord = "groups" if counts.state.started.identity["grouped"] else "items"
    return decide_by_bounds(
        counts.tally, caps=caps, intervals=intervals, confidence=confidence, clusters_are=clusters_are
    )


class _Counts:
    """All that is counted while the rows go by."""

    def __init__(self, record: Record, state: JournalState, plan: Plan, spec: RubricSpec, item_of: ItemOf) -> None:
        self.record = record
        self.state = state
        self.plan = plan
        self.spec = spec
        self.derivation = derivation_of(state.started)
        self.early = early_decision(self.plan, spec, state.index.by_sample(), self.derivation, item_of)
        self._items = items_that_decided(self.plan, self.early)
        self.all = RunSums(state.started, state.config, plan, spec)
        self.all.paid.factors = state.price_factors

    @property
    def tally(self) -> RubricTally:
        return self.all.tally

    def parts(self, evalset: EvalSet, check: RubricFactsCheck | None) -> Iterator[TablePart]:
        """The rows of samples.parquet; they are counted as they go by."""
        deriving = RubricParts(self.state.started, self.state.config, self.plan, self.spec, self._items)
        ended = self.state.ended
        fills = ended is not None and ended.accepts_unanswered  # all of the plan's, as the run was ended (R1.3a)
        parts = parts_of_run(self.state, evalset, self.plan, fills=fills)
        job = RubricJob(self.record, self.state.started, self.state.config, check is not None)
        of_part = None if check is None else check.of_part
        may_be_sent = self._items is None and (of_part is None or of_part.asks_all)
        n_workers = worker_count(self.plan.n_samples) if may_be_sent else 1
        for found in derived_parts(job, parts, n_workers, lambda part: deriving.derive(part, of_part)):
            self.all.merge(found.sums)
            if check is not None and found.held is not None:
                check.merge(found.held, found.n_outputs)
            yield from found.rows

    def aggregates_file(self) -> AggregatesFile:
        tally, found = self.tally, self.all
        sums = found.sums
        aggregates = aggregates_of(tally)
        by_model = self.derivation >= ONLY_THE_MODEL
        if not by_model:
            aggregates = msgspec.structs.replace(aggregates, n_unanswered=msgspec.UNSET)
        ledger = Ledger(
            n_planned=self.plan.n_samples,
            n_attempted=aggregates.n_samples,
            n_scored=aggregates.n_scored,
            n_unscored=aggregates.n_unscored,
            unscored_by_reason=dict(sorted(found.unscored.items())),
            n_no_answer=aggregates.n_no_answer,
            no_answer_by_reason=dict(sorted(found.no_answer.items())),
            n_unanswered=aggregates.n_unanswered,
            unanswered_by_cause=dict(sorted(found.unanswered_causes.items())) if by_model else msgspec.UNSET,
        )
        config = self.state.started.config
        unanswered = found.unanswered.found()
        of_set, doubts = set_warnings(self.state.started, judge_sees=self.spec.judge_sees) if by_model else ([], [])
        # Mistakes in the data, and what was not measured, make the numbers: they stand before them (R1.4).
        first = [*(one.words for one in unanswered), *of_set, *found.signs.first_warnings()] if by_model else []
        counts = {
            f"{one.name}_counts": {str(score): counted[score] for score in one.scores}
            for one, counted in zip(self.spec.asked, tally.counts, strict=False)
        }
        return aggregates_file_type(self.spec)(
            spec=self.plan.spec,
            ledger=ledger,
            aggregates=aggregates,
            intervals=intervals_of(tally, 0.95, self.derivation)
            | (further_intervals_of(tally, 0.95, self.derivation) if self.derivation >= 2 else {}),
            fail_reasons=dict(sorted(tally.fail_reasons.items())),
            **counts,
            repeats=found.repeat_counts.summaries(),
            item_agreement=found.repeat_counts.agreement(),
            slices=found.slices.rows(),
            evaluator_input_tokens=sums["evaluator_input_tokens"],
            evaluator_output_tokens=sums["evaluator_output_tokens"],
            evaluator_latency_p50_ms=as_float(percentile(found.evaluator_latencies, 50)),
            candidate_cost_usd=candidate_cost(config, found.paid),
            evaluator_cost_usd=evaluator_cost(config, found.paid),
            transport_retries=sums["transport_retries"],
            parse_retries=sums["parse_retries"],
            cached=sums["cached"],
            warnings=[*first, *self._warnings(ledger, doubts)],
            n_warnings_first=len(first) if by_model else msgspec.UNSET,
            cases=cases_of(tally) if self.derivation >= 2 else msgspec.UNSET,
            variance=found.repeat_counts.variance() if self.derivation >= 2 else msgspec.UNSET,
            early_stop=early_stop_of(self.plan, self.early, tally.n_samples, sums["after_the_decision"]),
            unanswered=unanswered if by_model else msgspec.UNSET,
        )

    def _warnings(self, ledger: Ledger, doubts: list[str]) -> list[str]:
        """The warnings that need not stand first. `doubts` are those about the eval set."""
        found = self.all
        truncated, cached = found.sums["truncated"], found.sums["cached"]
        names = [one.name for one in self.spec.criteria]
        if self.derivation < ONLY_THE_MODEL:
            scored = score_warnings(found.given, names, ledger, truncated, cached)
            return [*scored, *state_warnings(self.state, self.plan)]
        return [
            *doubts,
            *score_warnings(found.given, names, ledger, found.signs.n_cut_and_judged, cached),
            *found.rejected.warnings(),
            *found.signs.warnings(),
            *state_warnings(self.state, self.plan),
        ]


def _caps(state: JournalState, plan: Plan, ledger: Ledger, early: Early | None) -> list[Cap]:
    """The caps that make INCONCLUSIVE the best possible decision (R7.2, and a run that is not whole)."""
    caps = []
    if (ledger.n_attempted < ledger.n_planned and early is None) or state.state != "complete":
        text = f"incomplete: {ledger.n_attempted} of {ledger.n_planned} samples, the run is {state.state}"
        caps.append(Cap("incomplete", text))
    if isinstance(early, EarlyDifference):
        # It ended where the passes so far favoured one run: no bound for a number that was fixed before holds there.
        text = f"{early.words}; the run ended there, and whether it is ready was not asked"
        caps.append(Cap("part_of_items", text))
    for name, reported in reported_by_name(state, plan):
        if reported.changed:
            caps.append(Cap("snapshot_changed", f"the {name}'s snapshot or fingerprint changed during the run"))
    if plan.benchmark and derivation_of(state.started) >= 3:
        caps += benchmark_caps(state, plan)
    return caps
