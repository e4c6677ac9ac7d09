"""The manual's page on records that a function scored: all rules that are cited, all columns and fields are there."""

from __future__ import annotations

import re

from benchbook.evaluators.scorers import outcome, rows
from benchbook.evaluators.scorers.metric import NOT_PASSED, NOT_SCORED
from support import ROOT

PAGE = (ROOT / "docs" / "reference" / "scorers.md").read_text(encoding="utf-8")


def test_every_rule_that_is_cited_is_there() -> None:
    there = re.findall(r"^\*\*(F\d) ", PAGE, flags=re.MULTILINE)
    assert there == [f"F{n}" for n in range(1, 9)]
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "src/benchbook/evaluators/scorers").glob("*.py"))
    cited = {one for text in sources for one in re.findall(r"\bF\d\b", text)}
    assert cited <= {*there}


def test_every_column_is_there_in_the_order_of_the_file() -> None:
    table = PAGE.partition("## samples.parquet")[2].partition("## aggregates.json")[0]
    named = [
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall("`(.+?)`", line.split("|")[1])
    ]
    assert named == [*rows.ScorerRow.__struct_fields__]


def test_every_field_of_its_own_is_there() -> None:
    own = {
        *rows.ScorerAggregates.__annotations__,
        *rows.ScorerManifest.__annotations__,
        *rows.ScorerSaid.__annotations__,
    }
    shared = {"spec", "errors", "warnings", "unanswered", "n_warnings_first"}  # as under answer_correctness@v1
    assert [name for name in own - shared if f"`{name}`" not in PAGE] == []


def test_numbers_and_words_are_those_of_the_code() -> None:
    limits = (outcome._MOST_VALUES, f"{outcome._MOST_CHARACTERS:,}", outcome._SAID_CHARACTERS)
    assert all(f"{one}" in PAGE for one in (*limits, NOT_PASSED, NOT_SCORED))
