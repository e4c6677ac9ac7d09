"""What cross-judging says about the targets: each under each variant, and its drift between variants (SPEC P6)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from benchbook.derivations.evaluation_rows import EvaluationRow
from benchbook.derivations.judge_analysis_measures import Measuring, Number, exact_mean, mean_of
from benchbook.derivations.judge_analysis_results import Drift, Measured, Minimums, QuestionDrift, TargetVariant
from benchbook.scorers.exact import as_float, ratio
from benchbook.scorers.judge_protocol import VERDICTS
from benchbook.scorers.judge_protocol_spec import protocol
from benchbook.statistics import paired_difference

__all__ = ["drifts", "score_of", "target_variants"]


def score_of(row: EvaluationRow, name: str) -> int:
    """A valid row's score, of a dimension or `overall_score`."""
    score: int | None = getattr(row, name)
    if score is None:
        raise ValueError(f"{name} is not scored: only valid evaluations enter statistics of scores (P4.2)")
    return score


def target_variants(rows: Iterable[EvaluationRow], measuring: Measuring, minimums: Minimums) -> list[TargetVariant]:
    """`rows` are the cross-judging ones, valid and invalid."""
    groups: defaultdict[tuple[str, str], list[EvaluationRow]] = defaultdict(list)
    for row in rows:
        groups[row.target_model, row.prompt_variant].append(row)
    return [_target_variant(group, measuring, minimums) for _, group in sorted(groups.items())]


def _target_variant(rows: Sequence[EvaluationRow], measuring: Measuring, minimums: Minimums) -> TargetVariant:
    valid = [row for row in rows if row.valid]
    outputs = [row.cell for row in valid]
    counts = Counter(row.verdict for row in valid)
    most = max(protocol().scores)

    def mean(name: str, highest: int) -> Measured:
        return measuring.mean([score_of(row, name) for row in valid], outputs, minimums.outputs, highest)

    return TargetVariant(
        target_model=rows[0].target_model,
        prompt_variant=rows[0].prompt_variant,
        n=len(rows),
        n_valid=len(valid),
        n_outputs=len(set(outputs)),
        valid_share=measuring.share([row.valid for row in rows], [row.cell for row in rows], minimums.outputs),
        dimensions={name: mean(name, most) for name in protocol().dimensions},
        overall=mean("overall_score", most * len(protocol().dimensions)),
        verdicts={verdict: counts[verdict] for verdict in VERDICTS},
        verdict_shares={verdict: as_float(ratio(counts[verdict], len(valid))) for verdict in VERDICTS},
    )


# What is compared: one question as one judge scores it, under either variant.
_Pair = tuple[str, str]  # question_id, judge_model


def drifts(rows: Iterable[EvaluationRow], measuring: Measuring, minimums: Minimums) -> list[Drift]:
    """Every two variants of each target. `rows` are the valid cross-judging ones.

    A question is a unit: what several judges say about it rises and falls together. Several outputs for a question
    under a variant, or repeats, count as their mean.
    """
    scores: defaultdict[str, defaultdict[str, defaultdict[_Pair, list[int]]]]
    scores = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        pair = (row.question_id, row.judge_model)
        scores[row.target_model][row.prompt_variant][pair].append(score_of(row, "overall_score"))
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
