"""Debian's Chromium as tests start it. Without these it looks for servers of its maker's first, and waits for them."""

from __future__ import annotations

import shutil

__all__ = ["CHROMIUM", "FLAGS"]

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
