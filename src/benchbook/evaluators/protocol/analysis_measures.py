"""Means, shares and differences with their intervals, as the analysis of evaluations states them (SPEC C2, P6)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from benchbook.evaluators.exact import NANO, as_float, divide, ratio
from benchbook.evaluators.protocol.evaluation_rows import EvaluationRow
from benchbook.evaluators.protocol.rows import Drift, Measured, Minimums, QuestionDrift, TargetVariant
from benchbook.evaluators.protocol.spec import OVERALL, VERDICTS, Protocol
from benchbook.statistics import Estimate, bounded_mean, mean_interval, paired_difference, wilson

if TYPE_CHECKING:
    from benchbook.statistics.agreement import AgreementMethod

Number = int | Fraction
_SURE_ENOUGH = 2  # from this derivation on no interval is too sure; before, t and the bootstrap


def mean_of(values: Sequence[Number]) -> Fraction:
    """The exact mean of at least one value."""
    return Fraction(sum(values)) / len(values)


def exact_mean(values: Sequence[Number]) -> float | None:
    """The mean, rounded once, half to even, to nine decimals (C2); None where there are no values."""
    if not values:
        return None
    exact = mean_of(values)
    return as_float(divide(exact.numerator * NANO, exact.denominator))


@dataclass(frozen=True, slots=True)
class Measuring:
    """How intervals are made in one analysis. A unit is what varies as a whole: an output, a question."""

    confidence: float
    seed: int
    n_resamples: int
    derivation: int

    @property
    def agreement_method(self) -> AgreementMethod:
        return "bca" if self.derivation < _SURE_ENOUGH else "weighted"

    def mean(
        self, values: Sequence[Number], units: Sequence[Hashable], at_least: int, ends: tuple[int, int] | None = None
    ) -> Measured:
        """The mean of values that each belong to a unit; several of one unit are a cluster.

        `ends` are the lowest and the highest that a score may be; None for differences.
        """
        numbers, clusters = [float(value) for value in values], self.clusters(units)
        if ends is None or self.derivation < _SURE_ENOUGH:
            found = mean_interval(numbers, clusters=clusters, confidence=self.confidence)
        else:
            lowest, highest = ends
            found = bounded_mean(numbers, lowest=lowest, highest=highest, clusters=clusters, confidence=self.confidence)
        return self.estimated(found, exact_mean(values), units, at_least)

    def share(self, holds: Sequence[bool], units: Sequence[Hashable], at_least: int) -> Measured:
        """A share: Wilson's interval, or by clusters where units have several values."""
        values = [int(one) for one in holds]
        n_units = len(set(units))
        if n_units < len(values) and 0 < sum(values) < len(values):
            found = self.mean(values, units, at_least, (0, 1))
            low = None if found.low is None else max(0.0, found.low)
            high = None if found.high is None else min(1.0, found.high)
            return msgspec.structs.replace(found, low=low, high=high)
        # All alike, their spread can't tell how sure that is; Wilson over the units, each counted once, can.
        found_alike = wilson(min(sum(values), n_units), n_units, self.confidence)
        measured = self.estimated(found_alike, exact_mean(values), units, at_least)
        return msgspec.structs.replace(measured, n=len(values))

    def estimated(self, found: Estimate, value: float | None, units: Sequence[Hashable], at_least: int) -> Measured:
        """`found` with its exact `value`; without an interval where there are fewer units than `at_least`."""
        n_units = len(set(units))
        enough = n_units >= at_least
        return Measured(
            value=value,
            low=_rounded(found.low) if enough else None,
            high=_rounded(found.high) if enough else None,
            n=found.n,
            n_units=n_units,
            at_least=at_least,
            method=found.method,
            reason=found.reason if enough or not n_units else "too_few",
            warnings=sorted(found.warnings) if enough else [],
        )

    @staticmethod
    def clusters(units: Sequence[Hashable]) -> list[int] | None:
        """The units as cluster labels; None where each has one value."""
        known: dict[Hashable, int] = {}
        labels = [known.setdefault(unit, len(known)) for unit in units]
        return labels if len(known) < len(labels) else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


