"""Rates that workers on Ray share: an actor lends them, and each worker asks it for leases."""

from __future__ import annotations

import asyncio
from typing import Any

from benchbook.ask.shared_rates import DeskLostError, Lease, LendingDesk, SharedRates

_PATIENCE_S = 15.0  # of a worker whose desk says nothing
_NAMESPACE = "benchbook"


def begin_desk(ray: Any, rates: SharedRates) -> Any:
    """The actor that lends these rates: that of another run with the same name, if there is one on the cluster.

    It ends with the run that began it. Nobody begins it again: it would not know what was lent.
    """
    actor = ray.remote(num_cpus=0, max_restarts=0)(LendingDesk)
    named = actor.options(name=rates.name, namespace=_NAMESPACE, get_if_exists=True)
    return named.remote(dict(rates.per_minute))


class RayDesk:
    """The desk as a worker reaches it, by the actor's handle."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor

    async def lease(self, rate: str, holder: str, wanted: int, unused: float, owed: float) -> Lease:
        try:
            asked = self._actor.lease.remote(rate, holder, wanted, unused, owed)
            lease: Lease = await asyncio.wait_for(asyncio.wrap_future(asked.future()), _PATIENCE_S)
        except (self._ray.exceptions.RayError, TimeoutError):
            raise DeskLostError from None
        return lease
