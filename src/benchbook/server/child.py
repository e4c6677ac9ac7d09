"""Runs that the server started, each in a process of its own: `python -m benchbook.server.child`, with its settings as
JSON on standard input."""

from __future__ import annotations

import subprocess
import sys
from http import HTTPStatus
from threading import Lock

import msgspec

from benchbook.ask.identity import storable_config
from benchbook.ask.work import run_async
from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from benchbook.server.problems import ProblemError
from benchbook.server.settings import STATE_FOLDER, Settings
from benchbook.server.spending import seen_environment
from benchbook.text import visible

_MOST_AT_ONCE = 4
_STOP_S = 20.0


class Children:
    """The runs that this server started and that still go on."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.runs / STATE_FOLDER / "started"
        self._lock = Lock()
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def n_running(self) -> int:
        with self._lock:
            self._forget_ended()
            return len(self._running)

    def start(self, config: RunConfig) -> None:
        """Begin the run. Its output goes to a file beside the tags. Raises: ProblemError (503, 409)."""
        run_id = str(config.run_id)
        with self._lock:
            self._forget_ended()
            if run_id in self._running:
                raise ProblemError(HTTPStatus.CONFLICT, f"there is a run {run_id!r} already")
            if len(self._running) >= _MOST_AT_ONCE:
                raise ProblemError(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f"{_MOST_AT_ONCE} runs are going on; try again",
                    {"retry-after": "30"},
                )
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / f"{run_id}.log").open("wb") as log:
                child = subprocess.Popen(
                    [sys.executable, "-m", "benchbook.server.child"],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # a Ctrl-C at the server's terminal is for the server to pass on
                    env=seen_environment(_keys(config)),
                )
            if child.stdin is not None:
                with child.stdin as pipe:
                    pipe.write(canonical_json(storable_config(config)))
            self._running[run_id] = child

    def stop(self, run_id: str) -> bool:
        """Ask a run to end. True if it was going on."""
        with self._lock:
            self._forget_ended()
            child = self._running.get(run_id)
            if child is None:
                return False
            child.terminate()
            return True

    def close(self) -> None:
        """Ask all runs to end, and wait; those that don't are killed, and their records resume all the same."""
        with self._lock:
            children = list(self._running.values())
        for child in children:
            child.terminate()
        for child in children:
            try:
                child.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def _forget_ended(self) -> None:
        self._running = {run_id: child for run_id, child in self._running.items() if child.poll() is None}


def _keys(config: RunConfig) -> list[str]:
    """The variables whose keys a run needs."""
    named = [config.model_api_key_env, *(judge.api_key_env for _, _, judge in config.all_judges)]
    return [name for name in named if name is not None]


def main() -> int:
    """Carry out a run in this process, and end as `benchbook run` does."""
    try:
        config = config_from_mapping(msgspec.json.decode(sys.stdin.buffer.read(), type=dict), "config")
        stop = run_async(start_run(config)).stop
    except BenchbookError as error:
        sys.stderr.write(f"benchbook: {visible(str(error))}\n")
        return error.exit_code
    if stop.reason is not None:
        sys.stderr.write(f"stopped: {visible(stop.reason)}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
