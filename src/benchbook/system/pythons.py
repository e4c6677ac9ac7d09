"""New Pythons that run one function of ours, and answer on standard output."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO


def python_running(module: str) -> list[str]:
    """The command of a Python that finds the modules that this one does, and runs `main` of one of them."""
    return [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"]


def answer_stream() -> BinaryIO:
    """Standard output, in such a Python, for its answer alone: what else is printed from here on goes to standard
    error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out
