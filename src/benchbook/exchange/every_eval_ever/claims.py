"""The claims of an aggregate: each result's score and how sure it is, and by which formula they follow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf, isfinite

from benchbook.exchange.every_eval_ever.form import EvalResult, Numeric, number_of, text_or
from benchbook.exchange.log import Claim, Formula, LogScorer
from benchbook.text import shorten


@dataclass(slots=True)
class HeldRows:
    """The rows of one result, added up."""

    rows: int = 0
    scored: int = 0
    lowest: float = inf
    highest: float = -inf

    def add(self, value: float | None) -> None:
        self.rows += 1
        if value is not None and isfinite(value):
            self.scored += 1
            self.lowest, self.highest = min(self.lowest, value), max(self.highest, value)


@dataclass(slots=True)
class OneResult:
    """A result that rows are of: one of the aggregate's, at place `number` in it, or one that only rows name."""

    name: str
    scope: tuple[str, str]  # evaluation and model, by their ids
    number: int | None = None
    result: EvalResult | None = None
    held: HeldRows = field(default_factory=HeldRows)
    is_percent: bool = False


@dataclass(frozen=True, slots=True)
class LogSizes:
    """How many samples, items and repeats a log has."""

    samples: int
    items: int
    repeats: int


def scorer_of(name: str, result: EvalResult) -> LogScorer:
    """Who scored a result's samples, and on which scale."""
    config = result.metric_config
    lowest, highest = number_of(config.min_score), number_of(config.max_score)
    if lowest is None and highest is None and config.score_type == "levels" and config.level_names:
        lowest, highest = 0.0, float(len(config.level_names) - 1)
    elif lowest is None and highest is None and config.score_type == "binary":
        lowest, highest = 0.0, 1.0
    details = config.additional_details or {}
    return LogScorer(
        name=name,
        lowest=_finite(lowest),
        highest=_finite(highest),
        higher_is_better=not config.lower_is_better,
        judge=_judges(config.llm_scoring) or text_or(details, "judge"),
        passes_at=_finite(number_of(details.get("passes_at"))),
    )


def is_in_percent(result: EvalResult, held: HeldRows) -> bool:
    """True if a metric is in percent, and so is its score, while its rows go from 0 to 1: they are parts of that."""
    config, score = result.metric_config, number_of(result.score_details.score)
    percent = (config.metric_unit or "").lower() in ("percent", "percentage", "%") or number_of(config.max_score) == 100
    return percent and score is not None and score > 1 and held.scored > 0 and held.lowest >= 0 and held.highest <= 1


def counts_items(n: object, n_scored: int, sizes: LogSizes) -> bool:
    """True if a result's number of samples is one of items, each of which was asked several times."""
    return sizes.repeats > 1 and isinstance(n, int) and n <= sizes.items and n != n_scored


def claims_of(number: int, result: EvalResult, scorer: str, held: HeldRows, sizes: LogSizes) -> Iterator[Claim]:
    """The numbers of the result that stands at place `number` of its aggregate."""
    where = f"evaluation_results[{number}].score_details"
    metric = result.metric_config.metric_name or result.metric_config.metric_id or "score"
    formula, reducer, why_not = _formula(result)
    absent = "" if held.rows else "the log holds no samples of this result"

    def claim(
        name: str, value: Numeric, place: str, formula: Formula | None, why_not: str, reducer: str | None
    ) -> Claim:
        told = absent or why_not
        return Claim(
            scorer=scorer,
            metric=name,
            value=_finite(number_of(value)),
            where=f"{where}.{place}",
            formula=None if told else formula,
            why_not=told,
            reducer=reducer,
        )

    yield claim(metric, result.score_details.score, "score", formula, why_not, reducer)
    sure = result.score_details.uncertainty or {}
    n = sure.get("num_samples")
    is_of_items = counts_items(n, held.scored, sizes)
    over_items = "mean" if is_of_items else reducer
    not_of_mean = why_not or ("" if formula == "mean" else "it is of no mean")
    error = sure.get("standard_error")
    if isinstance(error, dict):
        method = error.get("method")
        other = "" if method in (None, "analytic") else f"it was computed by {method}, which is not done again here"
        place = "uncertainty.standard_error.value"
        yield claim("standard_error", error.get("value"), place, "stderr", not_of_mean or other, over_items)
    if "standard_deviation" in sure:
        place = "uncertainty.standard_deviation"
        yield claim("standard_deviation", sure["standard_deviation"], place, "std", "", over_items)
    bounds = sure.get("confidence_interval")
    if isinstance(bounds, dict):
        by = bounds.get("method")
        reason = f"a bound of an interval{f' by {by}' if isinstance(by, str) else ''}, which is not computed again here"
        for side in ("lower", "upper"):
            place = f"uncertainty.confidence_interval.{side}"
            yield claim(f"confidence_interval_{side}", bounds.get(side), place, None, reason, None)
    if n is not None:
        reason = "it counts items, and not their repeats" if reducer and sizes.repeats > 1 else ""
        of_items = "mean" if is_of_items and not reason else None
        yield claim("num_samples", n, "uncertainty.num_samples", "n_scored", reason, of_items)


# ── formulas ─────────────────────────────────────────────────────────────────────────────────────────────

# Words of a metric's kind, id or name by which it is no mean of what its samples have.
_NO_MEAN = {
    "a rating of many models": {"elo", "rating", "rank", "ranking"},
    "of the ranking of all samples": {"auroc", "auc", "roc", "auprc", "map", "ndcg"},
    "of all samples together, and of none alone": {
        "rmse", "perplexity", "bleu", "sacrebleu", "corpus", "macro", "micro", "weighted", "pearson", "spearman",
        "kendall", "correlation", "kappa", "mcc", "matthews", "ece", "calibration",
    },
    "a percentile": {"percentile", "p50", "p90", "p95", "p99"},
    "how values vary, and no value": {"std", "stdev", "stddev", "variance"},
    "a cost or price": {"cost", "price"},
}  # fmt: skip
_OTHER_FORMULAS: dict[str, Formula] = {"median": "median", "total": "sum", "sum": "sum"}
_WORD = re.compile(r"[a-z0-9]+")


def _formula(result: EvalResult) -> tuple[Formula | None, str | None, str]:
    """`(formula, reducer, why not)` of a result's score."""
    config = result.metric_config
    parameters = config.metric_parameters or {}
    names = [one.lower() for one in (config.metric_kind, config.metric_id, config.metric_name) if one]
    words = {word for name in names for word in _WORD.findall(name)}
    how = parameters.get("aggregation")
    if how in ("mean", "average"):
        return "mean", None, ""
    if isinstance(how, str) and how not in _OTHER_FORMULAS:
        return None, None, f"it is aggregated by {shorten(how, 40)}, which is not done again here"
    for reason, of_it in _NO_MEAN.items():
        if found := sorted(words & of_it):
            return None, None, f"{found[0]} is {reason}"
    k = parameters.get("k")
    reducer = f"pass_at_{k:.0f}" if "pass" in words and isinstance(k, int | float) and k > 1 else None
    for word, formula in _OTHER_FORMULAS.items():
        if word in words or how == word:
            return formula, reducer, ""
    return "mean", reducer, ""


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _judges(scoring: dict[str, object] | None) -> str | None:
    """The models that judged, by their ids."""
    judges = (scoring or {}).get("judges")
    found = []
    for judge in judges if isinstance(judges, list) else ():
        model = judge.get("model_info") if isinstance(judge, dict) else None
        if isinstance(model, dict) and isinstance(model.get("id"), str):
            found.append(model["id"])
    return ", ".join(found) or None
