"""Ends with 1 where a tag (`v0.1.0`) is not the version in pyproject.toml, or the changelog has no part about it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def why_not(tag: str, project: str, changelog: str) -> str | None:
    """The reason why a tag makes no release; None where it does."""
    version = tomllib.loads(project)["project"]["version"]
    if tag != f"v{version}":
        return f"found the tag {tag!r}; expected v{version}, as pyproject.toml says"
    if not re.search(rf"^## \[?v?{re.escape(version)}\b", changelog, re.MULTILINE):
        return f"CHANGELOG.md: found no heading of {version}; expected `## {version}`"
    return None


if __name__ == "__main__":
    texts = [(ROOT / name).read_text("utf-8") for name in ("pyproject.toml", "CHANGELOG.md")]
    sys.exit(why_not(sys.argv[1], *texts))
