"""Debian's Chromium as tests start it. Without these options it first looks for its maker's servers, and waits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ["CHROMIUM", "FLAGS", "started_browser"]

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip


@contextmanager
def started_browser() -> Iterator[Any]:
    """Chromium, driven by Playwright while the block runs; the test is skipped where it is not installed."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (script/browser)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()
