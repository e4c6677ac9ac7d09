"""The manual says how often a decision is wrong, in the figures that the simulation is held against."""

from __future__ import annotations

from pathlib import Path

from sure_table import sure_markdown

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md"


def test_the_manuals_table_is_the_one_that_is_simulated() -> None:
    assert sure_markdown() in PAGE.read_text(encoding="utf-8")
