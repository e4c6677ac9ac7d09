"""What `verify` says of a file that differs: what was done to all of it, or the place, never hiding the difference."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.verify import verify
from benchbook.record.first_difference import first_difference, lines_differ
from benchbook.record.folder import Record
from benchbook.text import looks_like
from scored import scored

WAS = '{\n  "a": "é",\n  "b": [],\n  "c": 2\n}\n'.encode()
CR_LF = "every line ends in CR LF; the record has LF (git autocrlf?)"
BOM = "begins with a byte-order mark (EF BB BF); the record has none"


@pytest.mark.parametrize(
    ("found", "says"),
    [
        pytest.param(WAS.replace(b"\n", b"\r\n"), CR_LF, id="crlf"),
        pytest.param(b"\xef\xbb\xbf" + WAS, BOM, id="bom"),
        pytest.param(b"\xef\xbb\xbf" + WAS.replace(b"\n", b"\r\n"), f"{BOM}; {CR_LF}", id="bom-and-crlf"),
        pytest.param(WAS.replace(b"\n", b"\r"), "every line ends in CR; the record has LF", id="cr"),
        pytest.param(WAS[:-1], "its last line has no newline; the record's has one", id="no-newline"),
        pytest.param(WAS + b"\n", "has a newline at its end that the record does not have", id="a-newline"),
        pytest.param(WAS + b"\n\n", "has 2 newlines at its end that the record does not have", id="two-newlines"),
        pytest.param(
            WAS.replace(b"\n", b"\r\n")[:-2], f"{CR_LF}; its last line has no newline; the record's has one", id="both"
        ),
        pytest.param(WAS.decode().encode("utf-16"), "is in UTF-16; the record is in UTF-8", id="utf-16"),
        pytest.param(
            WAS.decode().encode("latin-1"), "is in Windows-1252 or Latin-1; the record is in UTF-8", id="latin-1"
        ),
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n",
            "is a Git LFS pointer, not the file itself: run `git lfs pull`",
            id="lfs",
        ),
    ],
)
def test_what_was_done_to_all_of_a_file_is_named(found: bytes, says: str) -> None:
    assert first_difference(found, WAS) == (None, says)


@pytest.mark.parametrize(
    ("found", "wanted", "says"),
    [
        pytest.param('  "b": [], ', '  "b": [],', "found '\"b\": [], '; the journal gives '\"b\": [],'", id="a-space"),
        pytest.param("x\r", "x", r"found 'x\r'; the journal gives 'x'", id="one-cr"),
        pytest.param("a\tb", "a b", r"found 'a\tb'; the journal gives 'a b'", id="a-tab"),
        pytest.param(
            "a\u200bb", "ab", r"found 'a\u200bb'; the journal gives 'ab' (U+200B where the journal gives U+0062)",
            id="zero-width",
        ),
        pytest.param(
            "p\u0430y", "pay", "found 'p\u0430y'; the journal gives 'pay' (U+0430 where the journal gives U+0061)",
            id="a-look-alike",
        ),
        pytest.param(
            "e\u0301", "\u00e9", "found 'e\u0301'; the journal gives '\u00e9' (U+0065 where the journal gives U+00E9)",
            id="another-form",
        ),
        pytest.param(
            "x\u00a0", "x", r"found 'x\xa0'; the journal gives 'x' (U+00A0 where the journal gives the end)",
            id="at-the-end",
        ),
        pytest.param(r"\u200b", "\u200b",
            r"found '\\u200b'; the journal gives '\u200b' (U+005C where the journal gives U+200B)", id="an-escape",
        ),
        pytest.param("a\u3164", "a", r"found 'a\u3164'; the journal gives 'a' (U+3164 where the journal gives the end)",
            id="a-blank-letter",
        ),
        pytest.param(
            "\u2764\ufe0f", "\u2764",
            "found '\u2764\\ufe0f'; the journal gives '\u2764' (U+FE0F where the journal gives the end)",
            id="a-variant",
        ),
        pytest.param("    x", "  x", "found '    x'; the journal gives '  x'", id="indentation"),
        pytest.param(
            "y" * 100 + "1" + "z" * 100, "y" * 100 + "2" + "z" * 100,
            f"found '…{'y' * 40}1{'z' * 39}…'; the journal gives '…{'y' * 40}2{'z' * 39}…'", id="far-from-the-start",
        ),
        pytest.param("a\nb", "a", "found 'b', a line too many", id="a-line-more"),
        pytest.param("a", "a\nb", "found no such line; the journal gives 'b'", id="a-line-less"),
    ],
)  # fmt: skip
def test_a_place_is_shown_with_what_can_t_be_seen(found: str, wanted: str, says: str) -> None:
    _, said = first_difference(found.encode(), wanted.encode())
    assert said == says


@given(st.text(), st.text())
def test_both_sides_never_look_alike(one: str, other: str) -> None:
    found, wanted = (text.encode("utf-8", "surrogatepass") for text in (one, other))
    if found == wanted:
        return
    line, said = first_difference(found, wanted)
    if line is None or "; the journal gives " not in said:
        return
    left, _, right = said.removeprefix("found ").partition("; the journal gives ")
    assert left != right


@pytest.mark.parametrize("character", [chr(one) for one in (*range(32), 0xAD, 0x34F, 0x61C, 0x180E, 0x2028, 0xE0041)])
def test_what_can_t_be_seen_is_an_escape_and_its_code_point_is_told(character: str) -> None:
    said = lines_differ(f"pay{character} 1".encode(), b"pay 1", "it is")
    left, _, right = said.removeprefix("found ").partition("; it is ")
    assert looks_like(left) != looks_like(right)
    assert character not in said
    assert character.isascii() or f"U+{ord(character):04X} where it is U+0020" in said


@pytest.mark.parametrize("name", ["decision.json", "samples.jsonl", "manifest.json"])
def test_verify_names_what_git_did(name: str, tmp_path: Path) -> None:
    record = scored(tmp_path).record
    path = record.path / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert [str(finding) for finding in verify(record).findings] == [f"{name}: {CR_LF}"]


def test_verify_names_what_git_did_to_journal_and_inputs(tmp_path: Path) -> None:
    record = scored(tmp_path).record
    other = Record(shutil.copytree(record.path, tmp_path / "other"))
    evalset = record.input(record.started().inputs["evalset"])
    evalset.write_bytes(evalset.read_bytes().replace(b"\n", b"\r\n"))
    (finding,) = verify(record).findings
    assert finding.what.endswith(f". It {CR_LF}")
    journal = other.journal / "000001.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"\n", b"\r\n"))
    (finding,) = verify(other).findings
    assert str(finding) == "journal/000001.jsonl:1: the line ends in CR LF; the record has LF (git autocrlf?)"
