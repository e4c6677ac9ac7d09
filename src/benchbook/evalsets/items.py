"""One item of an eval set: its fields, the names under which files hold them, and reading it from a line (SPEC A8)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args
from unicodedata import normalize

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.evalsets.conversations import Message, MessageError, check_messages, transcript
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.lines import AS_CSV, is_like_csv, read_line_json, repeated_key, row_without_repeats
from benchbook.text import looks_like, quoted, shorten

# The names under which files hold a field. The first is ours; the rubric's own names are among the others.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id"),
    "prompt": ("prompt", "task", "question"),
    "expected_answer": ("expected_answer", "reference_answer", "reference"),
    "context": ("context", "provided_context"),
}

OPTIONAL_TEXTS = ("section", "category", "difficulty", "answer_format", "group")

MESSAGES = "messages"  # a conversation, instead of a prompt or beside one
CRITERIA = "criteria"  # the item's own (`evalsets.requirements`)

FIELD_NAMES = (*ALIASES, *OPTIONAL_TEXTS, MESSAGES, CRITERIA)

FIELD_OF: Mapping[str, str] = {
    **{name: field for field, names in ALIASES.items() for name in names},
    **{name: name for name in (*OPTIONAL_TEXTS, MESSAGES, CRITERIA)},
}
"""The field of ours, by each of its names."""

# None of these is read: an `answer` may as well be a model's. They are suggested if the field is missing.
_MEANT: Mapping[str, tuple[str, ...]] = {
    "id": ("key", "uid", "uuid", "index", "idx", "qid", "question_id", "sample_id", "example_id", "task_id", "doc_id"),
    "prompt": ("query", "input", "instruction", "instructions", "user_input", "user_prompt", "problem", "text", "q",
               "request", "message"),
    "expected_answer": ("answer", "answers", "ground_truth", "ground_truths", "groundtruth", "gold", "gold_answer",
                        "golden_answer", "golden", "ideal", "ideal_answer", "target", "targets", "expected",
                        "expected_output", "expected_response", "correct_answer", "right_answer", "correct", "label",
                        "reference_output", "reference_text", "references", "solution", "final_answer", "best_answer",
                        "model_answer", "output", "completion", "a"),
    "context": ("contexts", "retrieved_context", "retrieved_contexts", "retrieval_context", "documents", "document",
                "docs", "passage", "passages", "source_text", "sources", "evidence", "background", "knowledge"),
}  # fmt: skip

_BY_NAME = {name: field for field, names in _MEANT.items() for name in names}


def field_meant(name: str) -> str | None:
    """The field of ours that a column of another name is likely to hold; None if there is none."""
    plain = _spelt(name)
    if plain in _BY_NAME:
        return _BY_NAME[plain]
    near = close_to(name, tuple(FIELD_OF), cutoff=0.85)
    return FIELD_OF[near] if near else None


def misspelt(name: str) -> str | None:
    """The field whose own name is close to this one; None if there is none."""
    return close_to(name, FIELD_NAMES, cutoff=0.85)


def _names_meant(field: str, there: Iterable[str]) -> list[str]:
    """Those of the names `there` that are likely to hold a field."""
    return [name for name in there if field_meant(name) == field]


def _spelt(name: str) -> str:
    """A name without case, and with `_` between its words."""
    return "_".join(name.casefold().replace("-", " ").replace("_", " ").split())


def close_to(text: str, words: tuple[str, ...], *, cutoff: float) -> str | None:
    """The word that a text is closest to; None if it is close to none."""
    # No long text is close to our short words, and no cache should hold one.
    return _closest(_spelt(text), words, cutoff) if len(text) < 64 else None


@lru_cache(maxsize=1024)
def _closest(text: str, words: tuple[str, ...], cutoff: float) -> str | None:
    close = get_close_matches(text, words, n=1, cutoff=cutoff)
    return close[0] if close else None


AnswerFormat = Literal["answer_prefix"]


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A question and its right answer.

    `expected_answer` is None if there is no reference (allowed under `rubric@v1` alone). `context` is any JSON value.
    `group` names what the item shares with others (a document, a template): items of one group form one cluster in
    intervals. `messages` are a conversation that the model is to continue (`evalsets.conversations`): it is sent, and
    people and judges read `prompt`, by default its transcript. `criteria` are those by which a rubric with
    `[item_criteria]` scores the item (`evalsets.requirements`); other evaluators ignore them.
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
    criteria: Any = None


# Fields that `decode_plain` can't read: those under other names, and a conversation that stands in for a prompt.
_OTHER_NAMES = frozenset([*(name for names in ALIASES.values() for name in names[1:]), MESSAGES])

_KNOWN_NAMES = tuple(FIELD_OF)

_item = msgspec.json.Decoder(ready(Item))


def is_plain(row: Mapping[str, Any] | None) -> bool:
    """True if a line, as `row_without_repeats` reads it, has only our own names, so that `decode_plain` can read it."""
    return row is not None and _OTHER_NAMES.isdisjoint(row)


def decode_plain(data: bytes) -> Item:
    """The item on a plain line that was read before and has no fault.

    Raises: msgspec.DecodeError if the file has changed since.
    """
    return _item.decode(data)


def decode_plain_lines(data: bytes) -> list[Item]:
    """The same of several lines at once; blank ones count as none, or are refused. Raises: msgspec.DecodeError."""
    return _item.decode_lines(data)


def read_item(data: bytes, path: str | Path, line: int, *, plain: bool | None = None) -> Item:
    """The item on one line. `plain` is the result of `is_plain`, if its row was read already.

    Raises: InputError with `path`, `line` and the field.
    """
    _refuse_other_encodings(data, path, line)
    if is_plain(row_without_repeats(data)) if plain is None else plain:
        try:
            item = _item.decode(data)
        except (msgspec.DecodeError, RecursionError):
            pass  # read again below, for the field of the fault
        else:
            if all_filled(item):
                return item
    elif (name := repeated_key(data, _KNOWN_NAMES)) is not None:
        raise InputError(path, line=line, field=name, found="the field more than once", expected="one of them")
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        raise InputError(path, line=line, found="JSON that is nested too deeply", expected="one plain object") from None
    except msgspec.DecodeError as error:
        if not isinstance(read := read_line_json(data), Fault):  # a number beyond a double
            return item_from_json(read.value, path, line)
        found = "a lone surrogate, which is half a character" if _has_surrogate(data) else f"malformed JSON ({error})"
        if data.strip() == b"[":
            found = "an array that begins here"
        expected = "one JSON object a line, and no array"
        if is_like_csv(data):
            found, expected = "no JSON", f"{expected}; {AS_CSV}"
        raise InputError(path, line=line, found=found, expected=expected) from None
    return item_from_json(value, path, line)


def _has_surrogate(data: bytes) -> bool:
    """True if a line is JSON except for an escape such as `\\ud800` without its other half."""
    try:
        json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def _refuse_other_encodings(data: bytes, path: str | Path, line: int) -> None:
    """Refuse a line that is not UTF-8 throughout: a decoder skips the fields that it does not know."""
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


def all_filled(item: Item) -> bool:
    """True if no text is empty that must not be; `item_from_json` reports which is."""
    if not (item.id.strip() and item.prompt.strip()):
        return False
    for text in (item.expected_answer, item.section, item.category, item.difficulty, item.group):
        if text is not None and not text.strip():
            return False
    return True


def item_from_json(value: Any, path: str | Path, line: int) -> Item:
    """An item from a decoded line, whose fields may have other names (`ALIASES`).

    Raises: InputError for a field that is missing, empty, of another type, or present under two names.
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
    given[CRITERIA] = value.get(CRITERIA)
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
    """The error for a field that an item needs and lacks, with a column that may be meant for it."""
    meant = _names_meant(field, row)
    found = f"nothing ({shorten(meant[0], 40)} is there: rename it)" if meant else "nothing"
    return InputError(path, line=line, field=field, found=found, expected="a non-empty string")


