"""One item of an eval set, and how a line becomes one (SPEC A8)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args
from unicodedata import normalize

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.evalsets.conversations import Message, MessageError, check_messages, transcript
from benchbook.evalsets.field_names import ALIASES, FIELD_OF, MESSAGES, OPTIONAL_TEXTS, names_meant
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.line_json import read_line_json, repeated_key, row_without_repeats
from benchbook.text import looks_like, quoted, shorten

__all__ = [
    "AnswerFormat",
    "Item",
    "KnownIds",
    "decode_plain",
    "is_plain",
    "item_from_json",
    "lacking_field",
    "other_expected",
    "read_item",
    "read_messages",
    "too_large",
]


AnswerFormat = Literal["answer_prefix"]


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, and what a right answer is.

    `expected_answer` is None where there is no reference (allowed under `rubric@v1` alone). `context` is any JSON
    value. `group` names what the item shares with others (a document, a template): items of one group are taken as
    one cluster in intervals. `messages` are a conversation that the model is to go on with (`evalsets.conversations`):
    it is what is asked, and `prompt` what people and judges read; by default its transcript.
    """

    id: str
    prompt: str
    expected_answer: str | None = None
    context: Any = None
    section: str | None = None
    category: str | None = None
    difficulty: str | None = None
    answer_format: AnswerFormat | None = None
    group: str | None = None
    messages: Any = None


# What `decode_plain` can't read by itself: other names of fields, and a conversation that stands in for a prompt.
_OTHER_NAMES = frozenset([*(name for names in ALIASES.values() for name in names[1:]), MESSAGES])
_KNOWN_NAMES = tuple(FIELD_OF)
_item = msgspec.json.Decoder(ready(Item))


def is_plain(data: bytes) -> bool:
    """Whether a line is an object without other names, each key once: what `decode_plain` reads, or faulty."""
    row = row_without_repeats(data)
    return row is not None and _OTHER_NAMES.isdisjoint(row)


def decode_plain(data: bytes) -> Item:
    """The item on a plain line that was read before, without a fault.

    Raises: msgspec.DecodeError where the file has changed since.
    """
    return _item.decode(data)


def read_item(data: bytes, path: str | Path, line: int, *, plain: bool | None = None) -> Item:
    """The item on one line. `plain`: what `is_plain` said of it, where it was asked.

    Raises: InputError with `path`, `line` and the field.
    """
    _refuse_other_encodings(data, path, line)
    if is_plain(data) if plain is None else plain:
        try:
            item = _item.decode(data)
        except (msgspec.DecodeError, RecursionError):
            pass  # read again below, where the fault gets its field
        else:
            if _all_filled(item):
                return item
    elif (name := repeated_key(data, _KNOWN_NAMES)) is not None:
        raise InputError(path, line=line, field=name, found="the field more than once", expected="one of them")
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        raise InputError(path, line=line, found="JSON that is nested too deeply", expected="one plain object") from None
    except msgspec.DecodeError as error:
        if not isinstance(read := read_line_json(data), Fault):  # a number that is beyond a double
            return item_from_json(read.value, path, line)
        found = "a lone surrogate, which is half a character" if _has_surrogate(data) else f"malformed JSON ({error})"
        if data.strip() == b"[":
            found = "an array that begins here"
        raise InputError(path, line=line, found=found, expected="one JSON object a line, and no array") from None
    return item_from_json(value, path, line)


def _has_surrogate(data: bytes) -> bool:
    """Whether a line is JSON but for an escape such as `\\ud800` without its other half."""
    try:
        json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def _refuse_other_encodings(data: bytes, path: str | Path, line: int) -> None:
    """The whole line: a decoder passes over what stands in fields that it does not know."""
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            path,
            line=line,
            found=f"byte {data[error.start]:#04x} at byte {error.start + 1} of the line",
            expected="UTF-8",
        ) from None


def _all_filled(item: Item) -> bool:
    """Whether the texts that must not be empty are not; `item_from_json` says which."""
    if not (item.id.strip() and item.prompt.strip()):
        return False
    for text in (item.expected_answer, item.section, item.category, item.difficulty, item.group):
        if text is not None and not text.strip():
            return False
    return True


