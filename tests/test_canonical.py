"""Canonical JSON: one form for each value that is hashed (SPEC R2.2; DESIGN, The record)."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchbook.canonical import canonical_json, decode_json, storable_json
from support import ROOT

anything = msgspec.json.Decoder()
ANY_TEXT = st.text(st.characters(codec=None))


class Point(msgspec.Struct):
    y: int
    x: str | None = None


point = msgspec.json.Decoder(Point)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        pytest.param({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}', id="sorted-and-without-spaces"),
        pytest.param(
            {"é": 1, "z": 2, "\U0001f600": 3, "\uffff": 4},
            '{"z":2,"é":1,"\uffff":4,"\U0001f600":3}',
            id="by-code-point",
        ),
        pytest.param({"": {"b": {}, "a": []}}, '{"":{"a":[],"b":{}}}', id="inside-too"),
        pytest.param('é\u2028\x7f/<>&"\\', 'é\u2028\x7f/<>&\\"\\\\', id="no-escapes-but-where-they-must-be"),
        pytest.param("\0\t\n\r\x1f", "\\u0000\\t\\n\\r\\u001f", id="controls"),
        pytest.param("\ud835x\udc00", "\\ud835x\\udc00", id="lone-surrogates"),
        pytest.param({"\udc00": 1, "a": "\ud800"}, '{"a":"\\ud800","\\udc00":1}', id="lone-surrogates-in-keys"),
        pytest.param([0, -1, 10**18, 2**64 - 1], "[0,-1,1000000000000000000,18446744073709551615]", id="integers"),
        pytest.param([0.1, 1.0, -0.5, 1e-7, 1e300], "[0.1,1.0,-0.5,1e-7,1e300]", id="floats"),
        pytest.param(Point(y=1, x="p"), '{"x":"p","y":1}', id="a-struct"),
        pytest.param(Point(y=1, x="\ud800"), '{"x":"\\ud800","y":1}', id="a-struct-with-a-lone-surrogate"),
        pytest.param([Point(y=1)], '[{"x":null,"y":1}]', id="structs-in-a-list"),
    ],
)
def test_the_form(value: Any, data: str) -> None:
    quoted = f'"{data}"' if isinstance(value, str) else data
    assert canonical_json(value) == quoted.encode("utf-8")


integers = st.integers(-(2**63), 2**64 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"b": "é", "a": 1}, '{"a":1,"b":"é"}'),
        ({"\udc00": "\ud800\U0001f600", "a": ["\udfff"]}, '{"\\\\udc00":"\\\\ud800\U0001f600","a":["\\\\udfff"]}'),
        ([Point(y=1, x="\ud800")], '[{"x":"\\\\ud800","y":1}]'),
    ],
    ids=["nothing-to-do", "texts-and-names", "structs"],
)
def test_what_is_derived_has_an_escape_as_text_in_the_place_of_half_a_character(value: Any, data: str) -> None:
    assert storable_json(value) == data.encode("utf-8")


def test_texts_are_made_storable_where_that_is_asked() -> None:
    data = b'{"x":"\\ud800","y":1}'
    assert decode_json(data, point) == Point(y=1, x="\ud800")
    assert decode_json(data, point, as_storable=True) == Point(y=1, x="\\ud800")
    assert decode_json(b'{"\\ud800":{"\\udfff":1}}', anything, as_storable=True) == {"\\ud800": {"\\udfff": 1}}


json_values = st.recursive(
    st.none() | st.booleans() | integers | floats | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
@example(["\ud83d", "\ude00"])
def test_what_was_written_is_read_back(value: Any) -> None:
    assert decode_json(canonical_json(value), anything) == value


@given(json_values)
def test_json_reads_it_too(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


@given(json_values)
def test_the_bytes_are_utf_8_on_one_line(value: Any) -> None:
    data = canonical_json(value)
    assert b"\n" not in data
    data.decode("utf-8")


@given(json_values)
def test_writing_it_again_gives_the_same_bytes(value: Any) -> None:
    data = canonical_json(value)
    assert canonical_json(decode_json(data, anything)) == data


@given(st.dictionaries(ANY_TEXT, st.integers(0, 9), min_size=2), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: dict[str, int], rng: Any) -> None:
    shuffled = list(value.items())
    rng.shuffle(shuffled)
    assert canonical_json(dict(shuffled)) == canonical_json(value)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_type_may_be_asked_for() -> None:
    assert decode_json(b'{"y":1,"x":"\\ud800","z":5}', point) == Point(y=1, x="\ud800")


@pytest.mark.parametrize("data", [b'{"y":"1"}', b"{}", b"[]"], ids=["type", "missing", "list"])
def test_another_type_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_json(data, point)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"a":1}x', b"{'a':1}", b'{"a":1,}', b"NaN", b"[Infinity]", b'["\\ud800",NaN]', b'"\xff"',
     b'"\xed\xa0\x80"', b'"\\ud800', b'"\\ud8"', b"\xef\xbb\xbf\xff", b'"\\ud800\n"'],
)  # fmt: skip
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_json(data, anything)


def test_nan_is_refused_beside_a_lone_surrogate() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(["\ud800", float("nan")])


# ── types that threads first decode at once ──────────────────────────────────────────────────────────────────

RACE = """
import sys, threading, types
import msgspec
from benchbook.canonical import ready
sys.setswitchinterval(1e-6)
made = types.ModuleType("made")
sys.modules["made"] = made
fields = "".join(f"    f{n}: 'dict[str, int] | None' = None\\n" for n in range(30))
lines = "import msgspec\\n"
for n in range(40):
    lines += f"class S{n}(msgspec.Struct):\\n" + fields + (f"    inner: 'S{n - 1} | None' = None\\n" if n else "")
exec(lines, made.__dict__)
begin = threading.Barrier(8)

def decode(kind):
    begin.wait()
    for _ in range(20):
        msgspec.json.decode(b'{"f0":{"a":1},"inner":{"f3":{"b":2},"inner":{}}}', type=ready(kind))

threads = [threading.Thread(target=decode, args=(getattr(made, f"S{39 - n % 3}"),)) for n in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.slow
def test_a_type_that_threads_decode_for_the_first_time_at_once_does_not_end_the_process() -> None:
    """Without `ready`, msgspec 0.22 would use a struct whose fields are half known: a segmentation fault."""
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", RACE], check=False).returncode == 0


@pytest.mark.slow
def test_no_type_is_decoded_into_that_is_not_made_ready() -> None:
    """Check each `msgspec.convert(value, T)`, `msgspec.json.decode(data, type=T)` and `Decoder(T)` of the source."""
    plain = {"dict", "list", "tuple", "kind", "decoder.type"}  # builtins, and names made ready before
    unready = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        if path.name == "canonical.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (given := _type_given(node)) is not None:
                written = ast.unparse(given)
                if not written.startswith("ready(") and written.split("[")[0] not in plain:
                    unready.append(f"{path.name}:{node.lineno}: {written}")
    assert unready == []


def _type_given(call: ast.Call) -> ast.expr | None:
    name = ast.unparse(call.func)
    if name == "msgspec.convert":
        return call.args[1]
    if name.endswith(("json.decode", "json.Decoder")):
        named = next((one.value for one in call.keywords if one.arg == "type"), None)
        return named if named is not None or name.endswith("decode") else next(iter(call.args), None)
    return None
