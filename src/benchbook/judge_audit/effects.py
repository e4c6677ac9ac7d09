"""The effects of variants on a judge's scores: paired differences over the same answers, and the verdict on each.

The judge's score of an answer is the mean of its criteria, each as a share of its scale: from 0 to 1. Latency and
tokens, which a sample's score may hold too, are the original's everywhere, so they move nothing. Of two answers it is
the share of the win that is the first one's, wherever a variant shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import msgspec

from benchbook.comparison.difference import Difference, item_difference, with_holm
from benchbook.comparison.pairing import metric_difference
from benchbook.errors import UsageError
from benchbook.evaluators.contract import ComparedMetric, Evaluator
from benchbook.evaluators.registry import evaluator_of
from benchbook.judge_audit.stages import Look
from benchbook.judge_audit.variants import ORIGINAL, VARIANTS, Aspect, Expected, Variant
from benchbook.labels.pairs.asked import BETTER, judges_pairs
from benchbook.record.derived_files import check_derived
from benchbook.record.folder import Record
from benchbook.record.tables import read_frames
from benchbook.statistics import Estimate, bounded_difference, wilson

if TYPE_CHECKING:
    import polars

EffectVerdict = Literal["biased", "slight", "none", "noticed", "missed", "not_told"]
"""Of what should change nothing: `biased`; `slight`, shown and within the margin; `none`, within the margin. Of a
control: `noticed` or `missed`. `not_told`: the answers are too few to tell."""

NOTICES = 0.8  # of the known-bad, a sound judge scores at least this share lower
_SCORE = ComparedMetric("judge_score", "judge_score", "score", 0.0, 1.0)


class BeforeAfter(msgspec.Struct, frozen=True, kw_only=True):
    """A number of the same answers, before they were changed and after."""

    before: float
    after: float


class JudgeEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of one variant: the judge's score of the changed answers, less that of the same answers in `against`.

    `score.p_adjusted` is Holm's over all variants that should change nothing. `noticed`, of a control: the share that
    the judge scored lower, of those that it had not given its lowest score before. `passed` and `sample_score` are the
    run's pass rate and mean score over the same answers, before and after: what the variant moves in the headline.
    """

    variant: str
    aspect: Aspect
    expected: Expected
    title: str
    sentence: str
    against: str
    n_left_out: int  # answers that the rule does not fit
    n_unscored: int  # answers of which one of the two verdicts could not be had or read
    score: Difference
    within: Estimate  # the interval that is held against the margin: both its bounds are one-sided at `confidence`
    noticed: Estimate | None
    margin: float  # the largest mean change that does not matter
    verdict: EffectVerdict
    passed: BeforeAfter | None
    sample_score: BeforeAfter | None


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """The answers of one record of an audit, as its judge scored them. `rows` have `item_id`, `group`, `judge_score`
    and `sample_score` (null where nobody could score), and `passed`.
    """

    rows: polars.DataFrame

    @classmethod
    def of_record(cls, record: Record) -> Self:
        """Read them, of an item's repeats the first.

        Raises: UsageError for a record in which no judge scored by criteria; RecordError, also for a changed table.
        """
        import polars as pl

        evaluator = evaluator_of(record)
        is_of_pairs = judges_pairs(evaluator)
        criteria = _criteria(record, evaluator, of_pairs=is_of_pairs)
        check_derived(record, "samples.parquet")
        shares = [(pl.col(one.column).cast(pl.Float64) - one.lowest) / (one.highest - one.lowest) for one in criteria]
        judged = pl.mean_horizontal(shares).alias("judge_score")  # of those that apply
        # A verdict on two answers passes nothing, and has a score that says nothing of either.
        nothing = (pl.lit(None, pl.Float64).alias("sample_score"), pl.lit(None, pl.Boolean).alias("passed"))
        columns = ("item_id", "group", judged, *(nothing if is_of_pairs else ("sample_score", "passed")))
        frames = (frame.filter(pl.col("repeat") == 0).select(columns) for frame in read_frames(record.samples))
        return cls(pl.concat(frames))

    @classmethod
    def joined(cls, parts: Sequence[Self], *, turned: bool = False) -> Self:
        """The answers of several records, of other items each. `turned`: what was first stood second there."""
        import polars as pl

        rows = pl.concat([one.rows for one in parts])
        return cls(rows.with_columns(1 - pl.col("judge_score")) if turned else rows)


class _Criterion(NamedTuple):
    column: str
    lowest: float
    highest: float


def _criteria(record: Record, evaluator: Evaluator, *, of_pairs: bool) -> list[_Criterion]:
    """The judge's criteria with the ends of their scales; of two answers the one that says which is better."""
    compared = evaluator.compared
    found = [
        _Criterion(one.column, one.lowest, one.highest)
        for one in (() if compared is None else compared.metrics)
        if one.kind in ("grade", "score") and one.highest is not None and (not of_pairs or one.column == BETTER)
    ]
    if not found:
        spec = record.started().spec
        raise UsageError(f"{record.path}: was scored under {spec}; an audit is of a judge that scores by criteria")
    return found


