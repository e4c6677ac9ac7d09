"""`evalset diff`: what changed between two versions of a set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchbook.evalsets import open_evalset
from benchbook.evalsets.composition import ChangedItem, EvalSetDifference, difference


def compared(tmp_path: Path, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> EvalSetDifference:
    for name, items in (("before", before), ("after", after)):
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(msgspec.json.encode(item) for item in items))
    with open_evalset(tmp_path / "before.jsonl") as one, open_evalset(tmp_path / "after.jsonl") as other:
        return difference(one, other)


def item(item_id: str, **fields: Any) -> dict[str, Any]:
    return {"id": item_id, "prompt": "P?"} | fields


def test_added_removed_and_changed_items_are_told_apart(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        [item("a"), item("b", expected_answer="4", section="core"), item("c")],
        [item("b", expected_answer="5", difficulty="easy", section="core"), item("c"), item("d")],
    )
    assert found == EvalSetDifference(
        added=["d"],
        removed=["a"],
        changed=[ChangedItem("b", {"expected_answer": ("4", "5"), "difficulty": (None, "easy")})],
        n_same=1,
        reordered=False,
    )
    assert found


def test_the_same_items_are_no_difference(tmp_path: Path) -> None:
    other_name = [{"item_id": "a", "task": "P?"}]
    assert not compared(tmp_path, [item("a")], other_name)


def test_another_order_is_one(tmp_path: Path) -> None:
    found = compared(tmp_path, [item("a"), item("b")], [item("b"), item("a")])
    assert (found.reordered, found.n_same) == (True, 2)
    assert found
