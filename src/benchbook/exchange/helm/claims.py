"""The claims of `stats.json`: each statistic over the training trials, and by which formula it follows from samples.

HELM adds up a trial's values first, and then the means of the trials: a statistic's count, minimum and deviation are of
those means, so that of one trial they say nothing. What a request took, as its tokens, is in a sample's metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from benchbook.exchange.helm.derived import derived_from, words_of
from benchbook.exchange.helm.form import PERTURBED, WORST, HelmStat, StatName, context_of, label_of, number_in
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


def claims_of(stats: Sequence[HelmStat], table: InstanceTable | None, trials: int) -> Iterator[Claim]:
    """The numbers of `stats.json`, those of scores first. `table` is None where no instance's statistics are there."""
    for number, stat in sorted(enumerate(stats), key=lambda one: not is_score(one[1].name.name)):
        if not stat.count:
            continue
        name = stat.name
        if name.name == "num_instances":
            yield _instances(number, stat, trials)
            continue
        which = _Which(name, table)
        context = context_of(name.split, name.sub_split, words_of(name.perturbation))
        for field, formula in _OVER_TRIALS if not which.why_not else _OVER_TRIALS[:1]:
            if trials == 1 and _restates_the_mean(stat, field):
                continue
            value = number_in(getattr(stat, field))
            varies = field in _SPREADS
            yield Claim(
                scorer=which.scorer,
                metric=f"{field if which.scorer else _called(name.name, field)} ({context})",
                value=value if value is not None and isfinite(value) else None,
                where=f"stats.json[{number}].{field}",
                formula=None if which.why_not else formula if trials > 1 or varies else "mean",
                why_not=which.why_not,
                field=which.field,
                of_repeats=not which.why_not and (trials > 1 or varies),
                only=None if which.why_not else (CONTEXT, which.context),
            )


class _Which:
    """The values that a statistic is of: a scorer's, or those in a field of the samples' metadata."""

    def __init__(self, name: StatName, table: InstanceTable | None) -> None:
        self.scorer, self.field, self.context, self.why_not = "", None, "", ""
        if table is None:
            self.why_not = "the statistics of instances are absent"
            return
        perturbation = name.perturbation or {}
        derived = derived_from(name, table)
        is_of_copies = perturbation.get("computed_on", PERTURBED) == PERTURBED
        self.context = context_of(name.split, name.sub_split, label_of(name.perturbation) if is_of_copies else "")
        if name.name not in table.counts:
            self.why_not = _NOT_OF_INSTANCES
        elif len(table.counts[name.name]) > 1:
            self.why_not = "instances have means of more and of fewer values, and how many is not in it"
        elif perturbation.get("computed_on") == WORST and table.counts[name.name] != {1}:
            self.why_not = "it is of the least of an instance's several values, and their mean alone is there"
        elif derived is not None:
            self.field = derived.field
            if not table.labels[derived.part, ""]:
                self.why_not = "it is of originals, too, and they are not in the run"
        elif not is_of_copies and not is_score(name.name) and any(table.flags):
            self.why_not = "it is of copies and originals together, and of no score"
        elif is_score(name.name):
            self.scorer = name.name
        else:
            self.field = name.name
        if self.why_not:
            self.field = None


def _called(name: str, field: str) -> str:
    return name if field == "mean" else f"{name} {field}"


def _restates_the_mean(stat: HelmStat, field: str) -> bool:
    """True where a number of a single trial is what the mean leaves it to be."""
    value, mean = number_in(getattr(stat, field)), number_in(stat.mean)
    if field == "mean" or value is None or mean is None:
        return False
    return abs(value) <= _ROUNDING * max(1.0, mean * mean) if field in _SPREADS else value == mean


def _instances(number: int, stat: HelmStat, trials: int) -> Claim:
    """How many instances there are: of one trial, as many as samples."""
    name = stat.name
    context = context_of(name.split, name.sub_split, label_of(name.perturbation))
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
