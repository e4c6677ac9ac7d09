"""The plan: all that decides which requests are sent. It is in the record's first fact, and its hash names it."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from benchbook.records.canonical import canonical_json

__all__ = ["Plan", "RolePlan", "plan_sha256"]


class RolePlan(msgspec.Struct, frozen=True, kw_only=True):
    """How one model is asked. `provider` is its wire format; `recorded` was asked elsewhere."""

    model_id: str
    provider: str
    name: str  # as it is sent
    params: dict[str, Any]
    json_schema: bool = False  # JSON of the spec's schema is asked for (R2.3)
    stream: bool = False
    reasoning_tags: tuple[str, ...] = ()  # R3.7


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Samples are numbered `repeat * n_items + item`; that is the order in which they are asked."""

    spec: str
    spec_sha256: str
    evalset_sha256: str
    n_items: int
    repeats: int
    prompt_template_id: str
    prompt_template_sha256: str
    candidate: RolePlan
    judge: RolePlan
    unmeasured: tuple[str, ...] = ()
    benchmark: bool = False

    @property
    def n_samples(self) -> int:
        return self.n_items * self.repeats


def plan_sha256(plan: Plan) -> str:
    return hashlib.sha256(canonical_json(plan)).hexdigest()
