"""The regression gate: is it shown that a run is not worse than its baseline, and is it good enough in all?

Of a model that is asked twice some items are lost and some won, by chance alone: so what is asked of a run is that its
score is not worse by more than a margin, by the one-sided bound of the paired difference (non-inferiority). Where the
items can't tell, the gate says that, and neither yes nor no. How many items may regress can be limited instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from benchbook.comparison.compared import Comparison
from benchbook.comparison.corrected_results import NotWorseForPeople
from benchbook.comparison.items import ComparedRun
from benchbook.evaluators.exact import NANO, as_float, mean
from benchbook.evaluators.measured import Measured

if TYPE_CHECKING:
    import polars

DEFAULT_MARGIN = 0.05
"""Five points of the score: what a hundred items of which few change can rule out, and nobody would want to lose."""

GateOutcome = Literal["holds", "does_not_hold", "undecided", "not_complete"]
_WORST_FIRST: tuple[GateOutcome, ...] = ("not_complete", "does_not_hold", "undecided")


class GateFinding(NamedTuple):
    """A reason why the gate does not hold, and the outcome that it leads to."""

    outcome: GateOutcome
    words: str


class RegressionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the gate; `reasons` say why it does not hold, most important first.

    `outcome` tells apart what is no (`does_not_hold`), what the items can't tell (`undecided`), and a run that has not
    come to its end (`not_complete`). `margin` is the loss that is allowed, a part of the score's 0 to 1, at the
    one-sided `confidence`; `max_regressions` the number of items, where that was asked instead.
    """

    holds: bool
    outcome: GateOutcome
    reasons: tuple[str, ...]
    margin: float | None = None
    confidence: float | None = None
    max_regressions: int | None = None
    shown: str | None = None  # what the margin's bound shows, where it holds
    regressed: tuple[str, ...] = ()  # ids of the items, as the baseline names them
    missing: tuple[str, ...] = ()  # ids of the baseline's items that have no score in the run
    unanswered: tuple[str, ...] = ()  # of these, what the run was not given an answer to (R1.3a)


def check_regressions(
    comparison: Comparison,
    *,
    max_regressions: int | None = None,
    allow_different: Collection[Measured] = (),
    people: NotWorseForPeople | None = None,
) -> RegressionCheck:
    """Hold B against its baseline A: by the margin that the comparison was asked about, by `max_regressions`, or both.
    With `people`, the margin is held against the difference as people would judge, and all else stays as it is.

    A run that was held against this very baseline while it went on, and ended early by that, has its answer already:
    better or worse by its passes. Another that ended early can't tell: the margin's bound takes the number of items as
    fixed before.

    What was measured must be the same, but for what is allowed to differ; and every item of the baseline must have a
    score in the run (what is missing may have regressed), unless another eval set is allowed. An item that was not
    answered (R1.3a) is no regression, but the gate can't hold without it. A run that itself failed (A3), or has not
    come to its end, passes no gate: at a baseline's floor nothing can regress.

    Where neither was asked, no item may regress.
    """
    not_worse = comparison.score.not_worse
    if not_worse is None and max_regressions is None:
        max_regressions = 0
    regressed = _ids(comparison, comparison.items["class"] == "regressed")
    alone = (comparison.items["class"] == "only_in_a") & ~comparison.was_not_asked("b")
    lacking = comparison.items["unanswered_why_b"].is_not_null() & alone
    unanswered = _ids(comparison, lacking)
    missing = unanswered if "evalset" in allow_different else _ids(comparison, alone)
    found = [
        *(GateFinding(failing_outcome(comparison.b), words) for words in why_failed(comparison.b)),
        *_not_the_same(comparison, allow_different),
        *_too_many(regressed, max_regressions),
        *_missing(len(missing) - len(unanswered), unanswered, comparison.b),
        *_by_score(comparison, max_regressions, people),
    ]
    check = RegressionCheck(
        holds=True,
        outcome="holds",
        reasons=(),
        margin=None if not_worse is None else not_worse.margin,
        confidence=None if not_worse is None else not_worse.confidence,
        max_regressions=max_regressions,
        shown=_shown(comparison) if people is None else _shown_to_people(comparison, people),
        regressed=regressed,
        missing=missing,
        unanswered=unanswered,
    )
    return with_findings(check, found)


