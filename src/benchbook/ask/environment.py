"""What code runs, whose work it is part of, and where (SPEC R7.1)."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchbook.errors import UsageError

__all__ = ["check_code_is_named", "code_version", "environment", "project_version"]


_PACKAGES = ("httptools", "jiter", "msgspec", "numpy", "polars", "pyarrow", "scipy", "uvloop", "xllamacpp", "zstandard")
_PACKAGE = Path(__file__).resolve().parent.parent
_UNRELEASED = re.compile(r"\.dev|\+")  # PEP 440: between two releases, or somebody's own


def code_version() -> dict[str, Any]:
    """Benchbook's version, and in a checkout of it the commit, and whether the tree differs from that."""
    return {"benchbook": _version_of("benchbook"), **_commit(_checkout())}


def _checkout() -> Path | None:
    """The repository that Benchbook runs from; None where it is installed, be it into somebody's repository."""
    top = _git(_PACKAGE, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() / "src" / "benchbook" != _PACKAGE:
        return None
    return _PACKAGE if _git(_PACKAGE, "ls-files", "--error-unmatch", "__init__.py") else None


def project_version(*places: tuple[str, str | Path | None]) -> dict[str, Any]:
    """The commit of the user's own repository: the one that holds the first of `places` that is there.

    Each is what it is called (`config`) and where it lies; the working directory is the last. Nulls outside of git.
    """
    named = [(name, Path(place)) for name, place in places if place is not None and Path(place).exists()]
    name, place = [*named, ("working directory", Path.cwd())][0]
    return {**_commit(place if place.is_dir() else place.resolve().parent), "of": name}


def check_code_is_named(code: dict[str, Any]) -> None:
    """Refuse a benchmark of which nobody could say by what code it was made (R7.1).

    Raises: UsageError.
    """
    release = code["benchbook"]
    if code["git_sha"] is None and (release is None or _UNRELEASED.search(release)):
        raise UsageError(
            f"benchmark: Benchbook runs from no git checkout, and its version ({release or 'not known'}) is no "
            "release; install a release, or run it from a checkout"
        )


def _commit(folder: Path | None) -> dict[str, Any]:
    sha = None if folder is None else _git(folder, "rev-parse", "HEAD")
    if folder is None or not sha:
        return {"git_sha": None, "dirty": None}
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"git_sha": sha, "dirty": None if changed is None else bool(changed)}


def _git(folder: Path, *words: str) -> str | None:
    """What git says of the folder. Variables that name another repository, as in a hook, are not handed on."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(folder), *words],  # noqa: S607 - whichever git the user has
            capture_output=True,
            check=False,
            timeout=10,
            env=own,
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
