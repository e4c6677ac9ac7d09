"""Tests with one `xdist_group` run in one worker, in the order of their files, and before all others.

pytest-xdist has its own way, which is to write the group into a test's id. pytest 9.2 takes no such id, and says
nothing: every group is torn apart (pytest-xdist's issue 1386). Here the ids stay, and each worker says its groups in a
file.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

_SAID_IN = "benchbook_groups_are_said_in"


def of_item(item: pytest.Item) -> str | None:
    """The names of its groups, joined; None for a test that may run anywhere."""
    names = {str(mark.args[0]) for mark in item.iter_markers("xdist_group")}
    return "_".join(sorted(names)) or None


class Worker:
    """Writes the group of each test that has one, before pytest-xdist says which tests there are."""

    def __init__(self, said_in: Path) -> None:
        self._said_in = said_in

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        groups = {item.nodeid: group for item in session.items if (group := of_item(item)) is not None}
        self._said_in.write_text(json.dumps(groups), encoding="utf-8")


class Controller:
    """Tells each worker where to write its groups, and gives out tests by them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_SAID_IN] = str(self._folder / f"{node.gateway.id}.json")

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Scheduling | None:
        return Scheduling(config, log) if config.getoption("dist") == "loadgroup" else None


class Scheduling(LoadGroupScheduling):
    """Gives out a group at once, and every other test by itself.

    Forgets what a worker is done with, which is counted again at each of ten thousand tests otherwise.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._groups: dict[str, str] = {}

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self._groups |= json.loads(Path(node.workerinput[_SAID_IN]).read_text(encoding="utf-8"))

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        super().mark_test_complete(node, item_index, duration)
        group = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][group].values()):
            del self.assigned_work[node][group]

    def _split_scope(self, nodeid: str) -> str:
        return self._groups.get(nodeid, nodeid)


def register(config: pytest.Config) -> None:
    """Set up this process, be it a worker or the one that gives out tests."""
    said_in = getattr(config, "workerinput", {}).get(_SAID_IN)
    if said_in is None:
        folder = tempfile.TemporaryDirectory(prefix="bb-groups-")
        config.add_cleanup(folder.cleanup)
        config.pluginmanager.register(Controller(Path(folder.name)))
    else:
        config.pluginmanager.register(Worker(Path(said_in)))
