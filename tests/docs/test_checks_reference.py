"""The manual's page on checks: its examples hold, and every kind, key and reason stands in it."""

from __future__ import annotations

import tomllib

import pytest

from benchbook.evaluators.checks import REASONS, read_checks
from benchbook.evaluators.checks.kinds import KINDS
from checking import judged
from docs.sessions import blocks_of, tables_of
from support import ROOT

PAGE = ROOT / "docs" / "reference" / "checks.md"
TABLES = tables_of(PAGE)
EXAMPLES = [row for table in TABLES for row in table if "result" in row]


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: f"{row['kind']}-{row['answer']}")
def test_an_example_holds(row: dict[str, str]) -> None:
    result = judged(row["kind"], row["answer"], row["settings"].replace("; ", "\n"))
    assert (result.reason or "1") == row["result"]


def test_the_spec_that_is_shown_is_one() -> None:
    (shown,) = (block.text for block in blocks_of(PAGE) if block.language == "toml")
    assert read_checks(shown).id == "capital@v1"
    assert set(tomllib.loads(shown)["checks"][1]) == {"name", "kind", "limit", "weight", "must_pass"}


def test_every_kind_has_its_examples_and_its_keys() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert {row["kind"] for row in EXAMPLES} == set(KINDS)
    assert [key for kind in KINDS.values() for key in kind.SETTINGS if f"`{key}`" not in text] == []


def test_every_reason_is_there_in_its_own_words() -> None:
    assert {
        row["reason"]: row["why the score is not full"] for table in TABLES for row in table if "reason" in row
    } == REASONS
