"""Every field of an `answer_correctness@v1` record is in its reference."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from benchbook.evaluators.correctness.rows import (
    AskedCorrectnessRow,
    CorrectnessAggregates,
    CorrectnessManifest,
    CorrectnessRow,
)
from benchbook.evaluators.gates import RunVerdict
from benchbook.evaluators.rubric.rows import RubricManifest
from docs.sessions import tables_of
from support import ROOT

PAGE = ROOT / "docs" / "reference" / "answer-correctness.md"
WORDS = {int: "integer", float: "number", str: "text"}


def test_every_column_is_there_in_the_order_of_the_file() -> None:
    hints = get_type_hints(CorrectnessRow)
    described = [row for table in tables_of(PAGE) for row in table if "type" in row]
    assert [(row["name"], row["type"], row["null"] != "never") for row in described] == [
        (name, *_type_of(hints[name])) for name in CorrectnessRow.__struct_fields__
    ]


def _type_of(hint: Any) -> tuple[str, bool]:
    words = next(words for kind, words in WORDS.items() if hint in (kind, kind | None))
    return words, "None" in str(hint)


@pytest.mark.parametrize(
    "struct", [CorrectnessAggregates, RunVerdict, AskedCorrectnessRow], ids=lambda one: one.__name__
)
def test_every_field_is_there(struct: Any) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in struct.__struct_fields__ if f"`{name}`" not in text] == []


def test_the_manifest_s_own_fields_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    own = set(CorrectnessManifest.__struct_fields__) - set(RubricManifest.__struct_fields__)
    assert [name for name in sorted(own) if f"`{name}`" not in text] == []
