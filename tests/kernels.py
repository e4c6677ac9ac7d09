"""Executes a notebook in a kernel of its own, as Jupyter does."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient

from support import ROOT


def execute(notebook: Any, folder: Path, **how: Any) -> None:
    """Run all cells in an empty folder below `folder`. Jupyter's own warnings are no errors of ours."""
    here = folder / "here"
    here.mkdir()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("PYTHONPATH", str(ROOT / "src"))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
        for name in ("PYTHONWARNINGS", "PYTHONWARNDEFAULTENCODING"):
            patch.delenv(name, raising=False)
        resources = {"metadata": {"path": str(here)}}
        NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources, **how).execute()
