"""The text of output files, good and hostile (SPEC P1)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchbook.errors import UsageError
from benchbook.evalsets.extraction import (
    ExtractionLimits,
    extract_file,
    extract_files,
    extract_text,
    pdf_extractor_version,
)
from evalsets import made_pdf

pytestmark = pytest.mark.skipif(find_spec("pypdfium2") is None, reason="pypdfium2 is not installed")

SMALL = ExtractionLimits(file_bytes=50_000, characters=1_000, pages=5, cpu_s=5, wall_s=30, memory_bytes=512 << 20)


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        pytest.param("a.txt", b"A b.\r\nC\n", "A b.\r\nC\n", id="a-text-as-it-stands"),
        pytest.param("a.md", "# 标题\n".encode(), "# 标题\n", id="markdown-is-not-rendered"),
        pytest.param("a.MD", b"x", "x", id="an-ending-in-capitals"),
        pytest.param("a.json", b'{ "b": 1,\n"a": NaN', '{ "b": 1,\n"a": NaN', id="json-is-not-parsed"),
        pytest.param("a.txt", b"\xef\xbb\xbfx", "x", id="a-byte-order-mark-is-no-text"),
        pytest.param("a.txt", b"a\x00\x1b[31m", "a\x00\x1b[31m", id="nul-and-escapes-are-kept"),
        pytest.param("a.txt", b"x" * 1_000, "x" * 1_000, id="as-long-as-allowed"),
    ],
)
def test_a_text_file_is_its_text(name: str, data: bytes, text: str, tmp_path: Path) -> None:
    found = extract_file(written(tmp_path, name, data), SMALL)
    assert (found.text, found.fault, found.n_pages) == (text, None, None)
    assert found.file_sha256 == hashlib.sha256(data).hexdigest()
    assert found.text_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (found.extractor, found.extractor_version) == ("utf-8", "1")


@pytest.mark.parametrize(
    ("name", "data", "code", "says"),
    [
        pytest.param("a.txt", b"", "empty", "the file is empty", id="empty"),
        pytest.param("a.txt", b" \n\t", "empty", "white space", id="white-space"),
        pytest.param("a.txt", b"ab\xff", "not_utf8", "byte 0xff at byte 3", id="not-utf-8"),
        pytest.param("a.txt", "ä".encode("utf-16"), "not_utf8", "byte 0xff at byte 1", id="utf-16"),
        pytest.param("a.txt", b"x" * 1_001, "too_large", "1001 characters, over 1000", id="a-book"),
        pytest.param("a.txt", b"x" * 50_001, "too_large", "over 50000 bytes", id="a-library"),
        pytest.param("a.html", b"<p>x", "unknown_form", "'.html'", id="another-form"),
        pytest.param("a", b"x", "unknown_form", "''", id="no-ending"),
        pytest.param("a.pdf", b"", "empty", "the file is empty", id="empty-pdf"),
        pytest.param("a.pdf", b"%PDF-1.7\nnothing", "broken", "Data format error", id="no-pdf"),
        pytest.param("a.pdf", made_pdf.document(["A"])[:300], "broken", "Failed to load", id="a-pdf-cut-off"),
        pytest.param("a.pdf", made_pdf.document([]), "broken", "Failed to load", id="no-pages"),
        pytest.param("a.pdf", made_pdf.document(["", ""]), "no_text", "no character on its 2 pages", id="scanned"),
        pytest.param("a.pdf", made_pdf.encrypted(), "encrypted", "asks for a password", id="encrypted"),
        pytest.param("a.pdf", made_pdf.document(["x"] * 6), "too_large", "6 pages, over 5", id="many-pages"),
        pytest.param("a.pdf", made_pdf.document(["x" * 600] * 2), "too_large", "by page 2 of 2", id="a-long-pdf"),
        pytest.param("a.pdf", made_pdf.page_loop(3), "broken", "page 1 of 3", id="a-page-loop"),
        pytest.param("a.pdf", made_pdf.page_loop(10**9), "broken", "Failed to load", id="a-page-loop-without-end"),
        pytest.param(
            "a.pdf",
            partial(made_pdf.bomb, 1_100),
            "broken",
            "at its limit of 512 MiB",
            id="a-bomb",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_file_without_a_text_says_why(
    name: str, data: bytes | Callable[[], bytes], code: str, says: str, tmp_path: Path
) -> None:
    data = data if isinstance(data, bytes) else data()
    found = extract_file(written(tmp_path, name, data), SMALL)
    assert found.text is None
    assert found.text_sha256 is None
    assert found.fault is not None
    assert found.fault.code == code
    assert says in found.fault.detail


@pytest.mark.slow
@pytest.mark.parametrize("limit", [{"cpu_s": 1}, {"wall_s": 0.5}], ids=["cpu", "wall"])
def test_a_pdf_without_end_is_stopped(limit: dict[str, float], tmp_path: Path) -> None:
    path = written(tmp_path, "a.pdf", made_pdf.endless_work(40))
    found = extract_file(path, ExtractionLimits(**limit))  # type: ignore[arg-type]
    assert found.fault is not None
    assert found.fault.code == "too_slow"


def test_a_pdf_is_its_plain_text_page_by_page(tmp_path: Path) -> None:
    found = extract_file(written(tmp_path, "a.PDF", made_pdf.document(["Hello", "World"])), SMALL)
    assert (found.text, found.n_pages, found.extractor) == ("Hello\nWorld", 2, "pypdfium2")
    assert "PDFium" in found.extractor_version


def test_nothing_of_ours_goes_into_the_process_that_reads_a_pdf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else this would end it: Python would look for itself there."""
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    assert extract_file(written(tmp_path, "a.pdf", made_pdf.document(["Hello"])), SMALL).text == "Hello"


