"""The command group. A command's module is imported when it is called, so that the start stays quick.

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
from collections.abc import Mapping
from typing import Any, TextIO

import click

from benchbook.errors import BenchbookError, OutputError

EXIT_GOOD, EXIT_NO, EXIT_USAGE, EXIT_BROKEN = 0, 1, 2, 3

# Command -> what it is for. Its function has the same name, but for `import`, which is a word of Python's.
COMMANDS: Mapping[str, str] = {
    "audit": "Compute each number of another tool's log again from its samples.",
    "baseline": "Set, show or clear the run that others are held against.",
    "calibrate": "Hold a run's judge against people's labels, and correct the numbers for its errors.",
    "catalog": "Index records in a database, for lists and leaderboards.",
    "checks": "Make evaluators of your own, without a judge.",
    "comment": "Put a run on the change that it is for: a comment, SARIF, annotations.",
    "compare": "Say what regressed and what improved between runs, item by item.",
    "demo": "Evaluate a small local model on a shipped eval set, start to end.",
    "doctor": "Show what is installed, which providers answer, and how a config reads.",
    "evalset": "Validate, show, compare or start eval sets.",
    "experiment": "Take the runs of one experiment together, its plans side by side.",
    "export": "Write a run in another tool's form, or as a table.",
    "gate": "Exit 0 only if a run is READY.",
    "grid": "Run one experiment over several models, prompts or other settings.",
    "import": "Make records of other tools' logs.",
    "init": "Write a commented config file to start from.",
    "judge": "Make an evaluation set of outputs, or bring in judgements that were made elsewhere.",
    "label": "Draw a run's samples for people to label, and bring their labels back.",
    "leaderboard": "Rank runs, and say which can't be told from the best.",
    "panel": "Show a panel of judges: how they agree, and what a person should look at first.",
    "parse": "Read judges' replies strictly, one JSON line each.",
    "plan": "Say how many items a comparison needs, before it is run.",
    "position": "Say of judges of pairs whether the answer wins, or the place in which it was shown.",
    "protocol": "Make a judge protocol of your own: dimensions, verdicts, evidence, prompts.",
    "rescore": "Compute a record's numbers again, without calling a model.",
    "rubric": "Make a rubric of your own: what a judge is asked, and what passes.",
    "run": "Ask a model, have its answers judged, and decide.",
    "runs": "List the records in a folder.",
    "score": "Score predictions against expected answers, and record every item.",
    "send": "Send a run's results to OpenTelemetry, Langfuse, MLflow or W&B.",
    "serve": "Serve the HTTP API and the page over a folder of records.",
    "show": "Show a run's decision and numbers, or one of its samples.",
    "token": "Make, list and revoke tokens for a server that others can reach.",
    "verify": "Re-derive a record and name every byte that was changed.",
}

# Commands that share a module, by it; any other's is `benchbook.cli.<command>`.
_SHARED: Mapping[str, str] = {
    "baseline": "comparison",
    "calibrate": "judges",
    "catalog": "server",
    "checks": "own_specs",
    "compare": "comparison",
    "demo": "starting",
    "doctor": "starting",
    "experiment": "experiments",
    "grid": "experiments",
    "import": "import_log",
    "init": "starting",
    "leaderboard": "comparison",
    "panel": "judges",
    "parse": "judges",
    "plan": "experiments",
    "position": "judges",
    "protocol": "own_specs",
    "rescore": "records",
    "rubric": "own_specs",
    "runs": "records",
    "serve": "server",
    "show": "records",
    "token": "server",
    "verify": "records",
}


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"benchbook.cli.{_SHARED.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, "import_log" if cmd_name == "import" else cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


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
    prepare_streams()
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
    """Have Arrow give memory back, and the collector look less often at long-lived objects: this process is ours."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
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
