"""Numbers of an original and its perturbed copies together, as HELM adds them up beside those of each.

Per perturbation: the original's value, where there is a copy of it so perturbed, and the least of both. Per kind, which
is robustness or fairness: the least of the original and of all copies of that kind. The original's sample holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchbook.exchange.helm.form import ORIGINAL, PERTURBED, WORST, HelmStat, StatName, context_of, label_of
from benchbook.exchange.helm.stats import InstanceTable, is_score

KINDS = ("robustness", "fairness")
Variant = tuple[Mapping[str, Any] | None, Mapping[str, float | None]]  # a perturbation, and the values under it


class TogetherWithCopies(NamedTuple):
    """One such number: of which metric and part of the samples, and in which field an original's sample has it."""

    field: str
    metric: str
    part: str
    is_worst: bool
    kind: str  # of KINDS; empty where it is of one perturbation
    label: str


def words_of(perturbation: Mapping[str, Any] | None) -> str:
    """A perturbation in words, with whom a statistic is of, where that is not its own copies."""
    found = (perturbation or {}).get("computed_on")
    return " ".join(one for one in (found if found in (ORIGINAL, WORST) else "", label_of(perturbation)) if one)


def derived_from(name: StatName, table: InstanceTable) -> TogetherWithCopies | None:
    """The number that a statistic of this name is of; None where it is of the samples of one context."""
    perturbation = name.perturbation or {}
    computed_on = perturbation.get("computed_on", PERTURBED)
    if computed_on not in (ORIGINAL, WORST) or not is_score(name.name):
        return None
    part, called = context_of(name.split, name.sub_split, ""), str(perturbation.get("name"))
    kind = called if computed_on == WORST and called in KINDS else ""
    if kind and (part, kind) not in table.flags:
        return None  # nothing was so perturbed: it is of the originals
    field = f"{name.name}, {words_of(name.perturbation)}"
    return TogetherWithCopies(field, name.name, part, computed_on == WORST, kind, label_of(name.perturbation))


def derived_of(stats: Iterable[HelmStat], table: InstanceTable) -> dict[str, list[TogetherWithCopies]]:
    """All such numbers of a run, by the part of the samples that they are of."""
    found: dict[str, list[TogetherWithCopies]] = {}
    for stat in stats:
        one = derived_from(stat.name, table)
        if one is not None:
            found.setdefault(one.part, []).append(one)
    return found


def values_of(wanted: Sequence[TogetherWithCopies], variants: Sequence[Variant]) -> dict[str, float]:
    """The numbers of one original, of these values of its own and of its copies."""
    found = {}
    for one in wanted:
        original = _values(one, (variant for variant in variants if variant[0] is None))
        copies = _values(one, (variant for variant in variants if variant[0] is not None and _is_of(one, variant[0])))
        together = [*original, *copies] if one.is_worst else original
        if together and (copies or one.kind):
            found[one.field] = min(together)
    return found


def _is_of(one: TogetherWithCopies, perturbation: Mapping[str, Any]) -> bool:
    return bool(perturbation.get(one.kind)) if one.kind else label_of(perturbation) == one.label


def _values(one: TogetherWithCopies, variants: Iterable[Variant]) -> list[float]:
    return [value for _, values in variants if (value := values.get(one.metric)) is not None]
