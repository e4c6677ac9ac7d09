"""The files: all four, whole or not at all, the same whatever the locale."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchbook.errors import RecordError
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.views.rubric.digest import Spread, digest
from benchbook.views.rubric.report import write_reports
from views.made_up import good, report, shown, unscored

NAMES = ["report.html", "report.md", "junit.xml", "samples.csv"]


@pytest.mark.parametrize("kind", ["realistic", "ready", "same", "missing", "empty", "nothing", "hostile"])
def test_four_files_and_nothing_else(kind: str, tmp_path: Path) -> None:
    assert [path.name for path in write_reports(shown(kind), tmp_path)] == NAMES
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)
    for name in NAMES[:3]:
        assert b"\r" not in (tmp_path / name).read_bytes()


def test_the_same_bytes_under_another_locale(tmp_path: Path) -> None:
    write_reports(shown("hostile"), tmp_path)
    (tmp_path / "c").mkdir()
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONPATH": os.pathsep.join(("src", "tests"))}
    subprocess.run(
        [sys.executable, "-m", "views.made_up", tmp_path / "c", "hostile"],
        env=environment,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    for name in NAMES:
        assert (tmp_path / "c" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    made = report([good(0)])
    write_reports(made, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in NAMES}

    def breaking() -> Iterator[RubricRow]:
        yield good(0)
        raise RuntimeError("the table can't be read")

    calls = iter([made.rows, made.rows, breaking])  # the digest, JUnit, then the CSV breaks
    with pytest.raises(RuntimeError):
        write_reports(replace(made, rows=lambda: next(calls)()), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["absent", "a file"])
def test_a_folder_that_is_none_is_the_users_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("mine", encoding="utf-8")
    with pytest.raises(RecordError, match=r"report\.html: can't be written"):
        write_reports(report([good(0)]), tmp_path / name)
    assert (tmp_path / "a file").read_text("utf-8") == "mine"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_samples(tmp_path: Path) -> None:
    """A text of 100 KB a sample: what is kept is cut, and everything else goes by."""
    small = report([good(0)])

    def rows(n: int) -> Iterator[RubricRow]:
        return (unscored(index, candidate_answer=f"{index} " + "x" * 100_000) for index in range(n))

    peaks = []
    for n in (300, 1200):
        tracemalloc.start()
        write_reports(replace(small, rows=lambda n=n: rows(n)), tmp_path)  # type: ignore[misc]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.1
    assert peaks[1] < 40e6


def test_the_digest_counts() -> None:
    found = digest([good(0), good(1), unscored(2)])
    assert (found.n_rows, found.n_passed, found.n_failed, found.n_unscored) == (3, 2, 1, 1)
    assert found.scores_passed == {19: 2}
    assert [row.sample for row in found.failed] == [2]


def test_a_spread_keeps_three_digits() -> None:
    spread = Spread()
    for value in (0, 7, 999, 1000, 1009, 1010, 12_345, 12_399, None):
        spread.add(value)
    assert spread.counts == {0: 1, 7: 1, 999: 1, 1000: 2, 1010: 1, 12_300: 2}
    assert (spread.n, spread.highest, spread.below(0.5)) == (8, 12_399, 1000)
    assert Spread().below(0.95) == 0
