"""What all tests share without asking for it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault: no example has a time that it must keep.
settings.register_profile("benchbook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("benchbook")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups that one worker has to itself come first: begun last, the longest would keep the others waiting."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
