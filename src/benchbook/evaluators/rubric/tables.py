"""A rubric record's derived files, from its journal and inputs alone (SPEC C6).

One pass over the journal finds each sample's facts; a second, in plan order, makes the rows and counts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchbook.ask.unanswered import UnansweredCauses, Who, who_is_asked
from benchbook.errors import UsageError
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.claims import DEFAULT_CONFIDENCE
from benchbook.evaluators.contract import Confidence
from benchbook.evaluators.costs import PaidTokens, candidate_cost, evaluator_cost
from benchbook.evaluators.derivation import ONLY_THE_MODEL, derivation_of
from benchbook.evaluators.exact import as_float, percentile
from benchbook.evaluators.gates import Cap, Decision
from benchbook.evaluators.kept import recorded_evalset, set_warnings
from benchbook.evaluators.rubric.aggregates import aggregates_of
from benchbook.evaluators.rubric.asking import Early, early_decision, early_stop_of, items_that_decided, was_asked
from benchbook.evaluators.rubric.early_stop_gates import EarlyDecision
from benchbook.evaluators.rubric.early_stop_pairs import EarlyDifference
from benchbook.evaluators.rubric.intervals import cases_of, further_intervals_of, intervals_of
from benchbook.evaluators.rubric.manifest import manifest_of, refusal
from benchbook.evaluators.rubric.outcomes import outcome_of
from benchbook.evaluators.rubric.plan import Panel, Plan, plan_of
from benchbook.evaluators.rubric.reading import items_for, spec_of
from benchbook.evaluators.rubric.release import ClusterWord, by_points, decide, decide_by_bounds
from benchbook.evaluators.rubric.repeats import RepeatCounts, Slices
from benchbook.evaluators.rubric.row import Rows, aggregates_file_type, row_type
from benchbook.evaluators.rubric.rows import AggregatesFile, Ledger, RubricManifest, RubricRow
from benchbook.evaluators.rubric.scoring import SampleOutcome, score_sample
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.steps import (
    ItemOf,
    SampleHistory,
    candidate_error,
    no_answer_reason,
    read_history,
)
from benchbook.evaluators.rubric.tally import RubricTally
from benchbook.evaluators.rubric.warnings import (
    Given,
    RejectedCounts,
    benchmark_caps,
    judge_names,
    reported_by_name,
    score_warnings,
    state_warnings,
)
from benchbook.evaluators.signs import AnswerSigns
from benchbook.record.derived_files import hashes_of, pretty_json, tables_put_last, write_manifest
from benchbook.record.facts import RunStarted, SampleFact, cause_of
from benchbook.record.folder import Record
from benchbook.record.state import JournalState, read_state
from benchbook.record.tables import write_table
from benchbook.writing import write_file

DERIVED_FILES = ("samples.parquet", "aggregates.json", "decision.json", "manifest.json")

# Called with each sample, its item and its facts, to say what came of them; `verify` holds them against the plan there.
SampleCheck = Callable[[int, Item, list[SampleFact]], SampleHistory]


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
    check: SampleCheck | None = None,
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
        counts = _Counts(state, plan, spec, item_of)
    if confidence is not None and counts.early is not None:
        raise UsageError(
            f"{record.path}: it stopped early, by a test that holds whenever one looks, with an error of at most "
            f"{counts.early.error:g}; bounds at a confidence hold for a number of samples that was fixed before"
        )
    with tables_put_last(target) as tables:
        with recorded_evalset(record, state.started) as evalset:
            row_type = row_type_of(state.started, counts.spec)
            write_table(tables / "samples.parquet", row_type, counts.rows(evalset, check))
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

    def __init__(self, state: JournalState, plan: Plan, spec: RubricSpec, item_of: ItemOf) -> None:
        self.state = state
        self.plan = plan
        self.spec = spec
        self.derivation = derivation_of(state.started)
        self.tally = RubricTally(spec)
        self._rows = Rows(plan, spec, caused=self.derivation >= ONLY_THE_MODEL)
        self.repeats = RepeatCounts(self.plan.n_items, self.plan.repeats)
        self.slices = Slices(spec)
        self.signs = AnswerSigns(self.plan.candidate, spec.not_limited, derivation=self.derivation)
        self.rejected = RejectedCounts(judge_names(self.plan))
        self.given: dict[str, Given] = {name: Counter() for name in judge_names(self.plan)}
        self.unscored: Counter[str] = Counter()
        self.no_answer: Counter[str] = Counter()
        self.evaluator_latencies: Counter[int] = Counter()
        self.sums: Counter[str] = Counter()
        self.paid = PaidTokens()
        self.unanswered = UnansweredCauses(self.plan.n_samples)
        self.unanswered_causes: Counter[str] = Counter()
        self._model, self._judges = _who(state, self.plan)
        self.early = early_decision(self.plan, spec, state.index.by_sample(), self.derivation, item_of)
        self._items = items_that_decided(self.plan, self.early)
        self._groups: dict[str, int] = {}
        self._clustered = self.plan.repeats > 1 or self.state.started.identity["grouped"]

    def rows(self, evalset: EvalSet, check: SampleCheck | None) -> Iterator[RubricRow]:
        for sample, facts in self._samples():
            item = evalset[sample % self.plan.n_items]
            if check is not None:
                history = check(sample, item, facts)
            else:
                history = read_history(facts, self.plan, self.spec, self.derivation, item)
            self._count_paid(history)
            if self._items is not None and sample % self.plan.n_items not in self._items:
                self.sums["after_the_decision"] += was_asked(facts)
                continue
            outcome = outcome_of(history)
            score = score_sample(outcome, self.spec)
            row = self._rows.row(sample, item, history, outcome, score)
            self.tally.add(outcome, score, self._cluster(sample, item))
            self.repeats.add(row, outcome.scores, score.sample_score_nano)
            self.slices.add(row, outcome.scores, score.sample_score_nano)
            if (reason := no_answer_reason(history)) is not None:
                self.no_answer[reason] += 1
            self._count(row, outcome)
            self._count_scores(history)
            self._count_unanswered(history, outcome)
            if self.derivation >= ONLY_THE_MODEL:
                if history.candidate is not None:
                    self.signs.add(history.candidate, history.answer)
                self.rejected.add(history)
            yield row

    def _samples(self) -> Iterator[tuple[int, list[SampleFact]]]:
        """Every sample with facts, in plan order; all of the plan's where the user ended the run as it was (R1.3a)."""
        ended = self.state.ended
        if ended is None or not ended.accepts_unanswered:
            yield from self.state.index.by_sample()
            return
        following = 0
        for sample, facts in self.state.index.by_sample():
            yield from ((one, []) for one in range(following, sample))
            yield sample, facts
            following = sample + 1
        yield from ((one, []) for one in range(following, self.plan.n_samples))

    def _count_unanswered(self, history: SampleHistory, outcome: SampleOutcome) -> None:
        if (cause := candidate_error(history)) is not None:
            self.unanswered.add(self._model, history.last_failure)
            self.unanswered_causes[cause] += 1
        for number, judging in history.unreached:
            self.unanswered.add(self._judges[number], judging.last_failure)
        if outcome.awaits_judge:
            self.unanswered_causes[cause_of(history.unreached[0][1].last_failure)] += 1

    def _cluster(self, sample: int, item: Item) -> int | None:
        """Items of one group, and the repeats of one item, rise and fall together."""
        if not self._clustered:
            return None
        if item.group is not None:
            return -1 - self._groups.setdefault(item.group, len(self._groups))
        return sample % self.plan.n_items

    def _count(self, row: RubricRow, outcome: SampleOutcome) -> None:
        if row.evaluator_error is not None and not outcome.awaits_judge:
            detail = f":{row.parse_error_reason}" if row.parse_error_reason else ""
            self.unscored[row.evaluator_error + detail] += 1
        if row.evaluator_latency_ms is not None:
            self.evaluator_latencies[row.evaluator_latency_ms] += 1
        self.sums["evaluator_input_tokens"] += row.evaluator_input_tokens or 0
        self.sums["evaluator_output_tokens"] += row.evaluator_output_tokens or 0
        self.sums["transport_retries"] += row.transport_retries
        self.sums["parse_retries"] += row.parse_retries
        self.sums["cached"] += row.cached
        self.sums["truncated"] += row.truncated

    def _count_scores(self, history: SampleHistory) -> None:
        for given, judging in zip(self.given.values(), history.judges, strict=True):
            if judging.parsed is not None:
                scores = judging.parsed.scores
                given[self.spec.shown_scores(scores) if self.spec.by_item else scores] += 1

    def _count_paid(self, history: SampleHistory) -> None:
        if history.candidate is not None:
            self.paid.add("model", history.candidate)
        for reply, _ in history.judge_replies:
            self.paid.add(reply.judge, reply)

    def aggregates_file(self) -> AggregatesFile:
        tally, sums = self.tally, self.sums
        aggregates = aggregates_of(tally)
        by_model = self.derivation >= ONLY_THE_MODEL
        if not by_model:
            aggregates = msgspec.structs.replace(aggregates, n_unanswered=msgspec.UNSET)
        ledger = Ledger(
            n_planned=self.plan.n_samples,
            n_attempted=aggregates.n_samples,
            n_scored=aggregates.n_scored,
            n_unscored=aggregates.n_unscored,
            unscored_by_reason=dict(sorted(self.unscored.items())),
            n_no_answer=aggregates.n_no_answer,
            no_answer_by_reason=dict(sorted(self.no_answer.items())),
            n_unanswered=aggregates.n_unanswered,
            unanswered_by_cause=dict(sorted(self.unanswered_causes.items())) if by_model else msgspec.UNSET,
        )
        config = self.state.started.config
        unanswered = self.unanswered.found()
        of_set, doubts = set_warnings(self.state.started, judge_sees=self.spec.judge_sees) if by_model else ([], [])
        # Mistakes in the data, and what was not measured, make the numbers: they stand before them (R1.4).
        first = [*(one.words for one in unanswered), *of_set, *self.signs.first_warnings()] if by_model else []
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
            repeats=self.repeats.summaries(),
            item_agreement=self.repeats.agreement(),
            slices=self.slices.rows(),
            evaluator_input_tokens=sums["evaluator_input_tokens"],
            evaluator_output_tokens=sums["evaluator_output_tokens"],
            evaluator_latency_p50_ms=as_float(percentile(self.evaluator_latencies, 50)),
            candidate_cost_usd=candidate_cost(config, self.paid),
            evaluator_cost_usd=evaluator_cost(config, self.paid),
            transport_retries=sums["transport_retries"],
            parse_retries=sums["parse_retries"],
            cached=sums["cached"],
            warnings=[*first, *self._warnings(ledger, doubts)],
            n_warnings_first=len(first) if by_model else msgspec.UNSET,
            cases=cases_of(tally) if self.derivation >= 2 else msgspec.UNSET,
            variance=self.repeats.variance() if self.derivation >= 2 else msgspec.UNSET,
            early_stop=early_stop_of(self.plan, self.early, tally.n_samples, sums["after_the_decision"]),
            unanswered=unanswered if by_model else msgspec.UNSET,
        )

    def _warnings(self, ledger: Ledger, doubts: list[str]) -> list[str]:
        """The warnings that need not stand first. `doubts` are those about the eval set."""
        truncated, cached = self.sums["truncated"], self.sums["cached"]
        names = [one.name for one in self.spec.criteria]
        if self.derivation < ONLY_THE_MODEL:
            scored = score_warnings(self.given, names, ledger, truncated, cached)
            return [*scored, *state_warnings(self.state, self.plan)]
        return [
            *doubts,
            *score_warnings(self.given, names, ledger, self.signs.n_cut_and_judged, cached),
            *self.rejected.warnings(),
            *self.signs.warnings(),
            *state_warnings(self.state, self.plan),
        ]


def _who(state: JournalState, plan: Plan) -> tuple[Who, list[Who]]:
    """The model and each judge, at the addresses of the last sitting."""
    config = state.config
    model = who_is_asked(plan.candidate, "candidate", {"base_url": config.get("model_base_url")}, "model_")
    if not isinstance(plan.panel, Panel):
        judge = who_is_asked(plan.judge, "judge", {"base_url": config.get("judge_base_url")}, "judge_")
        return model, [judge]
    settings = config.get("judges") or [{}] * len(plan.judges)
    return model, [
        who_is_asked(judge, "judge", settings[number], f"judges[{number}].", plan.panel.names[number])
        for number, judge in enumerate(plan.judges)
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
