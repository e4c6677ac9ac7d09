"""The manual says what `--until-decided` errs and saves, in the figures that the simulation is held against."""

from __future__ import annotations

from pathlib import Path

from until_decided_table import until_decided_markdown, until_shown_markdown

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md"


def test_the_manuals_tables_are_the_ones_that_are_simulated() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert until_decided_markdown() in page
    assert until_shown_markdown() in page
