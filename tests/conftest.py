"""What all tests share without asking for it."""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault: no example has a time that it must keep.
settings.register_profile("benchbook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A fifth of the examples, for script/test --fast: hypothesis takes its name, and `support.examples` counts by it.
settings.register_profile("fast", settings.get_profile("benchbook"), max_examples=20)
settings.load_profile("benchbook")

# As in Benchbook's own processes: the collector looks less often at what lives long.
gc.set_threshold(10_000, 20, 50)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups that one worker has to itself come first: begun last, the longest would keep the others waiting."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


def pytest_collection_finish() -> None:
    """Ten thousand tests and the modules beneath them live to the end: the collector need not look at them again."""
    gc.collect()
    gc.freeze()
