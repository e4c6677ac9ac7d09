"""Keys: where they are read, that they don't print, and how they are taken out of whatever a server sends back.

A server may echo a key in an error, an answer or a name. On its way the text may be escaped as JSON (once more for
each layer), encoded for a URL, escaped as HTML, or be a header's base64: all these forms are looked for.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import get_args

import msgspec

from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.errors import ConfigError

# Keys of other accounts that a server may echo, at times half starred out. Prose has the same beginnings
# (`task-force`, `key-value`, `bearer token`), so a key is long, or has a digit.
_KEY_LIKE = re.compile(
    r"""
    \b(?:sk|pk|rk|gsk|xai)[-_](?=[\w*-]*\d)[\w*-]{4,}
    | \bkey-(?=[\w*-]*\d)[\w*-]{16,}
    | \bsk-[\w*-]{20,}
    | \bhf_[A-Za-z0-9]{20,}
    | \bAIza[\w-]{20,}
    | \b(?i:bearer)\s+(?=[^\s"',;]*\d|[^\s"',;]{16})[^\s"',;]+
    | (?<=://)[^/\s@]+@       # credentials in a URL
    """,
    re.ASCII | re.VERBOSE,
)
_REMOVED = "[key removed]"


def redact(text: str) -> str:
    """`text` without anything that looks like a key."""
    return _KEY_LIKE.sub(_REMOVED, text)


class Secret:
    """A key that can't be printed by accident. `header` and `reveal` are the only ways to its value."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def from_environment(cls, variable: str | None, setting: str) -> Secret | None:
        """The key in `variable`; None if no variable is named.

        Raises: ConfigError if the variable is not set, or holds characters that a header can't.
        """
        if variable is None:
            return None
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ConfigError(
                setting, f"{redact(variable)}, which is not set", "the name of an environment variable with a key"
            )
        if not value.isascii() or not value.isprintable():
            raise ConfigError(setting, f"{variable} with characters that a header can't hold", "printable ASCII")
        return cls(value)

    def header(self) -> str:
        return f"Bearer {self._value}"

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


# ── the forms that a key takes on its way ────────────────────────────────────────────────────────────────────

_SHORT = 8  # characters; a shorter key may be a word that answers hold by chance (docs/decisions/0038)
_SHORTEST = 4
_NAMED = {'"': "quot", "&": "amp", "<": "lt", ">": "gt", "'": "apos"}
_MEANT = {name: one for one, name in _NAMED.items()}
_EITHER = {"+": "+-", "/": "/_"}  # base64, and its form for URLs
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_RUN = r"\\\\{0,62}"  # of backslashes
_FIRST_RUN = r"\\(?<!\\\\)\\{0,62}"  # from where they begin: else a text of nothing but these would take minutes
_ENDS = "(?![A-Za-z0-9])"
_BETWEEN = r"(?:[\s\"'\\:=]|&quot;|&#\d+;|%[0-9A-Fa-f]{2}|\\u00[0-9A-Fa-f]{2}){1,12}"
_BESIDE = ("bearer", "authorization", "api-key", "api_key", "api key", "apikey", "api%20key")


def _is_told_by_itself(key: str) -> bool:
    """True for a short key that texts hardly hold by chance: it has letters, and digits among them."""
    has_digit, has_letter = (any(map(test, key)) for test in (str.isdigit, str.isalpha))
    return len(key) >= _SHORTEST and has_digit and has_letter


def _character(one: str, run: str = _RUN) -> str:
    """A pattern for one character of ASCII in any of its forms, a layer of escapes within another too."""
    if not one.isascii():
        return re.escape(one)
    code = ord(one)
    digits = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{code:02x}")
    forms = [
        rf"{run}(?:u00|u\{{0*|x){digits}\}}?",  # \u0073, \\u0073, \u{{73}}, \x73
        rf"%(?:25){{0,3}}{digits}",
        rf"&(?:amp;){{0,3}}#(?:0*{code}|[xX]0*{digits});?",
    ]
    if one in _NAMED:
        forms.append(f"&(?:amp;){{0,3}}{_NAMED[one]};")
    if one == "\\":
        forms += [rf"\\{{{n}}}" for n in (64, 32, 16, 8, 4, 2)]  # no other number: the last would escape what follows
    elif one in "\"'/":
        forms.append(f"{run}{one}")
    elif one == " ":
        forms.append(r"\+")
    return f"(?:{'|'.join([*forms, re.escape(one)])})"


def _characters(text: str) -> str:
    return _character(text[0], _FIRST_RUN) + "".join(map(_character, text[1:]))


def _cores(told: str) -> list[str]:
    """The part that base64 of any text with `told` in it has for sure, by where in three bytes it begins."""
    found = []
    for before, first in ((0, 0), (1, 2), (2, 3)):
        coded = base64.b64encode(b"\0" * before + told.encode("utf-8")).decode("ascii")
        found.append(coded[first : 8 * (before + len(told)) // 6])
    return found


def _coded(core: str) -> str:
    """A pattern for base64 in both alphabets, which may be escaped in its turn."""
    runs = (_FIRST_RUN, *(_RUN for _ in core[1:]))
    signs = ([_character(one, run) for one in _EITHER.get(sign, sign)] for sign, run in zip(core, runs, strict=True))
    return "".join(f"(?:{'|'.join(forms)})" for forms in signs)


class _Forms:
    """The forms of one key: the texts by which it is found, and the patterns by which it is taken out."""

    def __init__(self, key: str) -> None:
        told = _characters(key)
        self.told, self.kept, self.texts = rf"(?<![A-Za-z0-9]){told}{_ENDS}", "", [key]
        self.cores = _cores(f"Bearer {key}")[:1]
        if len(key) >= _SHORT:
            self.told, self.cores = told, _cores(key)
        elif _is_told_by_itself(key):
            self.cores += _cores(f":{key}")
        else:  # a word: it is a key only beside what says so
            self.kept = rf"((?i:bearer|authorization|api(?:[-_\s]|%20)?key)(?:\s+provided)?{_BETWEEN})"
            self.told, self.texts = f"{told}{_ENDS}", []
        self.texts += [*self.cores, *(core.translate(_FOR_URLS) for core in self.cores)]


_FOR_URLS = str.maketrans("+/", "-_")
_ESCAPE = re.compile(
    r"""[\\%&](?:
    (?<=\\)\\*(?:(?:u00|u\{0*|x)(?P<unicode>[2-7][0-9A-Fa-f])\}?|(?P<quote>["'/]))
    | (?<=\\)\\+
    | (?<=%)(?P<url>[2-7][0-9A-Fa-f])
    | (?<=&)(?:\#0*(?P<decimal>\d{2,3});?|\#[xX]0*(?P<hex>[2-7][0-9A-Fa-f]);?|(?P<named>amp|lt|gt|quot|apos);)
    )""",
    re.VERBOSE,
)
_LETTER = re.compile(r"\\[ux]")  # an escape by a character's number
_LAYERS = 6  # of escapes within escapes


def _layers(text: str) -> Iterator[str]:
    """`text`, and what it is with its escapes undone, once more each time."""
    for _ in range(_LAYERS):
        yield text
        before, text = text, _ESCAPE.sub(_meant, text)
        if text == before:
            return


def _meant(escape: re.Match[str]) -> str:
    kind, found = escape.lastgroup, escape[escape.lastindex or 0]
    match kind:
        case "unicode" | "url" | "hex":
            return chr(int(found, 16))
        case "decimal":
            return chr(int(found))
        case "named":
            return _MEANT[found]
        case "quote":
            return found
        case _:
            return "\\"


class Keys:
    """The keys in use with one server, none or several, to be taken out of what it sends."""

    __slots__ = ("_coded", "_kept", "_signs", "_texts", "_told")

    def __init__(self, *keys: str) -> None:
        forms = [_Forms(key) for key in dict.fromkeys(keys) if key]
        told = [one.told for one in forms if not one.kept]
        self._told = re.compile("|".join(told)) if told else None
        self._kept = [re.compile(one.kept + one.told) for one in forms if one.kept]
        self._coded = re.compile("|".join(_coded(core) for one in forms for core in one.cores)) if forms else None
        signs = {" ": "+", '"': "\\", "'": "\\", "/": "\\", "\\": "\\"}
        self._signs = frozenset(sign for one, sign in signs.items() if any(one in key for key in keys))
        texts = [text for one in forms for text in one.texts]
        self._texts = tuple(dict.fromkeys(layer for text in texts for layer in self._layers(text)))

    @property
    def is_a_word(self) -> bool:
        """True if a key is so short that it stays in texts, but for where they say that it is one."""
        return bool(self._kept)

    def removed_from_text(self, text: str) -> str:
        """`text` without the keys, in whatever form they came."""
        if self._found_in(text) is None and not self._may_be_beside(text):
            return text
        if self._told is not None:
            text = self._told.sub(_REMOVED, text)
        for beside in self._kept:
            text = beside.sub(rf"\1{_REMOVED}", text)
        if self._coded is not None:
            text = _without_base64(text, self._coded)
        return self._without_stranger_forms(text)

    def _without_stranger_forms(self, text: str) -> str:
        """`text` without a key whose very escapes were escaped: a text that still tells one is kept without escapes."""
        for _ in range(_LAYERS):
            plain = self._found_in(text)
            told = [one for one in self._texts if len(one) >= _SHORT and plain is not None and one in plain]
            if plain is None or not told:
                break
            text = plain
            for one in told:
                text = text.replace(one, _REMOVED)
        return text

    def _found_in(self, text: str) -> str | None:
        """The text, or what it is with escapes undone, if that holds a key: for all but a few texts None, at once."""
        for one in self._texts:
            if one in text:
                return text
        if self._texts and self._is_escaped(text):
            for plain in self._layers(text):
                for one in self._texts:
                    if one in plain:
                        return plain
        return None

    def _may_be_beside(self, text: str) -> bool:
        if not self._kept:
            return False
        lower = text.lower()
        return any(word in lower for word in _BESIDE)

    def _is_escaped(self, text: str) -> bool:
        """True if the text has an escape of a kind in which a key's characters may come."""
        if "%" in text or "&" in text or ("+" in self._signs and "+" in text):
            return True
        return "\\" in text and ("\\" in self._signs or _LETTER.search(text) is not None)

    def _layers(self, text: str) -> Iterator[str]:
        for one in _layers(text):
            yield one
            if "+" in self._signs and "+" in one:
                yield one.replace("+", " ")

    def removed_from(self, data: bytes) -> bytes:
        """`data` without the keys; the same object where they are not in it."""
        text = data.decode("latin-1")  # every byte is a character: all forms are ASCII
        cleaned = self.removed_from_text(text)
        return data if cleaned == text else cleaned.encode("latin-1")

    def removed_from_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {name: self.removed_from_text(value) for name, value in headers.items()}

    def removed_from_answer(self, answer: Answer) -> Answer:
        """`answer` without the keys in any of its texts."""
        clean: dict[str, str] = {}
        for name in _TEXTS:
            text = getattr(answer, name)
            if text is not None and (cleaned := self.removed_from_text(text)) != text:
                clean[name] = cleaned
        return msgspec.structs.replace(answer, **clean) if clean else answer

    def removed_from_failure(self, failed: CallFailed) -> CallFailed:
        failed.detail = self.removed_from_text(failed.detail)
        return failed

    def reading(self, data: bytes, read: Callable[[bytes], Answer]) -> Answer:
        """The answer that `read` finds in `data`, without the keys.

        They are looked for in what was read. Only an error's words are read again, from data without them: words are
        cut short, and half a key would stay. Raises: CallFailed.
        """
        if not self._texts and not self._kept:  # none is in use
            return read(data)
        try:
            return self.removed_from_answer(read(data))
        except CallFailed as failed:
            if (cleaned := self.removed_from(data)) is data:
                raise self.removed_from_failure(failed) from None
        return self.removed_from_answer(read(cleaned))


NO_KEYS = Keys()
_TEXTS = tuple(one.name for one in msgspec.structs.fields(Answer) if str in get_args(one.type))


def _without_base64(text: str, coded: re.Pattern[str]) -> str:
    """`text` without any run of base64 that matches, whole: its ends hold bits of the key, and who sent it."""
    pieces, at = [], 0
    for found in coded.finditer(text):
        if found.start() >= at:
            before = text[at : found.start()]
            kept = len(before.rstrip(_BASE64))
            kept += before[:kept].endswith("\\")  # the letter of an escape is no base64
            pieces += [before[:kept], _REMOVED]
            at = len(text) - len(text[found.end() :].lstrip(_BASE64).removeprefix("=").removeprefix("="))
    return "".join([*pieces, text[at:]]) if pieces else text
