"""All that is counted of a run's samples while their rows go by: of some of them, to be added to those before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchbook.ask.unanswered import UnansweredCauses, Who, who_is_asked
from benchbook.evalsets import Item
from benchbook.evaluators.costs import PaidTokens
from benchbook.evaluators.derivation import ONLY_THE_MODEL, derivation_of
from benchbook.evaluators.rubric.plain import PlainSamples
from benchbook.evaluators.rubric.plan import Panel, Plan
from benchbook.evaluators.rubric.repeats import RepeatCounts, RepeatRow, RepeatRows, Slices, hash_of_answer
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.evaluators.rubric.scoring import RubricScore, SampleOutcome
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.steps import SampleHistory, candidate_error, no_answer_reason
from benchbook.evaluators.rubric.tally import RubricTally
from benchbook.evaluators.rubric.warnings import Given, RejectedCounts, judge_names
from benchbook.evaluators.signs import AnswerSigns
from benchbook.record.facts import RunStarted, cause_of


class SampleSums:
    """Counts and exact sums over some samples, in the order of the plan.

    `config` has the settings of the last sitting. `clustered`: samples of one group or item rise and fall together.
    `is_part`: they are to be added to the sums of the samples before.
    """

    def __init__(
        self,
        plan: Plan,
        spec: RubricSpec,
        derivation: int,
        config: Mapping[str, Any],
        *,
        clustered: bool,
        is_part: bool = True,
    ) -> None:
        self._plan = plan
        self._spec = spec
        self._by_model = derivation >= ONLY_THE_MODEL
        self._clustered = clustered
        self._model, self._judges = _who(config, plan)
        self.tally = RubricTally(spec)
        self.repeats = RepeatRows(plan.repeats)
        self.slices = Slices(spec)
        self.signs = AnswerSigns(plan.candidate, spec.not_limited, derivation=derivation)
        self.rejected = RejectedCounts(judge_names(plan))
        self.given: dict[str, Given] = {name: Counter() for name in judge_names(plan)}
        self.unscored: Counter[str] = Counter()
        self.no_answer: Counter[str] = Counter()
        self.evaluator_latencies: Counter[int] = Counter()
        self.sums: Counter[str] = Counter()
        self.paid = PaidTokens()
        self.unanswered = UnansweredCauses(plan.n_samples, is_part=is_part)
        self.unanswered_causes: Counter[str] = Counter()
        self._groups: dict[str, int] = {}

    def add(
        self,
        sample: int,
        item: Item,
        history: SampleHistory,
        outcome: SampleOutcome,
        score: RubricScore,
        row: RubricRow,
    ) -> None:
        """Count one sample."""
        self.tally.add(outcome, score, self.cluster(sample, item))
        self.repeats.add(
            RepeatRow(
                row.repeat, sample % self._plan.n_items, hash_of_answer(row.answer_sha256), row.passed,
                row.latency_e2e_ms, outcome.scores, score.sample_score_nano,
            )
        )  # fmt: skip
        self.slices.add(item, outcome.scores, score.sample_score_nano, passed=row.passed)
        if (reason := no_answer_reason(history)) is not None:
            self.no_answer[reason] += 1
        self._count(row, outcome)
        self._count_scores(history)
        self._count_unanswered(history, outcome)
        if self._by_model:
            if history.candidate is not None:
                self.signs.add(history.candidate, history.answer)
            self.rejected.add(history)

    def begin(self, samples: Iterable[tuple[int, Item]]) -> None:
        """Number the clusters of these samples in their order, before they are counted in whichever order."""
        if self._clustered:
            for sample, item in samples:
                number = self.cluster(sample, item)
                assert number is not None  # noqa: S101 - every sample has one
                self.tally.cluster(number)

    def add_plain(self, samples: PlainSamples) -> None:
        """Count samples that went as planned."""
        answers, verdicts = samples.calls.answers, samples.calls.verdicts
        latencies = [ms for one in answers if (ms := one.latency_e2e_ms) is not None]
        self._tally_plain(samples, latencies)
        self._compare_plain(samples, latencies)
        self.slices.add_plain(samples)
        next(iter(self.given.values())).update(samples.scores)
        self.evaluator_latencies.update([ms for one in verdicts if (ms := one.latency_e2e_ms) is not None])
        self.sums["evaluator_input_tokens"] += sum([one.input_tokens or 0 for one in verdicts])
        self.sums["evaluator_output_tokens"] += sum([one.output_tokens or 0 for one in verdicts])
        self.sums["cached"] += sum([one.cached for one in answers])
        self.sums["truncated"] += sum([one.finish_reason == "length" for one in answers])
        self.paid.add_all("model", answers)
        self.paid.add_all(0, verdicts)
        if self._by_model:
            self.signs.add_all(answers)
            self.rejected.add_read(0, len(samples))

    def _compare_plain(self, samples: PlainSamples, latencies: Sequence[int]) -> None:
        """Count samples for what is compared of repeats."""
        calls, worths = samples.calls, samples.worths
        if self._plan.repeats == 1:
            self.repeats.add_scored(0, latencies, worths.score_nanos)
            return
        for sample, answer, sha256, scores, score_nano, reasons in zip(
            calls.samples, calls.answers, samples.answer_sha256s, samples.scores, worths.score_nanos,
            worths.fail_reasons, strict=True,
        ):  # fmt: skip
            repeat, item = divmod(sample, self._plan.n_items)
            of_answer, latency_ms = hash_of_answer(sha256), answer.latency_e2e_ms
            self.repeats.add(RepeatRow(repeat, item, of_answer, not reasons, latency_ms, scores, score_nano))

    def _tally_plain(self, samples: PlainSamples, latencies: Sequence[int]) -> None:
        tally, n, answers, worths = self.tally, len(samples), samples.calls.answers, samples.worths
        nanos = worths.score_nanos
        tally.n_samples += n
        tally.n_scored += n
        tally.score_nano += sum(nanos)
        tally.spread.add_all(nanos)
        tally.n_passed += sum([not reasons for reasons in worths.fail_reasons])
        tally.fail_reasons.update([reason for reasons in worths.fail_reasons for reason in reasons])
        for counts, given in zip(tally.counts, zip(*samples.scores, strict=True), strict=True):
            counts.update(given)
        tally.latencies_e2e_ms.update(latencies)
        tally.latencies_model_ms.update([ms for one in answers if (ms := one.latency_model_ms) is not None])
        tally.input_tokens += sum([one.input_tokens or 0 for one in answers])
        tally.output_tokens += sum([one.output_tokens or 0 for one in answers])
        tally.total_tokens += sum([total or 0 for total in samples.total_tokens])
        ratios = [ratio for ratio in samples.ratios_nano if ratio is not None]
        tally.n_ratios += len(ratios)
        tally.ratio_nano += sum(ratios)
        tally.ratio_nano_squared += sum([one * one for one in ratios])
        if self._clustered:
            self._cluster_plain(samples)

    def _cluster_plain(self, samples: PlainSamples) -> None:
        calls, worths = samples.calls, samples.worths
        for sample, item, answer, scores, score_nano, reasons, ratio_nano in zip(
            calls.samples, calls.items, calls.answers, samples.scores, worths.score_nanos, worths.fail_reasons,
            samples.ratios_nano, strict=True,
        ):  # fmt: skip
            number = self.cluster(sample, item)
            assert number is not None  # noqa: S101 - every sample has one
            sums = self.tally.cluster(number)
            sums.n_samples += 1
            sums.n_passed += not reasons
            sums.add_scores(scores, score_nano, self._spec)
            self.tally.e2e_of_clusters.add(number, answer.latency_e2e_ms)
            self.tally.model_of_clusters.add(number, answer.latency_model_ms)
            if ratio_nano is not None:
                sums.n_ratios += 1
                sums.ratio_nano += ratio_nano

    def add_paid(self, history: SampleHistory) -> None:
        """Count what was paid for, whether or not the sample counts."""
        if history.candidate is not None:
            self.paid.add("model", history.candidate)
        for reply, _ in history.judge_replies:
            self.paid.add(reply.judge, reply)

    def cluster(self, sample: int, item: Item) -> int | None:
        """The number of a sample's cluster; None where each is one of its own."""
        if not self._clustered:
            return None
        return self._number_of_group(item.group) if item.group is not None else sample % self._plan.n_items

    def _number_of_group(self, group: str) -> int:
        return -1 - self._groups.setdefault(group, len(self._groups))

    def _count_unanswered(self, history: SampleHistory, outcome: SampleOutcome) -> None:
        if (cause := candidate_error(history)) is not None:
            self.unanswered.add(self._model, history.last_failure)
            self.unanswered_causes[cause] += 1
        for number, judging in history.unreached:
            self.unanswered.add(self._judges[number], judging.last_failure)
        if outcome.awaits_judge:
            self.unanswered_causes[cause_of(history.unreached[0][1].last_failure)] += 1

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
                given[self._spec.shown_scores(scores) if self._spec.by_item else scores] += 1


