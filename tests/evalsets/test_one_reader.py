"""What `evalset validate --as rubric` calls an error, no run takes; and what runs refuse, it calls an error (A10)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.validate import exit_code, validate
from benchbook.specs.folders import as_text
from support import examples

GOOD = b'{"id": "a", "prompt": "P?", "expected_answer": "x", "context": ["c", {"n": 1.5}]}\n'


def is_refused(path: Path) -> bool:
    """By runs, that is; and what they take can be put into a prompt, and is read again as it was."""
    try:
        with open_evalset(path) as evalset:
            items = list(evalset)
        for item in items:
            as_text(item.context)
        with open_evalset(path, form=evalset.form, is_recorded=True) as again:
            assert list(again) == items
    except UsageError:
        return True
    return False


def with_field(name: str, value: str) -> bytes:
    return b'{"id": "b", "prompt": "Q?", "%s": %s}' % (name.encode(), value.encode())


VALUES = [
    "1e400", "-1e400", "[1e400]", '{"x": {"y": [1, 1e999]}}', "12345678901234567890123456789", "9" * 400, "9" * 5000,
    "NaN", "-Infinity", "[NaN]", '"\\ud800"', '["\\udfff"]', '{"\\ud800": 1}', '"\\ud83d\\ude00"', '"\\u0000"', "1.10",
    '{"k": 1, "k": 2}', '[{"k": 1, "k": 1}]', "[" * 190 + "]" * 190, "[" * 300 + "]" * 300, "[" * 9_000, "null", '""',
    '" "', "true", "[]", "{}", "'x'", "01", "1.", "[1,]", '"\x01"',
]  # fmt: skip


@pytest.mark.parametrize("name", ["context", "provided_context", "note", "category", "expected_answer", "reference"])
@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:20])
def test_validate_and_runs_refuse_the_same(name: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(GOOD + with_field(name, value))
    assert is_refused(path) == bool(exit_code(validate(path, "rubric")))


LINES = [
    b'{"id": "b", "prompt": "Q?", "id": "c"}', b'{"id": "b", "prompt": "Q?", "note": 1, "note": 2}',
    b'{"id": "b", "prompt": "Q?", "n\\u006fte": 1, "note": 2}', b'{"id": "b", "task": "Q?", "question": "Q?"}',
    b'{"id": "a", "prompt": "Q?"}', b'{"id": "b", "prompt": "P?"}', b'{"id": 1, "prompt": "Q?"}', b'{"prompt": "Q?"}',
    b'{"id": "b", "query": "Q?"}', b"[]", b"[", b"\x0c", b" \x0b ", b"\x1c", b"\xc2\xa0", b"7", b"{", b"  ",
    b"\xff", b'{"id": "b", "prompt": "\xed\xa0\x80"}',
    b'\xef\xbb\xbf{"id": "b", "prompt": "Q?"}', b'{"id": "b", "prompt": "Q?"} {}', b'{"id": "b", "prompt": "Q?"}\r',
    b'{"id": "b", "prompt": "Q?", "answer_format": "x"}', b'{"id": "b", "prompt": "Q?", "answer_format": ""}',
    b'{"id": "b", "prompt": "Q?", "section": null, "group": 3}',
]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=repr)
def test_validate_and_runs_refuse_the_same_lines(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(GOOD + line + b"\n")
    assert is_refused(path) == bool(exit_code(validate(path, "rubric")))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
NAMES = ["id", "item_id", "prompt", "task", "expected_answer", "context", "provided_context", "group", "answer", "note"]


@examples(150)
@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), JSON | st.sampled_from(["a", "b", "c"])), min_size=1, max_size=3)
)
def test_any_lines_are_refused_by_both_or_by_none(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "set.jsonl"
    path.write_bytes(
        b"".join(json.dumps({"id": f"i{n}", "prompt": "P"} | row).encode() + b"\n" for n, row in enumerate(rows))
    )
    assert is_refused(path) == bool(exit_code(validate(path, "rubric")))