def score_of(row: EvaluationRow, name: str) -> int:
    """A valid row's score, of a dimension or `overall_score`."""
    score: int | None = getattr(row, name)
    if score is None:
        raise ValueError(f"{name} is not scored: only valid evaluations enter statistics of scores")
    return score


def target_variants(
    rows: Iterable[EvaluationRow], protocol: Protocol, measuring: Measuring, minimums: Minimums
) -> list[TargetVariant]:
    """The results of each target under each variant. `rows` are the cross-judging ones, valid and invalid."""
    groups: defaultdict[tuple[str, str], list[EvaluationRow]] = defaultdict(list)
    for row in rows:
        groups[row.target_model, row.prompt_variant].append(row)
    return [_target_variant(group, protocol, measuring, minimums) for _, group in sorted(groups.items())]


def _target_variant(
    rows: Sequence[EvaluationRow], protocol: Protocol, measuring: Measuring, minimums: Minimums
) -> TargetVariant:
    valid = [row for row in rows if row.valid]
    outputs = [row.cell for row in valid]
    counts = Counter(row.verdict for row in valid)

    def mean(name: str, lowest: int, highest: int) -> Measured:
        return measuring.mean([score_of(row, name) for row in valid], outputs, minimums.outputs, (lowest, highest))

    return TargetVariant(
        target_model=rows[0].target_model,
        prompt_variant=rows[0].prompt_variant,
        n=len(rows),
        n_valid=len(valid),
        n_outputs=len(set(outputs)),
        valid_share=measuring.share([row.valid for row in rows], [row.cell for row in rows], minimums.outputs),
        dimensions={one.name: mean(one.name, one.lowest, one.highest) for one in protocol.dimensions},
        overall=mean(OVERALL, protocol.lowest, protocol.highest),
        verdicts={verdict: counts[verdict] for verdict in VERDICTS},
        verdict_shares={verdict: as_float(ratio(counts[verdict], len(valid))) for verdict in VERDICTS},
    )


# A thing that is compared: one question as one judge scores it, under either variant.
_Pair = tuple[str, str]  # question_id, judge_model


def drifts(rows: Iterable[EvaluationRow], measuring: Measuring, minimums: Minimums) -> list[Drift]:
    """The drifts of each target between every two variants. `rows` are the valid cross-judging ones.

    A question is a unit: what several judges say about it rises and falls together. Several outputs for a question
    under a variant, or repeats, count as their mean.
    """
    scores: defaultdict[str, defaultdict[str, defaultdict[_Pair, list[int]]]]
    scores = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        pair = (row.question_id, row.judge_model)
        scores[row.target_model][row.prompt_variant][pair].append(score_of(row, OVERALL))
    found = []
    for target, variants in sorted(scores.items()):
        means = {
            variant: {pair: mean_of(values) for pair, values in sorted(by_pair.items())}
            for variant, by_pair in sorted(variants.items())
        }
        for a, b in combinations(means, 2):
            pairs = [pair for pair in means[a] if pair in means[b]]
            difference, questions = _difference(
                pairs,
                [means[a][pair] for pair in pairs],
                [means[b][pair] for pair in pairs],
                measuring,
                minimums,
            )
            found.append(
                Drift(target_model=target, variant_a=a, variant_b=b, difference=difference, questions=questions)
            )
    return found


def _difference(
    pairs: Sequence[_Pair], a: Sequence[Number], b: Sequence[Number], measuring: Measuring, minimums: Minimums
) -> tuple[Measured, list[QuestionDrift]]:
    differences = [second - first for first, second in zip(a, b, strict=True)]
    units = [question for question, _ in pairs]
    whole = measuring.estimated(
        paired_difference(
            [float(value) for value in a],
            [float(value) for value in b],
            clusters=measuring.clusters(units),
            confidence=measuring.confidence,
        ),
        exact_mean(differences),
        units,
        minimums.questions,
    )
    by_question: defaultdict[str, list[Number]] = defaultdict(list)
    for question, difference in zip(units, differences, strict=True):
        by_question[question].append(difference)
    questions = [
        QuestionDrift(question_id=question, difference=exact_mean(values) or 0.0, n_pairs=len(values))
        for question, values in by_question.items()
    ]
    return whole, questions
