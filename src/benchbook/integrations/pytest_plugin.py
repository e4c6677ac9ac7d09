"""A test for each item: `pytest -m benchbook --benchbook-run RUN --benchbook-baseline BASE` (SPEC A11).

A test fails where its item regressed, or where the baseline has a score for it and the run has none: what is missing
may have regressed. With `--benchbook-margin 0.05` a test of the score stands for those that regressed: a model that
answers differently each time loses some items by chance. Items that only the run has are skipped, with the reason, and
so are those that it got no answer to.

A test of its own, `what-was-measured`, fails where that differs between the two; one more, `the-run-itself`, is there
and fails where the run crashed, timed out, never ended, or was not answered. pytest loads this module wherever
Benchbook is installed, so it imports what it needs when it is asked for tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from benchbook.integrations.regression_cases import RegressionCase


MARKER = "benchbook"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("benchbook", "per-item regression tests")
    group.addoption("--benchbook-run", metavar="RUN", help="Test each item of this run: a record's folder, or its id.")
    group.addoption(
        "--benchbook-baseline",
        metavar="BASE",
        help="What it is held against. By default what `benchbook baseline` set.",
    )
    group.addoption("--benchbook-runs", metavar="FOLDER", default="runs", help="The folder with the records: runs.")
    group.addoption(
        "--benchbook-allow-different",
        metavar="WHAT",
        default="",
        help="What may differ between the two, as in `benchbook gate`: evalset, judge, …; several with commas.",
    )
    group.addoption(
        "--benchbook-margin",
        metavar="LOSS",
        type=float,
        help="Test the score: how much worse it may be, such as 0.05. An item that regressed is skipped then.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARKER}: an item of a run, held against the run's baseline")


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among the tests
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    run = config.getoption("--benchbook-run")
    if run is None:
        return
    group: _Run = _Run.from_parent(session, name=MARKER, nodeid=MARKER)
    group.cases = _cases(run, config)
    report = group.ihook.pytest_make_collect_report(collector=group)
    group.ihook.pytest_collectreport(report=report)  # or they would be missing from the number of tests collected
    items.extend(report.result)


def _cases(run: str, config: pytest.Config) -> Iterable[RegressionCase]:
    from benchbook.errors import BenchbookError
    from benchbook.integrations.regression_cases import regression_cases

    try:
        return regression_cases(
            run,
            config.getoption("--benchbook-baseline"),
            runs=config.getoption("--benchbook-runs"),
            margin=config.getoption("--benchbook-margin"),
            allow_different=[one for one in config.getoption("--benchbook-allow-different").split(",") if one],
        )
    except BenchbookError as error:
        raise pytest.UsageError(_OPTION.sub(r"--benchbook-\1", str(error))) from None


_OPTION = re.compile(r"(?<![\w-])--(baseline|margin|allow-different|runs)\b")  # as `benchbook gate` calls them


class _Run(pytest.Collector):
    """Gathers the tests of a run."""

    cases: Iterable[RegressionCase] = ()

    def collect(self) -> Iterator[pytest.Item]:
        for case in self.cases:
            item: _Case = _Case.from_parent(self, name=case.name)
            item.case = case
            item.add_marker(MARKER)
            yield item


class _Case(pytest.Item):
    """The test of one item."""

    case: RegressionCase

    def runtest(self) -> None:
        match self.case.outcome:
            case "failed":
                pytest.fail(self.case.words, pytrace=False)
            case "skipped":
                pytest.skip(self.case.words)
            case "passed":
                return

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, f"item {self.case.name}"
