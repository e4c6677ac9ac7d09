"""The manual says how often intervals hold the true value, in the figures that the simulations are held against."""

from __future__ import annotations

from pathlib import Path

from coverage_table import coverage_markdown

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md"


def test_the_manuals_table_is_the_one_that_is_tested() -> None:
    assert coverage_markdown() in PAGE.read_text(encoding="utf-8")
