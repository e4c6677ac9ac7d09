"""Each file here is a kind of fault that users of such tools reported; the folders of `faults/` are an example each."""

from __future__ import annotations

import pytest

from benchbook.ask import asking


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again at once."""
    monkeypatch.setattr(asking, "backoff_s", lambda retries, jitter: 0.0)
