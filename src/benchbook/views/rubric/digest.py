"""A run as its report takes it, and the digest of its samples: one pass, bounded memory, whatever their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil

import msgspec

from benchbook.evalsets import Item
from benchbook.evaluators.document import Bin, Kind, Mark, Plot
from benchbook.evaluators.gates import Decision
from benchbook.evaluators.panels import PanelAnalysis
from benchbook.evaluators.rubric.criteria import MeasureName
from benchbook.evaluators.rubric.rows import AggregatesFile, RubricManifest, RubricRow
from benchbook.evaluators.rubric.spec import RubricSpec, rubric_v1
from benchbook.specs.folders import as_text
from benchbook.views import numbers
from benchbook.views.rubric.words import unscored_because
from benchbook.views.svg import step
from benchbook.views.words import MAX_CHARS

MAX_FAILED = 200  # samples that are shown in full
MAX_PASSED = 50
_SCORE_BINS = 20

_BIN_NANO = 10**9 // _SCORE_BINS

# Finds `(sample, item)` for samples by their numbers, one at a time: an item may be long.
Items = Callable[[Collection[int]], Iterator[tuple[int, Item]]]


@dataclass(frozen=True)
class RunReport:
    """One run under a rubric, ready to be shown.

    `rows` starts a new pass over the samples, in the plan's order; a report never holds them all. `decision` is None
    where the manifest lacks metadata of R7.1, and a decision is refused. `items` finds what samples were asked, and
    `csv` makes lines of rows with it.
    """

    manifest: RubricManifest
    aggregates: AggregatesFile
    decision: Decision | None
    rows: Callable[[], Iterator[RubricRow]]
    items: Items
    panel: PanelAnalysis | None = None  # None where one judge judged
    spec: RubricSpec = field(default_factory=rubric_v1)
    csv: Callable[[Iterable[RubricRow]], Iterator[str]] = lambda _: iter(())

    @cached_property
    def digest(self) -> Digest:
        """The digest of the rows, in one pass, with the questions of the shown ones."""
        found = digest(self.rows())
        items = self.items([row.sample for row in (*found.failed, *found.passed)])
        found.asked = {sample: _asked(item) for sample, item in items}
        return found


@dataclass(slots=True)
class Spread:
    """How integers >= 0 spread, each cut to three significant digits: at most 900 counts a decade.

    Bins whose edges have at most three significant digits are counted exactly.
    """

    counts: Counter[int] = field(default_factory=Counter)
    n: int = 0
    highest: int = 0

    def add(self, value: int | None) -> None:
        if value is None:
            return
        unit = 10 ** max(len(str(value)) - 3, 0)
        self.counts[value // unit * unit] += 1
        self.n += 1
        self.highest = max(self.highest, value)

    def below(self, share: float) -> int:
        """The smallest kept value that at least `share` of all do not exceed; 0 when there are none."""
        seen = 0
        for value in sorted(self.counts):
            seen += self.counts[value]
            if seen >= share * self.n:
                return value
        return 0


class SampleQuestion(msgspec.Struct, frozen=True):
    """A sample's question and its right answer, as text; None for what the eval set does not have."""

    prompt: str
    context: str | None
    reference: str | None


