"""What the body of an error says, in whichever of the shapes that servers give it. No judgement of what it means."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from benchbook.canonical import canonical_json, decode_json
from benchbook.providers.secrets import redact
from benchbook.text import one_line

__all__ = ["MAX_DETAIL", "Told", "codes_of", "is_error", "read_error", "read_error_body", "told_detail"]

MAX_DETAIL = 500  # characters of a server's own words that are kept
_MAX_MESSAGE = 4 * MAX_DETAIL  # of what is looked through for words
_MAX_READ = 1 << 16  # bytes of a body that is no JSON
_MAX_DEPTH = 6
# Where a message stands, and what may hold one: the first that is there.
_MESSAGES = (
    "message", "msg", "error_msg", "status_msg", "error_message", "errormessage", "error_description", "faultstring",
    "detail", "details", "title", "description", "reason",
)  # fmt: skip
_HOLDERS = ("error", "errors", "base_resp", "fault", "metadata", "detail", "details", "message")
_CODES = ("code", "type", "error_code", "status_code", "status", "reason", "raw_status_code")
_PARAMETERS = ("param", "parameter", "loc", "field")
_NO_CODES = frozenset({"error", "none", "null", ""})  # what says no more than that it is one
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_anything = msgspec.json.Decoder()
_objects = msgspec.json.Decoder(dict[str, Any])


class Told(msgspec.Struct, frozen=True):
    """What a server said of an error. `bare`: all of it, where it is in no shape that has a message.

    `codes` are its words and numbers for it, the innermost first; `places` the names that it gives as at fault;
    `parts` the objects that it was read from, the innermost first.
    """

    message: str
    codes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    parts: tuple[dict[str, Any], ...] = ()
    bare: str = ""

    @property
    def text(self) -> str:
        """All of its words, for whoever looks for some of them."""
        return " ".join((*self.codes, self.message))


def read_error_body(data: bytes) -> Told:
    """The body of a reply with an error's status."""
    try:
        return read_error(decode_json(data, _anything))
    except msgspec.DecodeError:
        return Told(_plain_text(data[:_MAX_READ].decode("utf-8", "replace"))[:_MAX_MESSAGE])


def read_error(value: Any) -> Told:
    """An error, or a body that holds one, as JSON."""
    parts = tuple(_parts(value, 0))[::-1]
    found = next((part for part in parts if codes_of(part)), {})
    message = value if isinstance(value, str) else next((text for part in parts if (text := _message(part))), "")
    places = tuple(place for part in parts for name in _PARAMETERS for place in _names(part.get(name)))
    bare = "" if message else canonical_json(value.get("error", value) if isinstance(value, dict) else value).decode()
    return Told(message[:_MAX_MESSAGE], codes_of(found), places, parts, bare[:_MAX_MESSAGE])


def told_detail(told: Told, status: int | None = None) -> str:
    """Code, type and message on one line, shortened, without keys; not what `status` says already."""
    own = told.parts[0] if told.parts else {}
    holder = next((part for part in told.parts if codes_of(part)), own)
    words = [str(holder[name])[:100] for name in ("code", "type") if _is_code(holder.get(name))]
    words = [word for word in dict.fromkeys(words) if word != str(status)]
    text = ": ".join([*words, told.message] if told.message else words) or told.bare
    return one_line(redact(text))[:MAX_DETAIL]


def is_error(value: Any) -> bool:
    """Whether a field `error` tells one: servers send an empty one beside an answer, too."""
    if isinstance(value, dict):
        return any(entry not in (None, "", 0, False, [], {}) for entry in value.values())
    return bool(value)


def _parts(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The objects on the way to the innermost that tells an error, the outermost first."""
    if isinstance(value, list):
        value = next((entry for entry in value if isinstance(entry, dict)), None)
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return
    part = {str(name).lower(): entry for name, entry in value.items()}
    yield part
    for name in _HOLDERS:
        inner = part.get(name)
        if isinstance(inner, dict) or (isinstance(inner, list) and any(isinstance(entry, dict) for entry in inner)):
            yield from _parts(inner, depth + 1)
            return


def _message(part: dict[str, Any]) -> str:
    """OpenRouter says in `metadata.raw` what the provider behind it said, and of itself but that there was an error."""
    if isinstance(raw := part.get("raw"), str) and raw.strip():
        return _message_within(raw)
    if isinstance(place := part.get("loc"), list) and isinstance(said := part.get("msg"), str):
        return f"{'.'.join(str(name) for name in place)}: {said}"
    for name in (*_MESSAGES, "error", "errors"):
        entry = part.get(name)
        if isinstance(entry, list):
            entry = "; ".join(text for text in entry if isinstance(text, str))
        if isinstance(entry, str) and entry.strip():
            return entry
    return ""


def _message_within(raw: str) -> str:
    """An error that was put into a text as it came."""
    try:
        return read_error(decode_json(raw.encode("utf-8", "replace"), _objects)).message
    except msgspec.DecodeError:
        return raw


def codes_of(part: dict[str, Any]) -> tuple[str, ...]:
    """The words and numbers by which a part names its error."""
    return tuple(str(part[name])[:100] for name in _CODES if _is_code(part.get(name)))


def _is_code(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    return value != 0 and str(value).strip().lower() not in _NO_CODES


def _names(value: Any) -> Iterator[str]:
    """`top_p`, `["body", "top_p"]`, `generationConfig.topP`: every name in it, the last first."""
    if isinstance(value, list):
        for entry in reversed(value):
            yield from _names(entry)
    elif isinstance(value, str):
        yield from reversed([name for name in re.split(r"[^\w-]+", value) if name])


def _plain_text(text: str) -> str:
    """A page's title, else its words; text as it is."""
    if "<" not in text:
        return text
    title = _TITLE.search(text)
    words = html.unescape(title[1] if title else "").strip()
    return words or html.unescape(_TAGS.sub(" ", text)).strip()
