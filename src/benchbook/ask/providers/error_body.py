"""Reads the body of an error, in any of the shapes that servers use. What it means is judged elsewhere."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from benchbook.ask.providers.keys import redact
from benchbook.canonical import canonical_json, decode_json
from benchbook.text import one_line

MAX_DETAIL = 500  # characters of a server's own words that are kept
_MAX_MESSAGE = 4 * MAX_DETAIL  # characters that are searched for words
_MAX_READ = 1 << 16  # bytes of a body that is not JSON
_MAX_DEPTH = 6
# The fields with a message, and those that may hold one within: the first that is there counts.
_MESSAGES = (
    "message", "msg", "error_msg", "status_msg", "error_message", "errormessage", "error_description", "faultstring",
    "detail", "details", "title", "description", "reason",
)  # fmt: skip
_HOLDERS = ("error", "errors", "base_resp", "fault", "metadata", "detail", "details", "message")
_CODES = ("code", "type", "error_code", "status_code", "status", "reason", "raw_status_code")
_PARAMETERS = ("param", "parameter", "loc", "field")
_NO_CODES = frozenset({"error", "none", "null", ""})  # codes that say no more than that there was an error
# None goes past where another of its kind begins: a page of nothing else would be gone through once a tag.
_TITLE = re.compile(r"<title[^<>]*>((?:(?!<title).)*?)</title>", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"<(script|style)\b(?:(?!<\1\b).)*?</\1\s*>|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_anything = msgspec.json.Decoder()
_objects = msgspec.json.Decoder(dict[str, Any])


class Told(msgspec.Struct, frozen=True):
    """A server's words about an error. `bare`: all of it, if no message was found.

    `codes` are its words and numbers for the error; `places` the names that it says are at fault; `parts` the objects
    that it was read from. The innermost come first.
    """

    message: str
    codes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    parts: tuple[dict[str, Any], ...] = ()
    bare: str = ""

    @property
    def text(self) -> str:
        """All of its words, to be searched."""
        return " ".join((*self.codes, self.message))


def read_error_body(data: bytes) -> Told:
    """Read the body of a reply with an error's status."""
    try:
        return read_error(decode_json(data, _anything))
    except msgspec.DecodeError:
        return Told(_plain_text(data[:_MAX_READ].decode("utf-8", "replace"))[:_MAX_MESSAGE])


def read_error(value: Any) -> Told:
    """Read a JSON value that is an error, or holds one."""
    parts = tuple(_parts(value, 0))[::-1]
    found = next((part for part in parts if codes_of(part)), {})
    message = value if isinstance(value, str) else next((text for part in parts if (text := _message(part))), "")
    places = tuple(place for part in parts for name in _PARAMETERS for place in _names(part.get(name)))
    bare = "" if message else canonical_json(value.get("error", value) if isinstance(value, dict) else value).decode()
    return Told(message[:_MAX_MESSAGE], codes_of(found), places, parts, bare[:_MAX_MESSAGE])


def told_detail(told: Told, status: int | None = None) -> str:
    """Code, type and message on one line, shortened, without keys, and without repeating `status`."""
    own = told.parts[0] if told.parts else {}
    holder = next((part for part in told.parts if codes_of(part)), own)
    words = [str(holder[name])[:100] for name in ("code", "type") if _is_code(holder.get(name))]
    words = [word for word in dict.fromkeys(words) if word != str(status)]
    text = ": ".join([*words, told.message] if told.message else words) or told.bare
    return one_line(redact(text))[:MAX_DETAIL]


def is_error(value: Any) -> bool:
    """True if a field `error` holds an error: servers also send an empty one beside an answer."""
    if isinstance(value, dict):
        return any(entry not in (None, "", 0, False, [], {}) for entry in value.values())
    return bool(value)


