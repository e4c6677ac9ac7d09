"""What a run would ask of whom, and the most that it can cost, told before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from benchbook.ask.roles import Roles
from benchbook.record.facts import Role
from benchbook.text import plural

BYTES_PER_TOKEN = 4  # a rule of thumb for English; only for this estimate, never for a score
_MAX_TOKENS = 1024  # of an answer that has no limit of its own
_MILLION = Decimal(1_000_000)


class AskedModel(msgspec.Struct, frozen=True, kw_only=True):
    """One of those who would be asked. `name` is what a judge is called, where it has a name."""

    role: Role
    name: str | None
    model_id: str
    params: dict[str, Any]


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What would be asked. An evaluator that has more to tell of its plan adds it in a subtype of this."""

    samples: int
    calls: int  # beside those that a reply which can't be read, or a fault on the way, leads to
    models: tuple[AskedModel, ...]
    first_request: str
    most_cost_usd: str | None  # None without prices
    plan_sha256: str
    plan: Any
    warnings: tuple[str, ...] = ()

    @property
    def asked_words(self) -> tuple[str, ...]:
        """How much is asked, a line each."""
        return (f"{plural(self.samples, 'sample')}: {plural(self.calls, 'call')}",)

    @property
    def outcome_words(self) -> tuple[tuple[str, str], ...]:
        """What can come of it, as far as the plan tells: `READY`, `stops`, each with what is to be said of it."""
        return ()


class Workload(NamedTuple):
    """All that one endpoint is asked."""

    calls: int
    input_tokens: int


def asked_models(roles: Roles, names: Iterable[str] = ()) -> tuple[AskedModel, ...]:
    """Whom these roles ask; `names` are those of the judges, in their order."""
    named = iter(names)
    return tuple(
        AskedModel(role="candidate", name=None, model_id=plan.model_id, params=plan.params)
        if endpoint == "candidate"
        else AskedModel(role="judge", name=next(named, None), model_id=plan.model_id, params=plan.params)
        for endpoint, (_, plan) in roles.items()
    )


def most_cost(roles: Roles, asked: Mapping[str, Workload]) -> str | None:
    """Dollars, every answer as long as it may be; None where no price is set."""
    prices = [price for role, _ in roles.values() for price in (role.config.input_price, role.config.output_price)]
    if all(price is None for price in prices):
        return None
    cost = Decimal(0)
    for name, (role, plan) in roles.items():
        answers = int(plan.params.get("max_tokens", _MAX_TOKENS)) * asked[name].calls
        config = role.config
        cost += (config.input_price or 0) * asked[name].input_tokens + (config.output_price or 0) * answers
    return f"{cost / _MILLION:.2f}"
