"""The numbers that Inspect's results state, each with the formula by which it follows from the samples' values.

Which metric a number is of, only its name says; where the eval lists its scorers' metrics, those of Inspect's own have
its package before their names, and any other of the same name is of somebody else's making.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchbook.exchange.inspect.reading_forms import InspectHeader, InspectMetric, InspectResults, InspectScores
from benchbook.exchange.inspect.reading_ours import formula_of_ours, is_ours
from benchbook.exchange.inspect.reading_values import ScoreNames, as_number
from benchbook.exchange.json_text import number_of
from benchbook.exchange.log import RECORD_DECIMALS, Claim, Formula
from benchbook.text import quoted, shorten

_OWN = "inspect_ai/"
_FORMULAS: dict[str, Formula] = {"accuracy": "mean", "mean": "mean", "stderr": "stderr", "std": "std", "var": "var"}
_MEAN_OF_GROUPS = "it is the mean of the groups' numbers"
_BY_CHANCE = "it is drawn by chance"
_WHY_NOT = {
    "bootstrap_stderr": _BY_CHANCE,
    "bootstrap_std": _BY_CHANCE,
    "ci": "it is an end of an interval, which is not computed again here",
    "ci_wilson": "it is an end of an interval, which is not computed again here",
}
_REDUCERS = re.compile(r"mean|median|mode|max|min|majority|(?:at_least|pass_at|pass_k)_[1-9][0-9]{0,5}")
_SAME_OF_ONE = frozenset({"mean", "median", "mode", "max", "min", "majority"})
_OLD_VAR = (0, 3, 64)  # before, a variance was that of a whole population


def scores_of_results(results: InspectResults | None) -> list[InspectScores]:
    """The results' scores, those of version 1 in today's form."""
    if results is None:
        return []
    if results.scores is None and results.scorer is not None:
        only = results.scorer
        only.metrics = only.metrics or results.metrics
        only.scorer = only.scorer or only.name
        return [only]
    return results.scores or []


def claims_of(header: InspectHeader, names: ScoreNames, of_parts: frozenset[str]) -> tuple[Claim, ...]:
    """All numbers of a header. `of_parts` are the scorers whose values have several parts."""
    results = header.results
    if results is None:
        return ()
    made = [
        Claim(scorer="", metric=name, value=number_of(value), where=f"results.{name}", formula=formula, why_not=why_not)
        for name, value, formula, why_not in _counts(header, results)
        if value is not None
    ]
    epochs = (header.eval.config.epochs if header.eval.config else None) or 1
    for number, scores in enumerate(scores_of_results(results)):
        where = "results" if results.scores is None else f"results.scores[{number}]"
        made += _Claims(header, names, scores, where, epochs, of_parts).all()
    return tuple(made)


def fields_of(claims: Sequence[Claim]) -> frozenset[str]:
    """The fields of samples' metadata that claims name."""
    named = [claim.clusters for claim in claims] + [claim.only[0] for claim in claims if claim.only]
    return frozenset(name for name in named if name is not None)


def _counts(header: InspectHeader, results: InspectResults) -> Iterator[tuple[str, int | None, Formula | None, str]]:
    yield "total_samples", results.total_samples, "n_samples", ""
    if header.invalidated:
        yield "completed_samples", results.completed_samples, None, "samples were declared invalid since"
    else:
        yield "completed_samples", results.completed_samples, "n_completed", ""


