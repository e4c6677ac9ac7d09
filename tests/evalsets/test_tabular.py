"""Rows of other people's files, or the line at fault (SPEC R1.4, A5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.evalsets.tables import read_table


def rows(folder: Path, data: bytes, name: str = "rows.jsonl") -> list[tuple[int, dict[str, Any]]]:
    path = folder / name
    path.write_bytes(data)
    return list(read_table(path))


def test_rows_come_with_the_line_that_they_stand_on(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"id": 1}\r\n\n{"id": "\xe2\x80\xa8", "x": null}'
    assert rows(tmp_path, data) == [(1, {"id": 1}), (3, {"id": "\u2028", "x": None})]


def test_a_lone_surrogate_is_kept(tmp_path: Path) -> None:
    """A model may have written it, and json.dumps writes it as an escape."""
    assert rows(tmp_path, b'{"output": "\\ud83d"}') == [(1, {"output": "\ud83d"})]


@pytest.mark.parametrize(
    ("bad", "field", "found"),
    [
        pytest.param(b"[1]", None, "no JSON object", id="no-object"),
        pytest.param(b'{"a": nan}', None, "no JSON object", id="nan-in-lower-case"),
        pytest.param(b'{"a": "\xff"}', None, "byte 0xff at byte 8 of the line", id="no-utf-8"),
        pytest.param(b'{"a": 1, "b": 2, "a": 3}', "a", "the field more than once", id="a-field-twice"),
        pytest.param(b'{"a": 1, "\\u0061": 3}', "a", "the field more than once", id="twice-by-escapes"),
        pytest.param(b'{"a": ' + b"[" * 100_000, None, "no JSON object", id="too-deep"),
        pytest.param(b'{"a": "' + b"x" * (16 << 20) + b'"}', None, "a longer line", id="too-long"),
    ],
)
def test_a_line_at_fault_is_named(tmp_path: Path, bad: bytes, field: str | None, found: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(tmp_path, b'{"a": 0}\n' + bad + b"\n")
    assert (caught.value.line, caught.value.field) == (2, field)
    assert caught.value.found.startswith(found)


@pytest.mark.parametrize(
    ("data", "line", "found"),
    [
        (b"id,text\n" + b"a,b\n" * 3000 + b"c,\xff\n" + b"a,b\n" * 3000, 3002, "no UTF-8"),
        (b"id,\xff\n", 1, "no UTF-8"),
        (b"id,text,text\na,b,c\n", 1, "the column 'text' more than once"),
        (b"id,text\na\n", 2, "another number of cells"),
    ],
)
def test_a_fault_in_csv_is_named_by_its_line(tmp_path: Path, data: bytes, line: int, found: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(tmp_path, data, "rows.csv")
    assert caught.value.line == line
    assert found in str(caught.value)


def test_a_name_in_a_value_or_deeper_down_is_no_second_field(tmp_path: Path) -> None:
    assert rows(tmp_path, b'{"a": {"a": "\\"a\\""}}') == [(1, {"a": {"a": '"a"'}})]
