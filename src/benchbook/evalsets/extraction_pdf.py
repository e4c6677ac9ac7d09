"""The text of a PDF, read in a process of its own that can be stopped (issue 5, "Bad input").

It is pypdfium2's plain text, pages joined by a line feed. Glyphs that a PDF draws twice at one place, which some
writers do for bold, are left in: the text is then what every reader of that PDF copies out of it, and no quote is lost
by a rule of ours.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import msgspec

from benchbook.canonical import ready
from benchbook.errors import UsageError
from benchbook.evalsets.extraction_results import ExtractionLimits, Fault, FaultCode, Text
from benchbook.text import shorten

__all__ = ["EXTRACTOR", "extract_pdf", "pdf_extractor_version"]

EXTRACTOR = "pypdfium2"
# Never in this process: and no variable of ours, keys among them, in that one.
_COMMAND = (sys.executable, "-I", str(Path(__file__).with_name("extraction_pdf_child.py")))


class _Head(msgspec.Struct):
    """The child's first line. Its types are checked: a PDF may speak through it."""

    n_pages: int | None = None
    code: FaultCode | None = None
    detail: str = ""


@cache
def pdf_extractor_version() -> str:
    """pypdfium2's version and that of the PDFium in it: both decide what the text is.

    Raises: UsageError where pypdfium2 is not installed, or does not start.
    """
    if find_spec("pypdfium2") is None:
        raise UsageError("reading PDF needs pypdfium2: pip install 'benchbook[pdf]'")
    done = subprocess.run([*_COMMAND], capture_output=True, encoding="utf-8", errors="replace", check=False, env={})
    if done.returncode:
        raise UsageError(f"pypdfium2 does not start: {shorten(done.stderr[-200:], 200)}")
    return done.stdout


def extract_pdf(data: bytes, limits: ExtractionLimits) -> Text | Fault:
    """The text of the PDF `data`, or why there is none. Raises: UsageError where pypdfium2 is not installed."""
    pdf_extractor_version()
    if not data:
        return Fault("empty", "the file is empty")
    # A file for what comes out: its size is limited by the kernel, and a child that was taken over can't fill us.
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(
                [*_COMMAND, *_arguments(limits)],
                input=data, stdout=out, stderr=subprocess.DEVNULL, timeout=limits.wall_s, check=False, env={},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Fault("too_slow", f"no text after {limits.wall_s:g} s")
        if done.returncode:
            return _fault_of(done.returncode, limits)
        out.seek(0)
        return _answer(out)


def _arguments(limits: ExtractionLimits) -> list[str]:
    return [str(number) for number in (limits.characters, limits.pages, limits.cpu_s, limits.memory_bytes)]


def _fault_of(returncode: int, limits: ExtractionLimits) -> Fault:
    if -returncode in (signal.SIGXCPU, signal.SIGKILL):
        return Fault("too_slow", f"no text after {limits.cpu_s} s of CPU time")
    if returncode > 0:
        return Fault("broken", f"the reader ended with {returncode}")
    # PDFium ends itself where it gets no memory, by a signal that a fault of its own may give as well.
    mebibytes = limits.memory_bytes >> 20
    return Fault("broken", f"the reader died of signal {-returncode}, perhaps at its limit of {mebibytes} MiB")


def _answer(out: IO[bytes]) -> Text | Fault:
    try:
        head = msgspec.json.decode(out.readline(), type=ready(_Head))
        text = out.read().decode("utf-8")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Fault("broken", "the reader's answer can't be read")
    if head.code is not None:
        return Fault(head.code, head.detail)
    if not text.strip():
        return Fault(
            "no_text",
            f"no character on {'its one page' if head.n_pages == 1 else f'its {head.n_pages} pages'}: a scan?",
        )
    return Text(text, head.n_pages)
