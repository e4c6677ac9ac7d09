"""The questions that any vendor can be asked about batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from benchbook.ask.batches.form import BatchWire
from benchbook.ask.batches.http import VendorHttp
from benchbook.record.facts import BatchEnd, BatchPrepared


@dataclass(frozen=True, slots=True)
class VendorState:
    """How a batch stands at its vendor. `end` is None while it goes on; `files` are those with its results."""

    said: str  # the vendor's own word
    end: BatchEnd | None = None
    counts: Mapping[str, int] = field(default_factory=dict)  # of requests, by the vendor's words
    files: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Sought:
    """The outcome of a search for a batch that may have been made: its vendor's id, or None.

    `is_sure` is False where one that goes on may be it, and tells only at its end.
    """

    vendor_id: str | None
    is_sure: bool = True


class BatchVendor(ABC):
    """A vendor's batches, in one account."""

    wire: BatchWire

    def __init__(self, http: VendorHttp) -> None:
        self.http = http

    @abstractmethod
    def submit(self, batch: BatchPrepared, file: Path, model: str) -> str:
        """Have a batch made of a file of requests, and return the vendor's id of it.

        Raises: VendorError; where it is `definite`, no batch was made.
        """

    @abstractmethod
    def find(self, batch: BatchPrepared, taken: Collection[str]) -> Sought:
        """Look for a batch whose making was not answered. `taken` are ids of others. Raises: VendorError."""

    @abstractmethod
    def state(self, vendor_id: str) -> VendorState:
        """How a batch stands. Raises: VendorError."""

    @abstractmethod
    def fetch(self, state: VendorState, target: BinaryIO) -> list[str]:
        """Write all lines of results, and return the hash of each file of them. Raises: VendorError."""

    @abstractmethod
    def cancel(self, vendor_id: str) -> None:
        """Ask that a batch ends now; what was carried out comes back. Raises: VendorError."""


SLACK_S = 3600.0
"""By how much a vendor's clock may be off: a batch that is older than its intent by more than this is another."""
