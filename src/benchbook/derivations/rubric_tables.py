"""A `rubric@v1` record's derived files, from its journal and inputs alone (SPEC C6).

One pass over the journal finds each sample's facts; a second, in plan order, makes the rows and counts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from benchbook.decisions import Decision, decide
from benchbook.decisions.early_stop import EarlyDecision
from benchbook.derivations.derived_files import hashes_of, pretty_json, write_manifest
from benchbook.derivations.early_stop import early_decision, early_stop_of, items_that_decided, was_asked
from benchbook.derivations.experiment import Repeats
from benchbook.derivations.identity import model_version
from benchbook.derivations.intervals import cases_of, further_intervals_of, intervals_of
from benchbook.derivations.model_id import parse_model_id
from benchbook.derivations.plan import Plan
from benchbook.derivations.rows import AggregatesFile, Ledger, Manifest, RubricRow
from benchbook.derivations.rubric_row import rubric_row
from benchbook.derivations.rubric_steps import History, SampleFact, no_answer_reason, outcome_of, read_history
from benchbook.derivations.slices import Slices
from benchbook.derivations.state import JournalState, read_state
from benchbook.derivations.warnings import score_warnings, state_warnings
from benchbook.errors import UsageError
from benchbook.evalsets import EvalSet, Item, open_evalset
from benchbook.records.facts import RunStarted
from benchbook.records.folder import Record, write_file
from benchbook.records.tables import write_table, writer_version
from benchbook.scorers.exact import as_float, percentile
from benchbook.scorers.rubric import rubric_scale, score_sample
from benchbook.scorers.rubric_aggregates import RubricTally
from benchbook.specs import load_spec

__all__ = ["DERIVATION", "DERIVED_FILES", "Derived", "SampleCheck", "derive", "plan_of"]

DERIVED_FILES = ("samples.parquet", "aggregates.json", "decision.json", "manifest.json")
# What is derived beside SPEC R4 and R6, as a record's first fact names it; 1 where it names none. An old record stays
# what it was, byte for byte. 2 added intervals of all means, rates and percentiles, their worst and best cases, the
# variance of repeats, and what would settle a gate.
DERIVATION = 2
_MILLION = Decimal(1_000_000)

# Called with each sample, its item and its facts before they are used; `verify` compares requests there.
SampleCheck = Callable[[int, Item, list[SampleFact]], None]


@dataclass(frozen=True, slots=True)
class Derived:
    manifest: Manifest
    aggregates: AggregatesFile
    decision: Decision | None  # None: refused, metadata is missing (R7.1)


def plan_of(started: RunStarted) -> Plan:
    """The plan in a record's first fact."""
    return msgspec.convert(started.identity["plan"], Plan)


def derive(
    record: Record,
    target: Path,
    *,
    confidence: float | None = None,
    check: SampleCheck | None = None,
    state: JournalState | None = None,
) -> Derived:
    """Write the derived files of `record` into the folder `target` (the record's own, or another to compare with).

    `confidence` asks that gates' bounds hold (R6.4); by default as the run was configured. `state` is the journal's,
    where the caller has read it already. Raises: RecordDamagedError, RecordError;
    UsageError for a `confidence` that a run which stopped early can't be asked for.
    """
    if state is None:
        state = read_state(record.journal)
    counts = _Counts(state)
    if confidence is not None and counts.early is not None:
        raise UsageError(
            f"{record.path}: it stopped early, by a test that holds whenever one looks, with an error of at most "
            f"{counts.early.error:g}; bounds at a confidence hold for a number of samples that was fixed before"
        )
    with open_evalset(record.input(state.started.inputs["evalset"])) as evalset:
        write_table(target / "samples.parquet", RubricRow, counts.rows(evalset, check))
    settle = confidence is not None or counts.derivation >= 2
    if confidence is None:
        confidence = state.config.get("confidence")
    aggregates = counts.aggregates_file()
    manifest_without_files = _manifest(state, counts.plan)
    decision = None
    if not manifest_without_files.missing_metadata:
        decision = decide(
            counts.tally,
            caps=_caps(state, aggregates.ledger, counts.early),
            intervals=aggregates.intervals if confidence in (None, 0.95) else intervals_of(counts.tally, confidence),
            confidence=confidence,
            settle=settle,
            early=counts.early,
        )
    write_file(target / "aggregates.json", pretty_json(aggregates))
    write_file(target / "decision.json", pretty_json(decision or _refusal(manifest_without_files)))
    manifest = msgspec.structs.replace(manifest_without_files, derived=hashes_of(target, DERIVED_FILES))
    digest = write_manifest(target, msgspec.structs.asdict(manifest))
    return Derived(msgspec.structs.replace(manifest, manifest_sha256=digest), aggregates, decision)