def item_from_json(value: Any, path: str | Path, line: int) -> Item:
    """An item from a decoded line, other names of its fields allowed (`ALIASES`).

    Raises: InputError for a field that is missing, empty, of another type, or there under two names.
    """
    if not isinstance(value, dict):
        raise InputError(path, line=line, found=f"a JSON {type(value).__name__}", expected="an object")
    given: dict[str, Any] = {}
    for field, names in ALIASES.items():
        present = [name for name in names if name in value]
        if len(present) > 1:
            raise InputError(path, line=line, field=field, found=" and ".join(present), expected="one of them")
        if present:
            given[field] = value[present[0]]
    _add_messages(given, value.get(MESSAGES), path, line)
    for field in ("id", "prompt"):
        if field not in given:
            raise lacking_field(path, line, field, value)
        _require_text(given[field], path, line, field)
    given |= {field: value[field] for field in OPTIONAL_TEXTS if value.get(field) is not None}
    for field in ("expected_answer", *OPTIONAL_TEXTS):
        if given.get(field) is not None:
            _require_text(given[field], path, line, field)
    if given.get("answer_format") not in (None, *get_args(AnswerFormat)):
        raise InputError(
            path,
            line=line,
            field="answer_format",
            found=repr(given["answer_format"]),
            expected="answer_prefix or nothing",
        )
    if (found := too_large(given.get("context"))) is not None:
        raise InputError(path, line=line, field="context", found=found, expected="numbers that a double holds")
    return Item(**given)


def _add_messages(given: dict[str, Any], messages: Any, path: str | Path, line: int) -> None:
    if messages is not None:
        given[MESSAGES] = messages
        if "prompt" not in given:
            given["prompt"] = transcript(read_messages(messages, path, line))


def read_messages(value: Any, path: str | Path, line: int) -> list[Message]:
    """An item's conversation. Raises: InputError."""
    try:
        return check_messages(value)
    except MessageError as error:
        raise InputError(path, line=line, field=error.field, found=error.found, expected=error.expected) from None


def lacking_field(path: str | Path, line: int, field: str, row: Mapping[str, Any]) -> InputError:
    """The error for a field that an item needs and has not, with the column that may be meant for it."""
    meant = names_meant(field, row)
    found = f"nothing ({shorten(meant[0], 40)} is there: rename it)" if meant else "nothing"
    return InputError(path, line=line, field=field, found=found, expected="a non-empty string")


def too_large(value: Any) -> str | None:
    """What to say of a JSON value that holds a number beyond a double, which could not be put into a prompt."""
    left = [value]  # no recursion: a record of before may be nested more deeply than Python goes
    while left:
        match left.pop():
            case float() as number if not math.isfinite(number):
                return "a number that is too large"
            case dict() as content:
                left.extend(content.values())
            case list() as content:
                left.extend(content)
    return None


def _require_text(value: Any, path: str | Path, line: int, field: str) -> None:
    if not isinstance(value, str):
        raise InputError(
            path, line=line, field=field, found=msgspec.json.encode(value).decode()[:80], expected="a string"
        )
    if not value.strip():
        raise InputError(path, line=line, field=field, found="nothing but white space", expected="a non-empty string")


class KnownIds:
    """The ids that there are, to be asked about others. `what` says whose they are."""

    def __init__(self, ids: Iterable[str], what: str = "the eval set's") -> None:
        self._ids = ids
        self._what = what
        self._by_look: dict[str, str] | None = None  # only where some id is none of them
        self._n = 0

    def unknown(self, path: str | Path, line: int | None, found: str, *, field: str = "item_id") -> InputError:
        """The error for an id that is none of them: what can't be seen in it is shown, and the item that was meant."""
        if self._by_look is None:
            self._by_look = {}
            for one in self._ids:
                self._n += 1
                self._by_look.setdefault(looks_like(one), one)
        meant = self._by_look.get(looks_like(found))
        if meant is None:
            expected = f"the id of one of {self._what} {self._n} items"
            return InputError(path, line=line, field=field, found=quoted(found), expected=expected)
        shown = quoted(found), quoted(meant)
        if normalize("NFC", shown[0]) == normalize("NFC", shown[1]):  # the same characters, composed in another way
            shown = ascii(found), ascii(meant)
        return InputError(path, line=line, field=field, found=f"found {shown[0]}; an item {shown[1]} is there")


def other_expected(path: str | Path, line: int | None, item_id: str, theirs: str, ours: str) -> InputError:
    """The error for a row that was made for another expected answer than its item has."""
    found = f"{quoted(theirs)} for {quoted(item_id)}"
    return InputError(
        path, line=line, field="expected", found=found, expected=f"{quoted(ours)}, as the eval set has it"
    )
