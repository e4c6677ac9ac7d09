"""Gemini's batches, of the developer API.

Sources: https://ai.google.dev/gemini-api/docs/batch-api (input file, states, results), …/api/batch-mode
(models.batchGenerateContent, batches.get, batches.list, batches.cancel; `displayName`), …/api/files (media.upload).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

from benchbook.ask.batches.gemini_form import GeminiWire
from benchbook.ask.batches.http import file_body
from benchbook.ask.batches.vendor import BatchVendor, Sought, VendorState
from benchbook.ask.providers.gemini_wire import get, within
from benchbook.ask.providers.json_parts import objects, text
from benchbook.errors import VendorError
from benchbook.record.facts import BatchEnd, BatchPrepared

_ENDS: Mapping[str, BatchEnd] = {
    "succeeded": "completed",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}
_MOST_PAGES = 1_000
_JSONL = "application/jsonl"


class GeminiBatches(BatchVendor):
    """A file goes up, a batch is made of it under a name of ours, and a file comes down."""

    wire = GeminiWire()

    @property
    def _path(self) -> str:
        """The base address's path, with the version in it: uploads and downloads put a word before it."""
        return urlsplit(self.http.base_url).path

    def submit(self, batch: BatchPrepared, file: Path, model: str) -> str:
        try:
            name = self._uploaded(file, batch.batch)
        except VendorError as error:
            error.definite = True  # a file alone makes no batch
            raise
        asked = {"batch": {"displayName": batch.batch, "inputConfig": {"fileName": name}}}
        made = self.http.post(f"/models/{quote(model.removeprefix('models/'), safe='.-_')}:batchGenerateContent", asked)
        if (vendor_id := text(made.get("name"))) is None:
            raise VendorError("the answer to what was sent has no name")
        return vendor_id

    def _uploaded(self, file: Path, display_name: str) -> str:
        """The name of a file that went up in two steps: where to, then the bytes."""
        size = file.stat().st_size
        _, headers = self.http.call(
            "POST",
            f"{self.http.origin}/upload{self._path}/files",
            b'{"file":{"display_name":"%b"}}' % display_name.encode(),
            {
                "Content-Type": "application/json",
                "X-Goog-Upload-Protocol": "resumable",
                "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Length": str(size),
                "X-Goog-Upload-Header-Content-Type": _JSONL,
            },
        )
        target = headers.get("X-Goog-Upload-URL") or ""
        if not target.startswith(f"{self.http.origin}/"):  # the key goes nowhere else
            raise VendorError(f"{self.http.origin}: names no address of its own to upload to")
        commands = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize", "Content-Type": _JSONL}
        found, _ = self.http.call("POST", target, file_body(file), commands)
        name = text((within(found, "file") or {}).get("name"))
        if name is None:
            raise VendorError(f"{self.http.origin}: the answer to the upload has no name")
        return name

    def find(self, batch: BatchPrepared, taken: Collection[str]) -> Sought:
        page_token = ""
        for _ in range(_MOST_PAGES):
            page = self.http.get(f"/batches?pageSize=100{page_token}")
            for one in objects(page.get("operations")):
                name = text(one.get("name"))
                if name is not None and name not in taken and _told(one, "displayName") == batch.batch:
                    return Sought(name)
            if not (following := text(page.get("nextPageToken"))):
                break
            page_token = f"&pageToken={quote(following, safe='')}"
        return Sought(None)

    def state(self, vendor_id: str) -> VendorState:
        found = self.http.get(f"/{quote(vendor_id, safe='/')}")
        said = (text(_told(found, "state")) or "unknown").lower()
        said = said.removeprefix("job_state_").removeprefix("batch_state_")
        stats = _told(found, "batchStats")
        counts = {name: int(n) for name, n in stats.items() if str(n).isdecimal()} if isinstance(stats, dict) else {}
        error = within(found, "error")
        return VendorState(
            said,
            _ENDS.get(said),
            counts,
            tuple(filter(None, (_results_file(found),))),
            text(error.get("message")) or "" if error else "",
        )

    def fetch(self, state: VendorState, target: BinaryIO) -> list[str]:
        return [
            self.http.download(f"/download{self._path}/{quote(one, safe='/')}:download?alt=media", target, origin=True)
            for one in state.files
        ]

    def cancel(self, vendor_id: str) -> None:
        self.http.post(f"/{quote(vendor_id, safe='/')}:cancel", {})


def _told(found: Mapping[str, Any], name: str) -> Any:
    """A value of a batch: of its operation's metadata, or of the batch itself."""
    metadata = within(found, "metadata") or {}
    value = get(metadata, name)
    return get(found, name) if value is None else value


def _results_file(found: Mapping[str, Any]) -> str | None:
    """The name of the file with the results, wherever it stands."""
    metadata = within(found, "metadata") or {}
    for where, place in ((found, "response"), (metadata, "output"), (found, "output"), (found, "dest")):
        holder = within(where, place)
        if holder is not None and (name := text(get(holder, "responsesFile")) or text(get(holder, "fileName"))):
            return name
    return None
