"""Plain words for the names that specs give to things (SPEC R1, R4 to R6)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from benchbook.evalsets.set_parts import PartSaid
from benchbook.evaluators.document import Kind, Tone
from benchbook.evaluators.gates import Decision, DecisionName
from benchbook.record.standing import RunState
from benchbook.text import one_line, plural
from benchbook.views import numbers

if TYPE_CHECKING:
    from benchbook.labels.calibration_results import CorrectedDecision

MAX_CHARS = 20_000  # of one text that is shown in full; the CSV and `benchbook show` have all of it


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

# The words for a criterion's aggregates, whatever it is called, by how their names end.
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
    "unavailable": "nothing scored",
}

# How a run stands. A run that was left by its process, however it ended, is only stopped.
RUN_STATES: Mapping[RunState, str] = {
    "running": "running",
    "complete": "complete",
    "interrupted": "stopped, can be resumed",
    "damaged": "damaged",
    "later": "made by a later version",
}
_NEWS_S = 60  # for which a run may well say nothing: a model that thinks

_REASONS: Mapping[str, str] = {"no_samples": "the run has no samples"}


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


def decision_word(found: Decision | CorrectedDecision | None) -> DecisionWord:
    """The decision in words; None is a decision that was refused (R7.1)."""
    if found is None:
        return _REFUSED
    if found.reasons == ("no_samples",):
        return _NO_SAMPLES
    word = _DECISIONS[found.decision]
    if isinstance(found, Decision) and by_bounds(found):
        return word._replace(meaning=_BY_BOUNDS.get(found.decision, word.meaning))
    return word


def decision_headline(name: DecisionName) -> str:
    """`Not ready`: a decision in words, without what it goes by."""
    return _DECISIONS[name].headline


_NAMES = re.compile(rf"\b({'|'.join(_DECISIONS)})\b")


def in_prose(text: str) -> str:
    """A reason without the names that decisions have in files: `1 sample can't show “Ready to release”`."""
    return _NAMES.sub(lambda found: f"“{_DECISIONS[found[1]].headline}”", text)


def by_bounds(decision: Decision) -> bool:
    """True if the decision goes by what bounds show of its gates (R6.4)."""
    return not isinstance(decision.decided_by, msgspec.UnsetType) and decision.decided_by.rule == "bounds"


def outcome_word(code: str) -> str:
    """A run's decision or verdict as a list of runs says it: no verdict on a run can be taken for one on its score."""
    return VERDICTS.get(code, code)


def state_words(code: str) -> str:
    """A state as people read it; one that is no run's (people's labels have their own) as it is."""
    return next((words for state, words in RUN_STATES.items() if state == code), code)


def standing_words(state: RunState, quiet_s: int | None = None) -> str:
    """How a run stands, in words: `running, no news for 5 min` where its journal did not grow for `quiet_s` seconds."""
    if state == "running" and quiet_s is not None and quiet_s >= _NEWS_S:
        return f"{RUN_STATES[state]}, no news for {numbers.about(quiet_s)}"
    return RUN_STATES[state]


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


def code_words(code: str) -> str:
    """A code of several parts as words: `parse_error:not_json` as `parse error: not json`."""
    return one_line(code.replace("_", " ").replace(":", ": "))


_ABBREVIATION = 5  # letters: a longer name in capitals is a word


def criterion_word(name: str) -> str:
    """A criterion's name, or what its score is called, at the head of a column: `tone_score` as `Tone`. A name that has
    capitals keeps them, but for one that is no abbreviation: `GDPR`, and `Completeness` of `COMPLETENESS`."""
    name = name.removesuffix("_score")
    word = one_line(name.replace("_", " "))
    is_loud = name == name.upper() and ("_" in name or len(name) > _ABBREVIATION)
    return word.capitalize() if is_loud or word == word.lower() else word


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


class _Asked(Protocol):
    """The manifest of a run whose samples are answers to items."""

    @property
    def n_items(self) -> int: ...

    @property
    def part(self) -> PartSaid | msgspec.UnsetType: ...


def asked_items(manifest: _Asked) -> str:
    """How many items were asked: `200 items`, or of a part `12 of 200 items`."""
    if isinstance(manifest.part, PartSaid):
        return f"{manifest.n_items:,} of {plural(manifest.part.n_whole, 'item')}"
    return plural(manifest.n_items, "item")
