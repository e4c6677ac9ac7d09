"""The program: its commands, and how a mistake of its user ends.

Standard streams are prepared so that nothing breaks: whatever the locale or the reader, and even without any.
"""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import signal
import sys
from typing import Any, TextIO

import click

from benchbook.cli.commands import LazyGroup
from benchbook.errors import BenchbookError, OutputError
from benchbook.system.panics import hide_panics

EXIT_GOOD, EXIT_NO, EXIT_USAGE, EXIT_BROKEN = 0, 1, 2, 3


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"benchbook {version('benchbook')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
def benchbook() -> None:
    """Evaluate language models, and say what the evidence allows.

    A run is recorded in a folder from which anyone re-derives every number, offline: `benchbook verify RUN`.
    """


def main() -> None:
    """Run the console script. Users' mistakes end in one line on standard error, not in a traceback."""
    _save_memory()
    hide_panics()
    prepare_streams()
    if "_BENCHBOOK_COMPLETE" in os.environ:
        importlib.import_module("benchbook.cli.completion")  # how Bash is answered
    try:
        code = benchbook.main(prog_name="benchbook", standalone_mode=False)
        sys.stdout.flush()
    except BenchbookError as error:
        code = _say(str(error), error.exit_code)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.Abort as aborted:
        was_interrupted = isinstance(aborted.__context__, KeyboardInterrupt)
        code = _interrupted() if was_interrupted else _say("aborted", EXIT_BROKEN)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except KeyboardInterrupt:
        code = _interrupted()
    except MemoryError:
        code = _say("out of memory. What was recorded is whole: go on with more memory or fewer at once", EXIT_BROKEN)
    except OSError as error:  # a place that no command had thought of
        code = _say(*_of_the_system(error))
    sys.exit(code if isinstance(code, int) else EXIT_GOOD)


def _interrupted() -> int:
    """Say that it ended at once. Whoever presses Ctrl-C once more can't have it end without a word, or by a signal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _say("interrupted; what was recorded is whole, and a run resumes with --resume", EXIT_BROKEN)


# Errors of a place that can't be, whatever the disk does: it was named wrongly.
_NO_SUCH_PLACE = frozenset({
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY, errno.ELOOP, errno.ENAMETOOLONG,
    errno.EINVAL,
})  # fmt: skip


def _of_the_system(error: OSError) -> tuple[str, int]:
    """A refusal of the system in words, and the exit code for it."""
    from benchbook.text import shorten

    place = error.filename if error.filename2 is None else error.filename2
    name = "the system" if place is None else shorten(os.fsdecode(place), 200)
    why = error.strerror or str(error) or type(error).__name__
    return f"{name}: can't be read or written ({why})", EXIT_USAGE if error.errno in _NO_SUCH_PLACE else EXIT_BROKEN


def _save_memory() -> None:
    """Have the collector look less often at long-lived objects: this process is ours."""
    gc.set_threshold(10_000, 20, 50)


def _say(text: str, code: int) -> int:
    from benchbook.text import visible

    click.echo(f"benchbook: {visible(text)}", err=True)
    return code


class _DeafPipe(io.FileIO):
    """A stream whose reader may go away (`| head`): the rest is not written, and the exit code stays the answer's.

    Any other fault (a full disk) is reported once; on standard error, nobody is left to report it to.
    """

    _failed = False

    def write(self, data: Any, /) -> int:
        if not self._failed:
            try:
                return super().write(data) or 0
            except BrokenPipeError:
                self._failed = True
            except OSError as error:
                self._failed = True
                if self.fileno() == 1:
                    raise OutputError(f"standard output: can't be written ({error.strerror})") from None
        return len(memoryview(data).cast("B"))


def prepare_streams() -> None:
    """Escape whatever the streams' encodings lack, and let closed streams (`>&-`) lead nowhere."""
    # Lowest first: a free descriptor would go to the next file that is opened, and be written into.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - stays open
    sys.stdout = _prepared(sys.stdout, 1)
    sys.stderr = _prepared(sys.stderr, 2)


def _prepared(stream: TextIO | None, descriptor: int) -> TextIO:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - stays open
    stream.flush()
    raw = _DeafPipe(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.isatty() or descriptor == 2,
    )
