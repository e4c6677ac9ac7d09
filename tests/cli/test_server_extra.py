"""The commands that want the extra `server`, where it is not installed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

NEED_IT = (
    "serve",
    "token create --name me",
    "token list",
    "token revoke t1",
    "catalog rebuild",
    "catalog refresh",
    "catalog show",
)
DO_WITHOUT = ("runs", "leaderboard", "doctor")
# One process for them all: starting Python takes longer than any of them.
ALL_OF_THEM = """
import contextlib, importlib, io, json, sys
for name in ("sqlalchemy", "starlette", "uvicorn"):
    sys.modules[name] = None
program = importlib.import_module("benchbook.cli.main")
program.prepare_streams = lambda: None
found = {}
for command in sys.argv[1:]:
    sys.argv = ["benchbook", *command.split()]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            program.main()
        except SystemExit as ended:
            found[command] = [ended.code or 0, err.getvalue()]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Exit code and standard error of each command."""
    words = [sys.executable, "-c", ALL_OF_THEM, *NEED_IT, *DO_WITHOUT]
    found = subprocess.run(words, cwd=tmp_path_factory.mktemp("empty"), check=True, capture_output=True)
    return json.loads(found.stdout)


@pytest.mark.parametrize("command", NEED_IT)
def test_a_command_that_needs_it_says_how_to_get_it(ended: dict[str, tuple[int, str]], command: str) -> None:
    code, said = ended[command]
    assert (code, said.startswith("benchbook: this needs an extra: pip install 'benchbook[server]' (")) == (2, True)


@pytest.mark.parametrize("command", DO_WITHOUT)
def test_all_others_do_without(ended: dict[str, tuple[int, str]], command: str) -> None:
    assert "benchbook[server]" not in ended[command][1]
