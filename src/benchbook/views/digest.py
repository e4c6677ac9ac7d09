"""What a report keeps of the samples: one pass, bounded memory, whatever their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from benchbook.evalsets import Item
from benchbook.evaluators.rubric.rows import JudgeReply, RubricRow
from benchbook.specs.template import as_text
from benchbook.views.model import RunReport
from benchbook.views.words import unscored_because

__all__ = ["MAX_CHARS", "MAX_FAILED", "MAX_PASSED", "SCORE_BINS", "Asked", "Digest", "Spread", "digest", "digest_of"]


MAX_FAILED = 200  # samples that are shown in full
MAX_PASSED = 50
MAX_CHARS = 20_000  # of one text; the CSV and `benchbook show` have all of it
SCORE_BINS = 20

_BIN_NANO = 10**9 // SCORE_BINS


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


class Asked(msgspec.Struct, frozen=True):
    """What a sample was asked, and the right answer, as text. None is not in the eval set."""

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
    asked: Mapping[int, Asked] = field(default_factory=dict)

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
            bins[min(round(row.sample_score * 1e9) // _BIN_NANO, SCORE_BINS - 1)] += 1
        self.latency_e2e_ms.add(row.latency_e2e_ms)
        self.latency_model_ms.add(row.latency_model_ms)
        self.total_tokens.add(row.total_tokens)
        kept, most = (self.passed, MAX_PASSED) if row.passed else (self.failed, MAX_FAILED)
        if len(kept) < most:
            kept.append(_cut(row))


def digest(rows: Iterable[RubricRow]) -> Digest:
    """One pass over `rows`."""
    result = Digest()
    for row in rows:
        result.add(row)
    return result


def digest_of(report: RunReport) -> Digest:
    """One pass over a report's rows, and a look at what the shown ones were asked."""
    result = digest(report.rows())
    items = report.items([row.sample for row in (*result.failed, *result.passed)])
    result.asked = {sample: _asked(item) for sample, item in items}
    return result


def _asked(item: Item) -> Asked:
    context = None if item.context is None else as_text(item.context)
    cut = (_cut_text(text) for text in (context, item.expected_answer))
    return Asked(item.prompt[: MAX_CHARS + 1], *cut)


def _cut(row: RubricRow) -> RubricRow:
    """`row` with no text longer than `MAX_CHARS` + 1: the one more says that it was cut."""
    return msgspec.structs.replace(
        row,
        candidate_answer=_cut_text(row.candidate_answer),
        rationale=_cut_text(row.rationale),
        reasoning=_cut_text(row.reasoning),
        error_detail=_cut_text(row.error_detail),
        judge_replies=[_cut_reply(reply) for reply in row.judge_replies],
    )


def _cut_reply(reply: JudgeReply) -> JudgeReply:
    return msgspec.structs.replace(reply, text=_cut_text(reply.text), detail=_cut_text(reply.detail))


def _cut_text(text: str | None) -> str | None:
    return None if text is None else text[: MAX_CHARS + 1]
