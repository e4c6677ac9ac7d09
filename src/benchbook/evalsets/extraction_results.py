"""What comes of reading an output file: its text, or which of the known ways it has none (issue 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import msgspec

__all__ = ["FAULT_CODES", "Extraction", "ExtractionLimits", "Fault", "FaultCode", "Text"]

FaultCode = Literal[
    "broken",  # not the kind of file that its name says, or damaged
    "empty",  # nothing, or nothing but white space
    "encrypted",  # asks for a password
    "no_text",  # pages without a character: scanned
    "not_utf8",
    "too_large",  # in bytes, pages, characters or the memory that it takes
    "too_slow",
    "unknown_form",  # an ending that says nothing to us
    "unreadable",  # the system does not let us read it
]
FAULT_CODES: tuple[FaultCode, ...] = get_args(FaultCode)


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """What one file may take. Beyond it the file is `too_large` or `too_slow`."""

    file_bytes: int = 32 << 20
    characters: int = 1_000_000  # of text: a long book, and more than a judge reads
    pages: int = 2_000
    cpu_s: int = 20  # of the process that reads a PDF
    wall_s: float = 60.0
    memory_bytes: int = 1 << 30


class Fault(msgspec.Struct, frozen=True):
    """Why an output has no text. `detail` may hold what a library said: it is shown through `benchbook.text`."""

    code: FaultCode
    detail: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and how many pages it stood on; None for what has no pages."""

    text: str
    n_pages: int | None = None


class Extraction(msgspec.Struct, frozen=True):
    """What one output file gave (SPEC P1). Either `text` and its hash are there, or `fault`.

    Hashes are lower-case SHA-256: of the file's bytes (None where they were not read), of the text in UTF-8.
    """

    extractor: str
    extractor_version: str
    file_sha256: str | None = None
    text: str | None = None
    text_sha256: str | None = None
    n_pages: int | None = None
    fault: Fault | None = None
