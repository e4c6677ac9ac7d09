"""OpenAI's batches, and those of servers that take the same calls.

Source: https://platform.openai.com/docs/api-reference/batch (create, retrieve, cancel, list; the batch object: statuses
and `metadata`), …/api-reference/files (upload with the purpose `batch`; content).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from benchbook.ask.batches.http import is_unknown, multipart
from benchbook.ask.batches.openai_form import CHAT_URL, OpenAIWire
from benchbook.ask.batches.vendor import SLACK_S, BatchVendor, Sought, VendorState
from benchbook.ask.providers.json_parts import count, objects, text
from benchbook.errors import VendorError
from benchbook.record.facts import BatchEnd, BatchPrepared
from benchbook.record.standing import seconds_of

_OURS = "benchbook_batch"  # the metadata by which a batch is found again
_ENDS: Mapping[str, BatchEnd] = {
    "completed": "completed",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}
_MOST_PAGES = 1_000


class OpenAIBatches(BatchVendor):
    """A file goes up, a batch is made of it, and one or two files come down: outputs, and errors."""

    wire = OpenAIWire()

    def submit(self, batch: BatchPrepared, file: Path, model: str) -> str:
        del model  # each request names it
        body, kind = multipart(file, f"{batch.batch}.jsonl", {"purpose": "batch"})
        try:
            uploaded, _ = self.http.call("POST", f"{self.http.base_url}/files", body, {"Content-Type": kind})
        except VendorError as error:
            error.definite = True  # a file alone makes no batch
            raise
        made = self.http.post(
            "/batches",
            {
                "input_file_id": _id_of(uploaded),
                "endpoint": CHAT_URL,
                "completion_window": "24h",
                "metadata": {_OURS: batch.batch},
            },
        )
        return _id_of(made)

    def find(self, batch: BatchPrepared, taken: Collection[str]) -> Sought:
        since = seconds_of(batch.at) - SLACK_S
        for one in self._listed(since):
            vendor_id = text(one.get("id"))
            if vendor_id is None or vendor_id in taken:
                continue
            metadata = one.get("metadata")
            named = text(metadata.get(_OURS)) if isinstance(metadata, dict) else None
            if named is None:  # a server that keeps none: the file has our name, too
                named = self._file_name(text(one.get("input_file_id")))
            if named == batch.batch:
                return Sought(vendor_id)
        return Sought(None)

    def _listed(self, since: float) -> Iterator[dict[str, Any]]:
        """The account's batches, the newest first, that are no older than `since`."""
        after = ""
        for _ in range(_MOST_PAGES):
            page = self.http.get(f"/batches?limit=100{after}")
            found = objects(page.get("data"))
            for one in found:
                created = one.get("created_at")
                if isinstance(created, int | float) and created < since:
                    return
                yield one
            last = text(found[-1].get("id")) if found else None
            if page.get("has_more") is not True or last is None:
                return
            after = f"&after={quote(last, safe='')}"

    def _file_name(self, file_id: str | None) -> str | None:
        if file_id is None:
            return None
        try:
            name = text(self.http.get(f"/files/{quote(file_id, safe='')}").get("filename"))
        except VendorError as error:
            if is_unknown(error):
                return None
            raise
        return None if name is None else name.removesuffix(".jsonl")

    def state(self, vendor_id: str) -> VendorState:
        found = self.http.get(f"/batches/{quote(vendor_id, safe='')}")
        said = (text(found.get("status")) or "unknown").lower()
        counts = found.get("request_counts")
        files = (text(found.get(name)) for name in ("output_file_id", "error_file_id"))
        errors = found.get("errors")
        told = objects(errors.get("data")) if isinstance(errors, dict) else []
        said_why = [f"{text(one.get('code')) or 'error'}: {text(one.get('message')) or ''}" for one in told[:3]]
        return VendorState(
            said,
            _ENDS.get(said),
            {name: n for name, n in counts.items() if count(n) is not None} if isinstance(counts, dict) else {},
            tuple(one for one in files if one),
            "; ".join(said_why),
        )

    def fetch(self, state: VendorState, target: BinaryIO) -> list[str]:
        return [self.http.download(f"/files/{quote(one, safe='')}/content", target) for one in state.files]

    def cancel(self, vendor_id: str) -> None:
        self.http.post(f"/batches/{quote(vendor_id, safe='')}/cancel")


def _id_of(found: Mapping[str, Any]) -> str:
    """The id of what was made. Raises: VendorError where the answer has none: it may be there all the same."""
    if (made := text(found.get("id"))) is None:
        raise VendorError("the answer to what was sent has no id")
    return made
