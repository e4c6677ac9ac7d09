"""`evalset show`: what a set is made of."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from benchbook.errors import UsageError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.composition import CompositionRow, composition_rows
from benchbook.evalsets.opening import shipped_names, shipped_path


def test_each_value_has_its_count(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    sections = ["edge_case", "mine", "core", "core", None]
    items = [{"id": str(n), "prompt": f"{n}?", "section": section} for n, section in enumerate(sections)]
    path.write_bytes(b"\n".join(msgspec.json.encode(item) for item in items))
    with open_evalset(path) as evalset:
        assert composition_rows(evalset) == [
            CompositionRow("section", "core", 2),
            CompositionRow("section", "edge_case", 1),
            CompositionRow("section", "mine", 1),
            CompositionRow("section", None, 1),
        ]


def test_the_shipped_eval_v2_is_made_up_as_source_004_says() -> None:  # A9
    with open_evalset(shipped_path("eval_v2")) as evalset:
        rows = composition_rows(evalset)
    counts = {(row.field, row.value): row.n_items for row in rows}
    assert [counts["section", name] for name in ("core", "trace_sensitive", "edge_case")] == [60, 25, 15]
    assert [counts["difficulty", name] for name in ("easy", "medium", "hard")] == [34, 41, 25]
    assert sum(field == "category" for field, _ in counts) == 10


def test_shipped_sets_are_found_by_name() -> None:
    assert {"eval_v1", "eval_v2", "golden_v1", "support_v1"} <= set(shipped_names())
    assert shipped_path("golden-v1") == shipped_path("golden_v1")
    with pytest.raises(UsageError, match=r"no eval set '\.\./x'; there are eval_v1"):
        shipped_path("../x")
