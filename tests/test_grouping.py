"""A group is one worker's, whatever versions of pytest and pytest-xdist are here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT

CONFTEST = """
import grouping

def pytest_configure(config):
    grouping.register(config)
"""
TESTS = """
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("word", ["a", "b@c", "d[e]"])
def test_of_one(word):
    pass

@pytest.mark.parametrize("at", ["here", pytest.param("there", marks=pytest.mark.xdist_group("two"))])
def test_of_two_there(at):
    pass
"""


@pytest.mark.slow  # it starts pytest with two workers
def test_a_group_is_one_workers(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(TESTS, encoding="utf-8")
    options = ["-v", "-n", "2", "--dist", "loadgroup", "-p", "no:schemathesis"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, tmp_path]
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT / "src")])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment | {"PYTHONPATH": paths}, capture_output=True, check=False
    )
    said = done.stdout.decode()
    ran = re.findall(r"\[(gw\d)\].* PASSED (\S+)", said)
    assert len(ran) == 10, said + done.stderr.decode()
    assert len({worker for worker, test in ran if "test_of_one" in test}) == 1, said
    assert len({worker for worker, test in ran if "[there]" in test}) == 1, said
    assert len({worker for worker, _ in ran}) == 2, said
