"""Plain words for the names that the spec gives to things (SPEC R1, R4 to R6)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from benchbook.evalsets.set_parts import PartSaid
from benchbook.evaluators.correctness.rows import CorrectnessManifest
from benchbook.evaluators.document import Kind, Tone, Value
from benchbook.evaluators.gates import WHY_NOT, Decision, Gate, ToSettle
from benchbook.evaluators.rubric.rows import RubricManifest, RubricRow
from benchbook.statistics.ground import REASONS
from benchbook.text import one_line
from benchbook.views import numbers

__all__ = [
    "AGGREGATES",
    "FAIL_REASONS",
    "OF_CRITERIA",
    "VERDICTS",
    "AggregateWord",
    "DecisionWord",
    "GateState",
    "aggregate_word",
    "asked_items",
    "bound_words",
    "criterion_word",
    "decided_lines",
    "decision_word",
    "extremes",
    "fail_reason",
    "gate_cell",
    "gate_rule",
    "gate_state",
    "gate_value",
    "listed",
    "outcome_word",
    "plural",
    "reason",
    "settling",
    "settling_lines",
    "unscored_because",
]


class AggregateWord(NamedTuple):
    """An aggregate's name for people, how its value is written, and what its n counts: samples, scored, latency,
    model_latency, a criterion, or none."""

    label: str
    kind: Kind
    base: str


class DecisionWord(NamedTuple):
    """A decision's headline, what it means in a sentence, and the colour it is shown in."""

    headline: str
    meaning: str
    tone: Tone


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
    "item_criteria_mean": AggregateWord("Items' own criteria, mean", "score", "scored"),
    "item_criteria_positive": AggregateWord("Items' criteria of a positive weight", "count", "none"),
    "item_criteria_positive_met": AggregateWord("of these, met", "count", "none"),
    "item_criteria_negative": AggregateWord("Items' criteria of a negative weight", "count", "none"),
    "item_criteria_negative_met": AggregateWord("of these, met though they should not be", "count", "none"),
    "cost_mean_usd": AggregateWord("Cost of an answer, mean", "usd", "none"),
    "evaluator_error_rate": AggregateWord("Evaluator errors", "rate", "samples"),
    "n_timed_out": AggregateWord("Timed out", "count", "none"),
}

# What is shown of a criterion, whatever it is called: how its name ends, and what is said of it.
OF_CRITERIA: Mapping[str, tuple[str, Kind]] = {
    "_full_credit_rate": (", full credit", "rate"),
    "_failure_rate": (" failure rate", "rate"),
    "_quote_found_rate": (", quotes that were found", "rate"),
    "_mean": (", mean", "grade"),
}
_OF_OTHERS: Mapping[str, AggregateWord] = {"primary_score": AggregateWord("Score", "score", "samples")}

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
VERDICTS: Mapping[str, str] = {
    "pass": "completed",
    "fail": "failed",
    "incomplete": "incomplete",
    "unavailable": "dry-run",
}

_REASONS: Mapping[str, str] = {"no_samples": "the run has no samples"}

FAIL_REASONS: Mapping[str, str] = {
    "accuracy_below_minimum": "accuracy below the minimum",
    "accuracy_unscored": "accuracy not scored",
    "faithfulness_below_minimum": "faithfulness below the minimum",
    "faithfulness_unscored": "faithfulness not scored",
    "latency_above_maximum": "too slow",
    "latency_unmeasured": "latency not measured",
    "tokens_above_maximum": "too many tokens",
    "tokens_unmeasured": "tokens not reported",
    "cost_above_maximum": "too expensive",
    "cost_unmeasured": "cost not known",
    "score_below_minimum": "sample score below the minimum",
    "too_few_criteria": "too few criteria at their minimum",
    "no_answer": "no answer passes",
}


def aggregate_word(name: str) -> AggregateWord:
    """The word for an aggregate; a name that is not known yet is shown as it is."""
    known = AGGREGATES.get(name) or _OF_OTHERS.get(name) or _of_criterion(name)
    return known or AggregateWord(one_line(name), "ratio", "none")