class _Counts:
    """All that is counted while the rows go by."""

    def __init__(self, state: JournalState) -> None:
        self.state = state
        self.plan = plan_of(state.started)
        self.tally = RubricTally(rubric_scale(frozenset(self.plan.unmeasured)))
        self.repeats = Repeats(self.plan.n_items, self.plan.repeats)
        self.slices = Slices()
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.unscored: Counter[str] = Counter()
        self.no_answer: Counter[str] = Counter()
        self.evaluator_latencies: Counter[int] = Counter()
        self.sums: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()  # tokens
        self.derivation: int = state.started.identity.get("derivation", 1)
        self.early = early_decision(self.plan, state.index.by_sample())
        self._items = items_that_decided(self.plan, self.early)
        self._groups: dict[str, int] = {}
        self._clustered = self.plan.repeats > 1 or self.state.started.identity["grouped"]

    def rows(self, evalset: EvalSet, check: SampleCheck | None) -> Iterator[RubricRow]:
        for sample, facts in self.state.index.by_sample():
            item = evalset[sample % self.plan.n_items]
            if check is not None:
                check(sample, item, facts)
            history = read_history(facts, self.plan)
            self._count_paid(history)
            if self._items is not None and sample % self.plan.n_items not in self._items:
                self.sums["after_the_decision"] += was_asked(facts)
                continue
            outcome = outcome_of(history)
            score = score_sample(outcome, self.tally.scale)
            row = rubric_row(sample, item, history, outcome, score, self.plan)
            self.tally.add(outcome, score, self._cluster(sample, item))
            self.repeats.add(row, score.sample_score_nano)
            self.slices.add(row, score.sample_score_nano)
            if (reason := no_answer_reason(history)) is not None:
                self.no_answer[reason] += 1
            self._count(row)
            yield row

    def _cluster(self, sample: int, item: Item) -> int | None:
        """Items of one group, and the repeats of one item, rise and fall together."""
        if not self._clustered:
            return None
        if item.group is not None:
            return -1 - self._groups.setdefault(item.group, len(self._groups))
        return sample % self.plan.n_items

    def _count(self, row: RubricRow) -> None:
        if row.evaluator_error is not None:
            detail = f":{row.parse_error_reason}" if row.parse_error_reason else ""
            self.unscored[row.evaluator_error + detail] += 1
        elif row.score_origin is None and row.accuracy_score is not None and row.faithfulness_score is not None:
            self.pairs[row.accuracy_score, row.faithfulness_score] += 1
        if row.evaluator_latency_ms is not None:
            self.evaluator_latencies[row.evaluator_latency_ms] += 1
        self.sums["evaluator_input_tokens"] += row.evaluator_input_tokens or 0
        self.sums["evaluator_output_tokens"] += row.evaluator_output_tokens or 0
        self.sums["transport_retries"] += row.transport_retries
        self.sums["parse_retries"] += row.parse_retries
        self.sums["cached"] += row.cached
        self.sums["truncated"] += row.truncated

    def _count_paid(self, history: History) -> None:
        """What replies cost, but for those from the response cache: they were paid for once."""
        if history.candidate is not None and not history.candidate.cached:
            self.paid["model_input"] += history.candidate.input_tokens or 0
            self.paid["model_output"] += history.candidate.output_tokens or 0
        for reply, _ in history.judge_replies:
            if not reply.cached:
                self.paid["judge_input"] += reply.input_tokens or 0
                self.paid["judge_output"] += reply.output_tokens or 0

    def aggregates_file(self) -> AggregatesFile:
        tally, sums = self.tally, self.sums
        aggregates = tally.aggregates()
        ledger = Ledger(
            n_planned=self.plan.n_samples,
            n_attempted=aggregates.n_samples,
            n_scored=aggregates.n_scored,
            n_unscored=aggregates.n_unscored,
            unscored_by_reason=dict(sorted(self.unscored.items())),
            n_no_answer=aggregates.n_no_answer,
            no_answer_by_reason=dict(sorted(self.no_answer.items())),
        )
        config = self.state.started.config
        return AggregatesFile(
            spec=self.plan.spec,
            ledger=ledger,
            aggregates=aggregates,
            intervals=intervals_of(tally, 0.95) | (further_intervals_of(tally, 0.95) if self.derivation >= 2 else {}),
            fail_reasons=dict(sorted(tally.fail_reasons.items())),
            accuracy_counts={str(score): tally.accuracy_counts[score] for score in (0, 1, 2)},
            faithfulness_counts={str(score): tally.faithfulness_counts[score] for score in (0, 1, 2)},
            repeats=self.repeats.summaries(),
            item_agreement=self.repeats.agreement(),
            slices=self.slices.rows(),
            evaluator_input_tokens=sums["evaluator_input_tokens"],
            evaluator_output_tokens=sums["evaluator_output_tokens"],
            evaluator_latency_p50_ms=as_float(percentile(self.evaluator_latencies, 50)),
            candidate_cost_usd=_cost(config, "model", self.paid),
            evaluator_cost_usd=_cost(config, "judge", self.paid),
            transport_retries=sums["transport_retries"],
            parse_retries=sums["parse_retries"],
            cached=sums["cached"],
            warnings=[
                *score_warnings(self.pairs, ledger, sums["truncated"], sums["cached"]),
                *state_warnings(self.state, self.plan),
            ],
            cases=cases_of(tally) if self.derivation >= 2 else msgspec.UNSET,
            variance=self.repeats.variance() if self.derivation >= 2 else msgspec.UNSET,
            early_stop=early_stop_of(self.plan, self.early, tally.n_samples, sums["after_the_decision"]),
        )


