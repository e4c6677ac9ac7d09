"""JSON as other tools write it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import InputError
from benchbook.exchange import json_text
from benchbook.exchange.json_text import decoded
from benchbook.text import all_storable


class Line(msgspec.Struct):
    a: Any
    b: msgspec.Raw = msgspec.Raw(b"null")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(rb'"\ud835"', "\\ud835", id="half a character"),
        pytest.param(rb'"\uDC00x\uD835"', "\\udc00x\\ud835", id="two halves, the wrong way round"),
        pytest.param(rb'"\ud835\udc00"', "\U0001d400", id="a whole one"),
        pytest.param(rb'"\ud835\ud835\udc00"', "\\ud835\U0001d400", id="a half and a whole one"),
        pytest.param(rb'"\\ud835 \ud835"', "\\ud835 \\ud835", id="an escaped backslash is none"),
        pytest.param(rb'["\n\ud835", NaN, -Infinity, "NaN"]', ["\n\\ud835", "NaN", "-Infinity", "NaN"], id="both"),
        pytest.param(b"123456789012345678901234567890", 123456789012345678901234567890, id="a huge number"),
    ],
)
def test_what_python_and_javascript_write(text: bytes, value: Any) -> None:
    line = decoded(b'{"a": ' + text + b', "b": ' + text + b"}", Line, "log.json")
    assert line.a == value
    assert decoded(line.b, msgspec.Raw, "log.json")  # it was made whole too


@given(st.text(st.sampled_from('a"\\u\ud835\udc00é\n')))
def test_halves_are_as_stored_texts_have_them(text: str) -> None:
    line = decoded(json.dumps({"a": text}).encode(), Line, "log.json")
    # Two halves that stand together are a whole: JSON can't tell.
    assert line.a == all_storable(json.loads(json.dumps(text)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(b'{"a": "b', "log.json:3: no whole JSON: Input data was truncated", id="cut"),
        pytest.param(b'{"b": 1}', "another form than it should have: Object missing required field `a`", id="form"),
        pytest.param(b'{"a": ' + b"[" * 5000, "JSON nested too deeply; expected at most about 500 levels", id="deep"),
        pytest.param(b'{"a": "\xff"}', "no whole JSON: 'utf-8' codec can't decode byte 0xff", id="no UTF-8"),
        pytest.param(rb'{"a": "\ud83', "no whole JSON", id="cut in an escape"),
    ],
)
def test_an_error_says_where(text: bytes, said: str) -> None:
    with pytest.raises(InputError) as raised:
        decoded(text, Line, "log.json", line=3)
    assert said in str(raised.value)


class Inner(msgspec.Struct):
    b: Any = None
    c: Line | None = None


class Outer(msgspec.Struct):
    inner: Inner | None = None
    more: list[Inner] = []


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        pytest.param('{"inner": {"b": %s}}', True, id="anything"),
        pytest.param('{"inner": {"c": {"a": 1, "b": %s}}}', True, id="deeper, as it stands"),
        pytest.param('{"more": %s}', True, id="objects"),
        pytest.param('{"other": %s}', False, id="a field that nobody reads"),
        pytest.param('{"inner": {"other": %s}}', False, id="such a field deeper"),
        pytest.param('{"inner": {"b": "%s"}}', False, id="a text"),
        pytest.param('{"inner": 5, "other": %s}', True, id="another form"),
    ],
)
def test_what_would_be_huge_once_it_is_built_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str, *, is_kept: bool
) -> None:
    """Millions of empty objects take a few MB in a file, and hundreds once they are built."""
    monkeypatch.setattr(json_text, "_UNSUSPICIOUS", 100)
    monkeypatch.setattr(json_text, "_MOST_VALUES", 100)
    data = (text % ("[" + "{}," * 1000 + "{}]")).encode()
    if is_kept:
        with pytest.raises(InputError, match=r"log.json: samples\[0\]: found 1,\d\d\d values in one piece; expected"):
            decoded(data, Outer, "log.json", within="samples[0]")
    else:
        assert decoded(data, Outer, "log.json") is not None
