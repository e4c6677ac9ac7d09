"""A run that the server started: `python -m benchbook.server.child`, with its settings as JSON on standard input."""

from __future__ import annotations

import sys

import msgspec

from benchbook.errors import BenchbookError
from benchbook.runner.config import RunConfig, config_from_mapping
from benchbook.runner.loop import run_async
from benchbook.runner.run import start_run
from benchbook.runner.score import SPEC
from benchbook.runner.score_model import score_model
from benchbook.runner.stopping import Stop
from benchbook.text import visible


def main() -> int:
    """The run; ends as `benchbook run` does."""
    try:
        config = config_from_mapping(msgspec.json.decode(sys.stdin.buffer.read(), type=dict), "config")
        stop = run_async(_run(config))
    except BenchbookError as error:
        sys.stderr.write(f"benchbook: {visible(str(error))}\n")
        return error.exit_code
    if stop.reason is not None:
        sys.stderr.write(f"stopped: {visible(stop.reason)}\n")
        return 3
    return 0


async def _run(config: RunConfig) -> Stop:
    return (await score_model(config)).stop if config.spec == SPEC else (await start_run(config)).stop


if __name__ == "__main__":
    sys.exit(main())
