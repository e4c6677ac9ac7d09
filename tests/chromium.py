"""Debian's Chromium as tests start it. Without these options it first looks for its maker's servers, and waits."""

from __future__ import annotations

import shutil

__all__ = ["CHROMIUM", "FLAGS"]

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
