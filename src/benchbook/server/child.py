"""A run that the server started: `python -m benchbook.server.child`, with its settings as JSON on standard input."""

from __future__ import annotations

import sys

import msgspec

from benchbook.ask.limits import Stop
from benchbook.ask.loop import run_async
from benchbook.errors import BenchbookError
from benchbook.evaluators.correctness.asking import score_model
from benchbook.evaluators.correctness.starting import SPEC
from benchbook.evaluators.rubric.starting import start_run
from benchbook.evaluators.settings import RunConfig, config_from_mapping
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
