"""A `rubric@v1` record's derived files, from its journal and inputs alone (SPEC C6).

One pass over the journal finds each sample's facts; a second, in plan order, makes the rows and counts them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from benchbook.decisions import Decision, decide
from benchbook.derivations.experiment import Repeats
from benchbook.derivations.identity import model_version
from benchbook.derivations.intervals import intervals_of
from benchbook.derivations.model_id import parse_model_id
from benchbook.derivations.plan import Plan
from benchbook.derivations.requests import PromptTemplate
from benchbook.derivations.rows import AggregatesFile, Ledger, Manifest, RubricRow
from benchbook.derivations.rubric_row import rubric_row
from benchbook.derivations.rubric_steps import SampleFact, no_answer_reason, outcome_of, read_history
from benchbook.derivations.slices import Slices
from benchbook.derivations.state import JournalState, read_state
from benchbook.derivations.warnings import score_warnings, state_warnings
from benchbook.evalsets import EvalSet, Item, open_evalset
from benchbook.records.canonical import canonical_json
from benchbook.records.facts import RunStarted
from benchbook.records.folder import Record, write_file
from benchbook.records.tables import write_table, writer_version
from benchbook.scorers.exact import as_float, percentile
from benchbook.scorers.rubric import rubric_scale, score_sample
from benchbook.scorers.rubric_aggregates import RubricTally
from benchbook.specs import load_spec

__all__ = ["DERIVED_FILES", "Derived", "SampleCheck", "derive", "plan_of", "template_of", "write_manifest"]

DERIVED_FILES = ("samples.parquet", "aggregates.json", "decision.json", "manifest.json")
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


def template_of(record: Record, started: RunStarted) -> PromptTemplate:
    """The candidate's prompt template: the user's own, kept among the inputs, or the frozen one."""
    sha256 = started.inputs.get("prompt_template")
    text = None if sha256 is None else record.input(sha256).read_text(encoding="utf-8")
    return PromptTemplate(plan_of(started).prompt_template_id, text)


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
    where the caller has read it already. Raises: RecordDamagedError, RecordError.
    """
    if state is None:
        state = read_state(record.journal)
    counts = _Counts(state)
    with open_evalset(record.input(state.started.inputs["evalset"])) as evalset:
        write_table(target / "samples.parquet", RubricRow, counts.rows(evalset, check))
    if confidence is None:
        confidence = state.config.get("confidence")
    aggregates = counts.aggregates_file()
    manifest_without_files = _manifest(state, counts.plan)
    decision = None
    if not manifest_without_files.missing_metadata:
        decision = decide(
            counts.tally,
            caps=_caps(state, aggregates.ledger),
            intervals=aggregates.intervals if confidence in (None, 0.95) else intervals_of(counts.tally, confidence),
            confidence=confidence,
        )
    write_file(target / "aggregates.json", _pretty(aggregates))
    write_file(target / "decision.json", _pretty(decision or _refusal(manifest_without_files)))
    hashes = {name: _sha256_of(target / name) for name in DERIVED_FILES if name != "manifest.json"}
    manifest = msgspec.structs.replace(manifest_without_files, derived=hashes)
    return Derived(write_manifest(target, manifest), aggregates, decision)


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Write manifest.json with its own hash in it, and return it so."""
    unsigned = msgspec.structs.replace(manifest, manifest_sha256="")
    signed = msgspec.structs.replace(manifest, manifest_sha256=hashlib.sha256(canonical_json(unsigned)).hexdigest())
    write_file(folder / "manifest.json", _pretty(signed))
    return signed


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
        self._groups: dict[str, int] = {}
        self._clustered = self.plan.repeats > 1 or self.state.started.identity["grouped"]

    def rows(self, evalset: EvalSet, check: SampleCheck | None) -> Iterator[RubricRow]:
        for sample, facts in self.state.index.by_sample():
            item = evalset[sample % self.plan.n_items]
            if check is not None:
                check(sample, item, facts)
            history = read_history(facts, self.plan)
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
            intervals=intervals_of(tally, 0.95),
            fail_reasons=dict(sorted(tally.fail_reasons.items())),
            accuracy_counts={str(score): tally.accuracy_counts[score] for score in (0, 1, 2)},
            faithfulness_counts={str(score): tally.faithfulness_counts[score] for score in (0, 1, 2)},
            repeats=self.repeats.summaries(),
            item_agreement=self.repeats.agreement(),
            slices=self.slices.rows(),
            evaluator_input_tokens=sums["evaluator_input_tokens"],
            evaluator_output_tokens=sums["evaluator_output_tokens"],
            evaluator_latency_p50_ms=as_float(percentile(self.evaluator_latencies, 50)),
            candidate_cost_usd=_cost(config, "model", tally.input_tokens, tally.output_tokens),
            evaluator_cost_usd=_cost(config, "judge", sums["evaluator_input_tokens"], sums["evaluator_output_tokens"]),
            transport_retries=sums["transport_retries"],
            parse_retries=sums["parse_retries"],
            cached=sums["cached"],
            warnings=[
                *score_warnings(self.pairs, ledger, sums["truncated"], sums["cached"]),
                *state_warnings(self.state, self.plan),
            ],
        )


def _cost(config: dict[str, Any], role: str, input_tokens: int, output_tokens: int) -> str | None:
    """Dollars at the configured prices; None where none was given."""
    prices = config.get(f"{role}_input_price"), config.get(f"{role}_output_price")
    if prices == (None, None):
        return None
    cost = Decimal(str(prices[0] or 0)) * input_tokens + Decimal(str(prices[1] or 0)) * output_tokens
    return f"{cost / _MILLION:.6f}"


def _caps(state: JournalState, ledger: Ledger) -> list[str]:
    """What makes INCONCLUSIVE the best possible decision (R7.2, and a run that is not whole)."""
    caps = []
    if ledger.n_attempted < ledger.n_planned or state.state != "complete":
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


def _pretty(value: Any) -> bytes:
    """Canonical JSON, laid out to be read: same values, same bytes."""
    return msgspec.json.format(canonical_json(value), indent=2) + b"\n"


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
