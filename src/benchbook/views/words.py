"""Plain words for the names that the spec gives to things (SPEC R1, R4 to R6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evalsets.set_parts import PartSaid
from benchbook.evaluators.correctness.rows import CorrectnessManifest
from benchbook.evaluators.rubric.release import Decision
from benchbook.evaluators.rubric.rows import Manifest, RubricRow
from benchbook.text import one_line
from benchbook.views import numbers
from benchbook.views.numbers import Kind

__all__ = [
    "AGGREGATES",
    "AggregateWord",
    "Base",
    "DecisionWord",
    "aggregate_word",
    "asked_items",
    "decision_word",
    "fail_reason",
    "first_warnings",
    "outcome_word",
    "plural",
    "reason",
    "unanswered_of",
    "unscored_because",
]


Base = Literal["samples", "scored", "accuracy", "faithfulness", "latency", "model_latency", "none"]


class AggregateWord(NamedTuple):
    """An aggregate's name for people, how its value is written, and what its n counts."""

    label: str
    kind: Kind
    base: Base


class DecisionWord(NamedTuple):
    """A decision's headline, what it means in a sentence, and the colour it is shown in."""

    headline: str
    meaning: str
    tone: Literal["good", "bad", "doubt", "none"]


AGGREGATES: Mapping[str, AggregateWord] = {
    "aggregate_score": AggregateWord("Mean sample score", "score", "scored"),
    "pass_rate": AggregateWord("Pass rate", "rate", "samples"),
    "accuracy_mean": AggregateWord("Accuracy, mean of 0 to 2", "grade", "accuracy"),
    "accuracy_full_credit_rate": AggregateWord("Accuracy, full credit", "rate", "accuracy"),
    "faithfulness_mean": AggregateWord("Faithfulness, mean of 0 to 2", "grade", "faithfulness"),
    "faithfulness_failure_rate": AggregateWord("Faithfulness failure rate", "rate", "faithfulness"),
    "latency_e2e_p50_ms": AggregateWord("Latency end to end, median", "ms", "latency"),
    "latency_e2e_p95_ms": AggregateWord("Latency end to end, p95", "ms", "latency"),
    "latency_model_p50_ms": AggregateWord("Latency of the model, median", "ms", "model_latency"),
    "latency_model_p95_ms": AggregateWord("Latency of the model, p95", "ms", "model_latency"),
    "total_input_tokens": AggregateWord("Input tokens", "tokens", "none"),
    "total_output_tokens": AggregateWord("Output tokens", "tokens", "none"),
    "total_tokens": AggregateWord("Tokens in all", "tokens", "none"),
    "tokens_per_correct_answer": AggregateWord("Tokens per fully correct answer", "tokens", "none"),
    "token_efficiency_ratio_mean": AggregateWord("Output tokens per input token, mean", "ratio", "none"),
    "evaluator_error_rate": AggregateWord("Evaluator errors", "rate", "samples"),
    "n_timed_out": AggregateWord("Timed out", "count", "none"),
}

_DECISIONS: Mapping[str, DecisionWord] = {
    "READY": DecisionWord(
        "Ready to release",
        "All gates hold, and they would hold even if every unscored sample had been scored zero.",
        "good",
    ),
    "NOT_READY": DecisionWord(
        "Not ready",
        "At least one gate does not hold, and no score that is still missing could change that.",
        "bad",
    ),
    "INCONCLUSIVE": DecisionWord(
        "Inconclusive",
        "This run does not show that the model is ready, and does not show that it is not.",
        "doubt",
    ),
}
_BY_BOUNDS: Mapping[str, str] = {
    "READY": "All gates are shown to hold, even if every unscored sample had been scored zero.",
    "NOT_READY": "At least one gate is shown not to hold, whatever the scores that are still missing.",
}
_NO_SAMPLES = DecisionWord("Not ready", "A run without samples shows nothing.", "bad")
_REFUSED = DecisionWord(
    "No decision",
    "A decision is refused: without what is missing, nobody could repeat this run.",
    "none",
)

# What decision.json of answer_correctness@v1 says is of the run, and not of its score (A3).
_VERDICTS: Mapping[str, str] = {
    "pass": "completed",
    "fail": "failed",
    "incomplete": "incomplete",
    "unavailable": "dry-run",
}

_REASONS: Mapping[str, str] = {"no_samples": "the run has no samples"}

