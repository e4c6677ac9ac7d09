"""Settings and hooks of all tests."""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

import grouping

# A busy machine is not a fault: no example has a deadline.
settings.register_profile("benchbook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A fifth of the examples, for script/test --fast, which passes this name; `support.examples` scales by it.
settings.register_profile("fast", settings.get_profile("benchbook"), max_examples=20)
settings.load_profile("benchbook")

ASKED_FOR = ("attack", "peers")

# As in Benchbook's own processes: the collector looks less often at long-lived objects.
gc.set_threshold(10_000, 20, 50)


def pytest_configure(config: pytest.Config) -> None:
    grouping.register(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what runs only when it is asked for, whatever else is selected.

    Put groups that need a worker to themselves first: begun last, the longest would keep the others waiting.
    """
    for mark in ASKED_FOR:
        if mark not in config.getoption("markexpr"):
            left_out = [item for item in items if item.get_closest_marker(mark) is not None]
            if left_out:
                config.hook.pytest_deselected(items=left_out)
                items[:] = [item for item in items if item.get_closest_marker(mark) is None]
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


def pytest_collection_finish() -> None:
    """Freeze the tests and their modules, which live to the end: the collector need not look at them again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["posix", "windows"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the system whose layer of locks and disks is used: each test runs once by each."""
    if request.param == "windows":
        import windows_rules

        if not windows_rules.HERE:
            pytest.skip("needs /proc, to see what is open")
        windows_rules.take_over(monkeypatch.setattr)
    return str(request.param)