def with_findings(check: RegressionCheck, found: Collection[GateFinding]) -> RegressionCheck:
    """The check with more that keeps it from holding: the worst comes first, and gives the outcome."""
    if not found:
        return check
    before = () if check.holds else tuple(GateFinding(check.outcome, words) for words in check.reasons)
    every = sorted(dict.fromkeys((*before, *found)), key=lambda one: _WORST_FIRST.index(one.outcome))
    return msgspec.structs.replace(
        check, holds=False, outcome=every[0].outcome, reasons=tuple(dict.fromkeys(one.words for one in every))
    )


def failing_outcome(run: ComparedRun) -> GateOutcome:
    """The outcome of a gate that fails by `why_failed` or `check_score`."""
    return "does_not_hold" if run.not_complete is None else "not_complete"


def why_failed(run: ComparedRun) -> tuple[str, ...]:
    """Why the run itself can't pass, whatever its items (A3): it is not at its end, or it failed."""
    if run.not_complete is not None:
        return (f"the run is not complete: {run.not_complete}",)
    return () if run.why_failed is None else (f"the run itself failed: {run.why_failed}",)


def check_score(run: ComparedRun, at_least: Decimal) -> tuple[str, ...]:
    """Why the run does not end with a mean score of `at_least` that much; nothing where it does.

    Exact, in nano-units. It must hold in the worst case too: with every sample that has no score taken at 0 (R6.3).
    """
    limit = at_least * NANO
    total, n = int(run.items["sum_nano"].sum()), int(run.items["n_samples"].sum())
    if failed := why_failed(run):
        return failed
    if run.score_nano is None:
        return ("no sample has a score",)
    wanted = f"the gate asks for at least {at_least}"
    if run.score_nano < limit:
        return (f"the score is {run.score:.9g}; {wanted}",)
    worst = mean(total, n)
    if worst is not None and worst < limit:
        return (f"the score is {as_float(worst):.9g} with unscored samples taken at 0; {wanted}",)
    return ()


def _not_the_same(comparison: Comparison, allowed: Collection[Measured]) -> Iterator[GateFinding]:
    for one in comparison.measured:
        if one.name not in allowed:
            words = (
                f"what was measured differs: {one.name} ({', '.join(leaf.path for leaf in one.leaves)}); allow it with "
                f"--allow-different {one.name}, or make a new baseline"
            )
            yield GateFinding("does_not_hold", words)
    if not comparison.n_compared:
        outcome: GateOutcome = "undecided" if comparison.n_unanswered_b else "does_not_hold"
        yield GateFinding(outcome, "the run and its baseline have no scored item in common")


def _too_many(regressed: tuple[str, ...], allowed: int | None) -> Iterator[GateFinding]:
    if allowed is not None and len(regressed) > allowed:
        yield GateFinding("does_not_hold", f"{_items(len(regressed))} regressed; the gate allows {allowed}")


def _missing(n_unscored: int, unanswered: tuple[str, ...], run: ComparedRun) -> Iterator[GateFinding]:
    if n_unscored:
        has = "have" if n_unscored > 1 else "has"
        yield GateFinding("does_not_hold", f"{_items(n_unscored)} of the baseline {has} no score here")
    if unanswered:
        were = "were" if len(unanswered) > 1 else "was"
        why = ", ".join(run.unanswered.why)
        words = f"{_items(len(unanswered))} of the baseline {were} not answered here ({why}): missing, not regressed"
        yield GateFinding("undecided", words)


def _by_score(
    comparison: Comparison, max_regressions: int | None, people: NotWorseForPeople | None
) -> Iterator[GateFinding]:
    if comparison.b.ended_early is None:
        yield from _by_margin(comparison) if people is None else _by_people(people)
    elif people is None:
        yield from _by_its_end(comparison, max_regressions)
    else:
        words = (
            f"the run {comparison.b.ended_early.words}, as judged: what people would judge, a run that asks all tells"
        )
        yield GateFinding("undecided", words)


