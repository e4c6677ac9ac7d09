"""The library in a kernel of Jupyter's: calls beside its loop, progress in one output, errors without a traceback."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from kernels import execute
from support import ROOT

CELLS = (
    "import sys; sys.path.insert(0, TESTS)\nfrom library.in_notebooks import ROWS, doubling, kindly",
    "import benchbook as bb",
    "bb.run(evalset=ROWS, model=doubling, judge=kindly, run_id='r')",
    "awaited = await bb.score_async(ROWS, model=doubling, progress=False)\nprint(awaited.aggregates.n_correct)",
    "def load():\n    return bb.load('s')\nload()",
    "print('it goes on', bb.verify('r').holds)",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """The outputs of each cell."""
    cells = [nbformat.v4.new_code_cell(one.replace("TESTS", repr(str(ROOT / "tests")))) for one in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    execute(notebook, tmp_path_factory.mktemp("kernel"), allow_errors=True)
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.slow
def test_a_kernel_shows_what_a_notebook_should(outputs: list[list[Any]]) -> None:
    _, imported, ran, awaited, failed, after = outputs
    assert imported == []
    progress, shown = ran
    assert progress["data"]["text/plain"].startswith("8 of 8 samples, ")
    assert progress["data"]["text/html"].startswith('<progress value="8" max="8">')
    assert shown["data"]["text/html"].startswith('<div class="benchbook-output">')
    assert shown["data"]["text/plain"].startswith("<Run r: ")
    assert [one["text"] for one in awaited] == ["6\n"]
    assert [one["traceback"] for one in failed] == [
        [
            "UsageError: s: not a record, here or in runs/; `benchbook runs` lists those that are there",
            "  line 2: return bb.load('s')",
        ]
    ]
    assert [one["text"] for one in after] == ["it goes on True\n"]