def _cost(config: dict[str, Any], role: str, paid: Counter[str]) -> str | None:
    """Dollars for the tokens that were paid for, at the configured prices; None where none was given."""
    prices = config.get(f"{role}_input_price"), config.get(f"{role}_output_price")
    if prices == (None, None):
        return None
    cost = sum(
        Decimal(str(price or 0)) * paid[f"{role}_{kind}"]
        for kind, price in zip(("input", "output"), prices, strict=True)
    )
    return f"{cost / _MILLION:.6f}"


def _caps(state: JournalState, ledger: Ledger, early: EarlyDecision | None) -> list[str]:
    """What makes INCONCLUSIVE the best possible decision (R7.2, and a run that is not whole)."""
    caps = []
    if (ledger.n_attempted < ledger.n_planned and early is None) or state.state != "complete":
        caps.append(f"incomplete: {ledger.n_attempted} of {ledger.n_planned} samples, the run is {state.state}")
    for name, reported in (("model", state.candidate_reported), ("judge", state.judge_reported)):
        if reported.changed:
            caps.append(f"the {name}'s snapshot or fingerprint changed during the run")
    return caps


def _manifest(state: JournalState, plan: Plan) -> Manifest:
    started = state.started
    spec = load_spec(plan.spec)
    last_at = state.ended or state.interrupted
    known: dict[str, Any] = {
        "run_id": started.run_id,
        "timestamp_utc": started.at,
        "dataset_id": started.identity["dataset_id"],
        "dataset_version_or_hash": f"sha256:{plan.evalset_sha256}",
        "model_id": plan.candidate.model_id,
        "model_version": model_version(parse_model_id(plan.candidate.model_id, "model"), state.candidate_reported),
        "evaluator_model_id": plan.judge.model_id,
        "evaluator_model_version": model_version(parse_model_id(plan.judge.model_id, "judge"), state.judge_reported),
        "prompt_template_id": plan.prompt_template_id,
        "prompt_template_version_or_hash": f"sha256:{plan.prompt_template_sha256}",
        "evaluator_prompt_template_version_or_hash": f"sha256:{spec.file_sha256('prompt.txt')}",
        "generation_params": started.identity["generation_params"]["model"],
        "code_version": started.code_version,
        "environment": started.environment,
    }
    return Manifest(
        **known,
        ended_utc=last_at.at if last_at else None,
        state=state.state,
        state_detail=state.interrupted.reason if state.interrupted and not state.ended else None,
        spec=plan.spec,
        spec_sha256=plan.spec_sha256,
        n_items=plan.n_items,
        repeats=plan.repeats,
        benchmark=plan.benchmark,
        evaluator_prompt_template_id=plan.spec,
        generation_params_effective=plan.candidate.params,
        evaluator_generation_params=started.identity["generation_params"]["judge"],
        evaluator_generation_params_effective=plan.judge.params,
        unmeasured=list(plan.unmeasured),
        reasoning_tags=sorted({*plan.candidate.reasoning_tags, *plan.judge.reasoning_tags}),
        config=started.config,
        plan_sha256=started.plan_sha256,
        inputs=started.inputs,
        journal_segments=state.n_segments,
        journal_facts=state.n_facts,
        journal_sha256=state.last_sha256,
        derived={},
        derived_by={"tables": writer_version()},
        manifest_sha256="",
        missing_metadata=[name for name, value in known.items() if value in (None, "", {})],
    )


def _refusal(manifest: Manifest) -> dict[str, Any]:
    return {
        "decision": None,
        "release_ready": False,
        "reasons": [f"refused: required metadata is missing (R7.1): {', '.join(manifest.missing_metadata)}"],
        "gates": [],
    }
