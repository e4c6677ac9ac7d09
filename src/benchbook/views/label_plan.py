"""A draw for the decision, in words: which gates, how many labels, and from which verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.labels.deciding import WHY_NONE, DecisionPlan
from benchbook.labels.drawing import BOTH, HERE_ALONE
from benchbook.labels.items_of import n_not_drawn
from benchbook.record.facts import LabelsStarted
from benchbook.text import plural


def draw_lines(path: str, started: LabelsStarted, plan: DecisionPlan) -> Iterator[str]:
    """The draw, line by line: what of a model or an item is in it, the caller makes visible."""
    n, of = len(started.samples), sum(one.n_eligible for one in started.strata.values())
    earlier = "" if not plan.n_labelled else f", {plan.n_labelled:,} of them labelled before"
    yield f"{path}: {n:,} of {of:,} scored answers{earlier}, drawn by seed {started.seed} for the decision"
    for name, one in started.strata.items():
        yield f"  {' / '.join(started.stratify)} {name}: {one.n_drawn:,} of {one.n_eligible:,}"
    yield plan_words(plan)


def items_of_lines(path: str, started: LabelsStarted, labels: str) -> Iterator[str]:
    """A draw of the items of other labels, line by line; visible as in `draw_lines`."""
    both, alone = started.strata[BOTH], started.strata.get(HERE_ALONE)
    of = sum(one.n_eligible for one in started.strata.values())
    yield f"{path}: {len(started.samples):,} of {of:,} scored answers, to the items of {labels}"
    if missing := n_not_drawn(started):
        verb = "was" if missing == 1 else "were"
        yield f"  {plural(missing, 'item')} {verb} not drawn: this run has no scored answer there"
    if alone is not None:
        more = f"{alone.n_drawn:,} of {plural(alone.n_eligible, 'answer')} that the other run has no score beside"
        yield f"  {both.n_drawn:,} of {both.n_eligible:,} that both runs scored, and {more}, as large a share"


def plan_words(plan: DecisionPlan) -> str:
    """How many labels are expected to settle the decision, and how many would by chance."""
    gates = _listed(plan.aggregates)
    if plan.n_to_settle is None:
        why = "" if plan.reason is None else f": {WHY_NONE[plan.reason]}"
        return f"No number of labels is expected to settle {gates}{why}"
    verb = "hold" if len(plan.aggregates) > 1 else "holds"
    outcome = f"{gates} {verb if plan.would == 'hold' else 'does not hold'}"
    settle = "settles" if plan.n_to_settle == 1 else "settle"
    about = f"About {plural(plan.n_to_settle, 'label')} {settle} it, if people score as expected ({outcome})"
    if plan.n_by_chance is None:
        return f"{about}; by chance, labels of all answers would not"
    fewer = plan.n_by_chance - plan.n_to_settle
    return f"{about}; by chance about {plan.n_by_chance:,}" + (f": {fewer:,} fewer" if fewer > 0 else "")


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
