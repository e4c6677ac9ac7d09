"""The text of an output, as a judge gets it: text, Markdown and JSON as they stand, PDF by pypdfium2 (SPEC P1).

    extraction            extract_file, extract_text      _results    Extraction, its limits and its faults
    extraction_pdf        the process that reads a PDF    _pdf_child  what runs in it

JSON is not parsed: the judge sees the file, and one that is no JSON may be what is to be judged. A byte-order mark
says how the file is coded and is left out; nothing else is changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from benchbook.evalsets.extraction_pdf import EXTRACTOR as PDF_EXTRACTOR
from benchbook.evalsets.extraction_pdf import extract_pdf, pdf_extractor_version
from benchbook.evalsets.extraction_results import Extraction, ExtractionLimits, Fault, Text

__all__ = [
    "ENDINGS",
    "Extraction",
    "ExtractionLimits",
    "Fault",
    "extract_file",
    "extract_files",
    "extract_text",
    "sha256_of",
]

_TEXT_ENDINGS = ("txt", "text", "md", "markdown", "json")
ENDINGS = (*_TEXT_ENDINGS, "pdf")
TEXT_EXTRACTOR = "utf-8"
_TEXT_EXTRACTOR_VERSION = "1"

_BOM = b"\xef\xbb\xbf"
_AT_ONCE = 4  # processes that read PDFs
_BATCH = 16  # texts that are held while the slowest of them is read


def extract_file(path: str | Path, limits: ExtractionLimits | None = None) -> Extraction:
    """The text of the output file `path`, whose ending (any case) says what it is.

    A file without a text is no error: `fault` says why. Raises: UsageError where a PDF needs pypdfium2.
    """
    path = Path(path)
    limits = limits or ExtractionLimits()
    ending = path.suffix.lower().removeprefix(".")
    read = _read(path, limits)
    if ending not in ENDINGS:
        read = Fault("unknown_form", f"ends in {path.suffix!r}; known are {', '.join(ENDINGS)}")
    if ending == "pdf":
        found = read if isinstance(read, Fault) else extract_pdf(read, limits)
        return _extraction(PDF_EXTRACTOR, pdf_extractor_version(), read, found)
    found = read if isinstance(read, Fault) else _decode(read, limits)
    return _extraction(TEXT_EXTRACTOR, _TEXT_EXTRACTOR_VERSION, read, found)


def extract_text(text: str, limits: ExtractionLimits | None = None) -> Extraction:
    """A text that stood in a table, under the same limits; the file's hash is that of the text in UTF-8."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        fault = Fault("not_utf8", f"a lone surrogate at character {error.start + 1}")
        return _extraction(TEXT_EXTRACTOR, _TEXT_EXTRACTOR_VERSION, fault, fault)
    found = _checked(text, limits or ExtractionLimits())
    return _extraction(TEXT_EXTRACTOR, _TEXT_EXTRACTOR_VERSION, data, found)


def extract_files(paths: Iterable[Path], limits: ExtractionLimits | None = None) -> Iterator[Extraction]:
    """`extract_file` for each, in their order, a few at a time; memory does not grow with their number."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        rest = iter(paths)
        while batch := list(islice(rest, _BATCH)):
            yield from pool.map(lambda path: extract_file(path, limits), batch)


def sha256_of(text: str) -> str:
    """The hash by which a text is stored."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _read(path: Path, limits: ExtractionLimits) -> bytes | Fault:
    try:
        if not path.is_file():
            return Fault("unreadable", "no such file, or not a regular one")
        with path.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        return Fault("unreadable", getattr(error, "strerror", None) or str(error))
    return Fault("too_large", f"over {limits.file_bytes} bytes") if len(data) > limits.file_bytes else data


def _decode(data: bytes, limits: ExtractionLimits) -> Text | Fault:
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        return Fault("not_utf8", f"byte {data[error.start]:#04x} at byte {error.start + 1}")
    return _checked(text, limits)


def _checked(text: str, limits: ExtractionLimits) -> Text | Fault:
    if not text.strip():
        return Fault("empty", "nothing but white space" if text else "the file is empty")
    if len(text) > limits.characters:
        return Fault("too_large", f"{len(text)} characters, over {limits.characters}")
    return Text(text)


def _extraction(extractor: str, version: str, read: bytes | Fault, found: Text | Fault) -> Extraction:
    file_sha256 = None if isinstance(read, Fault) else hashlib.sha256(read).hexdigest()
    if isinstance(found, Fault):
        return Extraction(extractor, version, file_sha256, fault=found)
    return Extraction(extractor, version, file_sha256, found.text, sha256_of(found.text), found.n_pages)
