"""The GitLab template: its form, and its scripts run by a plain shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ci.jobs import GITLAB, Job

JOB = GITLAB["benchbook"]
SCRIPT, AFTER = "\n".join(JOB["script"]), "\n".join(JOB["after_script"])
GIVEN = {"BENCHBOOK_RUN": "ci-5", "CI_MERGE_REQUEST_IID": "", **{
    name: value for name, value in JOB["variables"].items() if name != "BENCHBOOK_RUN"
}}  # fmt: skip
GATE = ["gate", "ci-5", "--runs", "runs", "--baseline", "old", "--margin", "0.05", "--junit",
        "reports/ci-5/regressions.xml"]  # fmt: skip
COMMENT = ["comment", "ci-5", "--runs", "runs", "--out", "benchbook-note.md"]


def test_its_form() -> None:
    assert list(GITLAB) == ["benchbook"]
    assert set(JOB) == {"image", "variables", "rules", "script", "after_script", "artifacts"}
    assert all(isinstance(value, str) for value in JOB["variables"].values())
    assert JOB["artifacts"] == {
        "when": "always",
        "paths": ["runs/", "reports/", "benchbook-note.md"],
        "reports": {"junit": "reports/*/*.xml"},
    }


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("text", [SCRIPT, AFTER], ids=["script", "after_script"])
def test_shellcheck_finds_nothing(text: str) -> None:
    words = ["shellcheck", "--shell=sh", "--exclude=SC2154", "-"]
    assert subprocess.run(words, input=text.encode(), capture_output=True, check=False).stdout.decode() == ""


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ({"BENCHBOOK_CONFIG": "c.toml"},
         [["run", "c.toml", "--run-id", "ci-5", "--runs", "runs", "--reports", "reports"]]),
        ({"BENCHBOOK_BASELINE": "old"}, [GATE]),
    ],
)  # fmt: skip
def test_its_script(given: dict[str, str], calls: list[list[str]], tmp_path: Path) -> None:
    job = Job(tmp_path)
    done = job.script(SCRIPT, GIVEN | given, "sh", "-e")
    assert done.returncode == 0, done.stderr
    assert job.calls() == [["install", "--quiet", "benchbook"], *calls]


def test_it_ends_as_the_gate_did(tmp_path: Path) -> None:
    job = Job(tmp_path, {"CODE_gate": "4"})
    assert job.script(SCRIPT, GIVEN | {"BENCHBOOK_BASELINE": "old"}, "sh", "-e").returncode == 4


@pytest.mark.parametrize(
    ("given", "more"),
    [
        ({}, []),
        ({"CI_MERGE_REQUEST_IID": "7"}, ["--post", "gitlab"]),
        ({"CI_MERGE_REQUEST_IID": "7", "BENCHBOOK_BASELINE": "old"},
         ["--baseline", "old", "--margin", "0.05", "--post", "gitlab"]),
    ],
)  # fmt: skip
def test_its_note(given: dict[str, str], more: list[str], tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.script(AFTER, GIVEN | given, "sh", "-e").returncode == 0
    assert job.calls() == [[*COMMENT, *more]]


def test_variables_are_words_and_no_commands(tmp_path: Path) -> None:
    job, evil = Job(tmp_path), '$(touch pwned)"; touch pwned; #'
    names = ("BENCHBOOK_CONFIG", "BENCHBOOK_RUN", "BENCHBOOK_BASELINE", "BENCHBOOK_MARGIN", "BENCHBOOK_PACKAGE")
    for text in (SCRIPT, AFTER):
        job.script(text, GIVEN | dict.fromkeys(names, evil), "sh", "-e")
    assert not (tmp_path / "pwned").exists()
