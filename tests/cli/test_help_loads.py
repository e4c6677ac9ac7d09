"""The help of a command loads what the command line is made of, and nothing that computes, asks or serves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "asyncio",
    "httptools",
    "numpy",
    "polars",
    "pyarrow",
    "rich",
    "scipy",
    "sqlalchemy",
    "ssl",
    "starlette",
    "uvloop",
}

# One process for all.
_HELP = """
import click, contextlib, io, json, sys
from benchbook.cli.main import benchbook

def leaves(group, words):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield words + [name]
        if isinstance(command, click.Group):
            yield from leaves(command, words + [name])

heavy, found = set(json.loads(sys.argv[1])), {}
sys.argv = ["benchbook"]
for words in leaves(benchbook, []):
    with contextlib.redirect_stdout(io.StringIO()):
        benchbook.main([*words, "--help"], standalone_mode=False)
    if loaded := heavy & set(sys.modules):
        found[" ".join(words)] = sorted(loaded)
        heavy -= loaded
json.dump(found, sys.stdout)
"""


def test_no_commands_help_loads_anything_heavy() -> None:
    """The first command that loads a thing is told; others after it may, too."""
    words = [sys.executable, "-c", _HELP, json.dumps(sorted(HEAVY))]
    done = subprocess.run(words, capture_output=True, check=True, timeout=120)
    assert json.loads(done.stdout) == {}


RECORDS = Path(__file__).parents[1] / "formats" / "records" / "4"
# Evaluators know how a model is asked, so what they need of asyncio comes with them.
_LOOKING = HEAVY - {"asyncio", "ssl"}


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (["runs"], HEAVY),
        (["completion", "bash"], HEAVY),
        (["runs", "--runs", RECORDS], _LOOKING),
        (["show", RECORDS / "rubric"], _LOOKING),
    ],
    ids=["runs-of-none", "completion", "runs", "show"],
)
def test_looking_loads_nothing_that_computes(words: list[str], heavy: set[str], tmp_path: Path) -> None:
    code = (
        "import sys, benchbook.cli\ntry:\n    benchbook.cli.main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    run = [sys.executable, "-c", code, *words]
    done = subprocess.run(run, capture_output=True, cwd=tmp_path, timeout=60, check=True)
    assert heavy & set(done.stderr.decode("utf-8").split()) == set()
