"""The manual's notebooks, executed: no cell fails, the results that they speak of come about, and no output is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from kernels import execute
from support import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# Words that a cell's output shows, by the notebook.
SHOWN = {
    "1-a-model": ("Verified", "without-context -> with-context", "expected model"),
    "2-checkpoints": (
        "step-200 -> step-300",
        "lowest 1.412 at 300",
        "told from one another",
        "ScorerRun",
    ),
    "3-judges": ("as people would judge, by 95 % intervals", "ana 60 of 60", "the answer is forty-two"),
}


def _text(output: Any) -> str:
    data = output.get("data", {})
    return "".join([output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")])


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_an_empty_folder(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    execute(notebook, tmp_path)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [one for one in outputs if one.get("name") == "stderr"] == []
    shown = "\n".join(map(_text, outputs))
    assert [words for words in SHOWN[path.stem] if words not in shown] == []
    assert "stopped:" not in shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_keeps_no_output(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(notebook)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
