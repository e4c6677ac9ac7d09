"""Fetch what the study reads: of each source its commit alone, and of that the files named in sources.toml.

    python fetch.py DATA                    from GitHub, by git
    python fetch.py DATA --mirror FOLDER    from clones in FOLDER, each called OWNER+NAME

A source whose folder is there already is left alone: delete the folder to fetch it anew.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

from published_judges.sources import Source, read_sources

GITHUB = "https://github.com"


def main() -> int:
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("data", type=Path, help="the folder to write to, one folder a source")
    asked.add_argument("--mirror", type=Path, help="a folder with clones, each called OWNER+NAME")
    asked.add_argument("--only", action="append", help="a source's key; may be given again")
    given = asked.parse_args()
    sources = read_sources()
    unknown = set(given.only or ()) - set(sources)
    if unknown:
        asked.error(f"no source is called {min(unknown)}; there are {', '.join(sources)}")
    for source in sources.values():
        if source.patterns and (not given.only or source.key in given.only):
            print(fetch(source, given.data / source.key, given.mirror), flush=True)
    return 0


def fetch(source: Source, into: Path, mirror: Path | None = None, server: str = GITHUB) -> str:
    """Bring a source's files into a folder, and say how much that was.

    Raises: SystemExit where git can't, with git's own words.
    """
    if into.exists():
        return f"{source.key}: is there"
    part = into.with_name(f"{into.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        if mirror is None:
            git_dir = _commit_alone(source, part, server)
        else:
            git_dir = _clone_in(mirror / source.repository.replace("/", "+"))
        sizes = _write(git_dir, source, part)
        shutil.rmtree(part / ".git", ignore_errors=True)
        part.rename(into)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return f"{source.key}: {len(sizes):,} files, {sum(sizes) / 1e6:.1f} MB"


def _commit_alone(source: Source, into: Path, server: str) -> Path:
    """One commit without its files; those that are wanted then come at once, and no others."""
    git_dir = into / ".git"
    _git(None, "init", "--quiet", str(into))
    _git(git_dir, "remote", "add", "origin", f"{server}/{source.repository}")
    _git(git_dir, "config", "remote.origin.promisor", "true")
    _git(git_dir, "config", "remote.origin.partialclonefilter", "blob:none")
    _git(git_dir, "fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", source.commit)
    blobs = {blob for blob, _ in _wanted(git_dir, source)}
    _git(git_dir, "fetch", "--quiet", "--no-tags", "--stdin", "origin", words="\n".join(sorted(blobs)).encode())
    return git_dir


def _clone_in(folder: Path) -> Path:
    places = [folder / "repo" / ".git", folder / "repo", folder / ".git", folder]
    for place in places:
        if (place / "HEAD").is_file():
            return place
    raise SystemExit(f"{folder}: no clone is there")


def _wanted(git_dir: Path, source: Source) -> list[tuple[str, str]]:
    """`(blob, path)` of the files to read."""
    listed = _git(git_dir, "ls-tree", "-r", "-z", source.commit).decode("utf-8", "surrogateescape").split("\0")
    of_path = {path: meta.split()[2] for meta, _, path in (line.partition("\t") for line in listed if line)}
    try:
        return [(of_path[path], path) for path in source.wanted(list(of_path))]
    except ValueError as error:
        raise SystemExit(str(error)) from None


def _write(git_dir: Path, source: Source, into: Path) -> list[int]:
    """Write the files; git holds every byte against its hash."""
    sizes = []
    for blob, path in _wanted(git_dir, source):
        if PurePosixPath(path).is_absolute() or {"..", ".git"} & set(path.split("/")):
            raise SystemExit(f"{source.repository}: {path!r} is no place below a folder")
        content = _git(git_dir, "cat-file", "blob", blob)
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        sizes.append(len(content))
    return sizes


def _git(git_dir: Path | None, *words_of_command: str, words: bytes | None = None) -> bytes:
    command = ["git", *(() if git_dir is None else ("--git-dir", str(git_dir))), *words_of_command]
    done = subprocess.run(command, capture_output=True, check=False, input=words)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:6])} …: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
