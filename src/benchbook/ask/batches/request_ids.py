"""The name of a request in a vendor's batch: it leads back to the sample, to who is asked, and to the very bytes.

`4f1c9a0be27d-1207-j1-2-<32 hexadecimal digits>`: the batch, the sample, the judge's number (`c` for the candidate), the
attempt, and how the request's SHA-256 begins. Anthropic takes the fewest characters: 1 to 64 of [a-zA-Z0-9_-].
"""

from __future__ import annotations

import re
import secrets
from typing import NamedTuple

from benchbook.ask.asking import Call
from benchbook.record.facts import Role

_HASH_DIGITS = 32
_ID = re.compile(r"([0-9a-f]{12})-([0-9]{1,9})-(c|j[0-9]{1,4})-([0-9])-([0-9a-f]{32})", re.ASCII)


def new_batch_id() -> str:
    """An id that no other batch has, at whatever vendor."""
    return secrets.token_hex(6)


class RequestId(NamedTuple):
    """The parts of an id."""

    batch: str
    sample: int
    role: Role
    judge: int
    attempt: int
    hash_begins: str

    def names(self, call: Call, sha256: str) -> bool:
        """True for the call that it was made for: no result is taken for another request's."""
        meant = (call.sample, call.role, call.judge, call.attempt)
        return meant == self[1:5] and sha256.startswith(self.hash_begins)


def request_id(batch: str, call: Call, sha256: str) -> str:
    """The id of a call's request in a batch."""
    who = "c" if call.role == "candidate" else f"j{call.judge}"
    return f"{batch}-{call.sample}-{who}-{call.attempt}-{sha256[:_HASH_DIGITS]}"


def read_request_id(text: str) -> RequestId | None:
    """The parts of an id; None for one that was not made here."""
    found = _ID.fullmatch(text)
    if found is None:
        return None
    batch, sample, who, attempt, begins = found.groups()
    role: Role = "candidate" if who == "c" else "judge"
    return RequestId(batch, int(sample), role, int(who[1:] or 0), int(attempt), begins)
