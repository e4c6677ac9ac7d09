"""Lines of a journal without their texts, whose chain can still be followed: each keeps the hash that it had.

A line that has no text stands as it was. Any other is `{"fact": …, "sha256": …}`: the fact, each text in it replaced by
the text's own hash and length, and the hash of the line as the journal has it. Whoever has a line can show that it is
the one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from benchbook.canonical import canonical_json, decode_json, storable_json
from benchbook.errors import RecordDamagedError
from benchbook.record.facts import FIRST_PREV
from benchbook.record.reading import is_sha256

# By the kind of a fact, the fields with what models, judges and tools said; of a first fact, what a log said of itself.
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "reply": ("text", "own"),
    "failure": ("detail",),
    "outcomes": ("outcomes",),
    "imported": ("outcomes",),
}
_any = msgspec.json.Decoder()


class RedactedLine(msgspec.Struct, frozen=True, gc=False):
    """One line: the hash that it has in the journal, the fact as far as it is there, and whether texts are lacking."""

    sha256: str
    fact: dict[str, Any]
    is_redacted: bool


def redacted(raw: bytes) -> bytes:
    """A journal's line without its texts; as it was, where it has none."""
    fact: dict[str, Any] = decode_json(raw, _any)
    hidden = {name: _hidden(fact[name]) for name in _TEXTS.get(fact["kind"], ()) if fact.get(name)}
    metadata = fact["identity"].get("log_metadata") if fact["kind"] == "run_started" else None
    if metadata:
        hidden["identity"] = fact["identity"] | {"log_metadata": _hidden(metadata)}
    if not hidden:
        return raw
    return storable_json({"fact": fact | hidden, "sha256": hashlib.sha256(raw).hexdigest()})


def _hidden(value: Any) -> dict[str, Any]:
    """The hash of a text, or of the canonical JSON of anything else, and its length in characters."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else canonical_json(value)
    text = value if isinstance(value, str) else data.decode("utf-8", "replace")
    return {"sha256": hashlib.sha256(data).hexdigest(), "characters": len(text)}


def read_redacted(path: str, lines: Iterable[bytes], prev: str = FIRST_PREV, seq: int = 0) -> Iterator[RedactedLine]:
    """The lines of a redacted journal, or of a segment that follows a line with the hash `prev`, the chain checked.

    Raises: RecordDamagedError naming `path` and the line.
    """
    for number, raw in enumerate(lines, start=1):
        found = _read(path, number, raw)
        if (found.fact.get("prev"), found.fact.get("seq")) != (prev, seq):
            what = "does not follow from the line before: lines were changed, added, removed or swapped"
            raise RecordDamagedError(path, number, what)
        prev, seq = found.sha256, seq + 1
        yield found


def _read(path: str, number: int, raw: bytes) -> RedactedLine:
    try:
        value = decode_json(raw, _any)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordDamagedError(path, number, f"is no line of a redacted journal ({error})") from None
    if isinstance(value, dict) and set(value) == {"fact", "sha256"}:
        fact, sha256 = value["fact"], value["sha256"]
        if isinstance(fact, dict) and isinstance(sha256, str) and is_sha256(sha256) and storable_json(value) == raw:
            return RedactedLine(sha256, fact, is_redacted=True)
    elif isinstance(value, dict) and "kind" in value:
        return RedactedLine(hashlib.sha256(raw).hexdigest(), value, is_redacted=False)
    raise RecordDamagedError(path, number, "is no line of a redacted journal")
