"""The text of an output, as a judge gets it: text, Markdown and JSON unchanged, PDF by pypdfium2 (SPEC P1).

JSON is not parsed: the judge sees the file, and whether it is valid may be what is judged. A byte-order mark only
says how the file is encoded and is left out; nothing else is changed.
"""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Literal

import msgspec

from benchbook.canonical import ready
from benchbook.errors import UsageError
from benchbook.text import shorten

FaultCode = Literal[
    "broken",  # not the kind of file that its name suggests, or damaged
    "empty",  # nothing, or nothing but white space
    "encrypted",  # asks for a password
    "no_text",  # pages without a character: scanned
    "not_utf8",
    "too_large",  # in bytes, pages, characters or the memory that it takes
    "too_slow",
    "unknown_form",  # an unknown ending
    "unreadable",  # the system does not let us read it
]


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """Limits on one file. Beyond them it is `too_large` or `too_slow`."""

    file_bytes: int = 32 << 20
    characters: int = 1_000_000  # of text: a long book, and more than a judge reads
    pages: int = 2_000
    cpu_s: int = 20  # of the process that reads a PDF
    wall_s: float = 60.0
    memory_bytes: int = 1 << 30


class ExtractionFault(msgspec.Struct, frozen=True):
    """The reason why an output has no text. `detail` may hold a library's words: it is shown by `benchbook.text`."""

    code: FaultCode
    detail: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and the number of its pages; None if it has none."""

    text: str
    n_pages: int | None = None


class Extraction(msgspec.Struct, frozen=True):
    """The result of reading one output file (SPEC P1): either `text` and its hash, or `fault`.

    Hashes are lower-case SHA-256: of the file's bytes (None if they were not read), and of the text in UTF-8.
    """

    extractor: str
    extractor_version: str
    file_sha256: str | None = None
    text: str | None = None
    text_sha256: str | None = None
    n_pages: int | None = None
    fault: ExtractionFault | None = None


PDF_EXTRACTOR = "pypdfium2"
# PDFs are never read in this process, and the other gets none of our variables, among them keys.
_COMMAND = (sys.executable, "-I", str(Path(__file__).with_name("extraction_pdf_child.py")))


class _Head(msgspec.Struct):
    """The child's first line. Its types are checked: a hostile PDF may have written it."""

    n_pages: int | None = None
    code: FaultCode | None = None
    detail: str = ""


@cache
def pdf_extractor_version() -> str:
    """The versions of pypdfium2 and of the PDFium in it, on which the text depends.

    Raises: UsageError if pypdfium2 is not installed, or does not start.
    """
    if find_spec("pypdfium2") is None:
        raise UsageError("reading PDF needs pypdfium2: pip install 'benchbook[pdf]'")
    done = subprocess.run([*_COMMAND], capture_output=True, encoding="utf-8", errors="replace", check=False, env={})
    if done.returncode:
        raise UsageError(f"pypdfium2 does not start: {shorten(done.stderr[-200:], 200)}")
    return done.stdout


