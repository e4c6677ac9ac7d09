"""The results of an aggregate that we write: each scorer's mean of what was scored, with its n, error and interval."""

from __future__ import annotations

from typing import Any

from benchbook.exchange.log import LogScorer
from benchbook.exchange.totals import CONFIDENCE, ScorerTotals, Sureness


def result_of(
    scorer: LogScorer, totals: ScorerTotals, source: dict[str, Any], task: str
) -> tuple[dict[str, Any], bool]:
    """One of `evaluation_results`, and whether values left their scale, so that it is not stated."""
    config: dict[str, Any] = {
        "evaluation_description": f"The mean of {scorer.name} over the samples that were scored",
        "metric_id": scorer.name,
        "metric_name": scorer.name,
        "metric_parameters": {"aggregation": "mean"},
        "lower_is_better": not scorer.higher_is_better,
    }
    low, high = scorer.lowest, scorer.highest
    is_outside = (low is not None and totals.lowest < low) or (high is not None and totals.highest > high)
    if not is_outside:
        config |= {name: bound for name, bound in (("min_score", low), ("max_score", high)) if bound is not None}
        if low is not None and high is not None:
            config["score_type"] = "continuous"
    details = {"judge": scorer.judge, "passes_at": None if scorer.passes_at is None else repr(scorer.passes_at)}
    if told := {name: text for name, text in details.items() if text is not None}:
        config["additional_details"] = told
    result = {
        "evaluation_result_id": scorer.name,
        "evaluation_name": task,
        "source_data": source,
        "metric_config": config,
        "score_details": {
            "score": totals.mean,
            "details": {"scored": str(totals.scored), "unscored": str(totals.unscored)},
            "uncertainty": _uncertainty(totals.sureness(scorer)),
        },
    }
    return result, is_outside


def _uncertainty(found: Sureness) -> dict[str, Any]:
    """How sure a mean is, as the form has it; of fewer than two values, their number alone."""
    said: dict[str, Any] = {"num_samples": found.n}
    if found.error is not None:
        said["standard_deviation"] = found.deviation
        said["standard_error"] = {"value": found.error, "method": "analytic"}
    if found.low is not None:
        said["confidence_interval"] = {
            "lower": found.low, "upper": found.high, "confidence_level": CONFIDENCE, "method": found.method
        }  # fmt: skip
    return said