@dataclass(slots=True)
class Digest:
    """Counts, spreads, and the samples that are shown: the first failed and the first passed ones of the plan.

    `asked` has what these were asked, by the sample's number.
    """

    n_rows: int = 0
    n_passed: int = 0
    n_unscored: int = 0
    scores_passed: Counter[int] = field(default_factory=Counter)  # bin -> samples
    scores_failed: Counter[int] = field(default_factory=Counter)
    latency_e2e_ms: Spread = field(default_factory=Spread)
    latency_model_ms: Spread = field(default_factory=Spread)
    total_tokens: Spread = field(default_factory=Spread)
    failed: list[RubricRow] = field(default_factory=list)
    passed: list[RubricRow] = field(default_factory=list)
    asked: Mapping[int, SampleQuestion] = field(default_factory=dict)

    @property
    def n_failed(self) -> int:
        """Samples that did not pass, unscored ones among them."""
        return self.n_rows - self.n_passed

    def add(self, row: RubricRow) -> None:
        self.n_rows += 1
        self.n_passed += row.passed
        self.n_unscored += unscored_because(row) is not None
        if row.sample_score is not None:
            bins = self.scores_passed if row.passed else self.scores_failed
            bins[min(round(row.sample_score * 1e9) // _BIN_NANO, _SCORE_BINS - 1)] += 1
        self.latency_e2e_ms.add(row.latency_e2e_ms)
        self.latency_model_ms.add(row.latency_model_ms)
        self.total_tokens.add(row.total_tokens)
        kept, most = (self.passed, MAX_PASSED) if row.passed else (self.failed, MAX_FAILED)
        if len(kept) < most:
            kept.append(_cut(row))


def digest(rows: Iterable[RubricRow]) -> Digest:
    """The digest of `rows`, in one pass."""
    result = Digest()
    for row in rows:
        result.add(row)
    return result


def _asked(item: Item) -> SampleQuestion:
    context = None if item.context is None else as_text(item.context)
    cut = (_cut_text(text) for text in (context, item.expected_answer))
    return SampleQuestion(item.prompt[: MAX_CHARS + 1], *cut)


def _cut(row: RubricRow) -> RubricRow:
    """`row` with no text longer than `MAX_CHARS` + 1: the one more says that it was cut."""
    return msgspec.structs.replace(
        row,
        candidate_answer=_cut_text(row.candidate_answer),
        rationale=_cut_text(row.rationale),
        reasoning=_cut_text(row.reasoning),
        error_detail=_cut_text(row.error_detail),
        judge_replies=[
            msgspec.structs.replace(reply, text=_cut_text(reply.text), detail=_cut_text(reply.detail))
            for reply in row.judge_replies
        ],
    )


def _cut_text(text: str | None) -> str | None:
    return None if text is None else text[: MAX_CHARS + 1]


_MOST_BINS = 25


def plots(report: RunReport) -> tuple[Plot, ...]:
    """Scores, latencies, tokens."""
    return _scores(report), _latencies(report), _tokens(report)


def _pass_limit(report: RunReport, measure: MeasureName) -> int | None:
    """The largest value of a measure that passes; None where nothing limits it."""
    return next((one.at_most for one in report.spec.measures if one.name == measure), None)


def _gate_limit(report: RunReport, aggregate: str) -> float | None:
    """The limit of a gate; None where there is no such gate."""
    return next((one.limit for one in report.spec.gates if one.aggregate == aggregate), None)


def _scores(report: RunReport) -> Plot:
    digest = report.digest
    bins = tuple(
        Bin(
            index / _SCORE_BINS,
            (index + 1) / _SCORE_BINS,
            (digest.scores_passed[index], digest.scores_failed[index]),
        )
        for index in range(_SCORE_BINS)
    )
    n = digest.scores_passed.total() + digest.scores_failed.total()
    gate, mean = _gate_limit(report, "aggregate_score"), report.aggregates.aggregates.aggregate_score
    marks = [] if gate is None else [Mark(gate, f"the mean's gate ≥ {numbers.limit('score', gate)}", "limit")]
    if mean is not None:
        marks.append(Mark(mean, f"mean {numbers.show('score', mean, apart_from=gate)}", "value"))
    description = _told(n, "scored samples", digest.n_rows - n, "have no score")
    return Plot("scores", "Sample scores", description, "score", ("passed", "did not pass"), bins, tuple(marks), 1.0, n)


def _latencies(report: RunReport) -> Plot:
    spread, totals = report.digest.latency_e2e_ms, report.aggregates.aggregates
    gate, limit = _gate_limit(report, "latency_e2e_p95_ms"), _pass_limit(report, "latency")
    marks = _limit_marks("ms", limit)
    if gate is not None:
        marks.append(Mark(gate, f"p95's gate ≤ {numbers.limit('ms', gate)}", "limit"))
    if totals.latency_e2e_p95_ms is not None:
        shown = numbers.show("ms", totals.latency_e2e_p95_ms, apart_from=gate)
        marks.append(Mark(totals.latency_e2e_p95_ms, f"p95 {shown}", "value"))
    description = _told(spread.n, "samples, milliseconds", report.digest.n_rows - spread.n, "were not measured")
    return _spread_plot(
        ("latency", "Latency end to end", description, "ms"), spread, max(gate or 0, limit or 0) * 1.2, tuple(marks)
    )


def _tokens(report: RunReport) -> Plot:
    spread, limit = report.digest.total_tokens, _pass_limit(report, "tokens")
    marks = tuple(_limit_marks("tokens", limit))
    description = _told(spread.n, "samples", report.digest.n_rows - spread.n, "have no token count")
    return _spread_plot(
        ("tokens", "Tokens, input and output", description, "tokens"), spread, (limit or 0) * 1.2, marks
    )


def _limit_marks(kind: Kind, limit: int | None) -> list[Mark]:
    """The mark of a sample's limit; none where nothing limits it."""
    return [] if limit is None else [Mark(limit, f"a sample's limit {numbers.limit(kind, limit)}", "limit")]


def _told(n: int, what: str, n_without: int, lack: str) -> str:
    return f"n = {n:,} {what}" + (f"; {n_without:,} {lack}" if n_without else "")


def _spread_plot(words: tuple[str, str, str, Kind], spread: Spread, at_least: float, marks: tuple[Mark, ...]) -> Plot:
    """Bins from 0 to beyond the limits and the 95th percentile, and one bin for what lies above."""
    needed = max(at_least, 1.25 * spread.below(0.95) + 1)
    width = step(needed, _MOST_BINS)
    n_bins = ceil(needed / width)
    counts = _counted(spread.counts, width, n_bins)
    bins = [Bin(index * width, (index + 1) * width, (counts[index],)) for index in range(n_bins)]
    if counts[n_bins]:
        bins.append(Bin(n_bins * width, None, (counts[n_bins],)))
    name, title, description, kind = words
    return Plot(name, title, description, kind, ("samples",), tuple(bins), marks, float(n_bins * width), spread.n)


def _counted(counts: Mapping[int, int], width: int, n_bins: int) -> list[int]:
    result = [0] * (n_bins + 1)
    for value, count in counts.items():
        result[min(value // width, n_bins)] += count
    return result