_FAIL_REASONS: Mapping[str, str] = {
    "accuracy_below_minimum": "accuracy below the minimum",
    "accuracy_unscored": "accuracy not scored",
    "faithfulness_below_minimum": "faithfulness below the minimum",
    "faithfulness_unscored": "faithfulness not scored",
    "latency_above_maximum": "too slow",
    "latency_unmeasured": "latency not measured",
    "tokens_above_maximum": "too many tokens",
    "tokens_unmeasured": "tokens not reported",
}


def aggregate_word(name: str) -> AggregateWord:
    """The word for an aggregate; a name that is not known yet is shown as it is."""
    return AGGREGATES.get(name) or AggregateWord(one_line(name), "ratio", "none")


def decision_word(decision: Decision | None) -> DecisionWord:
    """The decision in words; None is a decision that was refused (R7.1)."""
    if decision is None:
        return _REFUSED
    if decision.reasons == ("no_samples",):
        return _NO_SAMPLES
    word = _DECISIONS[decision.decision]
    if isinstance(decision.decided_by, msgspec.UnsetType) or decision.decided_by.rule != "bounds":
        return word
    return word._replace(meaning=_BY_BOUNDS.get(decision.decision, word.meaning))


def outcome_word(code: str) -> str:
    """A run's decision or verdict as a list of runs says it: no verdict on a run can be taken for one on its score."""
    return _VERDICTS.get(code, code)


def reason(text: str) -> str:
    """One reason of a decision, in words: an aggregate's name at its start becomes its label."""
    name, separator, rest = text.partition(" ")
    known = AGGREGATES.get(name.removesuffix(":"))
    if known is None:
        return _REASONS.get(text, text)
    return f"{known.label}{':' if name.endswith(':') else ''}{separator}{_rounded(known.kind, rest)}"


# `is 0.782083333; the gate asks for at least 0.8`, as decision.json has it: exact, and a share as a share of 1.
_VALUE_AND_LIMIT = re.compile(
    r"(?P<lead>(?:is|, and|and) )(?P<value>\d[\d.e+-]*)|(?P<asks>asks for at (?:least|most) )(?P<limit>\d[\d.e+-]*)"
)


def _rounded(kind: Kind, text: str) -> str:
    """The numbers of a reason as they stand elsewhere: 71.4 %, never rounded onto the limit."""
    limits = [float(found["limit"]) for found in _VALUE_AND_LIMIT.finditer(text) if found["limit"]]
    apart_from = limits[0] if limits else None

    def as_shown(found: re.Match[str]) -> str:
        if found["limit"]:
            return found["asks"] + numbers.limit(kind, float(found["limit"]))
        return found["lead"] + numbers.show(kind, float(found["value"]), apart_from=apart_from)

    return _VALUE_AND_LIMIT.sub(as_shown, text)


def fail_reason(name: str) -> str:
    """Why a sample did not pass (R5.1), in words."""
    return _FAIL_REASONS.get(name, name)


def plural(n: int, one: str, many: str | None = None) -> str:
    """`1 sample`, `1,234 samples`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def asked_items(manifest: Manifest | CorrectnessManifest) -> str:
    """How many items were asked: `200 items`, or of a part `12 of 200 items`."""
    if isinstance(manifest.part, PartSaid):
        return f"{manifest.n_items:,} of {plural(manifest.part.n_whole, 'item')}"
    return plural(manifest.n_items, "item")


def first_warnings(aggregates: Any) -> list[str]:
    """The first thing that a report says: what servers, this machine and the data did to the numbers.

    `aggregates` are those of a record of any spec; there are none of them before derivation 3.
    """
    n = aggregates.n_warnings_first
    return [] if n is msgspec.UNSET else list(aggregates.warnings[:n])


def unanswered_of(aggregates: Any) -> list[Unanswered]:
    """Why samples are unanswered, as it stands in aggregates.json; nothing where all were answered."""
    found = getattr(aggregates, "unanswered", msgspec.UNSET)
    return [] if found is msgspec.UNSET else found


def unscored_because(row: RubricRow) -> tuple[str, str] | None:
    """`(name, words)` of why a sample has no score; None where it has one: `("parse_error", "unscored (…)")`."""
    cause = getattr(row, "candidate_error", None)
    if cause is not None:
        return cause, f"unanswered ({cause})"
    if row.evaluator_error is None:
        return None
    why = f"{row.evaluator_error}: {row.parse_error_reason}" if row.parse_error_reason else row.evaluator_error
    return row.evaluator_error, f"unscored ({why})"
