"""What code runs, and where (SPEC R7.1)."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["code_version", "environment"]

_PACKAGES = ("httptools", "jiter", "msgspec", "numpy", "polars", "pyarrow", "scipy", "uvloop", "xllamacpp", "zstandard")


def code_version() -> dict[str, Any]:
    """Benchbook's version, and the commit of its checkout, or else of the working directory; nulls outside of git."""
    found: dict[str, Any] = {"benchbook": version("benchbook"), "git_sha": None, "dirty": None, "of": None}
    for name, folder in (("benchbook", Path(__file__).parent), ("working directory", Path.cwd())):
        sha = _git(folder, "rev-parse", "HEAD")
        if sha:
            dirty = _git(folder, "status", "--porcelain", "--untracked-files=no")
            return found | {"git_sha": sha, "dirty": bool(dirty), "of": name}
    return found


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],  # noqa: S607 - whichever git the user has
            capture_output=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def environment() -> dict[str, Any]:
    """Python, platform and package versions; the region where `BENCHBOOK_REGION` names it. No machine name."""
    return {
        "python": sys.version.split()[0],
        "implementation": platform.python_implementation(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "region": os.environ.get("BENCHBOOK_REGION"),
        "packages": {name: found for name in _PACKAGES if (found := _version_of(name))},
    }


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