class _Claims:
    """The claims of one entry of the results: of a scorer, or a part of its values, under one reducer."""

    def __init__(
        self,
        header: InspectHeader,
        names: ScoreNames,
        scores: InspectScores,
        where: str,
        epochs: int,
        of_parts: frozenset[str],
    ) -> None:
        self._version = _version(header)
        self._scores, self._where = scores, where
        scorer = scores.scorer or scores.name
        self._name = names.of(scorer, scores.name)
        self._listed = _listed(header, scorer)
        self._reducer, self._no_reducer = _reducer(header, scores, epochs)
        self._is_ours = is_ours(header)
        self._parts = scores.name == scorer and scorer in of_parts

    def all(self) -> Iterator[Claim]:
        for key, metric in (self._scores.metrics or {}).items():
            where = f"{self._where}.metrics.{shorten(key, 80)}"
            formula, why_not, more = self._formula(metric, metric.name or key)
            yield self._claim(shorten(key, 80), metric.value, where, formula, why_not, more)
        counts: tuple[tuple[str, int | None, Formula], ...] = (
            ("scored_samples", self._scores.scored_samples, "n_scored"),
            ("unscored_samples", self._scores.unscored_samples, "n_unscored"),
        )
        for name, value, formula in counts:
            if value is not None:
                yield self._claim(name, value, f"{self._where}.{name}", formula, "", {})

    def _claim(
        self, metric: str, value: Any, where: str, formula: Formula | None, why_not: str, more: Mapping[str, Any]
    ) -> Claim:
        if self._parts:
            formula, why_not, more = None, "its values have several parts", {}
        elif formula is not None and self._no_reducer:
            formula, why_not = None, self._no_reducer
        return Claim(
            scorer=self._name,
            metric=metric,
            value=as_number(value),
            where=where,
            formula=formula,
            why_not=why_not,
            reducer=None if formula is None or "decimals" in more else self._reducer,
            **more,
        )

    def _formula(self, metric: InspectMetric, name: str) -> tuple[Formula | None, str, dict[str, Any]]:
        """A metric's formula, or why there is none, and what else the claim says."""
        params = metric.params if isinstance(metric.params, Mapping) else metric.options
        params = params if isinstance(params, Mapping) else {}
        if metric.group == "grouped" and self._is_own("grouped"):
            return self._grouped(metric.name, params)
        if metric.group is not None:
            return None, _WHY_NOT.get(metric.group) or f"{quoted(metric.group)} is not computed again here", {}
        if self._is_ours and (own := formula_of_ours(metric)) is not None:
            return *own, {"decimals": RECORD_DECIMALS}
        if not self._is_own(name):
            return None, f"{quoted(name)} is a metric of the eval's own", {}
        return self._plain(name, params)

    def _plain(self, name: str, params: Mapping[str, Any]) -> tuple[Formula | None, str, dict[str, Any]]:
        name = name.removeprefix(_OWN)
        formula = _FORMULAS.get(name)
        if formula is None:
            return None, _WHY_NOT.get(name) or f"{quoted(name)} is not computed again here", {}
        if params.get("to_float") is not None:
            return None, "it turns values into numbers by a rule of its own", {}
        if formula == "var" and self._version is not None and self._version < _OLD_VAR:
            formula = "population_var"
        cluster = params.get("cluster")
        if cluster is None:
            return formula, "", {}
        return ("stderr_of_clusters", "", {"clusters": str(cluster)}) if formula == "stderr" else (formula, "", {})

    def _grouped(self, label: str, params: Mapping[str, Any]) -> tuple[Formula | None, str, dict[str, Any]]:
        """One group's number, or that of all."""
        inner, key = params.get("metric"), params.get("group_key")
        if not isinstance(inner, Mapping) or not isinstance(key, str):
            return None, "the log does not say by what it is grouped", {}
        inner_params = inner.get("params")
        found = self._plain(str(inner.get("name")), inner_params if isinstance(inner_params, Mapping) else {})
        over_all = params.get("all", "samples")
        if over_all and label == params.get("all_label", "all"):
            if over_all == "samples":
                return found
            is_mean = found[0] == "mean"
            return ("mean_of_means", "", {"clusters": key}) if is_mean else (None, _MEAN_OF_GROUPS, {})
        before, _, after = str(params.get("name_template") or "{group_name}").partition("{group_name}")
        group = label.removeprefix(before)
        group = group[: len(group) - len(after)] if after and group.endswith(after) else group
        formula, why_not, more = found
        return formula, why_not, {**more, "only": (key, group)} if formula is not None else {}

    def _is_own(self, name: str) -> bool:
        """True if a metric is Inspect's own."""
        if "/" in name:
            return name.startswith(_OWN)
        return f"{_OWN}{name}" in self._listed or name not in self._listed


def _reducer(header: InspectHeader, scores: InspectScores, epochs: int) -> tuple[str | None, str]:
    """By what an item's repeats became one value; and why that can't be done here, where it can't."""
    told = header.eval.config.epochs_reducer if header.eval.config else None
    name = scores.reducer
    if name is None:
        if told == [] or _is_of_repeats(header, scores, epochs):
            return None, ""
        name = told[0] if told and len(told) == 1 else "mean"
    if epochs == 1 and name in _SAME_OF_ONE:
        return None, ""
    if not _REDUCERS.fullmatch(name):
        return None, f"an item's repeats become one value by {quoted(name)}, which is not known here"
    return name, ""


def _is_of_repeats(header: InspectHeader, scores: InspectScores, epochs: int) -> bool:
    """True if more values were counted than there are items: it is a number of all repeats."""
    total = header.results.total_samples if header.results else None
    counted = (scores.scored_samples or 0) + (scores.unscored_samples or 0)
    return total is not None and epochs > 1 and counted * epochs > total


def _listed(header: InspectHeader, scorer: str) -> frozenset[str]:
    """The metrics that the eval lists for a scorer, by their full names."""
    found: set[str] = set()
    _collect(header.eval.metrics, found)
    for told in header.eval.scorers if isinstance(header.eval.scorers, list) else []:
        if isinstance(told, Mapping) and str(told.get("name")).rpartition("/")[2] == scorer.rpartition("/")[2]:
            _collect(told.get("metrics"), found)
    return frozenset(found)


def _collect(metrics: Any, found: set[str]) -> None:
    """The names in a list of metrics, or in lists by the parts that they are of."""
    if isinstance(metrics, list):
        for one in metrics:
            if isinstance(one, Mapping) and isinstance(one.get("name"), str):
                found.add(one["name"])
            elif isinstance(one, Mapping):
                _collect(one, found)
    elif isinstance(metrics, Mapping):
        for one in metrics.values():
            if isinstance(one, list):
                _collect(one, found)


def _version(header: InspectHeader) -> tuple[int, ...] | None:
    told = str((header.eval.packages or {}).get("inspect_ai", ""))
    found = re.match(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})", told)
    return tuple(map(int, found.groups())) if found else None
