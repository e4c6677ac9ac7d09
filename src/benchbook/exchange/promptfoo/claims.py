"""The numbers that promptfoo states of its results, and how each follows from them.

It has them twice: for each column of its table, a prompt with a provider, and of all columns together. The latter are
claims of the file's first log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from benchbook.exchange.json_text import number_of
from benchbook.exchange.log import Claim, Formula
from benchbook.exchange.promptfoo.samples import SCORE
from benchbook.text import plural

Metrics = dict[str, Any]

_COUNTS: dict[str, tuple[str, Formula]] = {
    "testPassCount": (SCORE, "n_passed"),
    "testFailCount": (SCORE, "n_failed"),
    "testErrorCount": ("", "n_errors"),
}
_OF_STATS = {"successes": "testPassCount", "failures": "testFailCount", "errors": "testErrorCount"}
_ADDED = ("assertPassCount", "assertFailCount", "totalLatencyMs", "cost")
_TOKENS: dict[str, Formula] = {"prompt": "sum_of_input_tokens", "completion": "sum_of_output_tokens"}
_ADDED_TOKENS = ("total", "cached", "numRequests")
_ADDED_OF_JUDGES = ("total", "prompt", "completion", "cached")
_BY_METRIC = ("namedScores", "namedScoresCount", "namedScoreWeights")


class UnknownMetrics(msgspec.Struct, frozen=True):
    """Names of metrics whose numbers don't follow from results alone."""

    derived: Collection[str] = ()  # computed by a formula of the config
    templated: bool = False  # checks have metrics whose names are computed


def claims_of_column(metrics: Metrics, where: str, unknown: UnknownMetrics) -> Iterator[Claim]:
    """`where` is the place of a column's metrics: `results.prompts[0].metrics`."""
    if "score" in metrics:
        yield Claim(
            scorer=SCORE, metric="score", value=number_of(metrics["score"]), where=f"{where}.score", formula="sum"
        )
    for name in _COUNTS:
        if name in metrics:
            yield _count(name, metrics[name], f"{where}.{name}", has_errors="testErrorCount" in metrics)
    for name in _ADDED:
        if name in metrics:
            yield _sum(name, metrics[name], f"{where}.{name}")
    yield from _tokens(metrics.get("tokenUsage"), f"{where}.tokenUsage")
    for kind in _BY_METRIC:
        for name, value in _items(metrics.get(kind)):
            yield _of_metric(kind, name, value, f"{where}.{kind}[{name!r}]", unknown)
    for kind, counts in _items(metrics.get("redteam")):
        for name, value in _items(counts):
            yield Claim(
                scorer="",
                metric=f"redteam.{kind}.{name}",
                value=number_of(value),
                where=f"{where}.redteam.{kind}[{name!r}]",
                why_not="counts of attacks are not computed here",
            )


def claims_of_file(stats: Metrics, n_columns: int, *, has_errors: bool) -> Iterator[Claim]:
    """Those of all columns together; where there is one, they are its own."""
    found = [
        *(
            msgspec.structs.replace(
                _count(name, stats[stat], f"results.stats.{stat}", has_errors=has_errors), metric=stat
            )
            for stat, name in _OF_STATS.items()
            if stat in stats
        ),
        *(_tokens if has_errors else _all_tokens)(stats.get("tokenUsage"), "results.stats.tokenUsage"),
    ]
    for claim in found:
        yield claim if n_columns == 1 else _of_all(claim, n_columns)
    for name in ("durationMs", "generationDurationMs", "evaluationDurationMs"):
        if name in stats:
            why_not = "how long the eval took; its calls ran side by side"
            yield Claim(
                scorer="", metric=name, value=number_of(stats[name]), where=f"results.stats.{name}", why_not=why_not
            )


def _of_all(claim: Claim, n_columns: int) -> Claim:
    why_not = f"it is of all {plural(n_columns, 'column')} of the file together"
    return msgspec.structs.replace(claim, formula=None, of_file=claim.formula, why_not=why_not)


def _count(name: str, value: object, where: str, *, has_errors: bool) -> Claim:
    scorer, formula = _COUNTS[name]
    if name == "testFailCount" and not has_errors:  # versions that didn't tell errors from failures
        return Claim(scorer="", metric=name, value=number_of(value), where=where, formula="sum", field="notPassed")
    return Claim(scorer=scorer, metric=name, value=number_of(value), where=where, formula=formula)


def _sum(name: str, value: object, where: str) -> Claim:
    return Claim(scorer="", metric=name, value=number_of(value), where=where, formula="sum", field=name)


def _tokens(usage: object, where: str) -> Iterator[Claim]:
    if not isinstance(usage, dict):
        return
    for name, formula in _TOKENS.items():
        if name in usage:
            metric = f"tokenUsage.{name}"
            yield Claim(
                scorer="", metric=metric, value=number_of(usage[name]), where=f"{where}.{name}", formula=formula
            )
    for name in _ADDED_TOKENS:
        if name in usage:
            yield _sum(f"tokenUsage.{name}", usage[name], f"{where}.{name}")
    judges = usage.get("assertions")
    for name in _ADDED_OF_JUDGES:
        if isinstance(judges, dict) and name in judges:
            yield _sum(f"tokenUsage.assertions.{name}", judges[name], f"{where}.assertions.{name}")


def _all_tokens(usage: object, where: str) -> Iterator[Claim]:
    """Those of answers and judges together, as versions add them up that don't tell errors from failures."""
    for name, value in _items(usage):
        if name in _ADDED_OF_JUDGES:
            claim = _sum(f"allTokens.{name}", value, f"{where}.{name}")
            yield msgspec.structs.replace(claim, metric=f"tokenUsage.{name}")


def _of_metric(kind: str, name: str, value: object, where: str, unknown: UnknownMetrics) -> Claim:
    claim = _sum(f"{kind}.{name}", value, where)
    if name in unknown.derived:
        why_not = "computed from other metrics, by a formula of the config (derivedMetrics)"
    elif unknown.templated and kind != "namedScores":
        why_not = "names of the checks' metrics are computed"
    else:
        return claim
    return msgspec.structs.replace(claim, formula=None, field=None, why_not=why_not)


def _items(value: object) -> Iterator[tuple[str, Any]]:
    yield from value.items() if isinstance(value, dict) else ()
