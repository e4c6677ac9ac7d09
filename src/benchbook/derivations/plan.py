"""The plan: all that decides which requests are sent. It is in the record's first fact, and its hash names it."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.decisions.early_stop_pairs import OtherRun
from benchbook.evalsets.set_parts import PartSaid, SetPart
from benchbook.records.facts import RunStarted
from benchbook.scorers.rubric_panel import PanelRule

__all__ = ["CandidatePlan", "Panel", "Plan", "RolePlan", "UntilDecided", "candidate_plan_of", "plan_sha256"]


class RolePlan(msgspec.Struct, frozen=True, kw_only=True):
    """How one model is asked. `provider` is its wire format; `recorded` was asked elsewhere."""

    model_id: str
    provider: str
    name: str  # as it is sent
    params: dict[str, Any]
    json_schema: bool = False  # JSON of the spec's schema is asked for (R2.3)
    stream: bool = False
    reasoning_tags: tuple[str, ...] = ()  # R3.7


class CandidatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What one model is asked, and nobody else: all of an `answer_correctness@v1` plan.

    Samples are numbered `repeat * n_items + item`; that is the order in which they are asked.
    """

    spec: str
    spec_sha256: str
    evalset_sha256: str
    n_items: int
    repeats: int
    prompt_template_id: str  # empty, with its hash, where the outputs were made elsewhere
    prompt_template_sha256: str
    candidate: RolePlan
    benchmark: bool = False
    part: SetPart | msgspec.UnsetType = msgspec.UNSET  # left out, and of no weight in the hash, where all were asked

    @property
    def set_sha256(self) -> str:
        """The hash of what was asked: of the eval set's file, or of the part of it."""
        return self.part.sha256(self.evalset_sha256) if isinstance(self.part, SetPart) else self.evalset_sha256

    @property
    def part_said(self) -> PartSaid | msgspec.UnsetType:
        """The part in words, as manifests have it."""
        return self.part.said if isinstance(self.part, SetPart) else msgspec.UNSET

    @property
    def n_samples(self) -> int:
        return self.n_items * self.repeats


class UntilDecided(msgspec.Struct, frozen=True, kw_only=True):
    """The run ends once it is decided, with at most the chance `error` of another decision than all items would give;
    or, with `against`, once it is shown better or worse than that run, with `error` where there is no difference.

    Items are then asked in an order that `seed` draws, all repeats of one before the next.
    """

    error: float
    seed: int
    method: str  # of `decisions.early_stop`, or of `decisions.early_stop_pairs`
    against: OtherRun | msgspec.UnsetType = msgspec.UNSET


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """Further judges beside the plan's `judge`, what all of them are called, and how their scores make one."""

    names: tuple[str, ...]  # of all, the plan's `judge` first; no two alike
    others: tuple[RolePlan, ...]
    rule: PanelRule


class Plan(CandidatePlan, frozen=True, kw_only=True):
    """A `rubric@v1` plan: a judge, or a panel of them, scores what the candidate answered."""

    judge: RolePlan
    unmeasured: tuple[str, ...] = ()
    until_decided: UntilDecided | msgspec.UnsetType = msgspec.UNSET  # left out, and of no weight in the hash, if not so
    panel: Panel | msgspec.UnsetType = msgspec.UNSET  # left out where there is one judge
    no_variance: bool | msgspec.UnsetType = msgspec.UNSET  # declared: no repeat would answer otherwise (R7.3)

    @property
    def judges(self) -> tuple[RolePlan, ...]:
        """All judges, by their numbers."""
        return (self.judge, *self.panel.others) if isinstance(self.panel, Panel) else (self.judge,)


def plan_sha256(plan: msgspec.Struct) -> str:
    return hashlib.sha256(canonical_json(plan)).hexdigest()


def candidate_plan_of(started: RunStarted) -> CandidatePlan:
    """The plan in a record's first fact, as far as the candidate goes."""
    return msgspec.convert(started.identity["plan"], ready(CandidatePlan))
