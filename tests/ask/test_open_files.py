"""The soft limit of open files is raised for as many connections as may be open (SPEC R1.3a: no fault of the model)."""

from __future__ import annotations

import resource

import pytest

from benchbook.ask.roles import allow_open_files

INFINITY = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("limits", "connections", "asked_for"),
    [
        pytest.param((1024, 4096), 16, None, id="enough"),
        pytest.param((1024, 4096), 2_000, (2_100, 4096), id="raised-as-far-as-needed"),
        pytest.param((1024, 4096), 100_000, (4096, 4096), id="as-far-as-the-hard-limit"),
        pytest.param((1024, INFINITY), 2_000, (2_100, INFINITY), id="no-hard-limit"),
        pytest.param((INFINITY, INFINITY), 100_000, None, id="no-limit"),
        pytest.param((30, 30), 200, None, id="nothing-to-raise"),
    ],
)
def test_the_limit_is_raised_where_connections_need_it(
    limits: tuple[int, int], connections: int, asked_for: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda which, wanted: found.append(wanted))
    allow_open_files(connections)
    assert found == ([] if asked_for is None else [asked_for])


@pytest.mark.parametrize("error", [ValueError("over"), OSError(1, "not permitted")])
def test_a_system_that_refuses_is_left_as_it_is(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(which: int, wanted: tuple[int, int]) -> None:
        raise error

    monkeypatch.setattr(resource, "getrlimit", lambda which: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    allow_open_files(2_000)
