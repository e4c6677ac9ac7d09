"""The forms in which a key may come back from a server, and where they are seen."""

from __future__ import annotations

import base64
import html
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def each(form: str) -> Callable[[str], str]:
    return lambda text: "".join(form.format(ord(one)) for one in text)


FORMS: Mapping[str, Callable[[str], str]] = {
    "raw": lambda key: key,
    "json": in_json,
    "json-twice": lambda key: in_json(in_json(key)),
    "json-three-times": lambda key: in_json(in_json(in_json(key))),
    "slashes": lambda key: in_json(key).replace("/", "\\/"),
    "unicode-escapes": each("\\u{:04x}"),
    "unicode-escapes-in-json": lambda key: in_json(each("\\u{:04X}")(key)),
    "some-unicode-escapes": lambda key: f"\\u{ord(key[0]):04x}{in_json(key[1:])}",
    "hex-escapes": each("\\x{:02x}"),
    "code-points": each("\\u{{{:x}}}"),
    "url": lambda key: urllib.parse.quote(key, safe=""),
    "url-lower": lambda key: urllib.parse.quote(key, safe="").lower() if key.islower() else urllib.parse.quote(key),
    "url-plus": urllib.parse.quote_plus,
    "url-twice": lambda key: urllib.parse.quote(urllib.parse.quote(key, safe=""), safe=""),
    "url-every-character": each("%{:02x}"),
    "html": html.escape,
    "html-twice": lambda key: html.escape(html.escape(key)),
    "html-decimal": each("&#{};"),
    "html-hex": each("&#x{:X};"),
    "base64": in_base64,
    "base64-bare": lambda key: in_base64(key).rstrip("="),
    "base64-url": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    "base64-of-bearer": lambda key: in_base64(f"Bearer {key}"),
    "base64-of-user": lambda key: in_base64(f"user:{key}"),
    "base64-of-u": lambda key: in_base64(f"u:{key}"),
    "base64-of-header": lambda key: in_base64(f"GET / HTTP/1.1\r\nAuthorization: Bearer {key}\r\nHost: x\r\n"),
    "base64-in-json": lambda key: in_json(in_base64(f"us:{key}")).replace("/", "\\/"),
    "base64-in-url": lambda key: urllib.parse.quote(in_base64(f"us:{key}"), safe=""),
}


# Of a short key, only base64 of a header's value is looked for.
OF_SHORT_KEYS = FORMS.keys() - {"base64", "base64-bare", "base64-url", "base64-of-header"}


def forms_looked_for(key: str) -> list[str]:
    """The key in every form that is looked for."""
    return [form(key) for name, form in FORMS.items() if len(key) > 7 or name in OF_SHORT_KEYS]


def read_back(text: str) -> set[str]:
    """All that anybody gets from a text by undoing escapes, one way or another, up to four times."""
    known = {text}
    for _ in range(4):
        more: set[str] = set()
        for one in known:
            for undo in (urllib.parse.unquote, urllib.parse.unquote_plus, html.unescape, _json_undone):
                more.add(undo(one))
        if more <= known:
            break
        known |= more
    return known


_ESCAPE = re.compile(r"\\(?:u00([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{2})\}|x([0-9A-Fa-f]{2})|([\"'/\\]))")


def _json_undone(text: str) -> str:
    return _ESCAPE.sub(lambda found: found[4] or chr(int(found[1] or found[2] or found[3], 16)), text)


def gives_away(data: Any, key: str) -> bool:
    """True if the key can be read from bytes or a text: as it is, by undoing escapes, or out of base64."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)
    if any(mark in text for mark in forms_looked_for(key)):
        return True
    if len(text) < 2_000:
        return any(key in one for one in read_back(text))
    for _ in range(3):
        text = html.unescape(urllib.parse.unquote(_json_undone(text)))
        if key in text:
            return True
    return False
