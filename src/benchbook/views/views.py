"""How the runs of each spec are shown: their summary, their reports, and why a sample did not pass.

A new spec is a module with a `VIEW` and a line in `_MODULES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from benchbook.errors import RecordError
from benchbook.evaluators.contract import DerivedFiles
from benchbook.record.folder import Record

__all__ = ["Rows", "SummaryLines", "View", "view_of"]


_MODULES: Mapping[str, str] = {
    "answer_correctness@v1": "benchbook.views.correctness",
    "judge_protocol@v1": "benchbook.views.protocol",
    "rubric@v1": "benchbook.views.rubric",
}

# Starts a new pass over the samples, in the plan's order, each time it is called.
Rows = Callable[[], Iterator[Any]]


class SummaryLines(Protocol):
    """The summary of a report as lines, at most `width` wide. `written` are the report's files."""

    def __call__(
        self, report: Any, /, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()
    ) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """`report` puts together what the other functions take."""

    report: Callable[[Record, DerivedFiles, Rows], Any]
    summary_lines: SummaryLines
    # Writes the report's files into a folder. Raises RecordError.
    write: Callable[[Any, Path], list[Path]]
    # Why a row's sample did not pass, as the spec's words; nothing where it did.
    fail_reasons: Callable[[Any], Sequence[str]]


def view_of(spec: str) -> View:
    """How a spec's runs are shown.

    Raises: RecordError for a spec without one.
    """
    module = _MODULES.get(spec)
    if module is None:
        raise RecordError(f"spec {spec[:80]!r}: there is no report for it; expected {', '.join(_MODULES)}")
    view: View = import_module(module).VIEW
    return view
