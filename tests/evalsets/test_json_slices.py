"""Parts of a JSON text are the bytes that stand in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.protocol.imported import element_slices, member_slice

SPACE = st.text(" \t\r\n", max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def spelled(draw: st.DrawFn, value: Any) -> str:
    """A value as JSON with white space wherever that may stand, escaped or not."""
    before, after = draw(SPACE), draw(SPACE)
    if isinstance(value, dict):
        parts = [f"{draw(spelled(key))}:{draw(spelled(one))}" for key, one in value.items()]
        text = "{" + (",".join(parts) or draw(SPACE)) + "}"
    elif isinstance(value, list):
        text = "[" + (",".join(draw(spelled(one)) for one in value) or draw(SPACE)) + "]"
    else:
        text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    return before + text + after


@given(st.lists(JSON, max_size=5), st.dictionaries(st.text(max_size=4), JSON, max_size=3), st.data())
def test_each_element_is_the_bytes_between_its_neighbours(values: list[Any], more: dict[str, Any], data: Any) -> None:
    parts = [data.draw(spelled(one)) for one in values]
    inner = "{" + ",".join([*(f"{json.dumps(f'x{key}')}: 1" for key in more), '"b": [' + ",".join(parts) + "]"]) + "}"
    text = "\n{" + ", ".join(
        [*(f"{json.dumps(f'y{key}')}: {json.dumps(one)}" for key, one in more.items()), f'"a" :{inner}']
    )
    whole = (text + "} ").encode("utf-8")
    assert list(element_slices(whole, "a.b")) == [part.strip(" \t\r\n").encode("utf-8") for part in parts]
    assert member_slice(whole, "a") == inner.encode("utf-8")


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(KeyError):
        member_slice(b'{"a": "b\\""}', "b")


def test_a_long_string_is_passed_in_one_go() -> None:
    text = json.dumps({"a": '\\"' * 2_000_000, "b": [{}, "}"]}).encode("utf-8")
    assert list(element_slices(text, "b")) == [b"{}", b'"}"']