class RunSums(SampleSums):
    """The sums over a whole run, of its parts."""

    def __init__(self, started: RunStarted, config: Mapping[str, Any], plan: Plan, spec: RubricSpec) -> None:
        super().__init__(
            plan, spec, derivation_of(started), config, clustered=is_clustered(started, plan), is_part=False
        )
        self.repeat_counts = RepeatCounts(plan.n_items, plan.repeats)

    def merge(self, more: SampleSums) -> None:
        """Add what was counted of the samples that come after these."""
        numbers = {-1 - number: self._number_of_group(group) for group, number in more._groups.items()}
        self.tally.merge(more.tally, lambda cluster: numbers.get(cluster, cluster))
        self.repeat_counts.merge(more.repeats)
        self.slices.merge(more.slices)
        self.signs.merge(more.signs)
        self.rejected.merge(more.rejected)
        for name, given in more.given.items():
            self.given[name].update(given)
        for name in ("unscored", "no_answer", "evaluator_latencies", "sums", "unanswered_causes"):
            getattr(self, name).update(getattr(more, name))
        self.paid.merge(more.paid)
        self.unanswered.merge(more.unanswered)


def is_clustered(started: RunStarted, plan: Plan) -> bool:
    """True if a run's samples are in clusters: an item's repeats, or items of one group."""
    return plan.repeats > 1 or bool(started.identity["grouped"])


def _who(config: Mapping[str, Any], plan: Plan) -> tuple[Who, Sequence[Who]]:
    """The model and each judge, at the addresses of the last sitting."""
    model = who_is_asked(plan.candidate, "candidate", {"base_url": config.get("model_base_url")}, "model_")
    if not isinstance(plan.panel, Panel):
        judge = who_is_asked(plan.judge, "judge", {"base_url": config.get("judge_base_url")}, "judge_")
        return model, [judge]
    settings = config.get("judges") or [{}] * len(plan.judges)
    return model, [
        who_is_asked(judge, "judge", settings[number], f"judges[{number}].", plan.panel.names[number])
        for number, judge in enumerate(plan.judges)
    ]
