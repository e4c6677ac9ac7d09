"""The forecast of a run: whom it would ask and how often, and the most that it can cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from benchbook.ask.requests import RolePlan
from benchbook.ask.roles import Roles
from benchbook.record.facts import Role
from benchbook.text import plural

BYTES_PER_TOKEN = 4  # a rule of thumb for English; only for this estimate, never for a score
_MAX_TOKENS = 1024  # of an answer without a limit of its own
_MILLION = Decimal(1_000_000)


class AskedModel(msgspec.Struct, frozen=True, kw_only=True):
    """One model that would be asked. `name` is a judge's own name, if it has one."""

    role: Role
    name: str | None
    model_id: str
    params: dict[str, Any]


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of a run, before it begins. An evaluator whose plan has more to show adds it in a subtype."""

    samples: int
    calls: int  # without retries after unreadable replies or transport faults
    models: tuple[AskedModel, ...]
    first_request: str
    most_cost_usd: str | None  # None without prices
    plan_sha256: str
    plan: Any
    warnings: tuple[str, ...] = ()

    @property
    def asked_words(self) -> tuple[str, ...]:
        """The amount of work, in words, by line."""
        return (f"{plural(self.samples, 'sample')}: {plural(self.calls, 'call')}",)

    @property
    def outcome_words(self) -> tuple[tuple[str, str], ...]:
        """The outcomes that the plan allows (`READY`, `stops`), each with a remark."""
        return ()


class Workload(NamedTuple):
    """All requests to one endpoint."""

    calls: int
    input_tokens: int


def asked_models(roles: Roles, names: Iterable[str] = ()) -> tuple[AskedModel, ...]:
    """The models that these roles ask; `names` are those of the judges, in their order."""
    named = iter(names)
    return tuple(
        AskedModel(role="candidate", name=None, model_id=plan.model_id, params=plan.params)
        if endpoint == "candidate"
        else AskedModel(role="judge", name=next(named, None), model_id=plan.model_id, params=plan.params)
        for endpoint, (_, plan) in roles.items()
    )


def longest_answer(plan: RolePlan) -> int:
    """The most tokens that a model may answer with."""
    return int(plan.params.get("max_tokens", _MAX_TOKENS))


def most_cost(roles: Roles, asked: Mapping[str, Workload]) -> str | None:
    """The cost in dollars if every answer is as long as allowed; None if no price is set."""
    prices = [price for role, _ in roles.values() for price in (role.config.input_price, role.config.output_price)]
    if all(price is None for price in prices):
        return None
    cost = Decimal(0)
    for name, (role, plan) in roles.items():
        answers = longest_answer(plan) * asked[name].calls
        config = role.config
        cost += (config.input_price or 0) * asked[name].input_tokens + (config.output_price or 0) * answers
    return f"{cost / _MILLION:.2f}"
