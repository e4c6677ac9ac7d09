"""Inputs at the rim of what a run can be, and what is said of each: a table for tests and for the manual.

`SINGLE` are runs alone. Each row has its input made by a function, its decision, whether the rubric's rule holds by the
values, and words that its reasons must have. docs/reference/degenerate-inputs.md is written from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from benchbook.evaluators.gates import Cap, Decision, DecisionName
from benchbook.evaluators.rubric.intervals import intervals_of
from benchbook.evaluators.rubric.release import decide_by_bounds
from benchbook.evaluators.rubric.scoring import NO_ANSWER, SampleOutcome, score_sample
from benchbook.evaluators.rubric.tally import RubricTally
from benchbook.views.words import reason
from rubric_v1 import V1, outcome_v1

_quick = partial(outcome_v1, latency_e2e_ms=1000, input_tokens=500, output_tokens=100)
GOOD = _quick(accuracy_score=2, faithfulness_score=2)
HALF = _quick(accuracy_score=1, faithfulness_score=1)
WRONG = _quick(accuracy_score=0, faithfulness_score=2)
MADE_UP = _quick(accuracy_score=2, faithfulness_score=0)
BAD = _quick(accuracy_score=0, faithfulness_score=0)
UNSCORED = _quick(evaluator_error="parse_error")
SILENT = _quick(accuracy_score=0, score_origin=NO_ANSWER)
TIMED_OUT = outcome_v1(accuracy_score=0, score_origin=NO_ANSWER, timed_out=True, latency_e2e_ms=60_000)
UNANSWERED = outcome_v1(unanswered=True)
SLOW = outcome_v1(accuracy_score=2, faithfulness_score=2, latency_e2e_ms=20_000, input_tokens=500, output_tokens=100)
EDGE = outcome_v1(accuracy_score=2, faithfulness_score=2, latency_e2e_ms=10_000, input_tokens=500, output_tokens=100)
BARE = outcome_v1(accuracy_score=2, faithfulness_score=2)  # neither latency nor tokens
NO_TOKENS = outcome_v1(accuracy_score=2, faithfulness_score=2, latency_e2e_ms=1000)
AT_ZERO = outcome_v1(accuracy_score=2, faithfulness_score=2, latency_e2e_ms=0, input_tokens=0, output_tokens=0)


@dataclass(frozen=True)
class Single:
    """A run: its samples, and by `clusters` how many follow each other in one cluster."""

    id: str
    words: str
    outcomes: Sequence[SampleOutcome]
    decision: DecisionName
    by_rule: bool
    says: str
    clusters: Sequence[int] = ()
    unmeasured: frozenset[str] = frozenset()
    caps: Sequence[Cap] = ()
    confidence: float = 0.95


def tally_of(row: Single) -> RubricTally:
    counted = RubricTally(V1.without(row.unmeasured))
    numbers = [number for number, size in enumerate(row.clusters) for _ in range(size)]
    for place, outcome in enumerate(row.outcomes):
        counted.add(outcome, score_sample(outcome, counted.spec), numbers[place] if numbers else None)
    return counted


def decided(row: Single) -> Decision:
    counted = tally_of(row)
    intervals = intervals_of(counted, 0.95)
    return decide_by_bounds(
        counted, caps=row.caps, intervals=intervals, confidence=row.confidence,
        clusters_are="groups" if len(set(row.clusters)) > 1 else "items",
    )  # fmt: skip


_INCOMPLETE = Cap("incomplete", "incomplete: 60 of 100 samples, the run is interrupted")
_CHANGED = Cap("snapshot_changed", "the model's snapshot or fingerprint changed during the run")
_CANT = "can't show it: at least 59 can"
_READY = "all gates hold at 95 % confidence"

SINGLE: tuple[Single, ...] = (
    Single("empty", "no sample", [], "NOT_READY", False, "no samples"),
    Single("one-good", "one sample, perfect", [GOOD], "INCONCLUSIVE", True, f"1 sample {_CANT}"),
    Single("one-wrong", "one sample, wrong", [WRONG], "INCONCLUSIVE", False, "1 sample can't show READY"),
    Single("one-bad", "one sample, wrong and made up", [BAD], "INCONCLUSIVE", False, "1 sample can't show READY"),
    Single("one-silent", "one sample, an empty answer", [SILENT], "INCONCLUSIVE", False, "was not measured"),
    Single("one-unscored", "one sample, no verdict", [UNSCORED], "INCONCLUSIVE", False, "has no value"),
    Single("one-unanswered", "one sample, unanswered", [UNANSWERED], "INCONCLUSIVE", False, "has no value"),
    Single("two-good", "two samples, perfect", [GOOD] * 2, "INCONCLUSIVE", True, f"2 samples {_CANT}"),
    Single("two-differ", "two samples, one perfect, one wrong", [GOOD, WRONG], "INCONCLUSIVE", False, "2 samples"),
    Single("two-made-up", "two samples, both made up", [MADE_UP] * 2, "NOT_READY", False, "Faithfulness failure rate"),
    Single("three-silent", "three samples, all empty", [SILENT] * 3, "NOT_READY", False, "Pass rate is 0"),
    Single("four-good", "four samples, perfect", [GOOD] * 4, "INCONCLUSIVE", True, f"4 samples {_CANT}"),
    Single("sixteen-good", "16 samples, perfect", [GOOD] * 16, "INCONCLUSIVE", True, f"16 samples {_CANT}"),
    Single("58-good", "58 samples, perfect", [GOOD] * 58, "INCONCLUSIVE", True, f"58 samples {_CANT}"),
    Single("59-good", "59 samples, perfect", [GOOD] * 59, "READY", True, _READY),
    Single("60-good", "60 samples, perfect", [GOOD] * 60, "READY", True, _READY),
    Single("thousand-good", "1,000 samples, perfect", [GOOD] * 1000, "READY", True, _READY),
    Single("thousand-wrong", "1,000 samples, all wrong", [WRONG] * 1000, "NOT_READY", False, "Pass rate is 0"),
    Single("59-all-half", "59 samples, each half right", [HALF] * 59, "NOT_READY", False, "Mean sample score"),
    Single("59-one-made-up", "59 samples, one made up", [*[GOOD] * 58, MADE_UP], "INCONCLUSIVE", True, "would show"),
    Single("93-one-made-up", "93 samples, one made up", [*[GOOD] * 92, MADE_UP], "READY", True, _READY),
    Single("all-unscored", "100 samples, no verdict at all", [UNSCORED] * 100, "INCONCLUSIVE", False, "no score"),
    Single("all-unanswered", "100 samples, all unanswered", [UNANSWERED] * 100, "INCONCLUSIVE", False, "no score"),
    Single("all-timed-out", "100 samples, all timed out", [TIMED_OUT] * 100, "NOT_READY", False, "Pass rate is 0"),
    Single("one-unscored-of-60", "60 samples, one without a verdict", [*[GOOD] * 59, UNSCORED], "INCONCLUSIVE", True,
           "in the worst case"),
    Single("one-unscored-of-200", "200 samples, one without a verdict", [*[GOOD] * 199, UNSCORED], "READY", True,
           _READY),
    Single("one-unanswered-of-60", "60 samples, one unanswered", [*[GOOD] * 59, UNANSWERED], "INCONCLUSIVE", True,
           "no bound"),
    Single("one-unanswered-of-200", "200 samples, one unanswered", [*[GOOD] * 199, UNANSWERED], "READY", True, _READY),
    Single("half-unscored", "100 samples, every other without a verdict", [GOOD, UNSCORED] * 50, "INCONCLUSIVE", False,
           "in the worst case"),
    Single("bad-but-unscored", "ten wrong, 90 without a verdict", [*[WRONG] * 10, *[UNSCORED] * 90], "INCONCLUSIVE",
           False, "no score"),
    Single("pass-rate-at-limit", "exactly 85 of 100 pass", [*[GOOD] * 85, *[WRONG] * 15], "INCONCLUSIVE", True,
           "the limit itself"),
    Single("faithfulness-at-limit", "exactly 5 of 100 made up", [*[GOOD] * 95, *[MADE_UP] * 5], "INCONCLUSIVE", True,
           "the limit itself"),
    Single("score-at-limit", "100 samples, the score at 0.80125", [*[GOOD] * 47, *[HALF] * 53], "INCONCLUSIVE",
           True, "Mean sample score"),
    Single("latency-at-limit", "100 samples of 10,000 ms each", [EDGE] * 100, "NOT_READY", False, "Pass rate is 0"),
    Single("five-slow", "100 samples, five too slow", [*[GOOD] * 95, *[SLOW] * 5], "INCONCLUSIVE", True, "p95"),
    Single("six-slow", "100 samples, six too slow", [*[GOOD] * 94, *[SLOW] * 6], "INCONCLUSIVE", False, "p95"),
    Single("ties", "100 samples, 90 alike and ten alike", [*[GOOD] * 90, *[HALF] * 10], "READY", True, _READY),
    Single("no-latency", "100 perfect answers, no latency", [BARE] * 100, "NOT_READY", False, "Pass rate is 0"),
    Single("no-tokens", "100 perfect answers, no tokens", [NO_TOKENS] * 100, "NOT_READY", False, "Pass rate is 0"),
    Single("one-no-tokens", "one perfect answer, no tokens", [NO_TOKENS], "INCONCLUSIVE", False, "1 sample"),
    Single("zero-latency", "100 answers in 0 ms of 0 tokens", [AT_ZERO] * 100, "READY", True, _READY),
    Single("unmeasured-both", "100 perfect answers, latency and tokens declared unmeasured", [BARE] * 100,
           "INCONCLUSIVE", False, "latency was declared unmeasured", unmeasured=frozenset({"latency", "tokens"})),
    Single("unmeasured-bad", "100 wrong answers, latency and tokens declared unmeasured",
           [outcome_v1(accuracy_score=0, faithfulness_score=0)] * 100, "NOT_READY", False, "Pass rate is 0",
           unmeasured=frozenset({"latency", "tokens"})),
    Single("incomplete-good", "60 perfect samples of a run that was interrupted", [GOOD] * 60, "INCONCLUSIVE", True,
           "incomplete", caps=[_INCOMPLETE]),
    Single("incomplete-bad", "60 wrong samples of a run that was interrupted", [WRONG] * 60, "INCONCLUSIVE", False,
           "incomplete", caps=[_INCOMPLETE]),
    Single("changed-good", "100 perfect samples of two snapshots", [GOOD] * 100, "INCONCLUSIVE", True, "snapshot",
           caps=[_CHANGED]),
    Single("changed-bad", "100 wrong samples of two snapshots", [WRONG] * 100, "NOT_READY", False, "Pass rate is 0",
           caps=[_CHANGED]),
    Single("one-cluster", "100 perfect samples of one group", [GOOD] * 100, "INCONCLUSIVE", True, "one cluster",
           clusters=[100]),
    Single("one-bad-cluster", "100 wrong samples of one group", [WRONG] * 100, "INCONCLUSIVE", False, "one cluster",
           clusters=[100]),
    Single("two-clusters", "100 perfect samples of two groups", [GOOD] * 100, "INCONCLUSIVE", True, _CANT,
           clusters=[50, 50]),
    Single("uneven-clusters", "82 perfect samples: a group of 40, 14 of 3", [GOOD] * 82, "INCONCLUSIVE", True, _CANT,
           clusters=[40, *[3] * 14]),
    Single("uneven-bad", "82 samples: a group of 40 all wrong, 14 of 3 perfect", [*[WRONG] * 40, *[GOOD] * 42],
           "INCONCLUSIVE", False, "at least 59", clusters=[40, *[3] * 14]),
    Single("58-repeated", "58 items, three times each, perfect", [GOOD] * 174, "INCONCLUSIVE", True,
           f"58 items {_CANT}",
           clusters=[3] * 58),
    Single("59-repeated", "59 items, three times each, perfect", [GOOD] * 177, "READY", True, _READY,
           clusters=[3] * 59),
    Single("58-repeated-scattered", "58 items asked ten times, one answer of 580 made up", [MADE_UP, *[GOOD] * 579],
           "INCONCLUSIVE", True, f"58 items {_CANT}", clusters=[10] * 58),
    Single("one-item-often", "one item, 1,000 times, perfect", [GOOD] * 1000, "INCONCLUSIVE", True, f"1 item {_CANT}",
           clusters=[1000]),
    Single("clusters-of-one", "59 perfect samples, each a group of its own", [GOOD] * 59, "READY", True, _READY,
           clusters=[1] * 59),
    Single("59-at-99", "59 samples, perfect, at a confidence of 0.99", [GOOD] * 59, "INCONCLUSIVE", True,
           "at least 90 can", confidence=0.99),
)  # fmt: skip


def single_table() -> Iterator[str]:
    """The table of single runs in the manual, line by line."""
    yield from ("| what there is | by the rubric's rule | decision | what is said |", "| --- | --- | --- | --- |")
    for row in SINGLE:
        found = decided(row)
        said = "; ".join(reason(one) for one in found.reasons[:2]).replace("|", "\\|")
        rule = "release-ready" if found.release_ready else "not release-ready"
        yield f"| {row.words} | {rule} | `{found.decision}` | {said} |"
