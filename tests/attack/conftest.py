"""The attack on all of Benchbook, `script/test --attack`: each test draws from one seed, and counts into one table."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from attack.tally import Tally, merged, replace_table, table, write
from support import ROOT

PAGE = ROOT / "docs" / "explanation" / "attacks.md"
_FOLDER = pytest.StashKey[Path]()
_SEED = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("attack")
    group.addoption("--seed", type=int, help="what every attack is drawn from; by default the day's date, as a number")
    group.addoption("--share", type=float, default=1.0, help="the part of all attempts to make, such as 0.05")
    group.addoption("--write-table", action="store_true", help="put the table into docs/explanation/attacks.md")


def pytest_configure(config: pytest.Config) -> None:
    """The process that spreads the work says where all count, and what all draw from."""
    given = getattr(config, "workerinput", {})
    seed = config.getoption("seed", None)
    config.stash[_SEED] = given.get("attack_seed", seed if seed is not None else int(f"{datetime.now(UTC):%Y%m%d}"))
    config.stash[_FOLDER] = Path(given.get("attack_folder") or tempfile.mkdtemp(prefix="benchbook-attack-"))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["attack_seed"] = node.config.stash[_SEED]
    node.workerinput["attack_folder"] = str(node.config.stash[_FOLDER])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    config = terminalreporter.config
    tallies = merged(config.stash[_FOLDER]) if _FOLDER in config.stash else []
    if not tallies:
        return
    told = f"{_when_and_where(config.stash[_SEED])}\n\n{table(tallies)}"
    terminalreporter.write_sep("=", "the attack")
    terminalreporter.write_line(told)
    if config.getoption("write_table"):
        replace_table(PAGE, told)


def _when_and_where(seed: int) -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, check=False)
    at = commit.stdout.decode().strip() or "no commit"
    return f"{datetime.now(UTC):%Y-%m-%d}, commit {at}, {os.cpu_count()} cores, seed {seed}."


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """What a test draws from: the seed, and the test's own name, so that each can be run again by itself."""
    return random.Random(f"{request.config.stash[_SEED]} {request.node.nodeid}")


@pytest.fixture
def share(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """How many of so many attempts are to be made."""
    part: float = request.config.getoption("share")
    return lambda most: max(1, round(most * part))


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Callable[[str, str], Tally]]:
    """Begins a tally; at the test's end all are written down, and the test fails where something did."""
    begun: list[Tally] = []

    def begin(attack: str, target: str) -> Tally:
        begun.append(Tally(attack, target))
        return begun[-1]

    yield begin
    worker = getattr(request.config, "workerinput", {}).get("workerid", "main")
    for one in begun:
        write(request.config.stash[_FOLDER], worker, one)
    failed = [f"{one.attack} on {one.target}: {one.shown()}" for one in begun if one.failures]
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)