def _parts(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The objects from a body to the innermost that holds the error, the outermost first."""
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
    """The message of one object. OpenRouter's own says little; `metadata.raw` has that of the provider behind it."""
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
    """The message of an error that was put into a text unchanged."""
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
    """Every name in `top_p`, `["body", "top_p"]` or `generationConfig.topP`, the last first."""
    if isinstance(value, list):
        for entry in reversed(value):
            yield from _names(entry)
    elif isinstance(value, str):
        yield from reversed([name for name in re.split(r"[^\w-]+", value) if name])


def _plain_text(text: str) -> str:
    """An HTML page's title, else its words; other text unchanged."""
    if "<" not in text:
        return text
    title = _TITLE.search(text)
    words = html.unescape(title[1] if title else "").strip()
    return words or html.unescape(_TAGS.sub(" ", text)).strip()


_request = msgspec.json.Decoder(dict[str, Any])
_NEVER = frozenset({"model", "messages"})  # these are not parameters
# Every refusal of a parameter has one of these beside its name.
_REFUSAL = re.compile(
    r"""unsupported|not\ supported|n't\ support|not\ support|unknown|unrecogni[sz]ed|unexpected|not\ (?:be\ )?permitted
    |not\ (?:be\ )?allowed|forbidden|only\ one\ of|use\ only\ one|cannot|can't|can\ not|deprecated|must\ be|should\ be
    |instead|invalid|not\ valid|extra|exclusive|incompatible|not\ available|not\ accepted|out\ of\ range|no\ such
    |remove|too\ (?:large|high|low|big)|at\ (?:most|least)|less\ than|greater\ than|not\ implemented
    |does\ not\ exist""",
    re.IGNORECASE | re.VERBOSE,
)
# The item's own text is too long: other items may pass, although a parameter may count against the same window.
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|prompt is too long|input (?:is )?too long"
    r"|too many (?:input )?tokens|string_above_max_length|got -[0-9]",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"\b(?:both|only one|together|exclusive|one of)\b", re.IGNORECASE)
# Names that are also words: in prose they mean a parameter only if the sentence says so.
_WORDS = frozenset({"n", "stop", "seed", "user", "store", "stream", "tools", "metadata", "temperature", "functions"})


def refused_parameter(told: Told, request: bytes) -> str | None:
    """The name of the refused parameter; None if the refusal is about something else."""
    try:
        sent: list[str] = [name for name in decode_json(request, _request) if name not in _NEVER]
    except msgspec.DecodeError:
        return None
    if not sent or _TOO_LONG.search(told.text):
        return None
    for place in told.places:
        if place in sent:
            return place
        if place in _NEVER:
            return None
    if not _REFUSAL.search(told.text):
        return None
    named = sorted((found.start(), name) for name in sent if (found := _mention(name).search(told.message)))
    if not named:
        return None
    if len(named) > 1 and _TOGETHER.search(told.message):
        names = [name for _, name in named]
        return "top_p" if "top_p" in names else names[-1]  # of two that exclude each other, the less important
    return named[0][1]


def _mention(name: str) -> re.Pattern[str]:
    """A pattern for the name as a parameter: quoted, or beside words that make it one."""
    word = re.escape(name)
    if name not in _WORDS:
        return re.compile(rf"(?<![\w-]){word}(?![\w-])")
    return re.compile(
        rf"""(?:[`'"]|\b(?:parameters?|arguments?|fields?|names?|propert(?:y|ies)|options?|keys?|supplied)\b[^.\n]{{0,20}}?)
        (?<!\w){word}(?!\w)
        |(?<!\w){word}[`'"]?\ (?:is\ (?:not|un|dep|no\ |only|in)|isn't|must|should|cannot|can't|does\ not|doesn't)
        |(?:\A|\.){word}:
        |(?<!\w){word}[`'"]?\ (?:may\ not|parameter|value|field)
        |(?:\band|\bor|\bboth)\ [`'"]?{word}(?!\w)
        |\b(?:unsupported|unknown|unrecognized|unexpected|invalid)\ (?:value\ for\ )?{word}(?!\w)""",
        re.IGNORECASE | re.VERBOSE,
    )
