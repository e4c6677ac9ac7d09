"""Anthropic's message batches.

Sources: https://platform.claude.com/docs/en/api/creating-message-batches, …/retrieving-message-batches,
…/listing-message-batches, …/retrieving-message-batch-results, …/canceling-message-batches. A batch has no place for a
name of ours: one whose making was not answered is known by the ids of its requests, and these come with its results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from benchbook.ask.batches.anthropic_form import AnthropicWire
from benchbook.ask.batches.form import id_in_result
from benchbook.ask.batches.http import file_body
from benchbook.ask.batches.request_ids import read_request_id
from benchbook.ask.batches.vendor import SLACK_S, BatchVendor, Sought, VendorState
from benchbook.ask.providers.json_parts import count, objects, text
from benchbook.errors import VendorError
from benchbook.record.facts import BatchEnd, BatchPrepared
from benchbook.record.standing import seconds_of

VERSION = "2023-06-01"  # of the API
_MOST_PAGES = 1_000


class AnthropicBatches(BatchVendor):
    """The requests go up in the call that makes the batch."""

    wire = AnthropicWire()

    def submit(self, batch: BatchPrepared, file: Path, model: str) -> str:
        del batch, model
        url = f"{self.http.base_url}/messages/batches"
        made, _ = self.http.call("POST", url, file_body(file), {"Content-Type": "application/json"})
        if (vendor_id := text(made.get("id"))) is None:
            raise VendorError("the answer to what was sent has no id")
        return vendor_id

    def find(self, batch: BatchPrepared, taken: Collection[str]) -> Sought:
        is_sure = True
        for one in self._listed(seconds_of(batch.at) - SLACK_S):
            vendor_id = text(one.get("id"))
            if vendor_id is None or vendor_id in taken or sum(_counts(one).values()) != batch.n_requests:
                continue
            if one.get("processing_status") != "ended":
                is_sure = False
                continue
            named = id_in_result(self.http.first_line(f"/messages/batches/{quote(vendor_id, safe='')}/results"))
            found = None if named is None else read_request_id(named)
            if found is not None and found.batch == batch.batch:
                return Sought(vendor_id)
        return Sought(None, is_sure)

    def _listed(self, since: float) -> Iterator[dict[str, Any]]:
        """The workspace's batches, the newest first, that are no older than `since`."""
        after = ""
        for _ in range(_MOST_PAGES):
            page = self.http.get(f"/messages/batches?limit=100{after}")
            for one in objects(page.get("data")):
                created = text(one.get("created_at"))
                if created is not None and seconds_of(created) < since:
                    return
                yield one
            last = text(page.get("last_id"))
            if page.get("has_more") is not True or last is None:
                return
            after = f"&after_id={quote(last, safe='')}"

    def state(self, vendor_id: str) -> VendorState:
        found = self.http.get(f"/messages/batches/{quote(vendor_id, safe='')}")
        said, counts = text(found.get("processing_status")) or "unknown", _counts(found)
        if said != "ended":
            return VendorState(said, counts=counts)
        end: BatchEnd = "completed"
        if counts.get("expired"):
            end = "expired"
        elif found.get("cancel_initiated_at") is not None and counts.get("canceled"):
            end = "cancelled"
        return VendorState(said, end, counts, (vendor_id,))

    def fetch(self, state: VendorState, target: BinaryIO) -> list[str]:
        # At the documented address, and not at `results_url`: the key goes to no address that an answer names.
        return [self.http.download(f"/messages/batches/{quote(one, safe='')}/results", target) for one in state.files]

    def cancel(self, vendor_id: str) -> None:
        self.http.post(f"/messages/batches/{quote(vendor_id, safe='')}/cancel")


def _counts(found: Mapping[str, Any]) -> dict[str, int]:
    counts = found.get("request_counts")
    return {name: n for name, n in counts.items() if count(n) is not None} if isinstance(counts, dict) else {}