def _by_margin(comparison: Comparison) -> Iterator[GateFinding]:
    """The findings by the margin; none where no item regressed: that needs no statistics."""
    found, asked = comparison.score, comparison.score.not_worse
    if asked is None or asked.holds or not found.n_lost or found.difference is None or asked.low is None:
        return
    if found.verdict == "worse":
        words = (
            f"the score is worse: {found.difference:+.4f} (p {_p(found.p)}); the gate allows a loss of {asked.margin:g}"
        )
        yield GateFinding("does_not_hold", words)
        return
    words = (
        f"whether the score is worse by more than {asked.margin:g} can't be told from {_items(found.n)}: the "
        f"difference may be down to {asked.low:+.4f}"
    )
    needed = _items_to_tell(found.n, found.difference, asked.low, asked.margin)
    yield GateFinding("undecided", words if needed is None else f"{words}; about {needed:,} items would tell")


def _by_people(people: NotWorseForPeople) -> Iterator[GateFinding]:
    """The findings by the margin as people would judge: these need statistics though no item regressed."""
    found = people.difference
    if people.holds:
        return
    labels = f"labels of {_items(found.n_labelled_a)} of the baseline and {found.n_labelled_b:,} of the run"
    asked = f"whether the score is worse by more than {people.margin:g} as people would judge can't be told by {labels}"
    if people.low is None or found.difference is None:
        yield GateFinding("undecided", f"{asked}: of both, answers in which they differ have to be labelled")
    elif found.verdict == "worse":
        words = f"the score is worse as people would judge: {found.difference:+.4f}"
        yield GateFinding("does_not_hold", f"{words}; the gate allows a loss of {people.margin:g}")
    else:
        yield GateFinding("undecided", f"{asked}: the difference may be down to {people.low:+.4f}")


def _by_its_end(comparison: Comparison, max_regressions: int | None) -> Iterator[GateFinding]:
    """Findings on a run that ended early: it was shown to be worse, or it can't answer what is asked."""
    early, verdict = comparison.b.ended_early, comparison.shown_by_its_end
    if early is None:
        return
    if verdict == "worse":
        yield GateFinding("does_not_hold", f"the run {early.words}")
    elif verdict is None or max_regressions is not None:
        asked = "worse by more than the margin" if max_regressions is None else "within the limit of regressions"
        yield GateFinding("undecided", f"the run {early.words}: whether it is {asked}, a run that asks all items tells")


def _items_to_tell(n: int, difference: float, low: float, margin: float) -> int | None:
    """How many items would bring the bound to the margin if the difference stayed; None where it is beyond."""
    room = difference + margin
    return ceil(n * ((difference - low) / room) ** 2) if room > 0 else None


def _shown(comparison: Comparison) -> str | None:
    asked, early = comparison.score.not_worse, comparison.b.ended_early
    if early is not None and comparison.shown_by_its_end == "better":
        return f"the run {early.words}: by its passes, with an error of at most {100 * early.error:g} %"
    if asked is None or asked.low is None or early is not None:
        return None
    if asked.holds:
        smaller = " It is worse, by less than that." if comparison.score.verdict == "worse" else ""
        return (
            f"not worse by more than {asked.margin:g}: at {100 * asked.confidence:g} % confidence the difference is "
            f"above {asked.low:+.4f}.{smaller}"
        )
    return None if comparison.score.n_lost else "no item regressed."


def _shown_to_people(comparison: Comparison, people: NotWorseForPeople) -> str | None:
    if not people.holds or people.low is None or comparison.b.ended_early is not None:
        return None
    smaller = " It is worse, by less than that." if people.difference.verdict == "worse" else ""
    return (
        f"not worse by more than {people.margin:g} as people would judge: at {100 * people.confidence:g} % confidence "
        f"the difference is above {people.low:+.4f}.{smaller}"
    )


def _p(p: float | None) -> str:
    return "unknown" if p is None else "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _ids(comparison: Comparison, chosen: polars.Series) -> tuple[str, ...]:
    return tuple(comparison.items.filter(chosen)["item_id"].to_list())


def _items(n: int) -> str:
    return f"{n:,} {'item' if n == 1 else 'items'}"
