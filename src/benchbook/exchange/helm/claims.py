"""The claims of `stats.json`: each statistic over the training trials, and by which formula it follows from samples.

HELM adds up a trial's values first, and then the means of the trials: a statistic's count, minimum and deviation are of
those means, so that of one trial they say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from benchbook.exchange.helm.form import ORIGINAL, WORST, HelmStat, StatName, context_of, label_of, number_in
from benchbook.exchange.helm.stats import InstanceTable, is_score
from benchbook.exchange.log import Claim, Formula

CONTEXT = "context"  # the field of a sample's metadata that says which statistics it is part of

_OVER_TRIALS: tuple[tuple[str, Formula], ...] = (
    ("mean", "mean"),
    ("sum", "sum"),
    ("min", "min"),
    ("max", "max"),
    ("variance", "population_var"),
    ("stddev", "population_std"),
)
_ROUNDING = 1e-6  # of a deviation that is 0, as the difference of two squares
_SPREADS = ("variance", "stddev")
_NOT_OF_INSTANCES = "it is of all instances together, and of none alone"
_TAKEN = "it is of what requests took, and of no answer's score"


def claims_of(stats: Sequence[HelmStat], table: InstanceTable | None, trials: int) -> Iterator[Claim]:
    """The numbers of `stats.json`, of each statistic that has any. `table` is None where no instance's are there."""
    scorers = set() if table is None else set(table.scorers)
    for number, stat in enumerate(stats):
        if not stat.count:
            continue
        name = stat.name
        if name.name == "num_instances":
            yield _instances(number, stat, trials)
            continue
        why_not, context = _of_which(name, table)
        if not is_score(name.name):
            why_not = _TAKEN
        elif table is None:
            why_not = "the statistics of instances are absent"
        elif name.name not in scorers:
            why_not = _NOT_OF_INSTANCES
        elif name.name in table.counted:
            why_not = "an instance has several values of it, and their mean alone is there"
        metric = f"{name.name} ({context_of(name.split, name.sub_split, _words(name))})"
        for field, formula in _OVER_TRIALS if not why_not else _OVER_TRIALS[:1]:
            if trials == 1 and _restates_the_mean(stat, field):
                continue
            value = number_in(getattr(stat, field))
            varies = field in _SPREADS
            yield Claim(
                scorer=name.name if name.name in scorers else "",
                metric=metric if field == "mean" else f"{metric} {field}",
                value=value if value is not None and isfinite(value) else None,
                where=f"stats.json[{number}].{field}",
                formula=None if why_not else formula if trials > 1 or varies else "mean",
                why_not=why_not,
                of_repeats=not why_not and (trials > 1 or varies),
                only=None if why_not else (CONTEXT, context),
            )


def _restates_the_mean(stat: HelmStat, field: str) -> bool:
    """True where a number of a single trial is what the mean leaves it to be."""
    value, mean = number_in(getattr(stat, field)), number_in(stat.mean)
    if field == "mean" or value is None or mean is None:
        return False
    return abs(value) <= _ROUNDING * max(1.0, mean * mean) if field in _SPREADS else value == mean


def _of_which(name: StatName, table: InstanceTable | None) -> tuple[str, str]:
    """`(why not, context)`: the samples that a statistic is of, where they are those of one context.

    Beside the samples of a perturbation there are statistics of their originals, and of the worst of both. Those of
    robustness and fairness are of all perturbations of that kind, and where there are none, of the originals alone.
    """
    part = context_of(name.split, name.sub_split, "")
    perturbation = name.perturbation
    if perturbation is None:
        return "", part
    kind, label = perturbation.get("computed_on"), label_of(perturbation)
    if kind == WORST:
        flag = perturbation.get("name")
        is_alone = flag in ("robustness", "fairness") and table is not None and (part, str(flag)) not in table.flags
        return ("" if is_alone else "it is the least of an instance's values over its perturbations"), part
    if kind == ORIGINAL:
        is_of_all = table is not None and table.labels[part, label] == table.labels[part, ""]
        return "" if is_of_all else "it is of the originals of what was perturbed, and not of all", part
    return "", context_of(name.split, name.sub_split, label)


def _words(name: StatName) -> str:
    """A perturbation, and of whom the statistic is beside it."""
    found: dict[str, Any] = name.perturbation or {}
    kind = found.get("computed_on")
    return " ".join(one for one in (kind if kind in (ORIGINAL, WORST) else "", label_of(name.perturbation)) if one)


def _instances(number: int, stat: HelmStat, trials: int) -> Claim:
    """How many instances there are: of one trial, as many as samples."""
    name = stat.name
    label = label_of(name.perturbation)
    context = context_of(name.split, name.sub_split, label)
    is_one = trials == 1
    return Claim(
        scorer="",
        metric=f"num_instances ({context})",
        value=number_in(stat.mean),
        where=f"stats.json[{number}].mean",
        formula="n_samples" if is_one else None,
        why_not="" if is_one else f"it counts instances, each of which has {trials} samples",
        only=(CONTEXT, context) if is_one else None,
    )
