"""All that is counted of a record of answers while its rows go by, and what its aggregates are made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

from benchbook.ask.identity import identity_warnings
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.unanswered import UnansweredCauses, Who, who_is_asked
from benchbook.canonical import canonical_json
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.answers.metric import NO_FIELDS, UNSCORED, Metric
from benchbook.evaluators.answers.plain import PlainAnswers
from benchbook.evaluators.answers.rows import ItemOutcome, RunOfItems, item_outcome
from benchbook.evaluators.answers.scorecard import (
    GROUPINGS,
    MockJudge,
    Scorecard,
    ScorecardTally,
    Sums,
    failed_scorecard,
)
from benchbook.evaluators.candidate import CandidatePlan, candidate_plan_of
from benchbook.evaluators.derivation import ONLY_THE_MODEL, cited, derivation_of
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.gates import Decision, RunVerdict, Verdict
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.kept import set_warnings
from benchbook.evaluators.parts import SampleFacts, parts_of_run
from benchbook.evaluators.settings import RunStatus
from benchbook.evaluators.signs import AnswerSigns
from benchbook.record.facts import Failure, Reply, RunStarted
from benchbook.record.state import JournalState
from benchbook.record.tables import TablePart, in_order, table_parts, table_schema
from benchbook.training.logs import training_warnings

# Called with each item's facts before they are used; `verify` looks at them there.
SampleCheck = Callable[[int, Item, list[Reply | Failure]], None]


def dry_run_reason(started: RunStarted) -> str | None:
    """The reason why a dry run has no per-item table (A6); None for a real one."""
    return MockJudge(started.spec).predictions().reason if started.identity["dry_run"] else None


@dataclass(slots=True)
class Counted:
    """All that is counted while the rows go by. `score` and `measured` have the exact sums, `missed` the reasons of
    each part of the metric."""

    state: JournalState
    metric: Metric
    tally: ScorecardTally = field(init=False)
    score: Sums = field(init=False)
    measured: dict[str, Sums] = field(init=False)
    missed: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    errors: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)  # by cause
    open: Counter[str | None] = field(default_factory=Counter)  # items without a score of their own, by cluster
    causes: UnansweredCauses = field(init=False)
    signs: AnswerSigns = field(init=False)
    is_part: bool = False  # it is to be added to what was counted before

    def __post_init__(self) -> None:
        self.tally = self.metric.tally(asked=self.derivation >= 3 and self._asks_a_model)
        self.score = Sums(self.metric.is_rate)
        self.measured = {name: Sums(is_rate) for name, is_rate in self.metric.rates.items()}
        self.causes = UnansweredCauses(self.plan.n_samples, is_part=self.is_part)
        self.signs = AnswerSigns(self.plan.candidate, done="scored", derivation=self.derivation)

    @property
    def derivation(self) -> int:
        return derivation_of(self.state.started)

    @property
    def row_type(self) -> type[msgspec.Struct]:
        return self.metric.row_type(self.derivation)

    @property
    def plan(self) -> CandidatePlan:
        return candidate_plan_of(self.state.started)

    @property
    def _asks_a_model(self) -> bool:
        return bool(self.plan.prompt_template_id) or self.metric.was_asked_elsewhere

    @property
    def run_status(self) -> RunStatus:
        status: RunStatus = self.state.started.identity["run_status"]
        return status

    @property
    def failed(self) -> bool:
        """True if the run itself failed: it scores 0.0 on all items (A3)."""
        return self.run_status != "completed"

    def parts(self, evalset: EvalSet, check: SampleCheck | None, lines: BinaryIO) -> Iterator[TablePart]:
        """The rows, which are counted as they go by, and written as lines, too."""
        if dry_run_reason(self.state.started) is not None:
            return
        run = self.run_of_items()
        clustered = evalset.grouped or self.plan.repeats > 1
        at_once = None if clustered or self.metric.keeps_fields else PlainAnswers(run, self.row_type)
        for part in parts_of_run(self.state, evalset, self.plan, fills=True):
            samples, items = part.read()
            if check is not None:
                for (sample, facts), item in zip(samples, items, strict=True):
                    if facts:
                        check(sample, item, facts)
            found = None if at_once is None else self._at_once(at_once, samples, items, run, lines)
            if found is None:
                rows = self._rows(samples, items, range(len(samples)), evalset, run, clustered=clustered)
                yield from table_parts(table_schema(self.row_type), _written_to(lines, rows))
            else:
                yield from found

    def run_of_items(self) -> RunOfItems:
        """The facts that hold for all of its items."""
        return RunOfItems(self.metric, self.plan, self.run_status, self.state.ended is not None, self.derivation)

    def _at_once(
        self,
        at_once: PlainAnswers,
        samples: Sequence[SampleFacts],
        items: Sequence[Item],
        run: RunOfItems,
        lines: BinaryIO,
    ) -> list[TablePart] | None:
        """Count plain answers at once, and the others one by one; None where all have to be."""
        picked = [at_once.pick(sample, item, facts) for (sample, facts), item in zip(samples, items, strict=True)]
        plain = [one for one in picked if one is not None]
        if not plain:
            return None
        try:
            part, of_plain = at_once.rows(plain)
        except (UnicodeEncodeError, OverflowError):
            return None
        at_once.count(plain, self)
        places = [place for place, one in enumerate(picked) if one is None]
        rows = list(self._rows(samples, items, places, None, run, clustered=False))
        line_of = iter(of_plain)
        others = iter([canonical_json(row) + b"\n" for row in rows])
        lines.writelines(next(others if one is None else line_of) for one in picked)
        return in_order([part, *table_parts(table_schema(self.row_type), rows)], "sample")

    def _rows(
        self,
        samples: Sequence[SampleFacts],
        items: Sequence[Item],
        places: Iterable[int],
        evalset: EvalSet | None,
        run: RunOfItems,
        *,
        clustered: bool,
    ) -> Iterator[Any]:
        """The rows of some of these samples, each of which is counted. `evalset` has the fields that a metric keeps."""
        row_type = self.row_type
        for place in places:
            (sample, facts), item = samples[place], items[place]
            keeps = evalset is not None and self.metric.keeps_fields
            fields = evalset.fields(sample % run.plan.n_items) if evalset is not None and keeps else NO_FIELDS
            outcome = item_outcome(sample, item, fields, facts, run, row_type)
            self._count(outcome, item, clustered=clustered)
            if outcome.unanswered is not None:
                last = facts[-1] if facts else None
                self.causes.add(self._model(), last if isinstance(last, Failure) else None)
            if self.tally.asked:
                self._look_at(outcome.row.predicted, facts)
            yield outcome.row

    def merge(self, more: Counted) -> None:
        """Add what was counted of the items that come after these, as a part."""
        self.tally.merge(more.tally)
        self.score.merge(more.score)
        for name, sums in more.measured.items():
            self.measured[name].merge(sums)
        for part, reasons in more.missed.items():
            self.missed[part].update(reasons)
        self.errors.update(more.errors)
        self.unanswered.update(more.unanswered)
        self.open.update(more.open)
        self.causes.merge(more.causes)
        self.signs.merge(more.signs)

    def _look_at(self, predicted: str | None, facts: list[Reply | Failure]) -> None:
        reply = next((fact for fact in facts if isinstance(fact, Reply)), None)
        if reply is not None:
            self.signs.add(reply, predicted if (predicted or "").strip() else None)

    def _model(self) -> Who:
        config = self.state.config
        who = who_is_asked(self.plan.candidate, "candidate", {"base_url": config.get("model_base_url")}, "model_")
        return msgspec.structs.replace(who, by_another_tool=self.metric.was_asked_elsewhere)

    def _count(self, outcome: ItemOutcome, item: Item, *, clustered: bool) -> None:
        values = {name: getattr(item, name) for name in GROUPINGS}
        row, scored = outcome.row, outcome.scored
        if row.error is not None:
            self.errors[row.error] += 1
        if outcome.unanswered is not None:
            self.unanswered[outcome.unanswered] += 1
            self.tally.add_unanswered(values, counts_zero=scored is not None)
        elif outcome.unscored is not None:
            self.tally.add_unscored(values)
            self.missed[UNSCORED][outcome.unscored.why] += 1
        elif scored is not None:
            has = scored.has_prediction if self.derivation >= 3 else row.predicted is not None
            self.tally.add(values, scored.reason, score_nano=scored.score_nano, n_scored=int(has))
        cluster = None
        if clustered:
            cluster = f"group {item.group}" if item.group is not None else f"item {item.id}"
        is_answered = outcome.unanswered is None
        if not is_answered or scored is None:
            self.open[cluster] += 1
        if scored is None:
            return
        score_nano = 0 if self.failed else scored.score_nano
        score = score_nano // NANO if self.metric.is_rate else score_nano
        self.score.add(score, cluster, is_answered=is_answered)
        for name, value in scored.measured.items():
            self.measured[name].add(value, cluster, is_answered=is_answered)
        for part, why in scored.missed.items():
            self.missed[part][why] += 1

    def scorecard(self) -> Scorecard:
        card = self.tally.scorecard()
        if self.derivation >= 3 and not self.tally.asked:
            card = msgspec.structs.replace(card, n_unanswered=0)  # a recorded prediction is there, or missing
        return failed_scorecard(card) if self.failed else card

    def interval(self, sums: Sums) -> Interval:
        """The interval of a measure; without bounds where the run failed."""
        found = sums.interval(self.derivation)
        return msgspec.structs.replace(found, low=None, high=None, reason="run_failed") if self.failed else found

    @property
    def sums(self) -> dict[str, Sums]:
        """The sums behind each mean, by its name among the aggregates."""
        return {"primary_score": self.score, **self.measured}

    def mean(self, name: str) -> float | None:
        """The mean of one of `sums`; 0.0 where the run failed (A3)."""
        sums = self.sums[name]
        return 0.0 if self.failed and sums.n else sums.mean

    def passing(self) -> dict[str, Any]:
        """The aggregates of a metric that measures `pass_rate`, and the intervals of all its means."""
        return {
            "n_passed": 0 if self.failed else self.measured["pass_rate"].total,
            "pass_rate": self.mean("pass_rate"),
            "intervals": {name: self.interval(one) for name, one in self.sums.items()},
        }

    def aggregates(self) -> msgspec.Struct:
        card = self.scorecard()
        unanswered = self.causes.found()
        lacking = [*(one.words for one in unanswered), *self.metric.first_warnings(self)]
        first = [*lacking, *set_warnings(self.state.started, judge_sees=())[0]]
        values = {
            **msgspec.structs.asdict(card),
            "spec": self.plan.spec,
            "errors": dict(sorted(self.errors.items())),
            "warnings": [*first, *self._warnings(card)],
            "unanswered": unanswered if self.derivation >= ONLY_THE_MODEL else msgspec.UNSET,
            "n_warnings_first": len(first) if self.derivation >= ONLY_THE_MODEL else msgspec.UNSET,
        }
        return self.metric.aggregates(values, self)

    def _warnings(self, card: Scorecard) -> Iterator[str]:
        if n := self.tally.whole.n_unanswered:
            what = "left out of the score until they are answered" if self.tally.whole.n_left_out else "each counts 0.0"
            clause = cited("SPEC R1.3b", self.derivation)
            yield f"{n} of {card.n_items} items are unanswered ({self._causes()}): {what}{clause}."
        if card.n_skipped:
            clause = cited("SPEC A3", self.derivation)
            yield f"{card.n_skipped} of {card.n_items} items have no prediction; each counts 0.0{clause}."
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

    def decision(self, aggregates: msgspec.Struct) -> Decision | RunVerdict:
        return self.metric.decision(*self._verdict(), aggregates, self)

    def _verdict(self) -> tuple[Verdict, str | None]:
        """The verdict on the run itself, and the reason where it failed (A3)."""
        if (dry := dry_run_reason(self.state.started)) is not None:
            return "unavailable", dry
        if self.derivation >= 3 and self.state.ended is None:
            return "incomplete", self._how_it_stands()
        why = self._why_failed()
        return ("pass" if why is None else "fail"), why

    def _why_failed(self) -> str | None:
        if self.run_status != "completed":
            why = self.state.started.identity["run_status_reason"]
            return f"the run {self.run_status.replace('_', ' ')}" + (f": {why}" if why else "")
        whole = self.tally.whole
        if self.state.ended is None:
            return self._how_it_stands()
        if (why := self.metric.why_failed(self)) is not None:
            return why
        if whole.n_unanswered and not whole.n_left_out:
            return f"it was ended with {whole.n_unanswered} of {whole.n_items} items unanswered: {self._causes()}"
        if whole.n_unscored and not whole.n_scored:
            return "no item has a score"
        return None if whole.n_scored else "no item has a prediction"

    def _how_it_stands(self) -> str:
        """The state of a run that was not ended, in words."""
        detail = f" ({self.state.interrupted.reason})" if self.state.interrupted else ""
        whole = self.tally.whole
        has = f"{whole.n_scored + whole.n_unscored} of {whole.n_items} items have a prediction"
        lacks = f", and {whole.n_unscored} of these no score" if whole.n_unscored else ""
        return f"the run is {self.state.state}{detail}: {has}{lacks}"


def _written_to(file: BinaryIO, rows: Iterator[Any]) -> Iterator[Any]:
    for row in rows:
        file.write(canonical_json(row) + b"\n")
        yield row
