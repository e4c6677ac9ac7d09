"""A run that the server started: `python -m benchbook.server.child`, with its settings as JSON on standard input."""

from __future__ import annotations

import sys

import msgspec

from benchbook.ask.work import run_async
from benchbook.errors import BenchbookError
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import config_from_mapping
from benchbook.text import visible


def main() -> int:
    """The run; ends as `benchbook run` does."""
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