def too_large(value: Any) -> str | None:
    """The words for a JSON value with a number beyond a double, which can't be put into a prompt; else None."""
    left = [value]  # no recursion: an older record may be nested more deeply than Python goes
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
    """The ids that exist, for errors about others."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = ids
        self._by_look: dict[str, str] | None = None  # made only once an id is unknown
        self._n = 0

    def unknown(self, path: str | Path, line: int | None, found: str, *, field: str = "item_id") -> InputError:
        """The error for an unknown id, with its invisible characters shown, and the id that was meant, if any."""
        if self._by_look is None:
            self._by_look = {}
            for one in self._ids:
                self._n += 1
                self._by_look.setdefault(looks_like(one), one)
        meant = self._by_look.get(looks_like(found))
        if meant is None:
            expected = f"the id of one of the eval set's {self._n} items"
            return InputError(path, line=line, field=field, found=quoted(found), expected=expected)
        shown = quoted(found), quoted(meant)
        if normalize("NFC", shown[0]) == normalize("NFC", shown[1]):  # the same characters, composed in another way
            shown = ascii(found), ascii(meant)
        return InputError(path, line=line, field=field, found=f"found {shown[0]}; an item {shown[1]} is there")


def other_expected(path: str | Path, line: int | None, item_id: str, theirs: str, ours: str) -> InputError:
    """The error for a row whose expected answer differs from its item's."""
    found = f"{quoted(theirs)} for {quoted(item_id)}"
    return InputError(
        path, line=line, field="expected", found=found, expected=f"{quoted(ours)}, as the eval set has it"
    )