def extract_pdf(data: bytes, limits: ExtractionLimits) -> Text | ExtractionFault:
    """The text of the PDF `data`, or a fault. Raises: UsageError if pypdfium2 is not installed."""
    pdf_extractor_version()
    if not data:
        return ExtractionFault("empty", "the file is empty")
    # The output goes to a file: the kernel limits its size, so a child that was taken over can't fill our memory.
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(
                [*_COMMAND, *_arguments(limits)],
                input=data, stdout=out, stderr=subprocess.DEVNULL, timeout=limits.wall_s, check=False, env={},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ExtractionFault("too_slow", f"no text after {limits.wall_s:g} s")
        if done.returncode:
            return _fault_of(done.returncode, limits)
        out.seek(0)
        return _answer(out)


def _arguments(limits: ExtractionLimits) -> list[str]:
    return [str(number) for number in (limits.characters, limits.pages, limits.cpu_s, limits.memory_bytes)]


_ENDED_BY_TIME = {getattr(signal, name, None) for name in ("SIGXCPU", "SIGKILL")}  # Windows has neither


def _fault_of(returncode: int, limits: ExtractionLimits) -> ExtractionFault:
    if -returncode in _ENDED_BY_TIME:
        return ExtractionFault("too_slow", f"no text after {limits.cpu_s} s of CPU time")
    if returncode > 0:
        return ExtractionFault("broken", f"the reader ended with {returncode}")
    # PDFium ends itself when it gets no memory, by a signal that one of its own faults may cause as well.
    mebibytes = limits.memory_bytes >> 20
    return ExtractionFault(
        "broken", f"the reader died of signal {-returncode}, perhaps at its limit of {mebibytes} MiB"
    )


def _answer(out: IO[bytes]) -> Text | ExtractionFault:
    try:
        head = msgspec.json.decode(out.readline(), type=ready(_Head))
        text = out.read().decode("utf-8")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ExtractionFault("broken", "the reader's answer can't be read")
    if head.code is not None:
        return ExtractionFault(head.code, head.detail)
    if not text.strip():
        return ExtractionFault(
            "no_text",
            f"no character on {'its one page' if head.n_pages == 1 else f'its {head.n_pages} pages'}: a scan?",
        )
    return Text(text, head.n_pages)


_TEXT_ENDINGS = ("txt", "text", "md", "markdown", "json")
ENDINGS = (*_TEXT_ENDINGS, "pdf")
TEXT_EXTRACTOR = "utf-8"
_TEXT_EXTRACTOR_VERSION = "1"

_BOM = b"\xef\xbb\xbf"
_AT_ONCE = 4  # processes that read PDFs
_BATCH = 16  # texts that are held while the slowest of them is read


def extract_file(path: str | Path, limits: ExtractionLimits | None = None) -> Extraction:
    """The text of the output file `path`, whose ending (in any case) gives its form.

    A file without a text is not an error: `fault` says why. Raises: UsageError if a PDF needs pypdfium2.
    """
    path = Path(path)
    limits = limits or ExtractionLimits()
    ending = path.suffix.lower().removeprefix(".")
    read = _read(path, limits)
    if ending not in ENDINGS:
        read = ExtractionFault("unknown_form", f"ends in {path.suffix!r}; known are {', '.join(ENDINGS)}")
    if ending == "pdf":
        found = read if isinstance(read, ExtractionFault) else extract_pdf(read, limits)
        return _extraction(PDF_EXTRACTOR, pdf_extractor_version(), read, found)
    found = read if isinstance(read, ExtractionFault) else _decode(read, limits)
    return _extraction(TEXT_EXTRACTOR, _TEXT_EXTRACTOR_VERSION, read, found)


def extract_text(text: str, limits: ExtractionLimits | None = None) -> Extraction:
    """A text from a table, under the same limits; the file's hash is that of the text in UTF-8."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        fault = ExtractionFault("not_utf8", f"a lone surrogate at character {error.start + 1}")
        return _extraction(TEXT_EXTRACTOR, _TEXT_EXTRACTOR_VERSION, fault, fault)
    found = _checked(text, limits or ExtractionLimits())
    return _extraction(TEXT_EXTRACTOR, _TEXT_EXTRACTOR_VERSION, data, found)


def extract_files(paths: Iterable[Path], limits: ExtractionLimits | None = None) -> Iterator[Extraction]:
    """Apply `extract_file` to each path, in order, a few at a time; memory does not grow with their number."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        rest = iter(paths)
        while batch := list(islice(rest, _BATCH)):
            yield from pool.map(lambda path: extract_file(path, limits), batch)


def sha256_of(text: str) -> str:
    """The hash by which a text is stored."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _read(path: Path, limits: ExtractionLimits) -> bytes | ExtractionFault:
    try:
        if not path.is_file():
            return ExtractionFault("unreadable", "no such file, or not a regular one")
        with path.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        return ExtractionFault("unreadable", getattr(error, "strerror", None) or str(error))
    return ExtractionFault("too_large", f"over {limits.file_bytes} bytes") if len(data) > limits.file_bytes else data


def _decode(data: bytes, limits: ExtractionLimits) -> Text | ExtractionFault:
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        return ExtractionFault("not_utf8", f"byte {data[error.start]:#04x} at byte {error.start + 1}")
    return _checked(text, limits)


def _checked(text: str, limits: ExtractionLimits) -> Text | ExtractionFault:
    if not text.strip():
        return ExtractionFault("empty", "nothing but white space" if text else "the file is empty")
    if len(text) > limits.characters:
        return ExtractionFault("too_large", f"{len(text)} characters, over {limits.characters}")
    return Text(text)


def _extraction(
    extractor: str, version: str, read: bytes | ExtractionFault, found: Text | ExtractionFault
) -> Extraction:
    file_sha256 = None if isinstance(read, ExtractionFault) else hashlib.sha256(read).hexdigest()
    if isinstance(found, ExtractionFault):
        return Extraction(extractor, version, file_sha256, fault=found)
    return Extraction(extractor, version, file_sha256, found.text, sha256_of(found.text), found.n_pages)
