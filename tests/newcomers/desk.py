"""A new user's desk: an empty folder, an installed `benchbook`, and a count of what was typed and what failed."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE_S = 300  # for one command, on a busy machine


class FailedError(AssertionError):
    """A command ended otherwise than its user may expect."""


@dataclass
class Desk:
    """What one user does in `folder` with the programs of the environment at `python`.

    `failures` are the commands that ended otherwise than a user may expect; the desk goes on, and counts them all.
    """

    user: str
    folder: Path
    python: Path
    commands: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)
    first_decision_s: float | None = None

    def write(self, name: str, text: str) -> Path:
        """A file that the user has or makes."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    def benchbook(self, *words: str, ends: int = 0, says: str = "", decides: bool = False) -> str:
        """Run a command; return its output. `says` has to stand in it; `decides`: a decision is now on the screen."""
        return self._run("benchbook", [str(self.python.parent / "benchbook"), *words], ends, says, decides)

    def program(self, name: str, *, decides: bool = False) -> str:
        """Run a program of the user's, in Python."""
        return self._run("python", [str(self.python), name], 0, "", decides)

    def _run(self, shown: str, command: list[str], ends: int, says: str, decides: bool) -> str:
        line = " ".join([shown, *command[1:]])
        self.commands.append(line)
        done = subprocess.run(
            command, cwd=self.folder, env=self._environment(), capture_output=True, timeout=PATIENCE_S, check=False
        )
        output, errors = done.stdout.decode(), done.stderr.decode()
        if done.returncode != ends:
            self.failures.append(f"{line}: ended with {done.returncode}, not {ends}\n{output[-1000:]}{errors[-2000:]}")
        elif "Traceback" in errors:
            self.failures.append(f"{line}: a traceback\n{errors[-2000:]}")
        elif says not in output:
            self.failures.append(f"{line}: does not say {says!r}\n{output[-2000:]}")
        elif decides and self.first_decision_s is None:
            self.first_decision_s = time.monotonic() - self.begun
        return output

    def _environment(self) -> dict[str, str]:
        """A new user's: nothing of this project, no key."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BENCHBOOK", "PYTEST"))
        }
        ours = ("PYTHON", "BENCHBOOK", "PYTEST")
        kept = {name: one for name, one in os.environ.items() if not name.startswith(ours) and "_API_KEY" not in name}
        return kept | {"HOME": str(self.folder), "PATH": f"{self.python.parent}{os.pathsep}{kept.get('PATH', '')}"}
