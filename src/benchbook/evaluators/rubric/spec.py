"""A rubric, compiled: what is judged, what is measured, what passes, what is gated (SPEC R; docs/decisions/0032).

Everything in this room reads its names, scales, weights and limits here and nowhere else. `rubric@v1` is one rubric
among others: its frozen files are of a form of their own, which `rubric_v1` compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cache, cached_property
from math import gcd, lcm
from operator import attrgetter
from typing import Any

from benchbook.errors import ConfigError
from benchbook.evalsets.set_contents import SHOWN_TO_JUDGES
from benchbook.evaluators.costs import Prices
from benchbook.evaluators.exact import NANO, as_float, divide
from benchbook.evaluators.gates import Threshold, threshold_of
from benchbook.evaluators.rubric.criteria import Criterion, Measure, PassRule, PromptMessage, Shown
from benchbook.specs import FrozenSpec, load_spec

RUBRIC_V1 = "rubric@v1"


@dataclass(frozen=True)
class RubricSpec:
    """All that decides what a reply, a sample and a run are worth under one rubric."""

    id: str
    sha256: str
    about: str
    criteria: tuple[Criterion, ...]
    measures: tuple[Measure, ...]
    gates: tuple[Threshold, ...]
    correct: str | None  # the criterion whose full credit makes an answer correct, as tokens per correct answer counts
    max_rationale_words: int
    messages: tuple[PromptMessage, ...]
    prompt_sha256: str
    generation: Mapping[str, Any]  # the parameters that model and judge are asked with, unless others are given (R2.3)
    unmeasured: frozenset[str] = field(default_factory=frozenset)  # declared so (R1.4)
    pass_rule: PassRule | None = None  # None: a sample passes if all limits hold, as under rubric@v1
    prices: Prices | None = None  # what the run's model costs, where that is measured and known
    item_rationales: bool = False  # the judge says of each of an item's own criteria why it is met, or not

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone, to be sent to another process: all else follows from them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def without(self, unmeasured: Iterable[str]) -> RubricSpec:
        """The same with measures declared unmeasured: no limit, and a weight that the others share (R1.4).

        Raises: ConfigError for what is not measured under this rubric.
        """
        declared = frozenset(unmeasured)
        names = [one.name for one in self.measures]
        if unknown := declared - set(names):
            expected = f"{', '.join(names)}, or {'both' if len(names) == 2 else 'several'}"
            raise ConfigError("unmeasured", ", ".join(sorted(unknown)), expected)
        if not declared:
            return self
        measures = tuple(replace(one, at_most=None, weight=0) if one.name in declared else one for one in self.measures)
        return replace(self, measures=measures, unmeasured=declared)

    def priced(self, prices: Prices | None) -> RubricSpec:
        """The same with a model's prices, where cost is measured and they are known."""
        return replace(self, prices=prices) if self.measures_cost else self

    @cached_property
    def measures_cost(self) -> bool:
        return any(one.name == "cost" for one in self.measures)

    @cached_property
    def judge_sees(self) -> tuple[str, ...]:
        """The reference and the context, where the judge's messages show them."""
        texts = [one.text for one in self.messages]
        return tuple(name for name in SHOWN_TO_JUDGES if any(f"{{{{item.{name}}}}}" in text for text in texts))

    @cached_property
    def not_limited(self) -> tuple[str, ...]:
        """Of latency and tokens those without which a sample may pass (R1.4)."""
        limited = {one.name for one in self.measures if one.at_most is not None}
        return tuple(name for name in ("latency", "tokens") if name not in limited)

    @cached_property
    def reply_keys(self) -> tuple[str, ...]:
        """The keys that a judge's reply must have (R3)."""
        return (*(key for one in self.criteria for key in one.reply_keys), "rationale")

    @cached_property
    def asked(self) -> tuple[Criterion, ...]:
        """The criteria that a judge gives a score for; in the order of `criteria`, of which they are the first."""
        return tuple(one for one in self.criteria if not one.by_item)

    @cached_property
    def by_item(self) -> bool:
        """True if items are scored by criteria of their own, too; the score by those is the last of `criteria`."""
        return any(one.by_item for one in self.criteria)

    def shown_scores(self, scores: Sequence[int | None]) -> tuple[int | float | None, ...]:
        """Scores as tables have them: what an item's own criteria come to is a share of 1."""
        return tuple(
            as_float(score) if one.by_item else score for one, score in zip(self.criteria, scores, strict=True)
        )

    @cached_property
    def quoted(self) -> tuple[Criterion, ...]:
        """The criteria whose judge quotes what shows them."""
        return tuple(one for one in self.criteria if one.quote is not None)

    @cached_property
    def counted_quotes(self) -> tuple[Criterion, ...]:
        """Those of which it is counted how many quotes are found."""
        return tuple(one for one in self.criteria if one.quote == "report")

    @cached_property
    def counts_more(self) -> bool:
        """True if more is counted than scores, latency and tokens."""
        return bool(self.counted_quotes) or self.measures_cost or self.by_item

    @cached_property
    def asks_more(self) -> bool:
        """True if a judge's reply holds more than scores and a rationale."""
        return bool(self.quoted) or self.by_item

    @cached_property
    def needs_item(self) -> bool:
        """True if a judge's reply can't be read without the item that it is about."""
        return self.by_item or any(one.from_transcript for one in self.quoted)

    @cached_property
    def steps(self) -> int:
        """The number of steps into which every criterion's scale divides, so that scores add up exactly."""
        return lcm(*(one.span for one in self.criteria))

    @cached_property
    def step_weights(self) -> tuple[int, ...]:
        """The worth of one step on each criterion's scale, where a whole weight of 1 is worth `steps`."""
        return tuple(one.weight * self.steps // one.span for one in self.criteria)

    @cached_property
    def whole_weight(self) -> int:
        """The sum of all weights."""
        return sum(one.weight for one in self.criteria) + sum(one.weight for one in self.measures)

    @cached_property
    def norms_nano(self) -> tuple[Mapping[int | None, int | None], ...]:
        """By criterion, the part of 1 that each score is worth, in nano-units."""
        return tuple(
            _AsItIs({None: None})
            if one.by_item
            else {None: None} | {score: divide((score - one.lowest) * NANO, one.span) for score in one.scores}
            for one in self.criteria
        )

    @cached_property
    def measured(self) -> Callable[[Any], tuple[int | None, ...]]:
        """Reads what was measured of an outcome, in the order of `measures`."""
        fields = [one.field for one in self.measures]
        if len(fields) > 1:
            return attrgetter(*fields)
        return lambda outcome: tuple(getattr(outcome, name) for name in fields)

    @cached_property
    def lowest(self) -> tuple[int, ...]:
        """Every criterion at its worst (R6.3)."""
        return tuple(one.lowest for one in self.criteria)

    @cached_property
    def highest(self) -> tuple[int, ...]:
        return tuple(one.highest for one in self.criteria)

    @property
    def lowest_words(self) -> str:
        """The scores at which unscored samples are taken at their worst, in words."""
        return "0" if not any(self.lowest) else "the lowest scores"

    @cached_property
    def unscored(self) -> tuple[None, ...]:
        """The scores of a sample where no criterion has one."""
        return (None,) * len(self.criteria)

    @cached_property
    def without_answer(self) -> tuple[int | None, ...]:
        """The scores of a sample without an answer (R1.3)."""
        return tuple(one.no_answer for one in self.criteria)


class _AsItIs(dict[int | None, int | None]):
    """Each score is in nano-units already."""

    def __missing__(self, score: int | None) -> int | None:
        return score


def whole_weights(weights: Iterable[int | Fraction]) -> tuple[int, ...]:
    """The same proportions in the smallest whole numbers: sums of them are exact."""
    exact = [Fraction(one) for one in weights]
    common = lcm(*(one.denominator for one in exact))
    whole = [int(one * common) for one in exact]
    return tuple(one // gcd(*whole) for one in whole)


# ── rubric@v1 ────────────────────────────────────────────────────────────────────────────────────────────────

# The frozen prompt's names for what it is filled with.
_FILLED = {
    "task": "item.prompt",
    "reference_answer": "item.expected_answer",
    "provided_context": "item.context",
    "candidate_answer": "answer",
}
_QUESTIONS = {
    "accuracy": "Is the answer correct and complete?",
    "faithfulness": "Are all material claims of the answer grounded in the context, the tools or the references?",
}


@cache
def rubric_v1() -> RubricSpec:
    """`rubric@v1` out of its frozen files, whose form is older than that of a rubric as data."""
    return _compiled(load_spec(RUBRIC_V1))


def _compiled(frozen: FrozenSpec) -> RubricSpec:
    settings = frozen.settings
    limits, targets, scores = settings["pass"], settings["targets"], settings["reply"]["scores"]
    names = ("accuracy", "faithfulness", "latency", "token_efficiency")
    weights = dict(zip(names, whole_weights(settings["weights"][name] for name in names), strict=True))
    prompt = frozen.text("prompt.txt")
    for theirs, ours in _FILLED.items():
        prompt = prompt.replace(f"{{{{{theirs}}}}}", f"{{{{{ours}}}}}")

    def criterion(name: str, *, no_answer: int | None, shown: tuple[Shown, ...]) -> Criterion:
        least, question = limits[f"min_{name}_score"], _QUESTIONS[name]
        return Criterion(name, question, scores[0], scores[-1], weights[name], least, no_answer, shown)

    return RubricSpec(
        id=frozen.id,
        sha256=frozen.sha256,
        about=settings["title"],
        criteria=(
            criterion("accuracy", no_answer=scores[0], shown=("mean", "full_credit_rate")),
            criterion("faithfulness", no_answer=None, shown=("mean", "failure_rate")),
        ),
        measures=(
            Measure("latency", targets["latency_e2e_ms"], limits["max_latency_e2e_ms"], weights["latency"]),
            Measure("tokens", targets["total_tokens"], limits["max_total_tokens"], weights["token_efficiency"]),
        ),
        gates=tuple(threshold_of(gate) for gate in settings["gates"]),
        correct="accuracy",
        max_rationale_words=settings["reply"]["max_rationale_words"],
        messages=(PromptMessage("user", prompt),),
        prompt_sha256=frozen.file_sha256("prompt.txt"),
        generation=settings["generation"],
    )
