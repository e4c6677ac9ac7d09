# ruff: noqa: T201
"""The wheel and the sdist: built, looked into, and tried in clean environments. `script/release` and the tests use it.

python tests/release/distribution.py build FOLDER     builds both into FOLDER, checks them, and builds them again
python tests/release/distribution.py try WHEEL [PYTHON]...   installs it for each Python that is found, and uses it
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "benchbook"
MINORS = (11, 12, 13, 14)
# Other places than PATH: pyenv's, uv's, Homebrew's. BENCHBOOK_PYTHONS names more, as PATH does.
_PLACES = (
    "~/.pyenv/versions/3.{minor}.*/bin/python3.{minor}",
    "~/.local/share/uv/python/cpython-3.{minor}*/bin/python3.{minor}",
    "/opt/homebrew/bin/python3.{minor}",
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:tests?|\.[^/]+|__pycache__|node_modules|runs|reports)/|\.py[co]$|(?:^|/)\.(?!gitignore$)"
)
_NEEDED = ("py.typed", "server/static/index.html", "specs/rubric_v1/", "specs/judge_protocol_v1/", "evalsets/shipped/")
_SDIST_ONLY = {"PKG-INFO", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore"}

Members = Mapping[str, bytes]


class DistributionError(Exception):
    """A distribution that must not be published; its text has a line for each fault."""


@dataclass(frozen=True)
class Built:
    wheel: Path
    sdist: Path


def build(folder: Path, source: Path = ROOT, *, only_wheel: bool = False) -> list[Path]:
    """Build into `folder` with what is installed here, at the time of the last commit: the sdist, then the wheel."""
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)]
    words += ["--wheel"] if only_wheel else ["--wheel", "--sdist"]
    done = subprocess.run(
        words, env={**os.environ, "SOURCE_DATE_EPOCH": _epoch()}, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise DistributionError(done.stdout + done.stderr)
    return sorted(folder.glob("benchbook-*"), key=lambda path: path.suffix == ".whl")


def _epoch() -> str:
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, encoding="ascii", check=False
    )
    return os.environ.get("SOURCE_DATE_EPOCH") or done.stdout.strip() or "1750000000"


def members(path: Path) -> dict[str, bytes]:
    """A distribution's files by their names; those of an sdist without its top folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is not None:
                found[member.name.partition("/")[2]] = file.read()
    return found


def faults_of_wheel(held: Members) -> Iterator[str]:
    """What a wheel lacks of the package, and what it has that is none of it."""
    inside = {name.removeprefix("benchbook/") for name in held if name.startswith("benchbook/")}
    for needed in _NEEDED:
        if not any(name == needed or (needed.endswith("/") and name.startswith(needed)) for name in inside):
            yield f"the wheel lacks benchbook/{needed}"
    info = {name.partition("/")[2] for name in held if name.partition("/")[0].endswith(".dist-info")}
    yield from (f"the wheel lacks {name}" for name in ("licenses/LICENSE", "entry_points.txt") if name not in info)
    tops = {name.partition("/")[0] for name in held}
    yield from (
        f"the wheel has {top}/" for top in sorted(tops) if top != "benchbook" and not top.endswith(".dist-info")
    )
    yield from (f"the wheel has {name}" for name in sorted(held) if _FOREIGN.search(name))


def faults_of_sdist(held: Members) -> Iterator[str]:
    yield from (f"the sdist lacks {name}" for name in sorted(_SDIST_ONLY - {".gitignore"} - held.keys()))
    for name in sorted(held):
        if name not in _SDIST_ONLY and (not name.startswith("src/benchbook/") or _FOREIGN.search(name)):
            yield f"the sdist has {name}"


def faults_against_source(held: Members, source: Path = PACKAGE) -> Iterator[str]:
    """Files of the package that a wheel has not, or with other bytes."""
    for path in sorted(source.rglob("*")):
        name = f"benchbook/{path.relative_to(source).as_posix()}"
        if path.is_file() and not _FOREIGN.search(name) and held.get(name) != path.read_bytes():
            yield f"{name} is not in the wheel as it is in the source"


