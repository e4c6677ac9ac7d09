"""The lines of a file as they stand, and the memory that a validation takes (SPEC A10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.evalsets import lines
from benchbook.evalsets.lines import Line, encoding_fault, read_lines, utf8_fault
from support import peak_memory_mb


def read(path: Path, data: bytes) -> list[Line]:
    path.write_bytes(data)
    return list(read_lines(path))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"a\n\nb", [Line(1, b"a", False, False), Line(2, b"", False, False), Line(3, b"b", False, False)],
                     id="blank-lines-count"),
        pytest.param(b"a\r\nb\r", [Line(1, b"a", False, True), Line(2, b"b\r", False, False)], id="crlf"),
        pytest.param(b"\r\n", [Line(1, b"", False, True)], id="crlf-alone"),
        pytest.param(b"\xef\xbb\xbfa\n\xef\xbb\xbfb",
                     [Line(1, b"a", True, False), Line(2, b"\xef\xbb\xbfb", False, False)],
                     id="bom-on-the-first-line-alone"),
        pytest.param("a\u2028b\x85c\x0bd".encode(), [Line(1, "a\u2028b\x85c\x0bd".encode(), False, False)],
                     id="no-other-line-ends"),
    ],
)  # fmt: skip
def test_lines_end_at_lf_alone(data: bytes, expected: list[Line], tmp_path: Path) -> None:
    assert read(tmp_path / "file", data) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_long_line_is_passed_over(end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 100)
    found = read(tmp_path / "file", b"a\n" + b"x" * 3_000_000 + end + (b"b\n" if end else b""))
    assert found[1] == Line(2, None, False, end == b"\r\n")
    assert [line.data for line in found] == [b"a", None, b"b"][: len(found)]
    assert len(found) == (3 if end else 2)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        pytest.param("{}".encode("utf-16"), "UTF-16", id="utf-16"),
        pytest.param("{}".encode("utf-16-be"), "UTF-16", id="utf-16-be-without-a-mark"),
        pytest.param("{}".encode("utf-32"), "UTF-32", id="utf-32"),
        pytest.param(b"\xef\xbb\xbf{}", None, id="utf-8-with-a-mark"),
        pytest.param(b"\xff", None, id="one-bad-byte-is-that-lines"),
        pytest.param(b"", None, id="empty"),
    ],
)
def test_a_wide_encoding_is_named(data: bytes, named: str | None, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    fault = encoding_fault(path)
    assert (fault is None) if named is None else (fault is not None and named in fault)


def test_a_bad_byte_is_named_with_its_place() -> None:
    assert utf8_fault("é".encode()) is None
    assert utf8_fault(b"ab\xe9") == "byte 0xe9 at byte 3 of the line; expected UTF-8"


@pytest.mark.slow
def test_a_million_lines_take_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "million.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(1_000_000):
            prompt = f"How many of {number} bottles are whole when {number % 977} break? Reply with the number only."
            file.write(
                f'{{"id": "i{number}", "prompt": "{prompt}", "expected_answer": "w{number}", "section": "core", '
                '"category": "arithmetic", "difficulty": "easy"}\n'
            )
    main = "from benchbook.evalsets.validate import main; sys.exit(main(sys.argv[1:]))"
    exit_code, peak_mb = peak_memory_mb(main, [str(path)])
    assert exit_code == 0
    assert peak_mb < 200  # the file has 200
