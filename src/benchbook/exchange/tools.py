"""The tools whose logs are known, and which of them wrote a file.

A tool is a folder here: `reading` has `recognises` and `opened`, and `writing`, where its form is written too, has
`written`. Its modules are imported when a file is looked at, or its name is met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Protocol, cast

from benchbook.errors import InputError, UsageError
from benchbook.exchange.log import ForeignLog, Lost
from benchbook.text import shorten

_HEAD = 64 << 10
_DEEPEST = 100  # folders in a folder of logs


@dataclass(frozen=True, slots=True)
class Seen:
    """A file or folder that may be a log: what a reader needs to tell whether it is one of its own."""

    path: Path
    head: bytes  # the first 64 kB of a file; empty for a folder
    names: frozenset[str]  # of the files in a folder; empty for a file

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()


class Reading(Protocol):
    """The module `reading` of a tool."""

    def recognises(self, seen: Seen) -> bool:
        """True if the tool wrote this. Never raises."""
        ...

    def opened(self, path: Path) -> Sequence[ForeignLog]:
        """The logs that a file or folder holds, one for each model and task. Raises: InputError."""
        ...


class ReadingOfRequests(Protocol):
    """The same of a tool whose files of results may lie apart from those of the requests."""

    def opened(self, path: Path, *, requests: Path) -> Sequence[ForeignLog]:
        """As `Reading.opened`, with the file of the requests. Raises: InputError."""
        ...


class Writing(Protocol):
    """The module `writing` of a tool."""

    def written(self, log: ForeignLog, target: Path) -> list[Lost]:
        """Write a log into a new file, or a new folder where the form has several files, and say what it can't hold.

        Raises: UsageError where the form can't hold the log at all; RecordError where `target` can't be written.
        """
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, by the name of its folder; `title` is its own name. `takes_requests`: its results may lie in a file
    without the requests, and `opened` takes theirs (`ReadingOfRequests`)."""

    name: str
    title: str
    reads: bool = True
    writes: bool = False
    takes_requests: bool = False

    @property
    def reading(self) -> Reading:
        return cast("Reading", import_module(f"{__package__}.{self.name}.reading"))

    def opened(self, path: Path, requests: Path | None = None) -> Sequence[ForeignLog]:
        """The logs that a file or folder holds.

        Raises: InputError; UsageError for requests that it has no use for, and of a form that is written alone.
        """
        if not self.reads:
            raise UsageError(f"{path}: {self.title} are written, and never read")
        if requests is None:
            return self.reading.opened(path)
        if not self.takes_requests:
            taking = " and ".join(one.title for one in TOOLS if one.takes_requests)
            raise UsageError(f"{path}: a log of {self.title}, which takes no file of requests; results of {taking} do")
        return cast("ReadingOfRequests", self.reading).opened(path, requests=requests)

    @property
    def writing(self) -> Writing:
        return cast("Writing", import_module(f"{__package__}.{self.name}.writing"))


# In the order in which they are tried: what is surest to recognise comes first.
TOOLS: tuple[Tool, ...] = (
    Tool("inspect", "Inspect AI", writes=True),
    Tool("lm_eval", "lm-evaluation-harness", writes=True),
    Tool("promptfoo", "promptfoo", writes=True),
    Tool("openai_evals", "OpenAI Evals"),
    Tool("every_eval_ever", "Every Eval Ever", writes=True),
    Tool("helm", "HELM"),
    Tool("hf_eval_results", "Hugging Face evaluation results", reads=False, writes=True),
    Tool("anthropic_batch", "Anthropic batch", takes_requests=True),
    Tool("gemini_batch", "Gemini batch", takes_requests=True),
    Tool("openai_batch", "OpenAI batch", writes=True, takes_requests=True),
)


def tool_named(name: str) -> Tool:
    """Raises: UsageError for one that is not known."""
    for tool in TOOLS:
        if tool.name == name:
            return tool
    raise UsageError(f"{shorten(name, 60)}: no tool that is known; expected {', '.join(one.name for one in TOOLS)}")


def seen_at(path: str | Path) -> Seen:
    """Raises: InputError where nothing is there, it can't be read, or it can't be read twice."""
    place = Path(path)
    try:
        mode = place.stat().st_mode
        if S_ISDIR(mode):
            return Seen(place, b"", frozenset(one.name for one in place.iterdir()))
        if not S_ISREG(mode):  # a pipe would be waited for, and a device may have no end
            found = "a pipe, a socket or a device"
            raise InputError(place, found=found, expected="a file or folder: a log is read more than once")
        with place.open("rb") as file:
            return Seen(place, file.read(_HEAD), frozenset())
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(place, found=f"nothing that can be read ({why})", expected="a log") from None


def recognised(path: str | Path) -> Tool:
    """The tool that wrote a file or folder. Raises: InputError that says what it seems to be instead."""
    seen = seen_at(path)
    found = _tool_of(seen)
    if found is None:
        raise _unknown(seen)
    return found


def opened_logs(
    path: str | Path,
    tool: Tool | None = None,
    *,
    requests: str | Path | None = None,
    on_broken: Callable[[InputError], None] | None = None,
) -> Iterator[ForeignLog]:
    """The logs in a file or folder, one after another: those of the tool that wrote it, or, of a folder that is no log
    itself, those in all its files and folders that are, by their names. Each is to be closed. `requests` is the file
    with the requests whose results are there.

    `on_broken` is called with the error of one that makes no sense among others, and the others are opened.

    Raises: InputError where there is none, and for one that makes no sense; UsageError for `requests` of a tool that
    takes none.
    """
    place, asked = Path(path), None if requests is None else Path(requests)
    seen = seen_at(place)
    n = 0
    for one, found in _logs_under(seen) if tool is None else ((place, tool),):
        try:
            logs = found.opened(one, asked)
        except InputError as error:
            if on_broken is None or one == place:
                raise
            n += 1
            on_broken(error)
            continue
        for log in logs:
            n += 1
            yield log
    if not n:
        raise _unknown(seen, tool)


def _logs_under(seen: Seen, deep: int = 0) -> Iterator[tuple[Path, Tool]]:
    found = _tool_of(seen)
    if found is not None:
        yield seen.path, found
    elif seen.is_folder:
        if deep == _DEEPEST:
            raise InputError(seen.path, found="folders nested too deeply", expected=f"at most {_DEEPEST} levels")
        for name in sorted(seen.names):
            inner = seen.path / name
            if not name.startswith(".") and not inner.is_symlink() and (inner.is_dir() or inner.is_file()):
                yield from _logs_under(seen_at(inner), deep + 1)


def _tool_of(seen: Seen) -> Tool | None:
    return next((one for one in TOOLS if one.reads and one.reading.recognises(seen)), None)


def _unknown(seen: Seen, tool: Tool | None = None) -> InputError:
    return InputError(seen.path, found=_looks_like(seen), expected=f"a log of {tool.title if tool else _titles()}")


def _titles() -> str:
    return ", ".join(one.title for one in TOOLS if one.reads)


def _looks_like(seen: Seen) -> str:
    """The kind of thing that a file seems to be, though no tool of ours wrote it, in a few words."""
    if seen.is_folder:
        return "a folder without any log" if seen.names else "an empty folder"
    head = seen.head.lstrip()
    if not head:
        return "an empty file"
    if seen.head.startswith(b"PK"):
        return "a zip archive of something else"
    if head[:1] in (b"{", b"["):
        return "JSON of something else"
    return "no log" if b"\0" in head else "a text of something else"
