"""An `answer_correctness@v1` record's derived files, from its journal and inputs alone (SPEC C6, A4, A5, A7).

One pass over the journal finds each item's facts; a second, in the order of the eval set, makes the rows and counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from benchbook.ask.identity import floating_of, identity_warnings, model_version
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.unanswered import UnansweredCauses, Who, who_is_asked
from benchbook.canonical import canonical_json
from benchbook.errors import RecordError
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.answer_signs import AnswerSigns
from benchbook.evaluators.candidate import CandidatePlan, candidate_plan_of
from benchbook.evaluators.correctness.rows import (
    CorrectnessAggregates,
    CorrectnessDecision,
    CorrectnessManifest,
    CorrectnessRow,
    ItemRow,
    RunOfItems,
    RunStatus,
    correctness_row,
    row_type_of,
)
from benchbook.evaluators.correctness.scorecard import (
    GROUPINGS,
    MockJudge,
    Scorecard,
    ScorecardTally,
    failed_scorecard,
    floor_warning,
)
from benchbook.evaluators.derivation import ONLY_THE_MODEL, derivation_of
from benchbook.evaluators.intervals import rate_interval
from benchbook.evaluators.recorded_set import recorded_evalset, set_warnings
from benchbook.record.derived_files import hashes_of, pretty_json, write_manifest
from benchbook.record.facts import Failure, Reply, RunStarted
from benchbook.record.folder import Record, write_file
from benchbook.record.state import JournalState, read_state
from benchbook.record.tables import write_table, writer_version
from benchbook.training.logs import training_files, training_warnings, write_training

__all__ = ["DERIVED_FILES", "CorrectnessDerived", "SampleCheck", "derive_correctness", "dry_run_reason"]


DERIVED_FILES = ("samples.parquet", "samples.jsonl", "aggregates.json", "decision.json", "manifest.json")
CONFIDENCE = 0.95

# Called with each item's facts before they are used; `verify` looks at them there.
SampleCheck = Callable[[int, Item, list[Reply | Failure]], None]


@dataclass(frozen=True, slots=True)
class CorrectnessDerived:
    manifest: CorrectnessManifest
    aggregates: CorrectnessAggregates
    decision: CorrectnessDecision


def dry_run_reason(started: RunStarted) -> str | None:
    """Why a dry run has no per-item table (A6); None for a real one."""
    return MockJudge(started.spec).predictions().reason if started.identity["dry_run"] else None


def derive_correctness(
    record: Record, target: Path, *, check: SampleCheck | None = None, state: JournalState | None = None
) -> CorrectnessDerived:
    """Write the derived files of `record` into the folder `target` (the record's own, or another to compare with).

    Raises: RecordDamagedError, RecordError; UsageError where an item has no expected answer.
    """
    state = read_state(record.journal) if state is None else state
    counts = _Counts(state)
    with (
        recorded_evalset(record, state.started, needs_expected_answer=True) as evalset,
        _whole_file(target / "samples.jsonl") as lines,
    ):
        rows = _written_to(lines, counts.rows(evalset, check))
        write_table(target / "samples.parquet", row_type_of(state.started), rows)
    write_training(record, state.started, target)
    aggregates, decision = counts.aggregates(), counts.decision()
    write_file(target / "aggregates.json", pretty_json(aggregates))
    write_file(target / "decision.json", pretty_json(decision))
    manifest = _manifest(state, counts, hashes_of(target, (*DERIVED_FILES, *training_files(state.started))))
    digest = write_manifest(target, msgspec.structs.asdict(manifest))
    return CorrectnessDerived(msgspec.structs.replace(manifest, manifest_sha256=digest), aggregates, decision)


@contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under `path` once all of it is written."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
        temporary.replace(path)
    except OSError as error:
        raise RecordError(f"{path}: can't be written ({error.strerror or error})") from None
    finally:
        temporary.unlink(missing_ok=True)


def _written_to(file: BinaryIO, rows: Iterator[CorrectnessRow]) -> Iterator[CorrectnessRow]:
    for row in rows:
        file.write(canonical_json(row) + b"\n")
        yield row


@dataclass(slots=True)
class _Counts:
    """All that is counted while the rows go by."""

    state: JournalState
    tally: ScorecardTally = field(init=False)
    errors: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)  # by cause
    causes: UnansweredCauses = field(init=False)
    signs: AnswerSigns = field(init=False)
    _clusters: dict[str, list[int]] = field(default_factory=dict)  # a group, or an item: its size, and its right ones

    def __post_init__(self) -> None:
        self.tally = ScorecardTally(asked=self.derivation >= 3 and bool(self.plan.prompt_template_id))
        self.causes = UnansweredCauses(self.plan.n_samples)
        self.signs = AnswerSigns(self.plan.candidate, done="scored")

    @property
    def derivation(self) -> int:
        return derivation_of(self.state.started)

    @property
    def plan(self) -> CandidatePlan:
        return candidate_plan_of(self.state.started)

    @property
    def run_status(self) -> RunStatus:
        status: RunStatus = self.state.started.identity["run_status"]
        return status

    def rows(self, evalset: EvalSet, check: SampleCheck | None) -> Iterator[CorrectnessRow]:
        plan = self.plan
        run = RunOfItems(plan, self.run_status, self.state.ended is not None, self.derivation)
        if dry_run_reason(self.state.started) is not None:
            return
        clustered = evalset.grouped or plan.repeats > 1
        for sample, facts in _with_the_missing(self.state.index.by_sample(), plan.n_samples):
            item = evalset[sample % plan.n_items]
            if check is not None and facts:
                check(sample, item, facts)
            row = correctness_row(sample, item, facts, run)
            self._count(row, item, clustered=clustered)
            if isinstance(row, ItemRow) and row.candidate_error is not None:
                last = facts[-1] if facts else None
                self.causes.add(self._model(), last if isinstance(last, Failure) else None)
            if self.tally.asked:
                self._look_at(row, facts)
            yield row

    def _look_at(self, row: CorrectnessRow, facts: list[Reply | Failure]) -> None:
        reply = next((fact for fact in facts if isinstance(fact, Reply)), None)
        if reply is not None:
            self.signs.add(reply, row.predicted if (row.predicted or "").strip() else None)

    def _model(self) -> Who:
        config = self.state.config
        return who_is_asked(self.plan.candidate, "candidate", {"base_url": config.get("model_base_url")}, "model_")

    def _count(self, row: CorrectnessRow, item: Item, *, clustered: bool) -> None:
        values = {name: getattr(item, name) for name in GROUPINGS}
        if row.error is not None:
            self.errors[row.error] += 1
        if isinstance(row, ItemRow) and row.candidate_error is not None:
            self.unanswered[row.candidate_error] += 1
            self.tally.add_unanswered(values, counts_zero=row.correctness is not None)
        else:
            n_scored = None if self.derivation >= 3 else int(row.predicted is not None)
            self.tally.add(values, row.miss_reason, n_scored=n_scored)  # type: ignore[arg-type]
        if clustered and row.correctness is not None:
            name = f"group {item.group}" if item.group is not None else f"item {item.id}"
            sums = self._clusters.setdefault(name, [0, 0])
            sums[0] += 1
            sums[1] += int(row.correctness)

    def scorecard(self) -> Scorecard:
        card = self.tally.scorecard()
        if self.derivation >= 3 and not self.tally.asked:
            card = msgspec.structs.replace(card, n_unanswered=0)  # a recorded prediction is there, or missing
        return card if self.run_status == "completed" else failed_scorecard(card)

    def aggregates(self) -> CorrectnessAggregates:
        card = self.scorecard()
        failed = self.run_status != "completed"
        whole = self.tally.whole
        n_correct = 0 if failed else whole.n_correct
        clusters = [(n, k) for n, k in self._clusters.values()]
        interval = rate_interval(n_correct, whole.n_items - whole.n_left_out, clusters, CONFIDENCE, self.derivation)
        if failed:
            interval = msgspec.structs.replace(interval, low=None, high=None, reason="run_failed")
        unanswered = self.causes.found()
        first = [*(one.words for one in unanswered), *set_warnings(self.state.started, judged=False)[0]]
        return CorrectnessAggregates(
            **msgspec.structs.asdict(card),
            spec=self.plan.spec,
            n_correct=n_correct,
            interval=interval,
            errors=dict(sorted(self.errors.items())),
            floor_warning=None if failed else floor_warning(card),
            warnings=[*first, *self._warnings(card)],
            unanswered=unanswered if self.derivation >= ONLY_THE_MODEL else msgspec.UNSET,
            n_warnings_first=len(first) if self.derivation >= ONLY_THE_MODEL else msgspec.UNSET,
        )

    def _warnings(self, card: Scorecard) -> Iterator[str]:
        if n := self.tally.whole.n_unanswered:
            what = "left out of the score until they are answered" if self.tally.whole.n_left_out else "each counts 0.0"
            yield f"{n} of {card.n_items} items are unanswered ({self._causes()}): {what} (SPEC R1.3b)."
        if card.n_skipped:
            yield f"{card.n_skipped} of {card.n_items} items have no prediction; each counts 0.0 (SPEC A3)."
        yield from training_warnings(self.state.started)
        if n := self.signs.n_cut_and_judged:
            yield f"{n} {'answer was' if n == 1 else 'answers were'} cut by max_tokens, and scored so."
        yield from self.signs.warnings()
        if self.state.candidate_reported.changed:
            yield "The model's snapshot or fingerprint changed during the run."
        if derivation_of(self.state.started) >= 3:
            model_id = parse_model_id(self.plan.candidate.model_id, "model")
            yield from identity_warnings(
                self.state.started.identity, [("model", model_id, self.state.candidate_reported)]
            )

    def _causes(self) -> str:
        return ", ".join(f"{cause} {n}" for cause, n in sorted(self.unanswered.items()))

    def decision(self) -> CorrectnessDecision:
        if (dry := dry_run_reason(self.state.started)) is not None:
            return CorrectnessDecision(verdict="unavailable", reason=dry)
        if self.derivation >= 3 and self.state.ended is None:
            return CorrectnessDecision(verdict="incomplete", reason=self._how_it_stands())
        why = self._why_failed()
        return CorrectnessDecision(verdict="pass" if why is None else "fail", reason=why)

    def _why_failed(self) -> str | None:
        if self.run_status != "completed":
            why = self.state.started.identity["run_status_reason"]
            return f"the run {self.run_status.replace('_', ' ')}" + (f": {why}" if why else "")
        whole = self.tally.whole
        if self.state.ended is None:
            return self._how_it_stands()
        if whole.n_unanswered:
            return f"it was ended with {whole.n_unanswered} of {whole.n_items} items unanswered: {self._causes()}"
        return None if whole.n_scored else "no item has a prediction"

    def _how_it_stands(self) -> str:
        """Of a run that was not ended."""
        detail = f" ({self.state.interrupted.reason})" if self.state.interrupted else ""
        whole = self.tally.whole
        return f"the run is {self.state.state}{detail}: {whole.n_scored} of {whole.n_items} items have a prediction"


def _with_the_missing(
    found: Iterator[tuple[int, list[Reply | Failure]]], n_samples: int
) -> Iterator[tuple[int, list[Reply | Failure]]]:
    """`found`, with the samples between that have no fact: A4 counts every item."""
    following = 0
    for sample, facts in found:
        yield from ((missing, []) for missing in range(following, sample))
        yield sample, facts
        following = sample + 1
    yield from ((missing, []) for missing in range(following, n_samples))


def _manifest(state: JournalState, counts: _Counts, derived: dict[str, str]) -> CorrectnessManifest:
    started, plan = state.started, counts.plan
    last_at = state.ended or state.interrupted
    identity = started.identity
    return CorrectnessManifest(
        run_id=started.run_id,
        timestamp_utc=started.at,
        ended_utc=last_at.at if last_at else None,
        state=state.state,
        state_detail=state.interrupted.reason if state.interrupted and not state.ended else None,
        run_status=counts.run_status,
        run_status_reason=identity["run_status_reason"],
        dry_run=identity["dry_run"],
        spec=plan.spec,
        spec_sha256=plan.spec_sha256,
        dataset_id=identity["dataset_id"],
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
        code_version=started.code_version,
        environment=started.environment,
        reasoning_tags=sorted(plan.candidate.reasoning_tags),
        config=started.config,
        plan_sha256=started.plan_sha256,
        inputs=started.inputs,
        journal_segments=state.n_segments,
        journal_facts=state.n_facts,
        journal_sha256=state.last_sha256,
        derived=derived,
        derived_by={"tables": writer_version()},
        manifest_sha256="",
        part=plan.part_said,
        project_version=identity.get("project_version", msgspec.UNSET),
    )