def _of_criterion(name: str) -> AggregateWord | None:
    for ending, (words, kind) in OF_CRITERIA.items():
        if name.endswith(ending):
            criterion = name.removesuffix(ending)
            return AggregateWord(f"{criterion_word(criterion)}{words}", kind, criterion)
    return None


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
    return VERDICTS.get(code, code)


def reason(text: str) -> str:
    """One reason of a decision, in words: an aggregate's name at its start becomes its label."""
    name, separator, rest = text.partition(" ")
    known = AGGREGATES.get(name.removesuffix(":")) or _of_criterion(name.removesuffix(":"))
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
    return FAIL_REASONS.get(name, name)


def criterion_word(name: str) -> str:
    """A criterion's name, or what its score is called, at the head of a column: `tone_score` as `Tone`. A name that has
    capitals keeps them: `GDPR`."""
    word = one_line(name.removesuffix("_score").replace("_", " "))
    return word.capitalize() if word == word.lower() else word


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def plural(n: int, one: str, many: str | None = None) -> str:
    """`1 sample`, `1,234 samples`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def asked_items(manifest: RubricManifest | CorrectnessManifest) -> str:
    """How many items were asked: `200 items`, or of a part `12 of 200 items`."""
    if isinstance(manifest.part, PartSaid):
        return f"{manifest.n_items:,} of {plural(manifest.part.n_whole, 'item')}"
    return plural(manifest.n_items, "item")


def unscored_because(row: RubricRow) -> tuple[str, str] | None:
    """`(name, words)` of why a sample has no score; None where it has one: `("parse_error", "unscored (…)")`."""
    cause = getattr(row, "candidate_error", None)
    if cause is not None:
        return cause, f"unanswered ({cause})"
    if row.evaluator_error is None:
        return None
    why = f"{row.evaluator_error}: {row.parse_error_reason}" if row.parse_error_reason else row.evaluator_error
    return row.evaluator_error, f"unscored ({why})"


# ── a gate of the decision: its rule, its value, and whether it holds (R6) ───────────────────────────────────


class GateState(NamedTuple):
    tone: Tone
    text: str
    detail: str | None = None


def gate_state(gate: Gate) -> GateState:
    """Whether the gate holds, and how firmly."""
    if gate.unmeasured:
        return GateState("none", "Not judged", "declared unmeasured")
    if not isinstance(gate.claim, msgspec.UnsetType):
        return _state_by_claim(gate)
    if gate.value is None and not gate.holds_in_best_case:
        return GateState("bad", "Does not hold", "not measured")
    if not gate.holds_in_best_case:
        return GateState("bad", "Does not hold", _in_any_case(gate))
    if not gate.holds:
        return GateState("doubt", "Does not hold", "though it would in the best case")
    if not gate.holds_in_worst_case:
        return GateState("doubt", "Holds", "but not in the worst case")
    if gate.bound_holds is False:
        return GateState("doubt", "Holds", "but its confidence bound does not")
    return GateState("good", "Holds", _in_any_case(gate))


def _state_by_claim(gate: Gate) -> GateState:
    """Where bounds decide: what they show, beside what the value says."""
    word = "Holds" if gate.holds else "Does not hold"
    if gate.claim == "holds":
        return GateState("good", word, "and is shown to, in the worst case too")
    if gate.claim == "fails":
        return GateState("bad", word, "and is shown not to, in the best case too")
    if gate.value is None:
        return GateState("doubt", word, "not measured")
    if gate.holds and not gate.holds_in_worst_case:
        return GateState("doubt", word, "but not in the worst case")
    return GateState("doubt", word, "by its value; it is not shown")


def decided_lines(decision: Decision) -> list[str]:
    """What the decision goes by, and what the rubric's rule says by the values alone (R6.2, R6.4)."""
    by = decision.decided_by
    if isinstance(by, msgspec.UnsetType):
        if decision.confidence is None:
            return []
        bound = numbers.limit("rate", decision.confidence)
        return [f"It was asked that the bounds of the {bound} intervals hold too."]
    confidence = None if by.confidence is None else numbers.limit("rate", by.confidence)
    match by.rule:
        case "bounds":
            went_by = f"Decided by what is shown at {confidence} confidence"
        case "points":
            went_by = "Decided by the values, in the worst and the best case (--confidence none)"
        case "until_decided":
            went_by = f"Decided once it was sure enough, at {confidence}, what all items would give"
        case "comparison":
            went_by = f"The run ended by its comparison with another, at {confidence}; its gates decided nothing"
    rule = "release-ready" if decision.release_ready else "not release-ready"
    return [f"{went_by}. By the rubric's rule: {rule}."]


