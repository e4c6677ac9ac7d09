"""Steps of a job run as a forge runs them, with a `benchbook` that writes down how it was called."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML reads the templates, and is not here")

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}

_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
# Notes its words, a call a line, and ends with the code that a variable such as CODE_gate names.
_NOTING = """#!/bin/bash
printf '%s\\037' "$@" >> "$CALLS"; printf '\\n' >> "$CALLS"
code=CODE_$1
for word in "$@"; do
  if [ "$before" = --out ]; then echo '<!-- comment -->' > "$word"; fi
  before=$word
done
exit "${!code:-0}"
"""
_REAL = '#!/bin/bash\nexec "{python}" -m benchbook "$@"\n'


@dataclass
class Job:
    """A job's folder, and what its steps left behind. `real`: it calls the real program."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    real: bool = False

    def __post_init__(self) -> None:
        tools = self.folder / "tools"
        tools.mkdir()
        (self.folder / "temp").mkdir()
        self._program(tools / "benchbook", _REAL.format(python=sys.executable) if self.real else _NOTING)
        self._program(tools / "pip", _NOTING)
        names = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary", "GITHUB_PATH": "path", "CALLS": "calls"}
        files = {name: str(self.folder / file) for name, file in names.items()}
        for file in files.values():
            Path(file).touch()
        self.env = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_EVENT_NAME": "push",
            **files,
            **{name: os.environ[name] for name in ("PYTHONPATH", "HOME", "LANG") if name in os.environ},
            **self.env,
        }

    def _program(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def fake_python(self) -> str:
        """An interpreter whose `-m venv FOLDER` makes a folder with a `pip` that writes down its words."""
        text = f'#!/bin/bash\nmkdir -p "$3/bin"; cp {self.folder}/tools/pip "$3/bin/pip"\n'
        self._program(self.folder / "tools" / "fake-python", text)
        return "fake-python"

    def step(self, name: str, **given: str) -> subprocess.CompletedProcess[str]:
        """Run a step of the action with these inputs."""
        step = STEPS[name]
        inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        env = {name: self._evaluated(str(value), inputs) for name, value in step.get("env", {}).items()}
        return self.script(step["run"], env, "bash", "--noprofile", "--norc", "-eo", "pipefail")

    def script(self, text: str, env: Mapping[str, str], *shell: str) -> subprocess.CompletedProcess[str]:
        path = self.folder / "temp" / "script.sh"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [*shell, str(path)], cwd=self.folder, env={**self.env, **env}, capture_output=True, check=False, timeout=120
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def _evaluated(self, value: str, inputs: Mapping[str, str]) -> str:
        def one(match: re.Match[str]) -> str:
            name, _, otherwise = match[1].partition(" || ")
            if name == "github.token":
                return "the job's token"
            if name == "steps.evaluate.outputs.code":
                return self.outputs().get("code", "")
            return inputs[name.removeprefix("inputs.")] or (
                "ci-12-1" if otherwise == "format('ci-{0}-{1}', github.run_id, github.run_attempt)" else otherwise
            )

        return _EXPRESSION.sub(one, value)

    def outputs(self) -> dict[str, str]:
        lines = (self.folder / "output").read_text("utf-8").splitlines()
        return {name: value for name, _, value in (line.partition("=") for line in lines)}

    def summary(self) -> str:
        return (self.folder / "summary").read_text("utf-8")

    def calls(self) -> list[list[str]]:
        """The words of each call; a line end in a word is read as one."""
        return [one.split("\x1f") for one in (self.folder / "calls").read_text("utf-8").split("\x1f\n")[:-1]]
