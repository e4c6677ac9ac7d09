"""The numbers that results state, and how each follows from the samples, as far as the harness's own rules tell."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchbook.exchange.json_text import number_of
from benchbook.exchange.lm_eval.results import HarnessResults, base_of_stderr
from benchbook.exchange.log import Claim, Formula, LogScorer
from benchbook.text import shorten

IN_GROUP = "task"  # the field of a group's samples' metadata that names their task

# How a task's values are added up, by the harness's own names.
_FORMULAS: dict[str, Formula] = {
    "mean": "mean",
    "nanmean": "mean",
    "median": "upper_median",
    "perplexity": "perplexity",
    "weighted_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_unit",
    "f1": "f1",
    "matthews_corrcoef": "matthews",
}
_NO_FORMULA = {
    **dict.fromkeys(("bleu", "chrf", "chrf++", "ter"), "sacreBLEU makes it of all texts at once"),
    "brier_score": "the samples hold its probabilities as rounded text",
    "bypass": "nothing was scored: 999 stands there always",
}
_BOOTSTRAP = frozenset(("median", "nanmean", "perplexity", "f1", "matthews_corrcoef", "bleu", "chrf", "chrf++", "ter"))

_ZERO_OR_ONE = frozenset(("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match"))
# Of a metric for which its task names no way.
_USUAL = {
    **dict.fromkeys((*_ZERO_OR_ONE, "likelihood"), "mean"),
    **dict.fromkeys(("word_perplexity", "byte_perplexity"), "weighted_perplexity"),
    **{name: name for name in ("perplexity", "bits_per_byte", "bypass")},
}
_USUAL_WHERE_LISTED = {  # a task that is a program may mean something else by them
    **_USUAL,
    **{name: name for name in ("f1", "bleu", "chrf", "chrf++", "ter", "brier_score")},
    "mcc": "matthews_corrcoef",
}
_POOLED_SINCE = (0, 4, 3)
_POOLED_OVER_TASKS_SINCE = (0, 4, 4)  # before, over the groups in a group
_UNWEIGHTED_SINCE = (0, 4, 13)  # before, errors were pooled by size even where means were not


def scorers_of(results: HarnessResults, name: str) -> tuple[LogScorer, ...]:
    """Who scored a task's or a group's samples."""
    better = (results.higher_is_better or {}).get(name) or {}
    return tuple(
        scorer_named(key, metric, higher_is_better=better.get(metric) is not False)
        for key, metric, _ in results.metrics(name)
    )


def scorer_named(name: str, metric: str, *, higher_is_better: bool = True) -> LogScorer:
    """A scorer; its scale is known where the metric is one that the harness makes 0 or 1 of."""
    lowest, highest = (0.0, 1.0) if metric in _ZERO_OR_ONE else (None, None)
    return LogScorer(name=name, lowest=lowest, highest=highest, higher_is_better=higher_is_better)


def claims_of_task(results: HarnessResults, task: str) -> tuple[Claim, ...]:
    """Every number of a task, and the number of its samples."""
    held = results.numbers(task)
    found = [one for key in held for one in _claims_at(results, task, f"results.{task}", key, held)]
    counts = (results.n_samples or {}).get(task)
    if counts is not None and counts.effective is not None:
        found.append(_count(results, task, "effective", counts.effective, f"n-samples.{task}.effective"))
    return tuple(found)


def claims_of_group(results: HarnessResults, group: str) -> tuple[Claim, ...]:
    """Every number of a group: it stands among the results, and mostly among the groups too."""
    found: list[Claim] = []
    for place, tables in (("results", results.results), ("groups", results.groups or {})):
        held = tables.get(group, {})
        found += [one for key in held for one in _claims_at(results, group, f"{place}.{group}", key, held)]
    return tuple(found)


def _claims_at(results: HarnessResults, name: str, where: str, key: str, held: dict[str, Any]) -> Iterator[Claim]:
    value = held[key]
    if key in ("alias", "name", "task", " "):
        return
    if key in ("sample_len", "samples"):
        yield _count(results, name, key, value, f"{where}.{key}")
    elif key == "sample_count" and isinstance(value, dict):
        for scorer, n in value.items():
            yield _count(results, name, "sample_count", n, f"{where}.sample_count.{scorer}", scorer)
    else:
        yield _claim(results, name, f"{where}.{key}", key, held)


def _count(results: HarnessResults, name: str, metric: str, value: Any, where: str, scorer: str = "") -> Claim:
    """A number of samples; where nothing was scored, the harness counts none."""
    formula: Formula | None = "n_scored" if scorer else "n_samples"
    why_not = ""
    if not any(results.metrics(name)):
        formula, why_not = None, "nothing was scored, and so nothing counted"
    return Claim(scorer=scorer, metric=metric, value=_number(value), where=where, formula=formula, why_not=why_not)


def _claim(results: HarnessResults, name: str, where: str, key: str, held: dict[str, Any]) -> Claim:
    base = base_of_stderr(key, held)
    value = _number(held[key])
    is_group = bool((results.group_subtasks or {}).get(name))
    if value is None:
        formula, why_not = None, f"the log has no number there but {shorten(repr(held[key]), 40)}"
    elif is_group:
        formula, why_not = _of_group(results, name, base or key, value, is_stderr=base is not None)
    else:
        formula, why_not = _of_task(results, name, base or key, is_stderr=base is not None)
    return Claim(
        scorer=base or key,
        metric=key.partition(",")[0],
        value=value,
        where=where,
        formula=formula,
        why_not=why_not,
        clusters=IN_GROUP if formula in ("mean_of_means", "pooled_stderr", "stderr_of_means") else None,
    )


def _of_task(results: HarnessResults, task: str, key: str, *, is_stderr: bool) -> tuple[Formula | None, str]:
    added_up = _added_up(results, task, key)
    if added_up is None:
        return None, "the log does not say how it is added up"
    if is_stderr:
        if added_up == "mean":
            return "stderr", ""
        if added_up in _BOOTSTRAP:
            return None, "it was estimated from random draws of the samples"
        return None, f"the harness has no formula for the error of {shorten(added_up, 60)}"
    if added_up in _FORMULAS:
        return _FORMULAS[added_up], ""
    return None, _NO_FORMULA.get(added_up, "the task adds it up by a function of its own")


def _added_up(results: HarnessResults, task: str, key: str) -> str | None:
    """How a task's values become one, by the harness's name or a function's source; None: that is not known."""
    metric = key.partition(",")[0]
    listed = results.configured(task).get("metric_list")
    if not isinstance(listed, list):
        return _USUAL.get(metric)
    for one in listed:
        if isinstance(one, dict) and one.get("metric") == metric:
            stated = one.get("aggregation")
            return stated if isinstance(stated, str) else _USUAL_WHERE_LISTED.get(metric)
    return _USUAL.get(metric, "mean")  # what a task's own function adds to those that are listed