# ── the effects ──────────────────────────────────────────────────────────────────────────────────────────────


def judge_effects(
    judged: Mapping[str, JudgedAnswers], look_of: Callable[[str], Look], *, margin: float, seed: int = 0
) -> tuple[JudgeEffect, ...]:
    """The effect of each variant among `judged`, whose names are those of the variants.

    `margin` is the largest mean change of the judge's score (0 to 1) that does not matter; `look_of` a variant says
    how far it is. Holm's correction is over all variants that should change nothing; those that a judge should notice
    have an interval each.
    """
    tried = [one for one in VARIANTS.values() if one.name in judged and one.against in judged]
    found = [_effect(one, judged, look_of(one.name), margin, seed) for one in tried]
    same = [one for one in found if one.expected == "same"]
    adjusted = dict(zip((one.variant for one in same), with_holm([(one.score, True) for one in same]), strict=True))
    return tuple(_judged_effect(one, adjusted.get(one.variant, one.score), margin) for one in found)


def undecided(effects: Iterable[JudgeEffect]) -> frozenset[str]:
    """The variants that can't be told yet, with those that they are held against; the original has nothing to ask."""
    left = frozenset(one.variant for one in effects if one.verdict == "not_told")
    while more := {VARIANTS[name].against for name in left} - left - {ORIGINAL}:
        left |= more
    return left


def _effect(variant: Variant, judged: Mapping[str, JudgedAnswers], look: Look, margin: float, seed: int) -> JudgeEffect:
    """The effect, without its verdict."""
    import polars as pl

    pairs = _pairs(judged[variant.against], judged[variant.name])
    known = pairs.drop_nulls(["a", "b"])
    differences = (known["b"] - known["a"]).to_numpy()
    clusters = None if known["cluster"].null_count() == len(known) else known["cluster"].to_numpy()
    return JudgeEffect(
        variant=variant.name,
        aspect=variant.aspect,
        expected=variant.expected,
        title=variant.title,
        sentence=variant.sentence,
        against=variant.against,
        n_left_out=look.n_answers - len(pairs),
        n_unscored=len(pairs) - len(known),
        score=_difference(known, look.confidence, seed),
        within=bounded_difference(differences, clusters=clusters, confidence=2 * look.confidence - 1),
        noticed=None if variant.expected == "same" else _noticed(known.filter(pl.col("a") > 0), look.confidence),
        margin=margin,
        verdict="not_told",
        passed=_means(pairs, "passed"),
        sample_score=_means(known, "sample_score"),
    )


def _difference(known: polars.DataFrame, confidence: float, seed: int) -> Difference:
    import polars as pl

    if len(known):
        return metric_difference(known.select("cluster", "a", "b"), _SCORE, confidence=confidence, seed=seed)
    return item_difference(known.select("cluster", pl.col("a", "b").cast(pl.Int64)), confidence=confidence)


def _pairs(before: JudgedAnswers, after: JudgedAnswers) -> polars.DataFrame:
    """A row for each item of both, with the judge's scores `a` and `b`, and the numbers of the samples."""
    import polars as pl

    both = after.rows.join(before.rows, on="item_id", suffix="_a", maintain_order="left")
    groups = pl.coalesce("group", pl.format("item {}", "item_id")).rank("dense").cast(pl.Int64)
    return both.select(
        cluster=groups if both["group"].null_count() < len(both) else pl.lit(None, pl.Int64),
        a="judge_score_a",
        b="judge_score",
        passed_a=pl.col("passed_a").cast(pl.Float64),
        passed_b=pl.col("passed").cast(pl.Float64),
        sample_score_a="sample_score_a",
        sample_score_b="sample_score",
    )


def _noticed(could_fall: polars.DataFrame, confidence: float) -> Estimate:
    fell = int((could_fall["b"] < could_fall["a"]).sum())
    return wilson(fell, len(could_fall), confidence)


def _means(pairs: polars.DataFrame, name: str) -> BeforeAfter | None:
    known = pairs.select(f"{name}_a", f"{name}_b").drop_nulls()
    if known.is_empty():
        return None
    before, after = (round(float(known[one].to_numpy().mean()), 9) for one in known.columns)
    return BeforeAfter(before=before, after=after)


def _judged_effect(effect: JudgeEffect, score: Difference, margin: float) -> JudgeEffect:
    verdict = _of_control(effect.noticed) if effect.noticed is not None else _of_same(score, effect.within, margin)
    return msgspec.structs.replace(effect, score=score, verdict=verdict)


def _of_same(score: Difference, within: Estimate, margin: float) -> EffectVerdict:
    inside = within.low is not None and within.high is not None and -margin < within.low and within.high < margin
    if score.verdict in ("better", "worse"):
        return "slight" if inside else "biased"
    return "none" if inside else "not_told"


def _of_control(noticed: Estimate) -> EffectVerdict:
    if noticed.low is None or noticed.high is None:
        return "not_told"
    return "noticed" if noticed.low >= NOTICES else "missed" if noticed.high < NOTICES else "not_told"
