"""Finished records of every evaluator, to be sent."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook.evaluators.registry import evaluator_of
from benchbook.record.folder import Record

GOLDEN = Path(__file__).parents[2] / "golden" / "records"


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Record]:
    """A golden record by its name, with its derived files; each is derived once, and nobody writes into it."""
    folder = tmp_path_factory.mktemp("golden")

    def derived(name: str) -> Record:
        record = Record(folder / name)
        if not record.path.exists():
            shutil.copytree(GOLDEN / name, record.path)
            evaluator_of(record).derive(record, record.path)
        return record

    return derived
