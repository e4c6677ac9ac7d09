"""The elements of an array in a JSON file, one at a time, and the file without them."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import InputError
from benchbook.exchange import json_stream
from benchbook.exchange.json_stream import JsonArray
from support import peak_memory_mb

_TEXT = st.text(st.sampled_from('ab"\\[]{},:\n é\U0001f600'), max_size=6) | st.text(max_size=4)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_ELEMENT = st.lists(_JSON, max_size=2) | st.dictionaries(_TEXT, _JSON, max_size=2)


def _pieces(text: bytes, keys: tuple[str, ...], **more: Any) -> tuple[list[bytes], JsonArray]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.json"
        path.write_bytes(text)
        array = JsonArray(path, keys, **more)
        return list(array), array


@given(
    st.lists(_ELEMENT, max_size=4),
    st.dictionaries(_TEXT.map("y{}".format), _JSON, max_size=3),
    st.sampled_from([None, 2]),
    st.booleans(),
    st.integers(1, 40),
)
def test_elements_and_rest_are_what_json_reads(
    elements: list[Any], others: dict[str, Any], indent: int | None, ascii_only: bool, chunk: int
) -> None:
    document = {**others, "outer": {"xa": [1, {"inner": [3]}], "inner": elements, **others}, "xend": others}
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        found, array = _pieces(text, ("outer", "inner"), without=[("xend",), ("outer", "xa")])
    assert [json.loads(one) for one in found] == elements
    rest = json.loads(array.rest)
    assert array.found
    assert rest == {**others, "outer": {"xa": None, "inner": [], **others}, "xend": None}


@pytest.mark.parametrize("levels", [11, 12, 13, 14, 40])
@pytest.mark.parametrize("chunk", [7, 64, 1 << 20])
def test_an_element_may_have_any_number_of_levels(levels: int, chunk: int) -> None:
    """Those of a few levels are passed at once, deeper ones and those that a chunk cuts bracket by bracket."""
    deep: Any = ["a]}"]
    for _ in range(levels - 1):
        deep = [deep, {"x": "}"}]
    elements = [{"k": [1, {"a": 2}]}, deep, {"k": [deep, deep]}, []]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        found, array = _pieces(json.dumps({"a": elements, "b": deep}).encode(), ("a",), without=[("b",)])
    assert [json.loads(one) for one in found] == elements
    assert (json.loads(array.before + b"]}"), json.loads(array.rest)) == ({"a": []}, {"a": [], "b": None})


@given(st.lists(_ELEMENT, max_size=4), st.integers(1, 9))
def test_a_file_may_be_the_array(elements: list[Any], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        found, array = _pieces(b"\xef\xbb\xbf" * (chunk % 2) + json.dumps(elements).encode(), ())
    assert [json.loads(one) for one in found] == elements
    assert array.rest == b"[]"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'{"a": 1}', id="no such field"),
        pytest.param(b'{"x": {"a": [{}]}}', id="the field is elsewhere"),
        pytest.param(b'[{"a": [{}]}]', id="an array around"),
        pytest.param(b'{"a": {"a": [{}]}}', id="an object of that name"),
        pytest.param(b'{"b": "a", "c": [{}]}', id="the name is a value"),
        pytest.param(b"7", id="a number"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_where_there_is_no_such_array_all_is_rest(text: bytes) -> None:
    found, array = _pieces(text, ("a",))
    assert (found, array.found, array.rest) == ([], False, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            b'{"a": [{"b": "c', "a[0]: found the file's end in the middle of it; expected whole JSON", id="text"
        ),
        pytest.param(b'{"a": [{}, {"b": [', "a[1]: found the file's end in the middle of it", id="element"),
        pytest.param(b'{"a": [{}', "a[1]: found the file's end", id="array"),
        pytest.param(b'{"a": [{}]', "a: found the file's end", id="document"),
        pytest.param(b'{"a": [{}, 5, {}]}', "a[1]: found ', 5,' before an element", id="number"),
        pytest.param(b'{"a": [{} {}]}', "a[1]: found '' before an element", id="no comma"),
        pytest.param(b'{"a": [{},]}', "a[1]: found ',' after the last element", id="comma at the end"),
        pytest.param(b'{"a": [5]}', "a[0]: found '5' after the last element", id="only a number"),
        pytest.param(b'{"a": []}]', "found a bracket that closes what was never opened", id="closed twice"),
        pytest.param(b'{"a": [{}], "a": [{}]}', "a: found the same field twice; expected it once", id="twice"),
        pytest.param(b"[" * 9000, "JSON nested too deeply", id="deep"),
        pytest.param(
            b'{"a": [{"b": "' + b"c" * 99 + b'"}]}', "more than can be held; expected at most 99 bytes", id="big"
        ),
    ],
)
def test_an_error_says_where_it_stops_making_sense(text: bytes, said: str) -> None:
    with pytest.raises(InputError) as raised:
        _pieces(text, ("a",), most_bytes=99)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'"' * 1_500_000, id="quotes"),
        pytest.param(b'["x",' * 300_000, id="open brackets"),
        pytest.param(b'"' + b"\\" * 1_500_000, id="backslashes"),
        pytest.param(b"[{}]," * 300_000, id="closed ones"),
    ],
)
def test_no_text_is_looked_at_again_and_again(text: bytes) -> None:
    """Each of these took hours where what a piece begins was tried anew at each of its characters."""
    with pytest.raises(InputError):
        _pieces(b'{"a":[{"b":' + text, ("a",))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_array(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    element = json.dumps({"text": 'one "two" \\ three\n' * 50, "more": [{"n": 1}] * 20}).encode()
    with path.open("wb") as file:
        file.write(b'{"config": {"tests": [')
        file.write(b",".join([element] * 10_000) + b']}, "results": [')
        file.write(b",".join([element] * 10_000) + b"]}")
    code = (
        "import sys; from benchbook.exchange.json_stream import JsonArray;"
        "array = JsonArray(sys.argv[1], ('results',), without=[('config', 'tests')]);"
        "assert sum(1 for _ in array) == 10_000; assert len(array.rest) < 100"
    )
    exit_code, peak = peak_memory_mb(code, [str(path)])
    assert exit_code == 0
    assert peak < 40, "the file has 27 MB"


@pytest.mark.parametrize("one", ["1", '"a"', '{"a": 1}', "[]"])
def test_a_long_flat_array_in_an_element_is_passed_over_once(tmp_path: Path, one: str) -> None:
    """Of some MB; passed over again for each of its parts, it would take hours."""
    text = '[{"t": [' + ",".join([one] * 100_000) + "]}]"
    (tmp_path / "log.json").write_text(text, "utf-8")
    assert [len(found) for found in JsonArray(tmp_path / "log.json")] == [len(text) - 2]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"before": [%s{}], "a": [{}]}', id="around the array"),
        pytest.param('{"before": {"b": [{"c": [%s{}]}]}, "a": [{}]}', id="deeper around it"),
        pytest.param('{"a": [{"b": [%s{}]}]}', id="in an element"),
        pytest.param('{"left": {"b": [%s{}]}, "a": [{}]}', id="in what is left out"),
    ],
)
def test_many_brackets_are_passed_over_in_few_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A bracket at a time, a MB took a second."""
    path = tmp_path / "log.json"
    path.write_text(text % ("{}," * 100_000), "utf-8")
    n = 0
    search = json_stream._MARK.search

    class Mark:
        def search(self, chunk: bytes, at: int) -> re.Match[bytes] | None:
            nonlocal n
            n += 1
            return search(chunk, at)

    monkeypatch.setattr(json_stream, "_MARK", Mark())
    monkeypatch.setattr(json_stream, "_CHUNK", 1 << 14)
    assert len(list(JsonArray(path, ("a",), without=[("left",)]))) == 1
    assert n < 200


def test_an_element_that_nobody_decodes_is_not_gone_through_to_its_depth() -> None:
    with pytest.raises(InputError, match=r"a\[0\]: found JSON nested too deeply"):
        _pieces(b'{"a": [' + b"[" * 9000, ("a",))
