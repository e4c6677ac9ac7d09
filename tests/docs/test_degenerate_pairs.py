"""The manual's table of comparisons at the edge is the one that is tested."""

from __future__ import annotations

from pathlib import Path

from degenerate_pairs import degenerate_markdown

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "degenerate-pairs.md"


def test_the_manuals_table_is_the_one_that_is_tested() -> None:
    assert degenerate_markdown() in PAGE.read_text(encoding="utf-8")
