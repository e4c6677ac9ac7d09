"""The requests of one batch, as they are written: one after the other, up to the vendor's limits."""

from __future__ import annotations

import hashlib
from array import array
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

from benchbook.ask.asking import Call
from benchbook.ask.batches.form import BatchWire
from benchbook.ask.batches.limits import BatchLimits
from benchbook.ask.batches.request_ids import new_batch_id, request_id
from benchbook.ask.requests import request_sha256
from benchbook.errors import RecordError
from benchbook.record.batches import runs_of
from benchbook.record.facts import BatchPrepared
from benchbook.writing import cant_be_written


class RequestFile:
    """A file in `folder`, under the batch's id, of calls of one role. Raises: RecordError where it can't be written."""

    def __init__(self, folder: Path, wire: BatchWire, limits: BatchLimits, first: Call) -> None:
        self.batch = new_batch_id()
        self.path = folder / f"{self.batch}.requests"
        self._wire = wire
        self._limits = limits
        self._role, self._judge = first.role, first.judge
        self._samples = array("Q")
        self._digest = hashlib.sha256()
        self._size = 0
        try:
            self._file: BinaryIO = self.path.open("wb")
        except OSError as error:
            raise RecordError(cant_be_written(self.path, error)) from None

    def add(self, call: Call) -> bool:
        """Add a call's request; False where the file has no room for it."""
        line = self._wire.request(request_id(self.batch, call, request_sha256(call.body)), call.body)
        more = len(line) + len(self._wire.between)
        ends = len(self._wire.head) + len(self._wire.tail)
        if self._samples and (
            len(self._samples) >= self._limits.max_requests or self._size + more + ends > self._limits.max_bytes
        ):
            return False
        self._write((self._wire.between if self._samples else self._wire.head) + line)
        self._samples.append(call.sample)
        return True

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise RecordError(cant_be_written(self.path, error)) from None
        self._digest.update(data)
        self._size += len(data)

    @property
    def n_requests(self) -> int:
        return len(self._samples)

    @property
    def n_bytes(self) -> int:
        return self._size

    def whole(self, address: str | None, most_usd: Decimal | None) -> BatchPrepared:
        """Close the file, and say what it has: the intent to send it."""
        self._write(self._wire.tail)
        self._file.close()
        return BatchPrepared(
            batch=self.batch,
            form=self._wire.name,
            address=address,
            role=self._role,
            judge=self._judge,
            n_requests=len(self._samples),
            samples=runs_of(sorted(self._samples)),
            sha256=self._digest.hexdigest(),
            price_factor=str(self._limits.price_factor),
            most_cost_usd=None if most_usd is None else f"{most_usd:.6f}",
        )

    def drop(self) -> None:
        """Close the file, and remove it."""
        self._file.close()
        self.path.unlink(missing_ok=True)
