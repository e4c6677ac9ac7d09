"""The manual says what `--until-decided` errs and saves, in the figures that the simulation is held against."""

from __future__ import annotations

from pathlib import Path

from until_decided_table import until_decided_markdown

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md"


def test_the_manuals_table_is_the_one_that_is_simulated() -> None:
    assert until_decided_markdown() in PAGE.read_text(encoding="utf-8")
