"""Zip archives as streams: every form that is known, and every trap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import InputError
from benchbook.exchange.inspect.reading_zip import ZipArchive
from support import examples
from zipped import DEFLATED, STORED, ZSTANDARD, Entry, archive, bomb

TEXT = b'{"a": "' + b"text " * 50 + b'"}'
ENTRIES = [Entry("one.json", TEXT), Entry("two.json", b""), Entry("\N{SNOWMAN}/three.json", TEXT[:9])]


def contents(path: Path) -> dict[str, bytes]:
    with ZipArchive(path) as found:
        return {member.name: found.read(member) for member in found.members()}


def written(folder: Path, data: bytes) -> Path:
    path = folder / "an.eval"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(archive(ENTRIES), id="deflated"),
        pytest.param(archive([replace(one, method=STORED) for one in ENTRIES]), id="stored"),
        pytest.param(archive([replace(one, method=ZSTANDARD) for one in ENTRIES]), id="zstandard"),
        pytest.param(archive([replace(one, method=ZSTANDARD, frames=2) for one in ENTRIES]), id="zstandard-in-frames"),
        pytest.param(archive([replace(one, sizes="of_64") for one in ENTRIES]), id="members-of-64-bits"),
        pytest.param(archive(ENTRIES, end_of_64=True), id="end-of-64-bits"),
        pytest.param(archive(ENTRIES, end_of_64=True, prefix=b"before"), id="end-of-64-bits-and-a-prefix"),
        pytest.param(archive(ENTRIES, prefix=b"#!/bin/sh\n" * 100), id="prefix"),
        pytest.param(archive(ENTRIES, comment=b"PK\5\6 says the comment " * 5), id="comment"),
        pytest.param(archive([replace(one, sizes="behind") for one in ENTRIES]), id="sizes-behind"),
        pytest.param(archive([replace(one, local_name="longer-" + one.name) for one in ENTRIES]), id="another-name"),
    ],
)
def test_every_form_is_read(data: bytes, tmp_path: Path) -> None:
    assert contents(written(tmp_path, data)) == {one.name: one.content for one in ENTRIES}


@pytest.mark.parametrize("sizes", ["before", "of_64", "behind", "behind_unsigned", "behind_64"])
@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_without_a_directory_members_are_found_one_after_another(sizes: Any, method: int, tmp_path: Path) -> None:
    data = archive([replace(one, sizes=sizes, method=method) for one in ENTRIES], has_directory=False)
    path = written(tmp_path, data)
    assert contents(path) == {one.name: one.content for one in ENTRIES}
    with ZipArchive(path) as found:
        assert not found.is_whole


def test_what_is_stored_without_its_size_has_no_end(tmp_path: Path) -> None:
    entries = [ENTRIES[0], replace(ENTRIES[1], method=STORED, sizes="behind", content=b"x")]
    assert list(contents(written(tmp_path, archive(entries, has_directory=False)))) == ["one.json"]


def test_members_are_in_the_order_of_the_directory_doubled_ones_too(tmp_path: Path) -> None:
    data = archive([Entry("a", b"1"), Entry("b", b"2"), Entry("a", b"3")])
    with ZipArchive(written(tmp_path, data)) as found:
        assert [(member.name, found.read(member)) for member in found.members()] == [
            ("a", b"1"),
            ("b", b"2"),
            ("a", b"3"),
        ]


def test_a_directory_of_many_members_is_read_in_blocks(tmp_path: Path) -> None:
    names = [f"samples/{number}_{'x' * 200}.json" for number in range(12_000)]  # 3 MB of directory
    with ZipArchive(written(tmp_path, archive([Entry(name, method=STORED) for name in names]))) as found:
        assert [member.name for member in found.members()] == names


MB = 1 << 20


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(archive([bomb("b", 100 * MB)]), "looks like a bomb", id="bomb"),
        pytest.param(archive([bomb("b", 80 * MB, method=ZSTANDARD)]), "looks like a bomb", id="bomb-of-zstandard"),
        pytest.param(archive([bomb("b", 10 * MB, said=1000)]), "found more bytes; expected 1,000", id="size-that-lies"),
        pytest.param(
            archive([bomb("b", 10 * MB, method=ZSTANDARD, said=1000)]), "found more", id="size-that-lies-zstandard"
        ),
        pytest.param(
            archive([Entry("b", b"x" * 10_001, method=ZSTANDARD, frames=10_001)]), "10,000 bytes", id="many-frames"
        ),
        pytest.param(archive([bomb("b", 10, said=2 << 30)]), "2,147,483,648 bytes", id="too-large"),
        pytest.param(archive([Entry("b", b"abc", size=5)]), "found 3 bytes; expected 5", id="too-few"),
        pytest.param(archive([Entry("b", b"abc", checksum=1)]), "than its checksum is of", id="checksum"),
        pytest.param(archive([Entry("b", b"abc", flags=1)]), "an encrypted member", id="encrypted"),
        pytest.param(archive([Entry("b", b"abc", method=12)]), "compression 12; expected 0, 8 or 93", id="bzip2"),
        pytest.param(archive([Entry("b", b"abc", at=7)]), "no member where the directory says", id="elsewhere"),
        pytest.param(archive([Entry("b", b"abc", at=1 << 31)]), "no member where the", id="behind-the-end"),
        pytest.param(
            archive(ENTRIES, disk=1),
                     "a directory that does not fit", id="several-disks"),
        pytest.param(archive(ENTRIES, length=1 << 30), "a directory that does not fit", id="directory-too-long"),
        pytest.param(archive(ENTRIES, length=30), "no directory where its end says", id="directory-too-short"),
    ],
)  # fmt: skip
def test_traps_are_errors_that_say_what_was_found(data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        contents(written(tmp_path, data))
    assert words in str(caught.value)


def test_members_that_lie_over_one_another_are_refused(tmp_path: Path) -> None:
    """So a few MB can't unpack to a TB: each member is counted against the file's size."""
    data = bytearray(archive([Entry("a", TEXT * 9, STORED)]))
    entry = bytes(data[data.index(b"PK\1\2") : data.index(b"PK\5\6")])
    end = bytearray(data[data.index(b"PK\5\6") :])
    end[8:12] = (9).to_bytes(2, "little") * 2
    end[12:16] = (9 * len(entry)).to_bytes(4, "little")
    path = written(tmp_path, bytes(data[: data.index(b"PK\1\2")]) + entry * 9 + bytes(end))
    with pytest.raises(InputError, match="members that lie over one another"):
        contents(path)


def test_a_file_that_can_not_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a file that can't be read"):
        ZipArchive(tmp_path / "absent.eval")
    with pytest.raises(InputError, match="a file that can't be read"):
        contents(tmp_path)


@examples(300)
@given(st.data())
def test_a_changed_byte_or_a_cut_is_an_error_or_leaves_members_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    method = data.draw(st.sampled_from([STORED, DEFLATED, ZSTANDARD]))
    sizes: Any = data.draw(st.sampled_from(["before", "behind", "of_64"]))
    raw = bytearray(
        archive([replace(one, method=method, sizes=sizes) for one in ENTRIES], end_of_64=data.draw(st.booleans()))
    )
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(0, 255))
    del raw[data.draw(st.integers(len(raw) // 2, len(raw))) :]
    path = written(tmp_path_factory.getbasetemp(), bytes(raw))
    try:
        found = contents(path)
    except InputError:
        return
    assert set(found.values()) <= {one.content for one in ENTRIES}  # names have no checksum
