"""CPU time of a command's start where nothing is computed, against `benchbook --version`.

`script/bench starts` times the help of every command and a few looks at an empty folder, each the least of `--times`.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from benchbook.cli.main import benchbook

ALLOWED_S = 0.15
LOOKS = (["runs"], ["completion", "bash"])


def commands(group: click.Group, words: list[str]) -> Iterator[list[str]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield [*words, name]
        if isinstance(command, click.Group):
            yield from commands(command, [*words, name])


def cpu_s(words: list[str], times: int, folder: Path) -> float:
    """The least CPU seconds of `benchbook WORDS`, of the process and its children."""
    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "benchbook", *words], capture_output=True, check=False, cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("only", nargs="*", help="these commands alone, by their first word")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty)
        least = cpu_s(["--version"], given.times, folder)
        print(f"{'--version':32} {least:.3f} CPU s")
        slow = 0
        for words in [*([*command, "--help"] for command in commands(benchbook, [])), *LOOKS]:
            if not given.only or words[0] in given.only:
                more = cpu_s(words, given.times, folder) - least
                slow += more > ALLOWED_S
                print(f"{' '.join(words):32} {more:+.3f}, {1 + more / least:.1f} times{' !' * (more > ALLOWED_S)}")
    print(f"{slow} of them more than {ALLOWED_S} CPU s above --version")


if __name__ == "__main__":
    main()