def gate_rule(gate: Gate) -> str:
    """`at least 85 %`."""
    relation = "at least" if gate.direction == "at_least" else "at most"
    return f"{relation} {numbers.limit(aggregate_word(gate.aggregate).kind, gate.limit)}"


def gate_value(gate: Gate, value: float | None) -> str:
    """One of the gate's values, never rounded onto its limit."""
    kind = aggregate_word(gate.aggregate).kind
    return numbers.show(kind, value, apart_from=gate.limit, unknown="not measured")


def gate_cell(gate: Gate, value: float | None) -> Value:
    """`gate_value`, for a table."""
    kind = aggregate_word(gate.aggregate).kind
    return Value(kind, value, unknown="not measured", apart_from=gate.limit)


def extremes(gate: Gate) -> str:
    """`82.1 % to 90.0 %` from the worst case to the best; a single value where they agree."""
    if gate.worst == gate.best:
        return gate_value(gate, gate.worst)
    return f"{gate_value(gate, gate.worst)} to {gate_value(gate, gate.best)}"


def bound_words(gate: Gate) -> str | None:
    """`84.1 % at worst`: the bound that READY asks to hold; None where bounds don't decide."""
    if isinstance(gate.bound, msgspec.UnsetType):
        return None
    why = gate.bound_reason if isinstance(gate.bound_reason, str) else None
    return numbers.nothing(REASONS.get(why or "", why)) if gate.bound is None else gate_value(gate, gate.bound)


def settling_lines(decision: Decision) -> list[str]:
    """What would settle the gates that leave a decision open, a sentence each; none where bounds were not asked for, or
    where the reasons say it."""
    if not isinstance(decision.decided_by, msgspec.UnsetType):
        return []
    return [
        f"{aggregate_word(gate.aggregate).label}: {settling(gate.n_to_settle)}"
        for gate in decision.gates
        if isinstance(gate.n_to_settle, ToSettle)
    ]


def settling(found: ToSettle) -> str:
    """`1,200 more samples (1,300 in all) would settle that it holds, if its value stays what it is`."""
    if found.n_in_all is None or found.n_more is None:
        words = f"how many samples would settle it can't be told: {_why_not(found.reason)}"
    else:
        outcome = "holds" if found.would == "hold" else "does not hold"
        words = (
            f"{plural(found.n_more, 'more sample')} ({found.n_in_all:,} in all) would settle that it {outcome}, "
            "if its value stays what it is"
        )
    if not found.n_unscored:
        return words
    unscored = "the 1 unscored sample" if found.n_unscored == 1 else f"the {found.n_unscored:,} unscored samples"
    return f"{words}; {unscored} may move it whatever their number"


def _why_not(reason: str | None) -> str:
    return WHY_NOT.get(reason or "") or REASONS.get(reason or "", reason or "not known")


def _in_any_case(gate: Gate) -> str | None:
    """Unscored samples leave a worst and a best case; where both agree there is nothing to add."""
    if gate.worst == gate.best:
        return None
    return "in the worst case too" if gate.holds else "not even in the best case"
