"""Facts hold what they hold however slow a busy machine is."""

from __future__ import annotations

import pytest

from benchbook.evaluators.scorers import scoring


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK_SECONDS", 3_600)
