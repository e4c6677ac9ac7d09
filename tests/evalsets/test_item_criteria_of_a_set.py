"""The field `criteria` of an item, in every form of a set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.evalsets import open_evalset
from benchbook.evalsets.composition import difference
from benchbook.evalsets.validate import validate

CRITERIA: list[dict[str, Any]] = [{"text": "Is short.", "weight": 3}, {"text": "Lies.", "weight": -0.5}]


def jsonl(path: Path, *criteria: Any) -> Path:
    items = ({"id": f"i{n}", "prompt": f"Ask {n}", "criteria": one} for n, one in enumerate(criteria))
    path.write_text("".join(f"{json.dumps(one)}\n" for one in items), encoding="utf-8")
    return path


def test_it_is_read_from_a_line_and_from_a_cell(tmp_path: Path) -> None:
    cell = json.dumps(CRITERIA).replace('"', '""')
    table = tmp_path / "items.csv"
    table.write_text(f'id,question,criteria\ni0,Ask 0,"{cell}"\n', encoding="utf-8")
    for path in (jsonl(tmp_path / "items.jsonl", CRITERIA), table):
        with open_evalset(path) as opened:
            assert opened[0].criteria == CRITERIA


@pytest.mark.parametrize(
    ("criteria", "found"),
    [
        (CRITERIA, []),
        (None, []),
        ("short and kind", []),  # a column of somebody's own
        (["short", "kind"], []),
        ([], []),
        ([{"text": "a", "weight": 0}], [("criteria[0].weight", "bad_criteria", "error")]),
        ([CRITERIA[0], "b"], [("criteria[1]", "bad_criteria", "error")]),
        (
            [{"criterion": "a", "points": 1}],
            [("criteria[0].text", "bad_criteria", "error"), ("criteria[0].weight", "bad_criteria", "error")],
        ),
    ],
)
def test_a_fault_is_named_by_line_and_field(tmp_path: Path, criteria: Any, found: list[tuple[str, str, str]]) -> None:
    path = jsonl(tmp_path / "items.jsonl", CRITERIA, criteria)
    told = [one for one in validate(path, "rubric") if one.line != 1]  # and nothing of the set as a whole
    assert [(one.field, one.code, one.severity) for one in told] == found
    with open_evalset(path) as opened:
        assert len(opened) == 2  # other rubrics do not read it


def test_another_weight_is_another_item(tmp_path: Path) -> None:
    heavier = [CRITERIA[0] | {"weight": 4}, CRITERIA[1]]
    before, after = jsonl(tmp_path / "a.jsonl", CRITERIA), jsonl(tmp_path / "b.jsonl", heavier)
    with open_evalset(before) as first, open_evalset(after) as second:
        assert first.sha256 != second.sha256
        (changed,) = difference(first, second).changed
    assert dict(changed.fields) == {"criteria": (CRITERIA, heavier)}