def differences(one: Path, other: Path) -> list[str]:
    """The names of files that two wheels don't both have with the same bytes."""
    first, second = members(one), members(other)
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def built(folder: Path) -> Built:
    """Both, built and checked: what is in them, what an index says, that the sdist's wheel is the same, and that a
    second build has the same hash. Raises: DistributionError."""
    folder.mkdir(parents=True, exist_ok=True)
    sdist, wheel = build(folder)
    found = [*faults_of_wheel(members(wheel)), *faults_of_sdist(members(sdist)), *faults_against_source(members(wheel))]
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)],
        capture_output=True, encoding="utf-8", errors="replace", check=False, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    found += [checked.stdout + checked.stderr] if checked.returncode else []
    with tempfile.TemporaryDirectory() as name:
        again = Path(name)
        for first, second in zip(
            (sdist, wheel), sorted(build(again / "2"), key=lambda path: path.suffix == ".whl"), strict=True
        ):
            found += [f"{first.name}: a second build has another hash"] if sha256(first) != sha256(second) else []
        with tarfile.open(sdist) as archive:
            archive.extractall(again / "sdist", filter="data")
        (source,) = (again / "sdist").iterdir()
        (other,) = build(again / "3", source, only_wheel=True)
        found += [f"{one}: the sdist makes another wheel" for one in differences(wheel, other)]
    if found:
        raise DistributionError("\n".join(found))
    return Built(wheel, sdist)


# ── in clean environments ────────────────────────────────────────────────────────────────────────────────────


def pythons() -> dict[int, Path]:
    """Pythons by their minor versions, of those that can make environments."""
    found: dict[int, Path] = {}
    named = os.environ.get("BENCHBOOK_PYTHONS", "").split(os.pathsep)
    for minor in MINORS:
        places = [Path(one) for one in named if one] + [Path(one) for one in [shutil.which(f"python3.{minor}")] if one]
        for place in _PLACES:
            path = Path(place.format(minor=minor)).expanduser()
            places += sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        for python in places:
            if minor not in found and _is_usable(python, minor):
                found[minor] = python
    return found


def _is_usable(python: Path, minor: int) -> bool:
    program = f"import ensurepip, sys, venv; sys.exit(sys.version_info[:2] != (3, {minor}))"
    try:
        return subprocess.run([python, "-c", program], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def tried(python: Path, wheel: Path, folder: Path) -> str | None:
    """Install a wheel for a Python, in an environment of its own, and use it as a new user would. The reason why it
    can't be installed; None where all went well. Raises: DistributionError."""
    environment = folder / "venv"
    _run([python, "-m", "venv", environment], folder)
    ours = environment / ("Scripts" if os.name == "nt" else "bin")
    pip = [ours / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--only-binary", ":all:"]
    installed = subprocess.run([*pip, wheel], cwd=folder, capture_output=True, encoding="utf-8", check=False)
    if installed.returncode:
        return installed.stderr.strip()[-1_000:]
    shutil.copytree(ROOT / "docs" / "examples" / "worked", folder / "worked")
    benchbook = ours / "benchbook"
    scripted = ["--model", "scripted/answers@1", "--judge", "scripted/verdicts@1"]
    scripted += ["--model-path", "worked/script.json", "--judge-path", "worked/script.json"]
    steps: Sequence[tuple[Sequence[Path | str], str]] = (
        ([benchbook, "--version"], "benchbook "),
        ([ours / "python", "-c", "import benchbook as bb; print(bb.__name__, sorted(bb.__all__)[0])"], "benchbook "),
        ([benchbook, "run", "--evalset", "worked/items.jsonl", "--run-id", "worked", *scripted], "record "),
        ([benchbook, "verify", "worked"], "verified"),
        ([benchbook, "runs"], "worked"),
    )
    for words, says in steps:
        said = _run(words, folder)
        if says not in said:
            raise DistributionError(f"{' '.join(map(str, words))}: says {said!r}; expected {says!r}")
    return None


def _run(words: Sequence[Path | str], folder: Path) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {"NO_COLOR": "1"}
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise DistributionError(f"{' '.join(map(str, words))}: ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def main() -> None:
    match sys.argv[1:]:
        case ["build", folder]:
            made = built(Path(folder))
            for path in (made.sdist, made.wheel):
                print(f"{sha256(path)}  {path.name}")
        case ["try", wheel, *minors]:
            found = pythons()
            for minor in map(int, minors) if minors else MINORS:
                with tempfile.TemporaryDirectory() as folder:
                    missing = minor not in found
                    why = "there is none here" if missing else tried(found[minor], Path(wheel).resolve(), Path(folder))
                    print(f"Python 3.{minor}: {'works' if why is None else 'not tried: ' + why}", flush=True)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except DistributionError as fault:
        sys.exit(str(fault))
