"""The plan: all that decides which requests are sent. It is in the record's first fact, and its hash names it."""

from __future__ import annotations

import msgspec

from benchbook.ask.requests import RolePlan
from benchbook.canonical import ready
from benchbook.evaluators.candidate import CandidatePlan
from benchbook.evaluators.panel_rules import PanelRule
from benchbook.evaluators.rubric.early_stop_pairs import OtherRun
from benchbook.record.facts import RunStarted

__all__ = ["Panel", "Plan", "UntilDecided", "plan_of"]


class UntilDecided(msgspec.Struct, frozen=True, kw_only=True):
    """The run ends once it is decided, with at most the chance `error` of another decision than all items would give;
    or, with `against`, once it is shown better or worse than that run, with `error` where there is no difference.

    Items are then asked in an order that `seed` draws, all repeats of one before the next.
    """

    error: float
    seed: int
    method: str  # of `early_stop_gates`, or of `early_stop_pairs`
    against: OtherRun | msgspec.UnsetType = msgspec.UNSET


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """Further judges beside the plan's `judge`, what all of them are called, and how their scores make one."""

    names: tuple[str, ...]  # of all, the plan's `judge` first; no two alike
    others: tuple[RolePlan, ...]
    rule: PanelRule


class Plan(CandidatePlan, frozen=True, kw_only=True):
    """A rubric's plan: a judge, or a panel of them, scores what the candidate answered."""

    judge: RolePlan
    unmeasured: tuple[str, ...] = ()
    until_decided: UntilDecided | msgspec.UnsetType = msgspec.UNSET  # left out, and of no weight in the hash, if not so
    panel: Panel | msgspec.UnsetType = msgspec.UNSET  # left out where there is one judge
    no_variance: bool | msgspec.UnsetType = msgspec.UNSET  # declared: no repeat would answer otherwise (R7.3)

    @property
    def judges(self) -> tuple[RolePlan, ...]:
        """All judges, by their numbers."""
        return (self.judge, *self.panel.others) if isinstance(self.panel, Panel) else (self.judge,)


def plan_of(started: RunStarted) -> Plan:
    """The plan in a record's first fact."""
    return msgspec.convert(started.identity["plan"], ready(Plan))
