"""`script/bench statistics` with few draws: each row comes out, and keeps its promise as far as so few can tell.

And it is in the manual, with figures that they don't contradict.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "statistics.md").read_text(encoding="utf-8")
DRAWS = 20
LINES = {
    "corrected": 6, "alike": 6, "clusters": 13, "percentiles": 4, "ranks": 5, "paired": 6, "slices": 2,
    "regressions": 7, "stopping": 4, "decisions": 6, "planning": 8,
}  # fmt: skip
KNOWN_TO_BREAK = {
    "highest type I error, all items differ",
    "false pass at a margin of 0.05: 20 items, 5 % lost, 0 % won",
}
"""Said in the manual: mid-p where every item differs, and a gate that holds because no item regressed."""


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    """bench/coverage.py; its own folder is on the path, as where it is run."""
    sys.path.insert(0, str(ROOT / "bench"))
    spec = importlib.util.spec_from_file_location("bench_coverage", ROOT / "bench" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(ROOT / "bench"))


def manual() -> dict[str, list[str]]:
    """The rows of the manual's table by their case: goal, method, figure, cost, and the same of the best other."""
    _, _, table = PAGE.partition("## Where which method is used, and how it does\n")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]
    return {row[0]: row[1:] for row in rows if len(row) == 8}


def test_all_rows_are_tried(bench: ModuleType) -> None:
    assert list(bench.ROWS) == list(LINES)


@pytest.mark.slow
@pytest.mark.parametrize("row", LINES)
def test_a_row_of_the_table(bench: ModuleType, row: str) -> None:
    told = manual()
    found = list(bench.measured([row], DRAWS))
    assert len(found) == LINES[row]
    for line in found:
        assert line.standing != "broken" or line.case in KNOWN_TO_BREAK, line
        goal, method, figure, *_ = told[line.case]
        assert (goal, method) == (line.goal.words, line.today.method)
        assert ("**broken**" in figure) == (line.case in KNOWN_TO_BREAK), line.case
        percent = float(re.match(r"[\d.]+", figure)[0])  # type: ignore[index]
        assert line.today.percent == pytest.approx(percent, abs=_chance(line, percent)), line.case


def _chance(line: Any, percent: float) -> float:
    """Four standard errors of so few draws; where all is listed, what the tables weigh that so few would not show."""
    share = min(max(percent, 5.0), 95.0)
    return 3.0 if line.draws is None else 4 * sqrt(share * (100 - share) / line.draws)


def test_planned_widths_are_those_that_come_out() -> None:
    """Of each planned width, the simulated one is within 5 %."""
    for case, row in manual().items():
        if planned := re.search(r"planned width ([\d.]+)", case):
            assert float(row[3]) == pytest.approx(float(planned[1]), rel=0.05), case


def test_the_table_is_written_as_the_manual_has_it(bench: ModuleType) -> None:
    rows = list(bench.markdown(bench.measured(["slices"], DRAWS)))
    assert rows[:3] == [*bench.HEADER, "| **slices** | | | | | | | |"]
    assert all(row in PAGE for row in rows[:3])