def test_without_pypdfium2_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.evalsets.extraction.find_spec", lambda name: None)
    pdf_extractor_version.cache_clear()
    with pytest.raises(UsageError, match=r"benchbook\[pdf\]"):
        extract_file(written(tmp_path, "a.pdf", b"x"), SMALL)
    assert extract_file(written(tmp_path, "a.txt", b"x"), SMALL).text == "x"


def test_a_page_as_large_as_a_country_is_only_a_page(tmp_path: Path) -> None:
    """Nothing is drawn, so the size costs nothing."""
    found = extract_file(written(tmp_path, "a.pdf", made_pdf.document(["Hello"], box="[0 0 1e9 1e9]")), SMALL)
    assert found.text == "Hello"


def test_glyphs_drawn_twice_are_left_in(tmp_path: Path) -> None:
    twice = made_pdf.stream(b"BT /F1 12 Tf 50 700 Td (Bold) Tj ET BT /F1 12 Tf 90 700 Td (Bold) Tj ET")
    found = extract_file(written(tmp_path, "a.pdf", made_pdf.one_page(twice)), SMALL)
    assert found.text is not None
    assert found.text.count("Bold") == 2


@pytest.mark.parametrize("name", ["absent.txt", "folder.txt", "pipe.txt", "nul\0.txt", "long" * 100 + ".txt"])
def test_what_is_no_file_is_unreadable_and_blocks_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.txt").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    found = extract_file(tmp_path / name, SMALL)
    assert found.fault is not None
    assert found.fault.code == "unreadable"
    assert found.file_sha256 is None


def test_files_come_in_their_order_and_one_bad_file_ends_nothing(tmp_path: Path) -> None:
    names = [f"{number}.{'pdf' if number % 20 == 7 else 'txt'}" for number in range(45)]
    paths = [written(tmp_path, name, name.encode()) for name in names]
    found = list(extract_files(paths, SMALL))
    assert [each.text for each in found] == [None if name.endswith("pdf") else name for name in names]


@pytest.mark.parametrize(
    ("text", "code"),
    [("x", None), ("", "empty"), ("x" * 1_001, "too_large"), ("\ud800", "not_utf8")],
    ids=["text", "empty", "long", "surrogate"],
)
def test_a_text_out_of_a_table_keeps_the_same_limits(text: str, code: str | None) -> None:
    found = extract_text(text, SMALL)
    assert (found.fault and found.fault.code) == code
    assert found.text == (text if code is None else None)