def _of_group(
    results: HarnessResults, group: str, key: str, value: float, *, is_stderr: bool
) -> tuple[Formula | None, str]:
    tasks = [task for task in results.tasks_of(group) if key in results.numbers(task)]
    if not tasks:
        return None, "none of its tasks has such a number"
    if any(_added_up(results, task, key) != "mean" for task in tasks):
        return None, "it is made of its tasks' numbers, which are no means of their samples"
    stated = value if not is_stderr else _number(results.metrics_of(group).get(key))
    is_unweighted = stated is not None and _is_unweighted(results, tasks, key, stated)
    if not is_stderr:
        return ("mean_of_means" if is_unweighted else "mean"), ""
    if is_unweighted and results.version() >= _UNWEIGHTED_SINCE:
        return "stderr_of_means", ""
    since = _POOLED_OVER_TASKS_SINCE if results.is_nested(group) else _POOLED_SINCE
    if results.version() >= since or (results.version() >= _POOLED_SINCE and _is_pooled(results, tasks, key, value)):
        return "pooled_stderr", ""
    return None, "how this version pooled its tasks' errors depends on their order"


def _is_unweighted(results: HarnessResults, tasks: list[str], key: str, value: float) -> bool:
    """True if the mean of the tasks' own numbers gives the group's, and their mean by size does not.

    The harness does either, and the file does not say which.
    """
    values = [_number(results.numbers(task)[key]) for task in tasks]
    sizes = [(results.n_samples or {}).get(task) for task in tasks]
    stated = [one for one in values if one is not None]
    weights = [one.effective for one in sizes if one is not None and one.effective is not None]
    if len(stated) != len(tasks) or not math.isclose(sum(stated) / len(stated), value, rel_tol=1e-9, abs_tol=1e-12):
        return False
    if len(weights) != len(tasks) or not sum(weights):
        return True
    by_size = sum(one * n for one, n in zip(stated, weights, strict=True)) / sum(weights)
    return not math.isclose(by_size, value, rel_tol=1e-9, abs_tol=1e-12)


def _is_pooled(results: HarnessResults, tasks: list[str], key: str, value: float) -> bool:
    """True if the tasks' own errors, pooled over them, give the group's. From 0.4.4 to 0.4.8 they do so always."""
    metric, comma, filtered = key.partition(",")
    errors = [_number(results.numbers(task).get(f"{metric}_stderr{comma}{filtered}")) for task in tasks]
    counts = [(results.n_samples or {}).get(task) for task in tasks]
    sizes = [one.effective for one in counts if one is not None and one.effective is not None]
    stated = [one for one in errors if one is not None]
    n = sum(sizes)
    if len(stated) != len(tasks) or len(sizes) != len(tasks) or n <= len(tasks):
        return False
    squares = sum((size - 1) * error * error * size for size, error in zip(sizes, stated, strict=True))
    return math.isclose(math.sqrt(squares / (n - len(tasks)) / n), value, rel_tol=1e-9, abs_tol=1e-12)


def _number(value: Any) -> float | None:
    found = number_of(value)
    return found if found is not None and math.isfinite(found) else None
