"""A run by batch, killed at every file operation: nothing is lost, and nothing is paid for twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ask.batches.going import VENDORS
from ask.batches.test_killed import holds_at_each_kill
from crashing import room_in_memory, why_not_here

pytestmark = [pytest.mark.attack, pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())]


@pytest.fixture
def room() -> Iterator[Path]:
    with room_in_memory() as folder:
        yield folder


@pytest.mark.parametrize("vendor", VENDORS)
def test_at_each_operation(vendor: str, room: Path, rng: random.Random, share: Callable[[int], int]) -> None:
    holds_at_each_kill(vendor, room, lambda every: sorted(rng.sample(every, share(len(every)))))
