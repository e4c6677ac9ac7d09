"""`bb.grid`: a run for each cell, of functions of one's own as well."""

from __future__ import annotations

from pathlib import Path

import benchbook as bb
from running import write_items


def test_cells_are_runs_and_a_second_call_asks_nobody(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"text": "The answer is 1"}]}', encoding="utf-8")
    write_items(tmp_path / "items.jsonl", 4)
    settings = {
        "evalset": str(tmp_path / "items.jsonl"), "spec": "contains@v1", "experiment": "g", "runs": str(tmp_path),
        "model_path": str(script),
    }  # fmt: skip
    cells = {"model": ["scripted/a@1", "scripted/b@1"], "limit": [1, 4]}
    runs = bb.grid(**settings, grid=cells)
    assert [run.path.name for run in runs] == ["g-1", "g-2", "g-3", "g-4"]
    assert [run.aggregates.primary_score for run in runs] == [1.0, 0.25, 1.0, 0.25]
    assert all(bb.verify(run.path).holds for run in runs)
    before = [run.manifest.journal_sha256 for run in runs]
    assert [run.manifest.journal_sha256 for run in bb.grid(**settings, grid=cells)] == before
